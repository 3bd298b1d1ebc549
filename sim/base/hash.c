/* hash.c: the only file that includes xxHash, inlined, so that no version of a shared library can matter. */
#include "base/hash_stream.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(PhxHashStream), "the stream's storage holds xxHash's state");

uint64_t phx_hash_bytes(const void *data, size_t size) { return XXH3_64bits(size ? data : "", size); }

static XXH3_state_t *state_of(PhxHashStream *stream) { return (XXH3_state_t *)(void *)stream->storage; }

void phx_hash_stream_begin(PhxHashStream *stream) {
    memset(stream->storage, 0, sizeof stream->storage);
    (void)XXH3_64bits_reset(state_of(stream));
}

void phx_hash_stream_feed(PhxHashStream *stream, const void *data, size_t size) {
    if (size) (void)XXH3_64bits_update(state_of(stream), data, size);
}

uint64_t phx_hash_stream_end(const PhxHashStream *stream) {
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)stream->storage);
}
