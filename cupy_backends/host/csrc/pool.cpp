#include "pool.h"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#include "bridge_abi.h"

namespace host {
namespace {

constexpr unsigned kMaxThreads = 1024;

void drain(Task *task, unsigned worker) {
    while (!task->cancelled.load(std::memory_order_relaxed)) {
        uint64_t first = task->next.fetch_add(task->chunk,
                                              std::memory_order_relaxed);
        if (first >= task->total) return;
        uint64_t end = std::min(first + task->chunk, task->total);
        task->function(task->context, first, end, worker);
    }
}

/* Never destroyed: its threads sleep until the process ends. */
class Pool {
public:
    explicit Pool(unsigned threads) : threads_(threads) {}

    /* False when another caller has the pool. */
    bool run(Task *task) {
        if (!busy_.try_lock()) return false;
        std::lock_guard<std::mutex> owner(busy_, std::adopt_lock);
        post(task);
        drain(task, 0);
        retire();
        return true;
    }

private:
    void post(Task *task) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = task;
            ++generation_;
            start_threads();
        }
        wake_.notify_all();
    }

    /* Waits for the threads that took up the task; those that wake up later
     * find none. */
    void retire() {
        std::unique_lock<std::mutex> lock(mutex_);
        task_ = nullptr;
        done_.wait(lock, [this] { return running_ == 0; });
    }

    void start_threads() {
        while (started_ + 1 < threads_) {
            try {
                std::thread([this, id = started_ + 1] { loop(id); }).detach();
            } catch (const std::system_error &) {
                threads_ = started_ + 1;  // go on with those that we have
                return;
            }
            ++started_;
        }
    }

    void loop(unsigned id) {
        uint64_t seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return task_ && generation_ != seen; });
            seen = generation_;
            Task *task = task_;
            ++running_;
            lock.unlock();
            drain(task, id);
            lock.lock();
            if (--running_ == 0) done_.notify_one();
        }
    }

    std::mutex busy_;   // held by the caller whose task is running
    std::mutex mutex_;  // guards all below
    std::condition_variable wake_, done_;
    Task *task_ = nullptr;
    uint64_t generation_ = 0;
    unsigned running_ = 0, started_ = 0, threads_;
};

std::atomic<Pool *> current{nullptr};
std::atomic<unsigned> wanted{0};

unsigned available_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    }
    return std::max(1u, std::thread::hardware_concurrency());
}

unsigned default_threads() {
    const char *text = std::getenv("CUPY_HOST_NUM_THREADS");
    long n = text ? std::strtol(text, nullptr, 10) : 0;
    if (n > 0) return static_cast<unsigned>(std::min<long>(n, kMaxThreads));
    return std::min(available_cores(), kMaxThreads);
}

Pool *pool() {
    Pool *existing = current.load(std::memory_order_acquire);
    if (existing) return existing;
    Pool *created = new Pool(num_threads());
    if (current.compare_exchange_strong(existing, created)) return created;
    delete created;  // another thread was first; no thread started yet
    return existing;
}

}  // namespace

unsigned num_threads() {
    unsigned n = wanted.load(std::memory_order_relaxed);
    if (n) return n;
    n = default_threads();
    wanted.store(n, std::memory_order_relaxed);
    return n;
}

void set_num_threads(unsigned n) {
    wanted.store(n ? std::min(n, kMaxThreads) : default_threads());
    // The old pool's threads stay asleep: some caller may still be in it.
    current.store(nullptr, std::memory_order_release);
}

void reset_pool_after_fork() { current.store(nullptr); }

void run_inline(Task *task) { drain(task, 0); }

unsigned run_parallel(Task *task) {
    unsigned threads = num_threads();
    if (threads > 1 && task->total > task->chunk && pool()->run(task)) {
        return threads;
    }
    run_inline(task);
    return 1;
}

}  // namespace host

extern "C" {

void hd_set_num_threads(uint32_t n) { host::set_num_threads(n); }
uint32_t hd_get_num_threads(void) { return host::num_threads(); }

}  // extern "C"
