/* pack.c: see pack.h. */
#include "replay/pack.h"

#include <string.h>
#if defined(PHX_REPLAY_WITH_ZSTD)
#include <zstd.h>
#endif

const char phx_replay_pack_lacking[] = "the content is packed with Zstandard, which this build lacks; repack "
                                       "it with `phx replay cut FILE -o OUT "
                                       "--pack none` of a build that has it";

#if defined(PHX_REPLAY_WITH_ZSTD)

enum { LEVEL = 3 };

uint8_t phx_replay_pack_best(void) { return PHX_REPLAY_ZSTD; }
static bool frame_holds(const uint8_t *from, size_t from_size, size_t size) {
    return ZSTD_getFrameContentSize(from, from_size) == size &&
           ZSTD_findFrameCompressedSize(from, from_size) == from_size;
}
static size_t pack_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    const size_t used = ZSTD_compress(to, capacity, from, size, LEVEL);
    return ZSTD_isError(used) ? 0 : used;
}
static PhxStatus unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to, size_t size) {
    if (!frame_holds(from, from_size, size)) return PHX_ERROR_FORMAT;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context) return PHX_ERROR_MEMORY;
    const size_t used = ZSTD_decompressDCtx(context, to, size, from, from_size);
    (void)ZSTD_freeDCtx(context);
    return used == size ? PHX_OK : PHX_ERROR_FORMAT;
}

#else

uint8_t phx_replay_pack_best(void) { return PHX_REPLAY_PLAIN; }
static bool frame_holds(const uint8_t *from, size_t from_size, size_t size) {
    (void)from, (void)from_size, (void)size;
    return true; /* as far as can be seen here */
}
static size_t pack_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    (void)from, (void)size, (void)to, (void)capacity;
    return 0;
}
static PhxStatus unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to, size_t size) {
    (void)from, (void)from_size, (void)to, (void)size;
    return PHX_ERROR_VERSION;
}

#endif

bool phx_replay_pack_known(uint8_t encoding) {
    return encoding == PHX_REPLAY_PLAIN || encoding == phx_replay_pack_best();
}

uint8_t phx_replay_pack_encoding(PhxReplayPacking packing) {
    switch (packing) {
    case PHX_REPLAY_PACK_NONE:
        return PHX_REPLAY_PLAIN;
    case PHX_REPLAY_PACK_ZSTD:
        return PHX_REPLAY_ZSTD;
    default:
        return phx_replay_pack_best();
    }
}

PhxStatus phx_replay_pack_allowed(PhxReplayPacking packing) {
    if ((unsigned)packing > PHX_REPLAY_PACK_ZSTD) return PHX_ERROR_ARGUMENT;
    return phx_replay_pack_known(phx_replay_pack_encoding(packing)) ? PHX_OK : PHX_ERROR_VERSION;
}

bool phx_replay_pack_may_hold(uint8_t encoding, const uint8_t *from, size_t from_size, size_t size) {
    if (encoding == PHX_REPLAY_PLAIN) return from_size == size;
    return encoding == PHX_REPLAY_ZSTD && size / PHX_REPLAY_ZSTD_GAIN <= from_size &&
           frame_holds(from, from_size, size);
}

size_t phx_replay_pack(uint8_t encoding, const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    if (encoding == PHX_REPLAY_ZSTD) return pack_zstd(from, size, to, capacity);
    if (encoding != PHX_REPLAY_PLAIN || size > capacity) return 0;
    if (size) memcpy(to, from, size);
    return size;
}

PhxStatus phx_replay_unpack(uint8_t encoding, const uint8_t *from, size_t from_size, uint8_t *to,
                            size_t size) {
    if (encoding == PHX_REPLAY_ZSTD) return unpack_zstd(from, from_size, to, size);
    if (encoding != PHX_REPLAY_PLAIN) return PHX_ERROR_VERSION;
    if (from_size != size) return PHX_ERROR_FORMAT;
    if (size) memcpy(to, from, size);
    return PHX_OK;
}
