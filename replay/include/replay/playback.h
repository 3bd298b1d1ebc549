/* playback.h: the playback's own structure, which playback.c and verify.c share. Internal to replay. */
#ifndef PHX_REPLAY_PLAYBACK_H
#define PHX_REPLAY_PLAYBACK_H

#include "replay/record.h"

struct PhxReplayPlayback {
    const PhxReplay *replay;
    PhxAllocator allocator;
    PhxReplayCursor *cursor;
    PhxSim *sim;
    PhxSimConfig config;
    uint64_t stepped;
    uint8_t *room; /* for a snapshot; grows */
    size_t room_size;
};

/* As phx_replay_playback_create, and says what a failure means to a verifier. */
PhxStatus phx_replay_playback_make(const PhxReplay *replay, const PhxSimConfig *config,
                                   PhxReplayPlayback **out, PhxReplayVerdict *verdict, PhxError *error);
/* At least `size` bytes, valid until the next call; null: out of memory. */
uint8_t *phx_replay_playback_room(PhxReplayPlayback *playback, size_t size);
/* A snapshot's bytes into the room. Errors: PHX_ERROR_FORMAT (too large for this world, or broken),
 * PHX_ERROR_VERSION, PHX_ERROR_MEMORY. */
PhxStatus phx_replay_playback_unpack(PhxReplayPlayback *playback, const PhxReplaySnapshot *snapshot,
                                     uint8_t **bytes);

#endif
