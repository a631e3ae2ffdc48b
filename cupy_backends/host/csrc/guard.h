/* Keeps the process alive when a kernel touches memory that is not there. */
#ifndef CUPY_HOST_GUARD_H_
#define CUPY_HOST_GUARD_H_

namespace host {

/* How guarded code ended. */
struct Crash {
    int signal = 0;                  // 0: it returned
    const void *address = nullptr;   // NULL if the system does not tell
};

/* Calls function(context).  A memory fault, illegal instruction or
 * arithmetic trap in it ends the call; nothing is unwound, so the function
 * must hold no locks and own nothing.  Exceptions pass through. */
Crash run_guarded(void (*function)(void *), void *context);

}  // namespace host

#endif
