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

/* shfl.sync: b[4:0] is the lane operand, c[4:0] the clamp, c[12:8] the
 * segment mask.  Computes, for all 32 lanes without branches, the source
 * lane (the lane itself when out of range) and 1 where it is in range. */
template <uint32_t Op>
void shuffle_sources(const WarpValues &v, uint32_t *source,
                     uint32_t *in_range) {
    for (int32_t lane = 0; lane < 32; ++lane) {
        int32_t offset = v.b[lane] & 31;
        int32_t clamp = v.c[lane] & 31, segment = v.c[lane] >> 8 & 31;
        int32_t max_lane = (lane & segment) | (clamp & ~segment);
        int32_t from;
        switch (Op) {
        case HD_SHFL_UP: from = lane - offset; break;
        case HD_SHFL_DOWN: from = lane + offset; break;
        case HD_SHFL_BFLY: from = lane ^ offset; break;
        default: from = (lane & segment) | (offset & ~segment);
        }
        bool inside = Op == HD_SHFL_UP ? from >= max_lane : from <= max_lane;
        source[lane] = static_cast<uint32_t>(inside ? from : lane);
        in_range[lane] = inside;
    }
}

/* A source lane that does not take part gives an undefined value in PTX;
 * here the lane keeps its own. */
template <uint32_t Op>
void shuffle_any(Lanes lanes, WarpValues *v) {
    alignas(16) uint32_t source[32], in_range[32];
    shuffle_sources<Op>(*v, source, in_range);
    if (lanes != kAllLanes) {
        for (uint32_t i = 0; i < 32; ++i) {
            source[i] = lanes >> source[i] & 1 ? source[i] : i;
        }
    }
    for (uint32_t i = 0; i < 32; ++i) v->out[i] = v->a[source[i]];
    v->out_predicate = equal_lanes(in_range, 1);
}

void shuffle_any(uint32_t op, Lanes lanes, WarpValues *v) {
    switch (op) {
    case HD_SHFL_UP: return shuffle_any<HD_SHFL_UP>(lanes, v);
    case HD_SHFL_DOWN: return shuffle_any<HD_SHFL_DOWN>(lanes, v);
    case HD_SHFL_BFLY: return shuffle_any<HD_SHFL_BFLY>(lanes, v);
    default: return shuffle_any<HD_SHFL_IDX>(lanes, v);
    }
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

template <typename T, typename F>
uint32_t fold(const uint32_t *values, Lanes lanes, F combine) {
    T result = static_cast<T>(values[lowest(lanes)]);
    if (lanes == kAllLanes) {
        for (int i = 0; i < 32; ++i) {
            result = combine(result, static_cast<T>(values[i]));
        }
    } else {
        for_each_lane(lanes, [&](uint32_t i) {
            result = combine(result, static_cast<T>(values[i]));
        });
    }
    return static_cast<uint32_t>(result);
}

/* fold() starts with one member's value and meets it again, which changes
 * nothing for most; for the sum and xor it has to be taken out. */
uint32_t reduce(uint32_t op, const uint32_t *a, Lanes lanes) {
    using U = uint32_t;
    using S = int32_t;
    switch (op) {
    case HD_REDUX_ADD:
        return fold<U>(a, lanes, [](U x, U y) { return x + y; }) -
               a[lowest(lanes)];
    case HD_REDUX_MIN_U32:
        return fold<U>(a, lanes, [](U x, U y) { return std::min(x, y); });
    case HD_REDUX_MIN_S32:
        return fold<S>(a, lanes, [](S x, S y) { return std::min(x, y); });
    case HD_REDUX_MAX_U32:
        return fold<U>(a, lanes, [](U x, U y) { return std::max(x, y); });
    case HD_REDUX_MAX_S32:
        return fold<S>(a, lanes, [](S x, S y) { return std::max(x, y); });
    case HD_REDUX_AND:
        return fold<U>(a, lanes, [](U x, U y) { return x & y; });
    case HD_REDUX_OR:
        return fold<U>(a, lanes, [](U x, U y) { return x | y; });
    default:
        return fold<U>(a, lanes, [](U x, U y) { return x ^ y; }) ^
               a[lowest(lanes)];
    }
}

void redux(uint32_t op, Lanes lanes, WarpValues *v) {
    std::fill(v->out, v->out + 32, reduce(op, v->a, lanes));
}

/* ---- operands --------------------------------------------------------- */

void load_words(const hd_stop &stop, uint32_t imm_bit, int32_t field,
                const uint8_t *frame, Lanes lanes, uint32_t *out) {
    if (stop.imm & imm_bit) {
        uint32_t value = static_cast<uint32_t>(field);
        if (lanes == kAllLanes) {
            std::fill(out, out + 32, value);
        } else {
            for_each_lane(lanes, [&](uint32_t i) { out[i] = value; });
        }
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
