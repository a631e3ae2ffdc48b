/* The scheduler of phase kernels.
 *
 * Warps run one after the other; each runs until all its lanes wait for
 * others or have exited.  PTX ISA: bar, barrier, "Independent Thread
 * Scheduling" for lanes of a warp that go separate ways.
 *
 * The common case, a whole warp at the same stop, is the fast one: the stop
 * words of the lanes are compared at once and the operation is done on whole
 * slots. */
#include "scheduler.h"

#include <sched.h>

#include <map>
#include <string>

#include "error.h"
#include "fault.h"
#include "warp.h"

namespace host {
namespace {

constexpr uint32_t kBarriers = 16;

/* Every alive lane is in exactly one of ready, yielded, parked or one of
 * waiting[]. */
struct Warp {
    Lanes alive;
    Lanes ready;    // may run
    Lanes yielded;  // may run when the others have had their turn
    Lanes parked;   // wait at a warp operation
    Lanes waiting[kBarriers];
};

struct Barrier {
    uint32_t arrived;   // threads
    uint32_t expected;  // 0: all threads of the block
    uint32_t popc;
    bool all, any;
    void reset() { *this = {0, 0, 0, true, false}; }
};

class BlockRun {
public:
    BlockRun(const hd_kernel &kernel, const hd_launch &launch,
             hd_block *block, const std::atomic<bool> &cancelled);
    void run();

private:
    uint8_t *frame(uint32_t warp) {
        return frames_ + size_t{warp} * kernel_.frame_bytes;
    }
    uint32_t *stops(uint32_t warp) {
        return reinterpret_cast<uint32_t *>(frame(warp));
    }
    /* Those of `lanes` that wait at the same stop as the first of them. */
    Lanes same_stop(uint32_t warp, Lanes lanes, uint32_t *stop) {
        const uint32_t *words = stops(warp);
        *stop = words[lowest(lanes)];
        return equal_lanes(words, *stop) & lanes;
    }

    bool round();
    bool run_warp(uint32_t warp);
    void arrive(uint32_t warp, Lanes lanes, uint32_t stop);
    void leave(uint32_t warp, Lanes lanes);
    bool wake_yielded();

    void stop_at_warp_op(uint32_t warp, Lanes lanes, const hd_stop &stop);
    void resolve_parked(uint32_t warp);
    Lanes parked_alike(uint32_t warp, uint32_t lane, Lanes *members);
    void perform(uint32_t warp, Lanes lanes);
    void perform_together(uint32_t warp, Lanes lanes, const hd_stop &stop);

    void stop_at_barrier(uint32_t warp, Lanes lanes, const hd_stop &stop);
    void join_barrier(uint32_t warp, Lanes lanes, const hd_stop &stop,
                      uint32_t id, uint32_t expected);
    bool complete(const Barrier &barrier) const;
    void release(uint32_t id);
    void store_reduction(uint32_t warp, Lanes lanes, const Barrier &barrier);
    bool release_complete();

    void report_deadlock();

    const hd_kernel &kernel_;
    const hd_launch &launch_;
    hd_block *block_;
    const std::atomic<bool> &cancelled_;
    bool waits_outside_ = false;  // for another block
    uint32_t n_warps_, alive_threads_;
    uint8_t *frames_;
    Warp *warps_;
    Barrier barriers_[kBarriers];
    uint32_t used_barriers_ = 0;  // bit i: somebody arrived at barrier i
    bool exited_ = false;         // some lane left since the last check
};

BlockRun::BlockRun(const hd_kernel &kernel, const hd_launch &launch,
                   hd_block *block, const std::atomic<bool> &cancelled)
    : kernel_(kernel), launch_(launch), block_(block),
      cancelled_(cancelled) {
    alive_threads_ = launch.block[0] * launch.block[1] * launch.block[2];
    n_warps_ = (alive_threads_ + 31) / 32;
    frames_ = scratch().frames(size_t{n_warps_} * kernel.frame_bytes);
    warps_ = reinterpret_cast<Warp *>(
        scratch().warps(n_warps_ * sizeof(Warp)));
    for (uint32_t w = 0; w < n_warps_; ++w) {
        uint32_t left = alive_threads_ - 32 * w;
        Lanes lanes = left >= 32 ? kAllLanes : (1u << left) - 1;
        warps_[w] = Warp{lanes, lanes, 0, 0, {}};
        // "After stop -1" is phase 0, the kernel entry.
        std::memset(stops(w), 0xff, 32 * sizeof(uint32_t));
    }
    for (Barrier &barrier : barriers_) barrier.reset();
}

void BlockRun::run() {
    while (alive_threads_) {
        bool progress = round();
        if (block_->fault) return;
        progress |= release_complete();
        progress |= wake_yielded();
        if (waits_outside_ && cancelled_) return;
        if (!progress && alive_threads_) return report_deadlock();
    }
}

/* Lets every warp run until it must wait; false if none could. */
bool BlockRun::round() {
    bool progress = false;
    for (uint32_t w = 0; w < n_warps_; ++w) {
        if (!warps_[w].ready) continue;
        progress = true;
        if (!run_warp(w)) break;
    }
    return progress;
}

/* False after a fault. */
bool BlockRun::run_warp(uint32_t w) {
    Warp &warp = warps_[w];
    while (warp.ready) {
        uint32_t stop;
        Lanes lanes = same_stop(w, warp.ready, &stop);
        auto phase = reinterpret_cast<hd_phase_fn>(kernel_.phases[stop + 1]);
        phase(&launch_, block_, frame(w), w, lanes);
        if (block_->fault) return false;
        warp.ready &= ~lanes;
        while (lanes) {
            Lanes group = same_stop(w, lanes, &stop);
            arrive(w, group, stop);
            lanes &= ~group;
        }
    }
    return true;
}

void BlockRun::arrive(uint32_t w, Lanes lanes, uint32_t stop_id) {
    if (stop_id == HD_EXITED) return leave(w, lanes);
    const hd_stop &stop = kernel_.stops[stop_id];
    switch (stop.kind) {
    case HD_STOP_BARRIER:
    case HD_STOP_BARRIER_RED:
        return stop_at_barrier(w, lanes, stop);
    case HD_STOP_YIELD:
        warps_[w].yielded |= lanes;
        return;
    case HD_STOP_ACTIVEMASK:  // does not wait for anybody
        perform_together(w, lanes, stop);
        return;
    default:
        return stop_at_warp_op(w, lanes, stop);
    }
}

void BlockRun::leave(uint32_t w, Lanes lanes) {
    warps_[w].alive &= ~lanes;
    alive_threads_ -= count(lanes);
    exited_ = true;
    if (warps_[w].parked) resolve_parked(w);
}

/* Lanes that yielded go on; when nothing else did in the whole block it
 * waits for another block, whose worker may want this core. */
bool BlockRun::wake_yielded() {
    bool any = false, others = false;
    for (uint32_t w = 0; w < n_warps_; ++w) {
        Warp &warp = warps_[w];
        others |= warp.ready != 0;
        any |= warp.yielded != 0;
        warp.ready |= warp.yielded;
        warp.yielded = 0;
    }
    waits_outside_ = any && !others;
    if (waits_outside_) sched_yield();
    return any;
}

/* ---- warp operations -------------------------------------------------- */

void BlockRun::stop_at_warp_op(uint32_t w, Lanes lanes,
                               const hd_stop &stop) {
    Warp &warp = warps_[w];
    bool whole = lanes == warp.alive && stop.imm & HD_IMM_MASK &&
                 (static_cast<Lanes>(stop.mask) & lanes) == lanes;
    if (whole) return perform_together(w, lanes, stop);
    warp.parked |= lanes;
    resolve_parked(w);
}

/* Performs every operation whose members have all arrived. */
void BlockRun::resolve_parked(uint32_t w) {
    Warp &warp = warps_[w];
    Lanes unseen = warp.parked;
    while (unseen) {
        Lanes members;
        Lanes together = parked_alike(w, lowest(unseen), &members);
        unseen &= ~together;
        if (members & warp.alive & ~together) continue;
        warp.parked &= ~together;
        perform(w, together);
    }
}

/* The parked lanes that execute the same operation with the same member
 * mask as `lane`, at whatever place in the code (the compiler may have
 * duplicated it). */
Lanes BlockRun::parked_alike(uint32_t w, uint32_t lane, Lanes *members) {
    const hd_stop &mine = kernel_.stops[stops(w)[lane]];
    uint32_t mask =
        word_operand(mine, HD_IMM_MASK, mine.mask, frame(w), lane);
    *members = mask | 1u << lane;
    Lanes together = 0;
    for_each_lane(warps_[w].parked, [&](uint32_t other) {
        const hd_stop &stop = kernel_.stops[stops(w)[other]];
        bool same = stop.kind == mine.kind && stop.op == mine.op &&
                    word_operand(stop, HD_IMM_MASK, stop.mask, frame(w),
                                 other) == mask;
        together |= static_cast<Lanes>(same) << other;
    });
    return together;
}

void BlockRun::perform(uint32_t w, Lanes lanes) {
    uint32_t first;
    if (same_stop(w, lanes, &first) == lanes) {
        return perform_together(w, lanes, kernel_.stops[first]);
    }
    WarpValues values;
    values.predicate = 0;
    const hd_stop &operation = kernel_.stops[first];
    for (Lanes rest = lanes; rest;) {
        uint32_t stop;
        Lanes group = same_stop(w, rest, &stop);
        load_operands(kernel_.stops[stop], frame(w), group, &values);
        rest &= ~group;
    }
    values.uniform_bc = false;
    warp_operation(operation.kind, operation.op, lanes, &values);
    for (Lanes rest = lanes; rest;) {
        uint32_t stop;
        Lanes group = same_stop(w, rest, &stop);
        store_results(kernel_.stops[stop], frame(w), group, 0, values);
        rest &= ~group;
    }
    warps_[w].ready |= lanes;
}

void BlockRun::perform_together(uint32_t w, Lanes lanes,
                                const hd_stop &stop) {
    WarpValues values;
    values.predicate = 0;
    uint8_t *data = frame(w);
    // Whole slots: what stands there for other lanes has no influence.
    load_operands(stop, data, kAllLanes, &values);
    warp_operation(stop.kind, stop.op, lanes, &values);
    store_results(stop, data, lanes, ~warps_[w].alive, values);
    warps_[w].ready |= lanes;
}

/* ---- barriers --------------------------------------------------------- */

uint32_t expected_threads(const hd_stop &stop, const uint8_t *frame,
                          uint32_t lane) {
    if (stop.b < 0 && !(stop.imm & HD_IMM_B)) return 0;
    return word_operand(stop, HD_IMM_B, stop.b, frame, lane);
}

void BlockRun::stop_at_barrier(uint32_t w, Lanes lanes,
                               const hd_stop &stop) {
    if (stop.imm & HD_IMM_A && (stop.imm & HD_IMM_B || stop.b < 0)) {
        uint32_t expected =
            stop.imm & HD_IMM_B ? static_cast<uint32_t>(stop.b) : 0;
        return join_barrier(w, lanes, stop, static_cast<uint32_t>(stop.a),
                            expected);
    }
    for_each_lane(lanes, [&](uint32_t lane) {
        join_barrier(w, 1u << lane, stop,
                     word_operand(stop, HD_IMM_A, stop.a, frame(w), lane),
                     expected_threads(stop, frame(w), lane));
    });
}

void BlockRun::join_barrier(uint32_t w, Lanes lanes, const hd_stop &stop,
                            uint32_t id, uint32_t expected) {
    Warp &warp = warps_[w];
    id %= kBarriers;
    Barrier &barrier = barriers_[id];
    used_barriers_ |= 1u << id;
    barrier.arrived += count(lanes);
    barrier.expected = expected;
    // With a thread count, a warp counts in full once it is all there.
    bool waits = stop.kind == HD_STOP_BARRIER_RED || stop.op == HD_BAR_SYNC;
    if (expected && (warp.waiting[id] | lanes) == warp.alive) {
        barrier.arrived += 32 - count(warp.alive);
    }
    if (stop.kind == HD_STOP_BARRIER_RED) {
        Lanes set = stop.imm & HD_IMM_C
                        ? (stop.c ? kAllLanes : 0)
                        : load_predicates(frame(w) + stop.c);
        set &= lanes;
        barrier.popc += count(set);
        barrier.all &= set == lanes;
        barrier.any |= set != 0;
    }
    (waits ? warp.waiting[id] : warp.ready) |= lanes;
    if (complete(barrier)) release(id);
}

bool BlockRun::complete(const Barrier &barrier) const {
    uint32_t wanted =
        barrier.expected ? barrier.expected : alive_threads_;
    return barrier.arrived && barrier.arrived >= wanted;
}

void BlockRun::release(uint32_t id) {
    Barrier barrier = barriers_[id];
    barriers_[id].reset();
    used_barriers_ &= ~(1u << id);
    for (uint32_t w = 0; w < n_warps_; ++w) {
        Warp &warp = warps_[w];
        Lanes lanes = warp.waiting[id];
        if (!lanes) continue;
        warp.waiting[id] = 0;
        warp.ready |= lanes;
        store_reduction(w, lanes, barrier);
    }
}

void BlockRun::store_reduction(uint32_t w, Lanes lanes,
                               const Barrier &barrier) {
    while (lanes) {
        uint32_t stop_id;
        Lanes group = same_stop(w, lanes, &stop_id);
        lanes &= ~group;
        const hd_stop &stop = kernel_.stops[stop_id];
        if (stop.kind != HD_STOP_BARRIER_RED) continue;
        WarpValues values;
        bool result = stop.op == HD_RED_AND ? barrier.all : barrier.any;
        for (uint32_t &word : values.out) word = barrier.popc;
        values.out_predicate = result ? kAllLanes : 0;
        store_results(stop, frame(w), group, ~warps_[w].alive, values);
    }
}

/* Exited threads may have been the last that a barrier waited for. */
bool BlockRun::release_complete() {
    if (!exited_) return false;
    exited_ = false;
    bool progress = false;
    for (uint32_t rest = used_barriers_; rest; rest &= rest - 1) {
        uint32_t id = lowest(rest);
        if (!complete(barriers_[id])) continue;
        release(id);
        progress = true;
    }
    return progress;
}

/* ---- deadlock --------------------------------------------------------- */

const char *describe(const hd_stop &stop) {
    switch (stop.kind) {
    case HD_STOP_BARRIER: return "barrier";
    case HD_STOP_BARRIER_RED: return "barrier reduction";
    case HD_STOP_WARP_SYNC: return "bar.warp.sync";
    case HD_STOP_SHFL: return "shfl.sync";
    case HD_STOP_VOTE: return "vote.sync";
    case HD_STOP_MATCH: return "match.sync";
    case HD_STOP_REDUX: return "redux.sync";
    case HD_STOP_ELECT: return "elect.sync";
    default: return "stop";
    }
}

void BlockRun::report_deadlock() {
    std::map<uint32_t, uint32_t> threads;  // by stop id
    for (uint32_t w = 0; w < n_warps_; ++w) {
        for_each_lane(warps_[w].alive, [&](uint32_t lane) {
            ++threads[stops(w)[lane]];
        });
    }
    std::string text = std::string("deadlock in kernel ") + kernel_.name +
                       ", block (" + std::to_string(block_->ctaid[0]) + "," +
                       std::to_string(block_->ctaid[1]) + "," +
                       std::to_string(block_->ctaid[2]) + "):";
    for (auto &item : threads) {
        const hd_stop &stop = kernel_.stops[item.first];
        text += " " + std::to_string(item.second) + " threads wait at " +
                describe(stop) + " (PTX line " + std::to_string(stop.line) +
                "),";
    }
    text.back() = '.';
    text += " Each of them waits for threads that wait elsewhere.";
    record_fault(cudaErrorLaunchTimeout, text);
    block_->fault = HD_FAULT_DEADLOCK;
}

}  // namespace

void run_block(const hd_kernel &kernel, const hd_launch &launch,
               hd_block *block, const std::atomic<bool> &cancelled) {
    BlockRun(kernel, launch, block, cancelled).run();
}

}  // namespace host
