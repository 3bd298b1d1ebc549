/* record.h: one record of a replay, as bytes: kinds, fixed fields, frame and checksum. Internal to replay and
 * its tests.
 *
 * In: a manifest, format/records.def. Out: for each record a structure of its fixed fields, a reader and a
 * writer of them, its name, number and limit; and the frame around them: u8 type, u32 length of the payload,
 * payload, u32 checksum, which is the low half of XXH3-64 over type, length and payload. Cost: finding a
 * record is O(its bytes), for the checksum. Determinism: little-endian throughout, read and written byte by
 * byte.
 */
#ifndef PHX_REPLAY_RECORD_H
#define PHX_REPLAY_RECORD_H

#include <phalanx/replay.h>

#include "base/bytes.h"

enum {
    PHX_REPLAY_SIGNATURE_SIZE = 8,
    PHX_REPLAY_PREAMBLE = 12, /* signature, u32 version */
    PHX_REPLAY_HEAD = 5,      /* u8 type, u32 length */
    PHX_REPLAY_FRAME = 9      /* head and checksum */
};
/* 0x89 "PHXR" CR LF 0x1a: no text, and changed by whoever takes it for one. */
extern const uint8_t phx_replay_signature[PHX_REPLAY_SIGNATURE_SIZE];

typedef uint8_t PhxReplayU8;
typedef uint16_t PhxReplayU16;
typedef uint32_t PhxReplayU32;
typedef uint64_t PhxReplayU64;

/* Kinds count from 0 in the manifest's order; types are the numbers in the file. */
enum {
#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc) PHX_REPLAY_KIND_##NAME,
#define PHX_REPLAY_FIELD(type, name, doc)
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest)
#include "../../format/records.def"
    PHX_REPLAY_KIND_UNKNOWN,
    PHX_REPLAY_KIND_COUNT
};
_Static_assert((int)PHX_REPLAY_KIND_COUNT <= (int)PHX_REPLAY_KIND_LIMIT, "PhxReplayInfo holds every kind");

enum {
#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc) PHX_REPLAY_TYPE_##NAME = number,
#define PHX_REPLAY_FIELD(type, name, doc)
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest)
#include "../../format/records.def"
    PHX_REPLAY_TYPE_SKIPPABLE = 0x80 /* from here on, types that a reader may not know */
};

#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc) typedef struct Struct {
#define PHX_REPLAY_FIELD(type, name, doc)                               PhxReplay##type name;
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest)                                                      \
    }                                                                                                        \
    Struct;                                                                                                  \
    void phx_replay_put_##name(PhxWriter *writer, const Struct *fields);                                     \
    Struct phx_replay_get_##name(PhxReader *reader);
#include "../../format/records.def"

/* The kind of a type; PHX_REPLAY_KIND_UNKNOWN for any other. */
uint32_t phx_replay_kind_of(uint8_t type);
/* Most payload bytes of a kind; UINT32_MAX for the unknown. */
uint32_t phx_replay_kind_limit(uint32_t kind);

typedef struct PhxReplayRecord {
    uint64_t offset, next; /* of its first byte, of the byte behind it */
    uint32_t kind, length;
    uint8_t type;
    const uint8_t *payload;
} PhxReplayRecord;

/* The record at `offset` (<= size), checked with its checksum. Errors: PHX_ERROR_TRUNCATED (the bytes end
 * inside of it), PHX_ERROR_FORMAT (length, checksum), PHX_ERROR_VERSION (unknown and not to be skipped); each
 * with the offset. */
PHX_MUST_USE PhxStatus phx_replay_record_read(const uint8_t *bytes, uint64_t size, uint64_t offset,
                                              PhxReplayRecord *out, PhxError *error);
/* Appends frame and payload: for tests and tools that put replays together. Errors: the writer's status. */
void phx_replay_record_write(PhxWriter *writer, uint8_t type, const void *payload, uint32_t length);

/* Walks over the commands of a COMMANDS payload. `previous` keeps (slot, sequence) of the last: (0) at first.
 */
typedef struct PhxReplayCommandWalk {
    PhxReader reader;
    uint32_t left;
    bool started;
    uint64_t previous;
} PhxReplayCommandWalk;
/* False at the end or at the first fault; then reader.status says which. */
bool phx_replay_command_next(PhxReplayCommandWalk *walk, PhxCommand *out);

/* Applies a HASHES payload behind its fixed fields to `tables`; with `all`, one that leaves a table out is
 * refused. */
PHX_MUST_USE PhxStatus phx_replay_hashes_apply(PhxReader *reader, uint64_t *tables, uint32_t table_count,
                                               bool all);

/* Copies `size` bytes of text, of which `capacity` - 1 fit, as valid UTF-8 without control characters, each
 * other byte as '?', and ends it with a zero. */
void phx_replay_text_clean(char *to, size_t capacity, const uint8_t *from, size_t size);

enum { PHX_REPLAY_INDEX_LIMIT = 65536 }; /* keyframes in one replay */

/* An entry of the index. */
typedef struct PhxReplayPlace {
    uint32_t tick;
    uint64_t offset;
} PhxReplayPlace;

/* The keyframes of a replay, ascending; memory grows by doubling. */
typedef struct PhxReplayPlaces {
    PhxReplayPlace *places;
    uint32_t count, capacity;
} PhxReplayPlaces;
/* Errors: PHX_ERROR_MEMORY, PHX_ERROR_LIMIT. */
PHX_MUST_USE PhxStatus phx_replay_places_add(PhxReplayPlaces *places, const PhxAllocator *memory,
                                             PhxReplayPlace place);
void phx_replay_places_free(PhxReplayPlaces *places, const PhxAllocator *memory);

/* Where a cursor goes on: at the keyframe's record, whose tick comes next. */
void phx_replay_cursor_jump(PhxReplayCursor *cursor, PhxReplayPlace place);

/* The opened replay; reader.c fills it. */
struct PhxReplay {
    PhxAllocator allocator;
    const uint8_t *bytes;
    uint64_t size;
    void *owned;   /* what phx_replay_load read, or null */
    uint64_t body; /* offset behind the content record */
    const uint8_t *content;
    size_t content_size;
    uint8_t *unpacked; /* what `content` points to where the record holds it packed, content_size bytes */
    PhxReplayPlaces keyframes;
    uint32_t room; /* most commands in one record */
    PhxReplayInfo info;
    uint64_t start_hashes[PHX_REPLAY_TABLE_LIMIT];
    char names[PHX_REPLAY_TABLE_LIMIT][PHX_REPLAY_NAME_LIMIT + 1];
};

/* The table of FORMAT.md, as the manifest gives it. */
void phx_replay_document(PhxTextSink sink, void *user);

#endif
