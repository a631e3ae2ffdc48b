#include "block_pool.h"

#include <algorithm>
#include <iterator>

#include "allocation.h"
#include "error.h"

namespace host {
namespace {

// Alignment and smallest size of a block.
constexpr size_t kUnit = 512;
// CUDA's pools grow by this much as well.
constexpr size_t kChunk = size_t{32} << 20;

size_t rounded(size_t size, size_t unit) {
    return (size + unit - 1) / unit * unit;
}

}  // namespace

int BlockPool::allocate(void **out, size_t size) {
    if (!out || !size) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: asynchronous allocation of %zu bytes",
                    size);
    }
    *out = nullptr;
    // Sizes that no memory has room for must not overflow when rounded.
    size = rounded(std::min(size, total_bytes() + 1), kUnit);
    std::lock_guard<std::mutex> lock(mutex_);
    auto fit = free_.lower_bound({size, 0});
    if (fit == free_.end()) {
        if (int status = grow(size)) return status;
        fit = free_.lower_bound({size, 0});
    }
    uintptr_t address = fit->second;
    take(blocks_.find(address), size);
    usage_.used += size;
    usage_.used_high = std::max(usage_.used_high, usage_.used);
    *out = reinterpret_cast<void *>(address);
    return 0;
}

/* Adds a chunk with room for `size` bytes; of just that size when memory is
 * short. */
int BlockPool::grow(size_t size) {
    void *memory = nullptr;
    size_t bytes = std::max(kChunk, rounded(size, kUnit));
    int status = host::allocate(&memory, bytes, Kind::kDevice, 0, owner_);
    if (status && bytes > size) {
        bytes = size;
        status = host::allocate(&memory, bytes, Kind::kDevice, 0, owner_);
    }
    if (status) return status;
    uintptr_t address = reinterpret_cast<uintptr_t>(memory);
    chunks_[address] = bytes;
    usage_.reserved += bytes;
    usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
    set_free(blocks_.emplace(address, Block{bytes, address, true}).first);
    return 0;
}

/* Marks the first `size` bytes of a free block as used. */
void BlockPool::take(Blocks::iterator block, size_t size) {
    free_.erase({block->second.size, block->first});
    size_t rest = block->second.size - size;
    block->second.size = size;
    block->second.free = false;
    if (!rest) return;
    uintptr_t address = block->first + size;
    Block second{rest, block->second.chunk, true};
    set_free(blocks_.emplace(address, second).first);
}

void BlockPool::set_free(Blocks::iterator block) {
    block->second.free = true;
    free_.insert({block->second.size, block->first});
}

BlockPool::Blocks::iterator BlockPool::join(Blocks::iterator first,
                                            Blocks::iterator second) {
    free_.erase({first->second.size, first->first});
    free_.erase({second->second.size, second->first});
    first->second.size += second->second.size;
    blocks_.erase(second);
    set_free(first);
    return first;
}

int BlockPool::free(void *pointer) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
    if (block == blocks_.end() || block->second.free) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: %p is not the start of memory in use "
                    "from the memory pool", pointer);
    }
    usage_.used -= block->second.size;
    set_free(block);
    auto joinable = [this](Blocks::iterator a, Blocks::iterator b) {
        return b != blocks_.end() && a->second.free && b->second.free &&
               a->second.chunk == b->second.chunk;
    };
    if (block != blocks_.begin() && joinable(std::prev(block), block)) {
        block = join(std::prev(block), block);
    }
    if (joinable(block, std::next(block))) join(block, std::next(block));
    return 0;
}

void BlockPool::trim(size_t keep) {
    std::lock_guard<std::mutex> lock(mutex_);
    trim_locked(keep);
}

void BlockPool::trim_locked(size_t keep) {
    for (auto chunk = chunks_.begin();
         chunk != chunks_.end() && usage_.reserved > keep;) {
        auto block = blocks_.find(chunk->first);
        if (!block->second.free || block->second.size != chunk->second) {
            ++chunk;
            continue;
        }
        free_.erase({chunk->second, chunk->first});
        blocks_.erase(block);
        usage_.reserved -= chunk->second;
        release(reinterpret_cast<void *>(chunk->first), true);
        chunk = chunks_.erase(chunk);
    }
}

PoolUsage BlockPool::usage() {
    std::lock_guard<std::mutex> lock(mutex_);
    return usage_;
}

void BlockPool::reset_reserved_high() {
    std::lock_guard<std::mutex> lock(mutex_);
    usage_.reserved_high = usage_.reserved;
}

void BlockPool::reset_used_high() {
    std::lock_guard<std::mutex> lock(mutex_);
    usage_.used_high = usage_.used;
}

}  // namespace host
