/* pack.h: the encodings in which a replay holds large pieces: content and snapshots. Internal to replay and
 * its tests.
 *
 * Plain bytes and pairs are known to every build, so that whatever a match can't be played without is
 * readable everywhere; Zstandard is smaller and may be left out of a build (PHX_ZSTD), which then skips what
 * is in it.
 *
 * Pairs: sequences of u8 n, n literal bytes, u8 m, and where m isn't 0 a u16 distance d (1 .. what was put
 * out): m + 3 bytes are repeated from d bytes back, the copy running into itself where d is smaller. The last
 * sequence fills the output exactly. (A byte-wise LZ77: Ziv and Lempel, "A universal algorithm for sequential
 * data compression", 1977.)
 *
 * Cost: O(bytes); packing takes 16 KiB of stack, and for Zstandard what libzstd takes. Determinism: pairs are
 * a function of the bytes; Zstandard's depend on its version, its content doesn't.
 */
#ifndef PHX_REPLAY_PACK_H
#define PHX_REPLAY_PACK_H

#include <phalanx/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PHX_REPLAY_PLAIN = 0, /* the bytes as they are */
    PHX_REPLAY_ZSTD = 1,  /* one Zstandard frame (RFC 8878) */
    PHX_REPLAY_PAIRS = 2,
    PHX_REPLAY_PAIRS_GAIN = 65 /* pairs grow to less than that many times their size */
};

/* The best encoding of this build for what may be skipped. */
uint8_t phx_replay_pack_best(void);
/* Can this build unpack it? */
bool phx_replay_pack_known(uint8_t encoding);
/* Packs `size` bytes into at most `capacity`; returns how many they take, 0 where they don't fit. */
size_t phx_replay_pack(uint8_t encoding, const uint8_t *from, size_t size, uint8_t *to, size_t capacity);
/* Unpacks to exactly `size` bytes. Errors: PHX_ERROR_FORMAT (other bytes, or another size),
 * PHX_ERROR_VERSION (not known to this build). */
PHX_MUST_USE PhxStatus phx_replay_unpack(uint8_t encoding, const uint8_t *from, size_t from_size, uint8_t *to,
                                         size_t size);

#endif
