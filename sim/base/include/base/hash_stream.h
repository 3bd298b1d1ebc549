/* hash_stream.h: XXH3-64 over bytes that don't lie in one piece.
 *
 * The stream's state is opaque storage, so that xxHash's header stays inside hash.c. The result equals
 * phx_hash_bytes over the concatenation of what was fed.
 */
#ifndef PHX_BASE_HASH_STREAM_H
#define PHX_BASE_HASH_STREAM_H

#include <phalanx/hash.h>
#include <stdalign.h>

typedef struct PhxHashStream {
    alignas(64) unsigned char storage[640];
} PhxHashStream;

void phx_hash_stream_begin(PhxHashStream *stream);
void phx_hash_stream_feed(PhxHashStream *stream, const void *data, size_t size);
uint64_t phx_hash_stream_end(const PhxHashStream *stream);

#endif
