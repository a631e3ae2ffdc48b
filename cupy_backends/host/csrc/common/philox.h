/* Philox4x32-10, a counter-based generator: J. K. Salmon, M. A. Moraes,
 * R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC'11.  A block of four words is a function of its place in the stream
 * alone, so results do not depend on how many threads compute them. */
#ifndef CUPY_HOST_COMMON_PHILOX_H_
#define CUPY_HOST_COMMON_PHILOX_H_

#include <array>
#include <cstdint>
#include <cstring>

namespace host {

using Block = std::array<uint32_t, 4>;

inline Block philox(Block counter, uint64_t key) {
    uint32_t key0 = uint32_t(key), key1 = uint32_t(key >> 32);
    for (int round = 0; round < 10; ++round) {
        uint64_t a = uint64_t{0xD2511F53u} * counter[0];
        uint64_t b = uint64_t{0xCD9E8D57u} * counter[2];
        counter = {uint32_t(b >> 32) ^ counter[1] ^ key0, uint32_t(b),
                   uint32_t(a >> 32) ^ counter[3] ^ key1, uint32_t(a)};
        key0 += 0x9E3779B9u;  // golden ratio
        key1 += 0xBB67AE85u;  // sqrt(3) - 1
    }
    return counter;
}

/* An endless sequence of words, one of 2**32 of the same key. */
struct WordStream {
    uint64_t key;
    uint32_t sequence;

    Block block(uint64_t index, uint32_t inner = 0) const {
        return philox({uint32_t(index), uint32_t(index >> 32), inner,
                       sequence}, key);
    }

    uint32_t word(uint64_t position) const {
        return block(position / 4)[position % 4];
    }

    /* Words [position, position + count). */
    void read(uint64_t position, uint64_t count, uint32_t *words) const {
        for (; count && position % 4; --count) *words++ = word(position++);
        for (; count >= 4; count -= 4, position += 4, words += 4) {
            Block four = block(position / 4);
            std::memcpy(words, four.data(), sizeof four);
        }
        for (; count; --count) *words++ = word(position++);
    }
};

}  // namespace host

#endif
