/* Functions between the library and its Python side (runtime/bridge.py). */
#ifndef CUPY_HOST_BRIDGE_ABI_H_
#define CUPY_HOST_BRIDGE_ABI_H_

#include <stddef.h>

#include "kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The PTX translator.  A callback that fails calls hd_set_error first and
 * returns that code (get_kernel: NULL); it never raises. */
typedef struct hd_translator {
    /* Reads the PTX text (`size` bytes, not terminated) as module `id`. */
    int (*load_module)(uint64_t id, const char *image, uint64_t size);
    void (*unload_module)(uint64_t id);
    /* Compiles a kernel; it stays valid until the module is unloaded. */
    const hd_kernel *(*get_kernel)(uint64_t id, const char *name);
    /* Place of a module variable in the arena, in bytes. */
    int (*get_global)(uint64_t id, const char *name, uint64_t *offset,
                      uint64_t *size);
} hd_translator;

/* NULL takes the translator away (interpreter shutdown). */
void hd_set_translator(const hd_translator *);

/* For load_module: allocates the module's arena, copies `init` (size bytes,
 * or NULL for zeros) and returns its address, NULL when out of memory. */
void *hd_module_set_globals(uint64_t id, uint64_t size, const void *init);

/* Sets the calling thread's error text; codes are those of CUresult. */
void hd_set_error(int code, const char *text);

/* sizeof of an ABI structure by name ("hd_kernel", ...), 0 if unknown. */
uint64_t hd_sizeof(const char *structure);

/* The scheduler without the CUDA API: runs the kernel, then returns the
 * status that the next synchronising call would. */
int hd_run_kernel(const hd_kernel *, const uint32_t grid[3],
                  const uint32_t block[3], uint32_t dynamic_shared,
                  uint8_t *globals, const void *params);

/* Worker threads that launches may use; n = 0 asks for the default. */
void hd_set_num_threads(uint32_t n);
uint32_t hd_get_num_threads(void);

#ifdef __cplusplus
}
#endif

#endif
