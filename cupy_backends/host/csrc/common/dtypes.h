/* CuPy's dtype numbers and the C++ types that hold such elements. */
#ifndef CUPY_HOST_COMMON_DTYPES_H_
#define CUPY_HOST_COMMON_DTYPES_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "../common/half.h"

namespace host {

/* Numbered as CUPY_TYPE_* in cupy/_core/include/cupy/type_dispatcher.cuh. */
enum class DType : int {
    kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kInt64, kUint64,
    kFloat16, kFloat32, kFloat64, kComplex64, kComplex128, kBool,
};

/* std::complex multiplies by way of __muldc3, which mends NaNs where NumPy
 * and CUDA do not. */
template <typename T>
struct Complex {
    T re = 0, im = 0;
};

/* A bool that may hold any byte. */
struct Bool {
    uint8_t byte;
};

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<Complex<T>> : std::true_type {};

template <typename T>
struct Tag {
    using type = T;
};

/* Calls function(Tag<T>{}) with the element type of a dtype.  CuPy refuses
 * other dtypes before it comes here. */
template <typename Function>
void visit_dtype(int dtype, Function &&function) {
    switch (static_cast<DType>(dtype)) {
    case DType::kInt8: return function(Tag<int8_t>{});
    case DType::kUint8: return function(Tag<uint8_t>{});
    case DType::kInt16: return function(Tag<int16_t>{});
    case DType::kUint16: return function(Tag<uint16_t>{});
    case DType::kInt32: return function(Tag<int32_t>{});
    case DType::kUint32: return function(Tag<uint32_t>{});
    case DType::kInt64: return function(Tag<int64_t>{});
    case DType::kUint64: return function(Tag<uint64_t>{});
    case DType::kFloat16: return function(Tag<Half>{});
    case DType::kFloat32: return function(Tag<float>{});
    case DType::kFloat64: return function(Tag<double>{});
    case DType::kComplex64: return function(Tag<Complex<float>>{});
    case DType::kComplex128: return function(Tag<Complex<double>>{});
    case DType::kBool: return function(Tag<Bool>{});
    }
    throw std::runtime_error("unknown dtype number "
                             + std::to_string(dtype));
}

}  // namespace host

#endif
