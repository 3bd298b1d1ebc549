/* handle.h: how a row of a table is named across the interface and across ticks.
 *
 * A handle is 8 bytes: slot in the low 32 bits, generation in the high 32. A slot's generation is odd while
 * its row is alive and even when it isn't, and rises by one at each birth and death: so no handle of a living
 * row is zero, and a handle to a dead row never names the row that took its slot. Zero is "none".
 */
#ifndef PHALANX_HANDLE_H
#define PHALANX_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t PhxHandle;

#define PHX_HANDLE_NONE ((PhxHandle)0)

static inline PhxHandle phx_handle_make(uint32_t slot, uint32_t generation) {
    return (uint64_t)generation << 32 | slot;
}
static inline uint32_t phx_handle_slot(PhxHandle handle) { return (uint32_t)handle; }
static inline uint32_t phx_handle_generation(PhxHandle handle) { return (uint32_t)(handle >> 32); }
static inline bool phx_generation_alive(uint32_t generation) { return generation & 1u; }

#ifdef __cplusplus
}
#endif
#endif
