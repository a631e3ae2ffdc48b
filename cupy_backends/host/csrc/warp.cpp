/* Warp operations.
 *
 * PTX ISA, "Parallel Synchronization and Communication Instructions"
 * (shfl.sync, vote.sync, match.sync, redux.sync, activemask, elect.sync)
 * and, for the clamp and segment arithmetic, "Data Movement: shfl.sync". */
#include "warp.h"

#include <algorithm>

namespace host {
namespace {

/* ---- shfl ------------------------------------------------------------- */

struct Source {
    uint32_t lane;
    bool in_range;
};

/* shfl.sync: c[4:0] is the clamp, c[12:8] the segment mask. */
inline Source shuffle_source(uint32_t op, uint32_t lane, uint32_t b,
                             uint32_t c) {
    uint32_t offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    uint32_t max_lane = (lane & segment) | (clamp & ~segment);
    uint32_t min_lane = lane & segment;
    int32_t source;
    switch (op) {
    case HD_SHFL_UP:
        source = static_cast<int32_t>(lane) - static_cast<int32_t>(offset);
        if (source >= static_cast<int32_t>(max_lane)) {
            return {static_cast<uint32_t>(source), true};
        }
        return {lane, false};
    case HD_SHFL_DOWN:
        source = static_cast<int32_t>(lane + offset);
        break;
    case HD_SHFL_BFLY:
        source = static_cast<int32_t>(lane ^ offset);
        break;
    default:
        source = static_cast<int32_t>(min_lane | (offset & ~segment));
    }
    if (source <= static_cast<int32_t>(max_lane)) {
        return {static_cast<uint32_t>(source), true};
    }
    return {lane, false};
}

/* A source lane that does not take part gives an undefined value in PTX;
 * here the lane keeps its own. */
void shuffle_any(uint32_t op, Lanes lanes, WarpValues *v) {
    Lanes in_range = 0;
    for_each_lane(lanes, [&](uint32_t lane) {
        Source s = shuffle_source(op, lane, v->b[lane], v->c[lane]);
        uint32_t from = lanes >> s.lane & 1 ? s.lane : lane;
        v->out[lane] = v->a[from];
        in_range |= static_cast<Lanes>(s.in_range) << lane;
    });
    v->out_predicate = in_range;
}

void shift_up(uint32_t n, WarpValues *v) {
    std::copy(v->a, v->a + n, v->out);
    std::copy(v->a, v->a + 32 - n, v->out + n);
    v->out_predicate = kAllLanes << n;
}

void shift_down(uint32_t n, WarpValues *v) {
    std::copy(v->a + n, v->a + 32, v->out);
    std::copy(v->a + 32 - n, v->a + 32, v->out + 32 - n);
    v->out_predicate = kAllLanes >> n;
}

void butterfly(uint32_t n, WarpValues *v) {
    for (uint32_t i = 0; i < 32; ++i) v->out[i] = v->a[i ^ n];
    v->out_predicate = kAllLanes;
}

void broadcast(uint32_t n, WarpValues *v) {
    std::fill(v->out, v->out + 32, v->a[n]);
    v->out_predicate = kAllLanes;
}

void shuffle(uint32_t op, Lanes lanes, WarpValues *v) {
    // Constant operands over the whole warp: nearly all shuffles there are.
    bool whole = lanes == kAllLanes && v->uniform_bc;
    uint32_t n = v->b[0] & 31, c = v->c[0] & 0x1f1f;
    if (!whole || c != (op == HD_SHFL_UP ? 0u : 31u)) {
        return shuffle_any(op, lanes, v);
    }
    switch (op) {
    case HD_SHFL_UP: return shift_up(n, v);
    case HD_SHFL_DOWN: return shift_down(n, v);
    case HD_SHFL_BFLY: return butterfly(n, v);
    default: return broadcast(n, v);
    }
}

/* ---- vote, match, redux, elect ---------------------------------------- */

void vote(uint32_t op, Lanes lanes, WarpValues *v) {
    Lanes set = v->predicate & lanes;
    bool result = false;
    switch (op) {
    case HD_VOTE_ALL: result = set == lanes; break;
    case HD_VOTE_ANY: result = set != 0; break;
    case HD_VOTE_UNI: result = set == 0 || set == lanes; break;
    default: std::fill(v->out, v->out + 32, set);
    }
    v->out_predicate = result ? kAllLanes : 0;
}

template <typename T>
Lanes lanes_with(const T *values, T value, Lanes lanes) {
    Lanes same = 0;
    for_each_lane(lanes, [&](uint32_t lane) {
        same |= static_cast<Lanes>(values[lane] == value) << lane;
    });
    return same;
}

template <typename T>
void match_any(const T *values, Lanes lanes, WarpValues *v) {
    for (Lanes rest = lanes; rest;) {
        Lanes same = lanes_with(values, values[lowest(rest)], rest);
        for_each_lane(same, [&](uint32_t lane) { v->out[lane] = same; });
        rest &= ~same;
    }
}

template <typename T>
void match_all(const T *values, Lanes lanes, WarpValues *v) {
    bool all = lanes_with(values, values[lowest(lanes)], lanes) == lanes;
    std::fill(v->out, v->out + 32, all ? lanes : 0);
    v->out_predicate = all ? kAllLanes : 0;
}

void match(uint32_t op, Lanes lanes, WarpValues *v) {
    switch (op) {
    case HD_MATCH_ANY_B32: return match_any(v->a, lanes, v);
    case HD_MATCH_ANY_B64: return match_any(v->wide, lanes, v);
    case HD_MATCH_ALL_B32: return match_all(v->a, lanes, v);
    default: return match_all(v->wide, lanes, v);
    }
}

uint32_t combine(uint32_t op, uint32_t x, uint32_t y) {
    int32_t sx = static_cast<int32_t>(x), sy = static_cast<int32_t>(y);
    switch (op) {
    case HD_REDUX_ADD: return x + y;
    case HD_REDUX_MIN_U32: return std::min(x, y);
    case HD_REDUX_MIN_S32: return sx < sy ? x : y;
    case HD_REDUX_MAX_U32: return std::max(x, y);
    case HD_REDUX_MAX_S32: return sx > sy ? x : y;
    case HD_REDUX_AND: return x & y;
    case HD_REDUX_OR: return x | y;
    default: return x ^ y;
    }
}

void redux(uint32_t op, Lanes lanes, WarpValues *v) {
    uint32_t result = v->a[lowest(lanes)];
    for_each_lane(lanes & (lanes - 1), [&](uint32_t lane) {
        result = combine(op, result, v->a[lane]);
    });
    std::fill(v->out, v->out + 32, result);
}

/* ---- operands --------------------------------------------------------- */

void load_words(const hd_stop &stop, uint32_t imm_bit, int32_t field,
                const uint8_t *frame, Lanes lanes, uint32_t *out) {
    if (stop.imm & imm_bit) {
        uint32_t value = static_cast<uint32_t>(field);
        for_each_lane(lanes, [&](uint32_t i) { out[i] = value; });
    } else if (field >= 0) {
        store_words(out, reinterpret_cast<const uint32_t *>(frame + field),
                    lanes);
    }
}

void load_predicate(const hd_stop &stop, const uint8_t *frame, Lanes lanes,
                    WarpValues *v) {
    Lanes bits = 0;
    if (stop.imm & HD_IMM_C) {
        bits = stop.c ? kAllLanes : 0;
    } else if (stop.c >= 0) {
        bits = load_predicates(frame + stop.c);
    }
    v->predicate = (v->predicate & ~lanes) | (bits & lanes);
}

void load_wide(const hd_stop &stop, const uint8_t *frame, Lanes lanes,
               WarpValues *v) {
    const uint64_t *slot =
        reinterpret_cast<const uint64_t *>(frame + stop.a);
    bool imm = stop.imm & HD_IMM_A;  // sign-extended like a PTX immediate
    uint64_t value = static_cast<uint64_t>(static_cast<int64_t>(stop.a));
    for_each_lane(lanes, [&](uint32_t i) {
        v->wide[i] = imm ? value : slot[i];
    });
}

bool is_wide(const hd_stop &stop) {
    return stop.kind == HD_STOP_MATCH && (stop.op == HD_MATCH_ANY_B64 ||
                                          stop.op == HD_MATCH_ALL_B64);
}

}  // namespace

void load_operands(const hd_stop &stop, const uint8_t *frame, Lanes lanes,
                   WarpValues *v) {
    v->uniform_bc = false;
    switch (stop.kind) {
    case HD_STOP_SHFL:
        load_words(stop, HD_IMM_A, stop.a, frame, lanes, v->a);
        load_words(stop, HD_IMM_B, stop.b, frame, lanes, v->b);
        load_words(stop, HD_IMM_C, stop.c, frame, lanes, v->c);
        v->uniform_bc = (stop.imm & (HD_IMM_B | HD_IMM_C)) ==
                        (HD_IMM_B | HD_IMM_C);
        return;
    case HD_STOP_VOTE:
        return load_predicate(stop, frame, lanes, v);
    case HD_STOP_MATCH:
    case HD_STOP_REDUX:
        if (is_wide(stop)) return load_wide(stop, frame, lanes, v);
        return load_words(stop, HD_IMM_A, stop.a, frame, lanes, v->a);
    default:
        return;
    }
}

void store_results(const hd_stop &stop, uint8_t *frame, Lanes lanes,
                   Lanes dead, const WarpValues &v) {
    Lanes which = (lanes | dead) == kAllLanes ? kAllLanes : lanes;
    if (stop.dst >= 0) {
        store_words(reinterpret_cast<uint32_t *>(frame + stop.dst), v.out,
                    which);
    }
    if (stop.dst2 >= 0) {
        store_predicates(frame + stop.dst2, v.out_predicate, which);
    }
}

void warp_operation(uint32_t kind, uint32_t op, Lanes lanes, WarpValues *v) {
    switch (kind) {
    case HD_STOP_SHFL: return shuffle(op, lanes, v);
    case HD_STOP_VOTE: return vote(op, lanes, v);
    case HD_STOP_MATCH: return match(op, lanes, v);
    case HD_STOP_REDUX: return redux(op, lanes, v);
    case HD_STOP_ACTIVEMASK:
        std::fill(v->out, v->out + 32, lanes);
        return;
    case HD_STOP_ELECT:
        std::fill(v->out, v->out + 32, lowest(lanes));
        v->out_predicate = lanes & (~lanes + 1);
        return;
    default:  // warp sync has no values
        return;
    }
}

}  // namespace host
