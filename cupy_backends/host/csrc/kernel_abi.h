/* Binary interface between translated kernels and the kernel scheduler.
 *
 * Code that the PTX translator generates (ptx/, runtime/jit.py) is called by
 * the scheduler (scheduler.cpp) and calls back into the functions at the end
 * of this file.  Plain C, no includes but <stdint.h>: runtime/bridge.py
 * mirrors the structures with ctypes and a test compares the sizes.
 *
 * Terms follow the PTX ISA; a "lane" is a thread's place in its warp, the
 * linear index of a thread in its block is 32 * warp + lane.
 */
#ifndef CUPY_HOST_KERNEL_ABI_H_
#define CUPY_HOST_KERNEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_ABI_VERSION 1u
#define HD_WARP_SIZE 32u
/* Next-stop word of a lane that returned or executed `exit`. */
#define HD_EXITED 0xFFFFFFFFu

/* What a whole launch shares; read-only for kernels. */
typedef struct hd_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared; /* bytes asked for by the launch */
    uint32_t reserved;
    uint8_t *globals;      /* module arena: .global and .const, by offset */
    const uint8_t *params; /* parameter block in PTX layout, 64-aligned */
} hd_launch;

/* Why a block was given up; stored in hd_block.fault by translated code,
 * which then returns at once (straight) or marks its lanes HD_EXITED. */
enum hd_fault {
    HD_FAULT_NONE = 0,
    HD_FAULT_TRAP = 1,     /* trap, brkpt, unreachable code */
    HD_FAULT_ASSERT = 2,   /* set by hd_rt_assertfail */
    HD_FAULT_DEADLOCK = 3, /* set by the scheduler only */
    HD_FAULT_STACK = 4     /* device call stack or heap exhausted */
};

/* One block while it runs.  Straight kernels loop over blocks themselves and
 * must store `ctaid` before anything that may fault or call hd_rt_*. */
typedef struct hd_block {
    uint8_t *shared; /* static part first, then dynamic; 128-aligned */
    uint32_t ctaid[3];
    uint32_t worker; /* index of the running worker: %smid */
    uint64_t fault;  /* enum hd_fault */
} hd_block;

/* Straight kernels (no barrier, no warp operation): runs the blocks
 * [first_block, end_block), numbered with x fastest, with all their threads.
 * Checks block->fault after whatever may set it and returns when set. */
typedef void (*hd_straight_fn)(const hd_launch *, hd_block *,
                               uint64_t first_block, uint64_t end_block);

/* Phase kernels: runs the lanes in `mask` of warp `warp` from this phase's
 * resume point until each stops or exits, and writes each one's stop id (or
 * HD_EXITED) into ((uint32_t *)frame)[lane].  Words of other lanes stay.
 * Phase 0 is the kernel entry; the resume point after stop s is phase s+1. */
typedef void (*hd_phase_fn)(const hd_launch *, hd_block *, uint8_t *frame,
                            uint32_t warp, uint32_t mask);

enum hd_stop_kind {
    HD_STOP_BARRIER = 1,     /* a: barrier id, b: thread count or none */
    HD_STOP_BARRIER_RED = 2, /* + c: predicate; popc -> dst, and/or -> dst2 */
    HD_STOP_WARP_SYNC = 3,   /* mask */
    HD_STOP_SHFL = 4,        /* a: value, b: lane operand, c: clamp/segment
                                operand, mask; dst: b32, dst2: in range */
    HD_STOP_VOTE = 5,        /* c: predicate, mask; all/any/uni -> dst2,
                                ballot -> dst */
    HD_STOP_MATCH = 6,       /* a: value (b32/b64), mask; dst: b32 mask,
                                all: dst2 predicate */
    HD_STOP_REDUX = 7,       /* a: value, mask; dst: b32 */
    HD_STOP_ACTIVEMASK = 8,  /* dst: b32 */
    HD_STOP_ELECT = 9,       /* mask; dst: leader's lane, dst2: is leader */
    HD_STOP_YIELD = 10       /* lets the other lanes and warps run first:
                                nanosleep, back edge of a spin loop */
};

/* hd_stop.op, by kind. */
enum hd_barrier_op { HD_BAR_SYNC = 0, HD_BAR_ARRIVE = 1 };
enum hd_barrier_red_op { HD_RED_POPC = 0, HD_RED_AND = 1, HD_RED_OR = 2 };
enum hd_shfl_op {
    HD_SHFL_UP = 0,
    HD_SHFL_DOWN = 1,
    HD_SHFL_BFLY = 2,
    HD_SHFL_IDX = 3
};
enum hd_vote_op {
    HD_VOTE_ALL = 0,
    HD_VOTE_ANY = 1,
    HD_VOTE_UNI = 2,
    HD_VOTE_BALLOT = 3
};
enum hd_match_op {
    HD_MATCH_ANY_B32 = 0,
    HD_MATCH_ANY_B64 = 1,
    HD_MATCH_ALL_B32 = 2,
    HD_MATCH_ALL_B64 = 3
};
enum hd_redux_op {
    HD_REDUX_ADD = 0,
    HD_REDUX_MIN_U32 = 1,
    HD_REDUX_MIN_S32 = 2,
    HD_REDUX_MAX_U32 = 3,
    HD_REDUX_MAX_S32 = 4,
    HD_REDUX_AND = 5,
    HD_REDUX_OR = 6,
    HD_REDUX_XOR = 7
};

/* hd_stop.imm: the field holds the operand's value, not a frame offset.
 * Constants should be passed so: they need no store and open fast paths. */
enum hd_stop_imm {
    HD_IMM_A = 1,
    HD_IMM_B = 2,
    HD_IMM_C = 4,
    HD_IMM_MASK = 8
};

/* A point where lanes stop for others.  dst..mask are byte offsets of
 * 32-lane slots in the frame, -1 for none: b32 slots are uint32_t[32], b64
 * slots uint64_t[32], predicate slots uint8_t[32] holding 0 or 1.  A slot is
 * aligned to its element's size times 16.  dst/dst2 may equal a source slot.
 */
typedef struct hd_stop {
    uint32_t kind; /* enum hd_stop_kind */
    uint32_t op;
    int32_t dst, dst2;
    int32_t a, b, c;
    int32_t mask; /* member mask */
    uint32_t imm; /* bits of enum hd_stop_imm */
    uint32_t line; /* of the instruction in the PTX text, for messages */
} hd_stop;

/* A kernel, made by runtime/bridge.py and alive as long as its module.
 * frame: one per warp, 128-aligned and frame_bytes (a multiple of 128) long.
 * Its first 128 bytes are the next-stop words, then registers that live
 * across a stop (lane-minor), then .local memory of the 32 lanes. */
typedef struct hd_kernel {
    uint32_t abi_version; /* HD_ABI_VERSION */
    uint32_t n_phases;    /* 0: straight; else n_stops + 1 */
    void *entry;          /* hd_straight_fn, or NULL */
    void **phases;        /* hd_phase_fn[n_phases], or NULL */
    const hd_stop *stops;
    uint32_t n_stops;
    uint32_t frame_bytes;
    uint32_t static_shared; /* multiple of 16: the dynamic part follows */
    uint32_t n_params;
    const uint32_t *param_offset;
    const uint32_t *param_size;
    uint32_t param_bytes;
    uint32_t max_threads_per_block; /* .maxntid product, or 1024 */
    uint32_t local_bytes;           /* .local per thread, for attributes */
    uint32_t n_registers;           /* for attributes; 0: not known */
    const char *name;
} hd_kernel;

/* ---- Functions that translated code may call ------------------------- */

/* `thread` is the linear index of the calling thread in its block. */

/* __assertfail: prints CUDA's message to stderr, records it and sets
 * block->fault; the caller must then stop like after any fault.  char_size
 * is sizeof(wchar_t or char) of the texts. */
void hd_rt_assertfail(const hd_launch *, hd_block *, uint32_t thread,
                      const void *message, const void *file, uint32_t line,
                      const void *function, uint64_t char_size);
/* Records a trap: block, thread and PTX line appear in the error text. */
void hd_rt_trap(const hd_launch *, hd_block *, uint32_t thread,
                uint32_t line);

/* vprintf(format, arguments): C varargs in natural alignment, as NVRTC lays
 * them out.  Returns the number of arguments, or -1 for a NULL format. */
int32_t hd_rt_vprintf(const char *format, const void *arguments);

/* Device heap (limit cudaLimitMallocHeapSize); NULL when exhausted. */
void *hd_rt_malloc(uint64_t size);
void hd_rt_free(void *);

uint64_t hd_rt_clock64(void);     /* a monotonic cycle-like counter */
uint64_t hd_rt_globaltimer(void); /* nanoseconds since the epoch */
void hd_rt_nanosleep(uint32_t nanoseconds);

/* Besides these the library exports what LLVM may call for half precision
 * where the CPU has none: __truncdfhf2, __truncsfhf2, __extendhfsf2. */

#ifdef __cplusplus
}
#endif

#endif /* CUPY_HOST_KERNEL_ABI_H_ */
