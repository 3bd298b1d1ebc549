/* hash.h: XXH3-64, the one hash of the engine. The value is the same on every architecture and byte order
 * (xxHash's specification of XXH3, seed 0). */
#ifndef PHALANX_HASH_H
#define PHALANX_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* XXH3-64 of `size` bytes, seed 0. `data` may be null when size is 0. */
uint64_t phx_hash_bytes(const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
