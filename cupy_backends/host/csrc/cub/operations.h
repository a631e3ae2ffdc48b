/* CuPy's numbers of operations: CUPY_CUB_* of cupy/cuda/cupy_cub.h. */
#ifndef CUPY_HOST_CUB_OPERATIONS_H_
#define CUPY_HOST_CUB_OPERATIONS_H_

#include <stdexcept>

#include "../common/dtypes.h"
#include "../cub/arithmetic.h"
#include "../cub/extremum.h"

/* As in the CUDA headers, so that our functions have the very names that
 * upstream's modules look for. */
using cudaStream_t = struct CUstream_st *;

namespace host {

enum class CubOp {
    kSum, kMin, kMax, kArgMin, kArgMax, kCumSum, kCumProd, kProd,
};

/* cub.pyx refuses other operations before it comes here. */
[[noreturn]] inline void unknown_operation() {
    throw std::runtime_error("unknown operation number");
}

/* Calls function(Tag<Op>{}) for the operations on elements T. */
template <typename T, typename Function>
void visit_reduction(int op, Function &&function) {
    switch (static_cast<CubOp>(op)) {
    case CubOp::kSum: return function(Tag<Sum<T>>{});
    case CubOp::kProd: return function(Tag<Product<T>>{});
    case CubOp::kMin: return function(Tag<Minimum<T>>{});
    case CubOp::kMax: return function(Tag<Maximum<T>>{});
    default: unknown_operation();
    }
}

/* Workspaces: none is needed, but a NULL one would mean a query. */
constexpr unsigned kNoWorkspace = 1;

}  // namespace host

#endif
