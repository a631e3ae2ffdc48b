/* vprintf of kernels.  CUDA C++ Programming Guide, "Formatted Output". */
#include "device_printf.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "kernel_abi.h"

namespace host {
namespace {

// Beyond this much text waiting, a kernel writes it out itself.
constexpr size_t kBufferLimit = size_t{1} << 20;

std::mutex buffer_mutex;
std::string buffer;
std::atomic<bool> pending{false};

/* Reads arguments one after the other, each at its natural alignment. */
class Arguments {
public:
    explicit Arguments(const void *base)
        : base_(static_cast<const char *>(base)) {}

    template <typename T>
    T next() {
        offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value;
        std::memcpy(&value, base_ + offset_, sizeof(T));
        offset_ += sizeof(T);
        ++count_;
        return value;
    }
    int count() const { return count_; }

private:
    const char *base_;
    size_t offset_ = 0;
    int count_ = 0;
};

/* One conversion specification: %[flags][width][.precision][length]type. */
struct Spec {
    std::string text;  // flags, width and precision with '*' filled in
    bool wide = false;  // 64-bit integer
    char type = 0;
};

template <typename T>
void print(std::string *out, const Spec &spec, const char *length, T value) {
    std::string format = "%" + spec.text + length + spec.type;
    char small[128];
    int n = std::snprintf(small, sizeof small, format.c_str(), value);
    if (n < 0) return;
    if (static_cast<size_t>(n) < sizeof small) {
        out->append(small, static_cast<size_t>(n));
        return;
    }
    std::string big(static_cast<size_t>(n) + 1, '\0');
    std::snprintf(&big[0], big.size(), format.c_str(), value);
    out->append(big, 0, static_cast<size_t>(n));
}

/* Parses the specification after '%'; returns the place behind it. */
const char *parse(const char *p, Arguments *arguments, Spec *spec) {
    while (*p && std::strchr("-+ #0123456789.*", *p)) {
        if (*p == '*') {
            spec->text += std::to_string(arguments->next<int32_t>());
        } else {
            spec->text += *p;
        }
        ++p;
    }
    for (; *p && std::strchr("hlLqjzt", *p); ++p) {
        // long has 64 bits on every platform that this runs on.
        spec->wide = spec->wide || (*p != 'h' && *p != 'L');
    }
    spec->type = *p;
    return *p ? p + 1 : p;
}

void print_integer(std::string *out, const Spec &spec, Arguments *arguments) {
    if (spec.wide) {
        print(out, spec, "ll",
              static_cast<long long>(arguments->next<int64_t>()));
    } else {
        print(out, spec, "", arguments->next<int32_t>());
    }
}

void print_string(std::string *out, const Spec &spec, Arguments *arguments) {
    const char *text = arguments->next<const char *>();
    print(out, spec, "", text ? text : "(null)");
}

void convert(std::string *out, const Spec &spec, Arguments *arguments) {
    switch (spec.type) {
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
        return print_integer(out, spec, arguments);
    case 'c':
        return print(out, spec, "", arguments->next<int32_t>());
    case 'e': case 'E': case 'f': case 'F':
    case 'g': case 'G': case 'a': case 'A':
        return print(out, spec, "", arguments->next<double>());
    case 's':
        return print_string(out, spec, arguments);
    case 'p':
        return print(out, spec, "", arguments->next<void *>());
    case '%':
        out->push_back('%');
        return;
    default:  // as CUDA: undefined, shown as it stands
        out->push_back('%');
        out->append(spec.text);
        if (spec.type) out->push_back(spec.type);
    }
}

}  // namespace

int format_device(std::string *out, const char *format,
                  const void *argument_buffer) {
    if (!format) return -1;
    Arguments arguments(argument_buffer);
    for (const char *p = format; *p;) {
        const char *percent = std::strchr(p, '%');
        if (!percent) {
            out->append(p);
            break;
        }
        out->append(p, static_cast<size_t>(percent - p));
        Spec spec;
        p = parse(percent + 1, &arguments, &spec);
        convert(out, spec, &arguments);
    }
    return arguments.count();
}

void flush_printf() {
    if (!pending.load(std::memory_order_acquire)) return;
    std::lock_guard<std::mutex> lock(buffer_mutex);
    std::fwrite(buffer.data(), 1, buffer.size(), stdout);
    std::fflush(stdout);
    buffer.clear();
    pending.store(false, std::memory_order_release);
}

}  // namespace host

extern "C" int32_t hd_rt_vprintf(const char *format, const void *arguments) {
    std::string text;
    int count = host::format_device(&text, format, arguments);
    bool full;
    {
        std::lock_guard<std::mutex> lock(host::buffer_mutex);
        host::buffer += text;
        full = host::buffer.size() > host::kBufferLimit;
        host::pending.store(true, std::memory_order_release);
    }
    if (full) host::flush_printf();
    return count;
}
