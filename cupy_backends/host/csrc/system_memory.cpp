#include "system_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdio>

namespace host {
namespace {

/* Reads a number from a one-line file; `fallback` for "max" or no file. */
size_t read_number(const char *path, size_t fallback) {
    FILE *file = std::fopen(path, "r");
    if (!file) return fallback;
    unsigned long long value;
    int found = std::fscanf(file, "%llu", &value);
    std::fclose(file);
    return found == 1 ? static_cast<size_t>(value) : fallback;
}

size_t physical() {
    struct sysinfo info;
    sysinfo(&info);
    return static_cast<size_t>(info.totalram) * info.mem_unit;
}

/* Control group v2, then v1, as seen inside a container. */
size_t group_limit(size_t fallback) {
    size_t limit = read_number("/sys/fs/cgroup/memory.max", fallback);
    return read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", limit);
}

size_t group_usage() {
    size_t usage = read_number("/sys/fs/cgroup/memory.current", 0);
    return read_number("/sys/fs/cgroup/memory/memory.usage_in_bytes", usage);
}

size_t available_by_kernel(size_t fallback) {
    FILE *file = std::fopen("/proc/meminfo", "r");
    if (!file) return fallback;
    char line[128];
    unsigned long long kib;
    size_t result = fallback;
    while (std::fgets(line, sizeof line, file)) {
        if (std::sscanf(line, "MemAvailable: %llu", &kib) == 1) {
            result = static_cast<size_t>(kib) * 1024;
            break;
        }
    }
    std::fclose(file);
    return result;
}

}  // namespace

size_t system_total() {
    static const size_t total = std::min(physical(), group_limit(physical()));
    return total;
}

size_t system_available() {
    size_t available = available_by_kernel(system_total());
    // The page cache counts as usage of a group although it can be dropped,
    // so only a limit that is really set narrows the answer.
    if (system_total() < physical()) {
        size_t used = std::min(group_usage(), system_total());
        available = std::min(available, system_total() - used);
    }
    return available;
}

}  // namespace host
