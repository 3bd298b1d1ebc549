/* pack.h: the encodings in which a replay holds large pieces: content and snapshots. Internal to replay and
 * its tests.
 *
 * In: bytes, and their encoding. Out: the same bytes in another. Plain bytes are known to every build;
 * Zstandard (libzstd) may be left out of one (PHX_ZSTD), which then can't look into what is packed with it.
 *
 * Cost: O(bytes), and the memory that libzstd takes. Determinism: packed bytes depend on the version of
 * libzstd, what they unpack to doesn't.
 */
#ifndef PHX_REPLAY_PACK_H
#define PHX_REPLAY_PACK_H

#include <phalanx/replay.h>

enum {
    PHX_REPLAY_PLAIN = 0, /* the bytes as they are */
    PHX_REPLAY_ZSTD = 1,  /* one Zstandard frame (RFC 8878) that gives its content's size */
    /* A frame grows to at most that many times its bytes: its smallest block, of 4 bytes, repeats one byte
     * for at most 128 KiB (RFC 8878, 3.1.1.2). */
    PHX_REPLAY_ZSTD_GAIN = 32768
};

/* The best encoding of this build. */
uint8_t phx_replay_pack_best(void);
/* What to say of content that can't be unpacked. */
extern const char phx_replay_pack_lacking[];
/* Can this build unpack it? */
bool phx_replay_pack_known(uint8_t encoding);
/* The encoding that is asked for, and whether this build has it: PHX_ERROR_VERSION, PHX_ERROR_ARGUMENT. */
uint8_t phx_replay_pack_encoding(PhxReplayPacking packing);
PHX_MUST_USE PhxStatus phx_replay_pack_allowed(PhxReplayPacking packing);
/* May these bytes unpack to `size`? Asked before memory is allocated by a size that only the bytes claim. */
bool phx_replay_pack_may_hold(uint8_t encoding, const uint8_t *from, size_t from_size, size_t size);
/* Packs `size` bytes into at most `capacity`; returns how many they take, 0 where they don't fit. */
size_t phx_replay_pack(uint8_t encoding, const uint8_t *from, size_t size, uint8_t *to, size_t capacity);
/* Unpacks to exactly `size` bytes. Errors: PHX_ERROR_FORMAT (other bytes, or another size),
 * PHX_ERROR_VERSION (not known to this build), PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_replay_unpack(uint8_t encoding, const uint8_t *from, size_t from_size, uint8_t *to,
                                         size_t size);

#endif
