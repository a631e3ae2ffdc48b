/* Warp operations: what lanes that stopped together compute. */
#ifndef CUPY_HOST_WARP_H_
#define CUPY_HOST_WARP_H_

#include "kernel_abi.h"
#include "lanes.h"

namespace host {

/* Operands and results of one operation, by lane. */
struct WarpValues {
    alignas(64) uint32_t a[32];
    alignas(64) uint32_t b[32];
    alignas(64) uint32_t c[32];
    alignas(64) uint64_t wide[32];  // `a` of 64-bit match
    alignas(64) uint32_t out[32];
    Lanes predicate;      // operand c of vote
    Lanes out_predicate;  // result dst2
    bool uniform_bc;      // b and c are the same constants in all lanes
};

/* Performs `op` of `kind` among `lanes`, from values to values. */
void warp_operation(uint32_t kind, uint32_t op, Lanes lanes, WarpValues *);

/* Reads the operands of `lanes`, which wait at `stop`, from the frame. */
void load_operands(const hd_stop &stop, const uint8_t *frame, Lanes lanes,
                   WarpValues *);
/* Writes the results of `lanes` back; of `dead` lanes anything may be
 * written over. */
void store_results(const hd_stop &stop, uint8_t *frame, Lanes lanes,
                   Lanes dead, const WarpValues &);

/* The operand of lane `lane` that an hd_stop field names. */
inline uint32_t word_operand(const hd_stop &stop, uint32_t imm_bit,
                             int32_t field, const uint8_t *frame,
                             uint32_t lane) {
    if (stop.imm & imm_bit) return static_cast<uint32_t>(field);
    return reinterpret_cast<const uint32_t *>(frame + field)[lane];
}

}  // namespace host

#endif
