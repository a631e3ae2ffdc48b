#include "guard.h"

#include <csetjmp>
#include <csignal>
#include <mutex>

namespace host {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr int kSignalCount = sizeof kSignals / sizeof kSignals[0];

struct Landing {
    sigjmp_buf jump;
    Crash crash;
};

// Where the calling thread goes on after a crash; NULL outside of kernels.
thread_local Landing *volatile landing = nullptr;

struct sigaction previous[kSignalCount];

/* The crash is not ours: does what would have been done without us. */
void pass_on(int index, siginfo_t *info, void *context) {
    const struct sigaction &old = previous[index];
    if (old.sa_flags & SA_SIGINFO) {
        old.sa_sigaction(kSignals[index], info, context);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
        old.sa_handler(kSignals[index]);
    } else {
        // Returning runs the faulting instruction again, or a signal that
        // another process sent is raised again, now with its usual effect.
        sigaction(kSignals[index], &old, nullptr);
        if (info->si_code <= 0) raise(kSignals[index]);
    }
}

void handle(int signal, siginfo_t *info, void *context) {
    Landing *target = landing;
    bool by_an_instruction = info->si_code > 0;
    if (target && by_an_instruction) {
        bool known = info->si_code != SI_KERNEL;
        target->crash = {signal, known ? info->si_addr : nullptr};
        siglongjmp(target->jump, 1);
    }
    for (int i = 0; i < kSignalCount; ++i) {
        if (kSignals[i] == signal) pass_on(i, info, context);
    }
}

void install() {
    struct sigaction action {};
    action.sa_sigaction = handle;
    // Without SA_NODEFER the signal would stay blocked after the jump.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < kSignalCount; ++i) {
        sigaction(kSignals[i], &action, &previous[i]);
    }
}

/* Ends the guarded part also when an exception leaves it. */
struct Scope {
    explicit Scope(Landing *own) : outer(landing) { landing = own; }
    ~Scope() { landing = outer; }
    Landing *outer;
};

}  // namespace

Crash run_guarded(void (*function)(void *), void *context) {
    static std::once_flag installed;
    std::call_once(installed, install);
    Landing own;
    Scope scope(&own);
    if (sigsetjmp(own.jump, 0) == 0) function(context);
    return own.crash;
}

}  // namespace host
