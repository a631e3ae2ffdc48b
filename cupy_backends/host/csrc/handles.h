/* Live objects behind opaque handles: a stale or foreign handle gives an
 * error instead of a crash. */
#ifndef CUPY_HOST_HANDLES_H_
#define CUPY_HOST_HANDLES_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "error.h"

namespace host {

template <typename T>
class Handles {
public:
    /* `what` names the kind of object in error texts. */
    explicit Handles(const char *what)
        : what_(what), live_(*new Map), mutex_(*new std::shared_mutex) {}

    template <typename... Args>
    T *create(Args &&...args) {
        auto object = std::make_unique<T>(std::forward<Args>(args)...);
        T *pointer = object.get();
        std::unique_lock<std::shared_mutex> lock(mutex_);
        live_.emplace(pointer, std::move(object));
        return pointer;
    }

    int find(const void *handle, T **out) const {
        *out = nullptr;
        std::shared_lock<std::shared_mutex> lock(mutex_);
        auto it = live_.find(handle);
        if (it == live_.end()) return unknown(handle);
        *out = it->second.get();
        return 0;
    }

    /* Calls f(object) for each; f must not use this container. */
    template <typename F>
    void for_each(F f) const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        for (auto &item : live_) f(item.second.get());
    }

    int destroy(const void *handle) {
        std::unique_ptr<T> object;  // destroyed after the lock is released
        std::unique_lock<std::shared_mutex> lock(mutex_);
        auto it = live_.find(handle);
        if (it == live_.end()) return unknown(handle);
        object = std::move(it->second);
        live_.erase(it);
        lock.unlock();
        return 0;
    }

private:
    using Map = std::unordered_map<const void *, std::unique_ptr<T>>;

    int unknown(const void *handle) const {
        return fail(CUDA_ERROR_INVALID_HANDLE,
                    "invalid resource handle: %p is no live %s", handle,
                    what_);
    }

    const char *what_;
    // Leaked: objects may be destroyed while the process exits.
    Map &live_;
    std::shared_mutex &mutex_;
};

}  // namespace host

#endif
