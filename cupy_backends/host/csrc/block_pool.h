/* Memory of a cudaMemPool_t: large chunks, cut into blocks. */
#ifndef CUPY_HOST_BLOCK_POOL_H_
#define CUPY_HOST_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace host {

/* Figures in bytes.  The high-water marks count from the last reset. */
struct PoolUsage {
    size_t reserved = 0, reserved_high = 0;
    size_t used = 0, used_high = 0;
};

/* A best-fit allocator; neighbouring free blocks of a chunk are joined. */
class BlockPool {
public:
    /* `owner` is what Allocation::pool says of its memory. */
    explicit BlockPool(const void *owner) : owner_(owner) {}
    ~BlockPool() { trim(0); }

    int allocate(void **out, size_t size);
    int free(void *pointer);
    /* Gives back chunks without used blocks while more than `keep` bytes
     * are reserved. */
    void trim(size_t keep);

    PoolUsage usage();
    void reset_reserved_high();
    void reset_used_high();

private:
    struct Block {
        size_t size;
        uintptr_t chunk;
        bool free;
    };
    using Blocks = std::map<uintptr_t, Block>;

    int grow(size_t size);
    void take(Blocks::iterator block, size_t size);
    void set_free(Blocks::iterator block);
    Blocks::iterator join(Blocks::iterator first, Blocks::iterator second);
    void trim_locked(size_t keep);

    const void *const owner_;
    std::mutex mutex_;
    std::map<uintptr_t, size_t> chunks_;
    Blocks blocks_;
    std::set<std::pair<size_t, uintptr_t>> free_;  // by size
    PoolUsage usage_;
};

}  // namespace host

#endif
