/* Array parameters of distributions, e.g. one mean per element. */
#ifndef CUPY_HOST_GENERATOR_ARGUMENTS_H_
#define CUPY_HOST_GENERATOR_ARGUMENTS_H_

#include <cstdint>

namespace host {

/* Reads what _array_data of cupy/random/_generator_api.pyx writes: int64
 * numbers (address, ndim, shape..., strides in bytes...); the shape is that
 * of the output, strides of broadcast dimensions are 0. */
template <typename T>
class ArrayArgument {
public:
    explicit ArrayArgument(intptr_t description)
        : data_(reinterpret_cast<const int64_t *>(description)),
          address_(intptr_t(data_[0])), ndim_(data_[1]),
          shape_(data_ + 2), strides_(data_ + 2 + ndim_) {
        for (int64_t i = 0; i < ndim_; ++i) {
            constant_ = constant_ && strides_[i] == 0;
        }
    }

    /* Element `index` in C order. */
    T operator[](uint64_t index) const {
        int64_t offset = 0;
        for (int64_t i = ndim_; !constant_ && i-- > 0;) {
            uint64_t length = uint64_t(shape_[i]);
            offset += strides_[i] * int64_t(index % length);
            index /= length;
        }
        return *reinterpret_cast<const T *>(address_ + offset);
    }

private:
    const int64_t *data_;
    intptr_t address_;
    int64_t ndim_;
    const int64_t *shape_, *strides_;
    bool constant_ = true;
};

}  // namespace host

#endif
