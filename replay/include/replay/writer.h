/* writer.h: the writer's own structure and the frame of a record, which writer.c, keyframe.c and copy.c
 * share. Internal to replay.
 *
 * A record is framed by phx_replay_frame_begin (type and length), any number of phx_replay_frame_put that add
 * up to the length, and phx_replay_frame_end, which puts the checksum and hands the bytes to the sink.
 */
#ifndef PHX_REPLAY_WRITER_H
#define PHX_REPLAY_WRITER_H

#include "base/hash_stream.h"
#include "replay/record.h"

enum {
    PHX_REPLAY_BUFFER_SIZE = 16 * 1024,
    PHX_REPLAY_FIXED_LIMIT = 64,
    PHX_REPLAY_SNAPSHOT_LIMIT = 1 << 30 /* bytes of a snapshot */
};

/* A command's place in canonical order: slot (8 bits), sequence (32), and its index in the caller's array
 * (12). */
typedef uint64_t PhxReplayCommandPlace;
_Static_assert(PHX_TICK_COMMAND_LIMIT <= 1 << 12, "an index fits its bits");

/* Memory that grows to what was asked for once and stays. */
typedef struct PhxReplayRoom {
    uint8_t *bytes;
    size_t capacity;
} PhxReplayRoom;

struct PhxReplayWriter {
    PhxHashStream hash;
    PhxReplaySink sink;
    PhxAllocator allocator;
    PhxStatus status;
    uint64_t bytes;  /* given to the sink */
    uint64_t record; /* bytes of the present record that are still to come, checksum not counted */
    uint32_t ticks, table_count, tick_rate;
    uint32_t slots; /* players listed, a bit each */
    bool pending;   /* commands of the next tick are written */
    bool all;       /* the next hashes give all tables: a keyframe precedes them */
    bool ended;
    uint64_t root;
    uint64_t tables[PHX_REPLAY_TABLE_LIMIT];
    PhxReplayKeyframeOptions options;
    PhxReplayPacking packing;
    PhxReplayPlaces keyframes;
    uint64_t spent;               /* bytes of keyframes */
    PhxReplayRoom snapshot, pack; /* of the last keyframe */
    PhxReplayCommandPlace places[PHX_TICK_COMMAND_LIMIT];
    size_t used;
    uint8_t buffer[PHX_REPLAY_BUFFER_SIZE];
};

/* A writer that has written nothing. Null: out of memory. */
PhxReplayWriter *phx_replay_writer_make(PhxReplaySink sink, const PhxAllocator *allocator);
/* PHX_OK, or why nothing more is written. */
PhxStatus phx_replay_writer_may(const PhxReplayWriter *writer);
/* At least `size` bytes, of which nothing is kept from before; null: out of memory. */
uint8_t *phx_replay_room(PhxReplayWriter *writer, PhxReplayRoom *room, size_t size);

/* Bytes as they are, outside of any record. */
void phx_replay_frame_raw(PhxReplayWriter *writer, const void *bytes, size_t size);
void phx_replay_frame_begin(PhxReplayWriter *writer, uint8_t type, size_t length);
void phx_replay_frame_put(PhxReplayWriter *writer, const void *bytes, size_t size);
PhxStatus phx_replay_frame_end(PhxReplayWriter *writer);
/* Hands what is gathered to the sink. */
PhxStatus phx_replay_frame_flush(PhxReplayWriter *writer);
/* A record of fixed fields and whatever follows them. */
PhxStatus phx_replay_frame_small(PhxReplayWriter *writer, uint8_t type, const PhxWriter *fixed,
                                 const void *rest, size_t length);
/* Tells the sink that a tick is complete, or with `now` that it is time to flush. */
PhxStatus phx_replay_frame_tick_done(PhxReplayWriter *writer, bool now);

/* Packs `size` bytes as the writer should, where at most `most` bytes come of it; else they stay as they are.
 * What is returned lives until the next call; null: out of memory. */
const uint8_t *phx_replay_writer_pack(PhxReplayWriter *writer, const uint8_t *bytes, size_t size, size_t most,
                                      size_t *packed, uint8_t *encoding);
PhxStatus phx_replay_writer_content(PhxReplayWriter *writer, const uint8_t *content, size_t size);

/* The index record; *offset gets its place in the file, 0 where there are no keyframes and so no record. */
PhxStatus phx_replay_writer_index(PhxReplayWriter *writer, uint64_t *offset);

#endif
