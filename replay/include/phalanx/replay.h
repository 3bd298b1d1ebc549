/* replay.h: a match in one file: written as it runs, opened after any crash, played, and verified tick by
 * tick.
 *
 * In: settings, content blob and the commands of each tick. Out: append-only records (replay/FORMAT.md), from
 * which the match can be computed again by whoever has the same simulation revision; others still list it.
 *
 * Numbers of ticks are those of the lockstep library: tick t is the step that turns phx_sim_tick() == t into
 * t + 1. Its commands and the hashes *after* it carry the number t. A replay of n ticks holds the ticks 0 ..
 * n - 1; the hashes of the state before tick 0 stand in its header.
 *
 * Cost: writing is O(bytes), with memory that doesn't grow with the match; opening reads each byte once (its
 * checksum) and allocates one small block, the list of keyframes, and the content where it is packed; playing
 * allocates room for the commands of the busiest tick, besides the sim.
 * Determinism: commands are written in canonical order (slot, sequence), so that the recorders of all sides
 * of one match write equal records, but for their notes and keyframes, and their content's packing. Nothing
 * here reads a clock. Threads: one object by one thread at a time; an opened replay is constant and may be
 * shared by cursors and players.
 */
#ifndef PHALANX_REPLAY_H
#define PHALANX_REPLAY_H

#include <phalanx/allocator.h>
#include <phalanx/sim.h>
#include <phalanx/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_REPLAY_VERSION = 1,            /* of the file format; another one is refused with PHX_ERROR_VERSION */
    PHX_REPLAY_TABLE_LIMIT = 64,       /* tables of a world (PHX_SCHEMA_TABLE_LIMIT) */
    PHX_REPLAY_NAME_LIMIT = 63,        /* bytes of a table's name */
    PHX_REPLAY_TEXT_LIMIT = 1024,      /* bytes of a note's text */
    PHX_REPLAY_KIND_LIMIT = 16,        /* kinds of record, see phx_replay_kind_name */
    PHX_REPLAY_CONTENT_LIMIT = 1 << 30 /* bytes of a content blob */
};

/* Stands for a tick where the state before tick 0 is meant. */
#define PHX_REPLAY_BEFORE_FIRST UINT32_MAX

/* ---- writing
 * ---------------------------------------------------------------------------------------------------- */

/* Where a writer's bytes go. `write` takes all `size` bytes or fails; it is called a few times a tick, in
 * order, and what it has taken is never changed. `tick_done` (may be null) is called when a tick is complete,
 * and with `now` true after the content, a tick's commands, a note and the last record: the moment to flush,
 * which `now` asks for at once. A status other than PHX_OK ends the writing: the writer keeps it and writes
 * nothing more. */
typedef struct PhxReplaySink {
    PhxStatus (*write)(void *user, const void *bytes, size_t size);
    PhxStatus (*tick_done)(void *user, bool now);
    void *user;
} PhxReplaySink;

/* How content and snapshots are stored. What packing doesn't make smaller is stored as it is. */
typedef enum PhxReplayPacking {
    PHX_REPLAY_PACK_BEST, /* with Zstandard where the library was built with it (PHX_ZSTD), else not packed */
    PHX_REPLAY_PACK_NONE, /* not packed: every build can play it */
    PHX_REPLAY_PACK_ZSTD  /* with Zstandard; PHX_ERROR_VERSION where the library was built without */
} PhxReplayPacking;

/* What a replay says of its match before tick 0. Strings and arrays are borrowed for the call. */
typedef struct PhxReplayMatch {
    uint32_t sim_revision;          /* PHX_SIM_REVISION of the recorder */
    uint64_t schema_hash;           /* phx_sim_schema_hash */
    uint64_t content_hash;          /* phx_content_info */
    PhxSettings settings;           /* those the match runs with */
    uint32_t table_count;           /* 0 .. PHX_REPLAY_TABLE_LIMIT */
    const char *const *table_names; /* table_count of them, 1 .. PHX_REPLAY_NAME_LIMIT bytes each */
    uint64_t root;                  /* of the state before tick 0 */
    const uint64_t *table_hashes;   /* likewise, table_count of them */
    const void *content;            /* the blob, content_size bytes */
    size_t content_size;            /* at most PHX_REPLAY_CONTENT_LIMIT */
    PhxReplayPacking packing;       /* of the content, and of the snapshots that follow */
} PhxReplayMatch;

typedef struct PhxReplayWriter PhxReplayWriter;
typedef struct PhxReplay PhxReplay;

/* Begins a replay: signature, header and content are written before it returns. `allocator` null: the C
 * library's. The writer holds one block of about 50 KiB, whatever the match, and room for one packed content
 * and, once there was a keyframe, for one snapshot. On failure *out is null. Errors:
 * PHX_ERROR_ARGUMENT (names, counts), PHX_ERROR_LIMIT (content), PHX_ERROR_VERSION (packing),
 * PHX_ERROR_MEMORY, what the sink returned. */
PHX_MUST_USE PhxStatus phx_replay_writer_create(PhxReplaySink sink, const PhxReplayMatch *match,
                                                const PhxAllocator *allocator, PhxReplayWriter **out);

/* A player of the match, for a person who reads the replay without simulating it. `name`: 0 .. 16 bytes of
 * UTF-8. Allowed before the first tick. Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_STATE, what the sink returned.
 */
PHX_MUST_USE PhxStatus phx_replay_writer_player(PhxReplayWriter *writer, uint8_t slot, uint8_t team,
                                                const char *name);

/* The commands of the next tick, in any order. Call it before the step, so that the replay of a match that
 * crashes in a step holds the commands of that step; a tick without commands needs no call (count 0 writes
 * nothing). Errors, with nothing written: PHX_ERROR_ARGUMENT (two of equal slot and sequence),
 * PHX_ERROR_LIMIT (more than PHX_TICK_COMMAND_LIMIT, or one longer than PHX_COMMAND_SIZE_LIMIT),
 * PHX_ERROR_STATE (called twice for a tick, or after the end); besides: what the sink returned. */
PHX_MUST_USE PhxStatus phx_replay_writer_commands(PhxReplayWriter *writer, const PhxCommand *commands,
                                                  uint32_t count);

/* The hashes after that tick's step; `tables` has the match's table_count of them. Completes the tick.
 * Errors: PHX_ERROR_STATE (after the end), what the sink returned. */
PHX_MUST_USE PhxStatus phx_replay_writer_hashes(PhxReplayWriter *writer, uint64_t root,
                                                const uint64_t *tables);

/* Keyframes: snapshots from which a player may begin, so that it needn't play from tick 0. The distance
 * between two of them grows with the match, in proportion to the ticks that lie behind it (ticks / 64, but no
 * less than `spacing`), so that a jump costs 1/64 of what playing to its goal would, or `spacing` ticks, and
 * their number grows with the logarithm of the match. Their bytes are kept to `budget`: one that is due waits
 * until those written are paid for. Zero is the default of each field. */
typedef struct PhxReplayKeyframeOptions {
    bool none;        /* no keyframe is ever due */
    uint32_t spacing; /* ticks between the first keyframes; 0: ten seconds */
    uint64_t budget;  /* bytes a minute of the match, averaged from its beginning; one keyframe may go beyond
                         it. 0: 512 KiB */
} PhxReplayKeyframeOptions;
/* Null: the defaults. Counts from now on. */
void phx_replay_writer_keyframes(PhxReplayWriter *writer, const PhxReplayKeyframeOptions *options);
/* Should the state as it is now, between two ticks, be written? */
bool phx_replay_writer_keyframe_due(const PhxReplayWriter *writer);
/* Writes a keyframe, due or not: `snapshot` (phx_sim_snapshot's bytes) is the state after the last tick that
 * was completed, and `root` its root. It is packed as the match's content is. Errors: PHX_ERROR_ARGUMENT
 * (another root than the last hashes', no bytes), PHX_ERROR_LIMIT (more than 1 GiB, or 65536 keyframes),
 * PHX_ERROR_STATE (commands given, their hashes not; after the end), PHX_ERROR_MEMORY, the sink's. */
PHX_MUST_USE PhxStatus phx_replay_writer_keyframe(PhxReplayWriter *writer, uint64_t root,
                                                  const void *snapshot, size_t size);
/* A state on which the sides of the match disagreed, for whoever hunts the cause: of the side in `slot`
 * (PHX_REPLAY_NO_SLOT: the recorder's own), before tick `tick` (at most phx_replay_writer_ticks), with that
 * side's root. It is no part of the match: players and verifiers pass over it. Errors: as for a keyframe. */
PHX_MUST_USE PhxStatus phx_replay_writer_evidence(PhxReplayWriter *writer, uint8_t slot, uint32_t tick,
                                                  uint64_t root, const void *snapshot, size_t size);

/* Something worth knowing that is no input: who recorded, who joined or left the connection, a desync that
 * was seen. It stands at the tick that would be next. `slot` is a player's slot, PHX_SLOT_HOST, or
 * PHX_REPLAY_NO_SLOT. */
typedef enum PhxReplayNoteKind {
    PHX_REPLAY_NOTE_TEXT,     /* anything */
    PHX_REPLAY_NOTE_RECORDER, /* program, version and platform that record */
    PHX_REPLAY_NOTE_JOINED,   /* a peer connected */
    PHX_REPLAY_NOTE_LEFT,     /* a peer's connection ended */
    PHX_REPLAY_NOTE_DESYNC,   /* hashes differed between sides */
    PHX_REPLAY_NOTE_COUNT
} PhxReplayNoteKind;
enum { PHX_REPLAY_NO_SLOT = 254 };
const char *phx_replay_note_name(PhxReplayNoteKind kind); /* "text", "recorder" ..; never null */
/* Text beyond PHX_REPLAY_TEXT_LIMIT bytes is cut off. Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_STATE, the
 * sink's. */
PHX_MUST_USE PhxStatus phx_replay_writer_note(PhxReplayWriter *writer, PhxReplayNoteKind kind, uint8_t slot,
                                              const char *text);

/* Ends the replay with its index and its end record: the difference between a match that ended and a recorder
 * that died. Nothing can be written afterwards. Errors: PHX_ERROR_STATE (commands given, their hashes not),
 * the sink's.
 */
PHX_MUST_USE PhxStatus phx_replay_writer_end(PhxReplayWriter *writer);
/* Frees the writer; without phx_replay_writer_end the replay stays a cut one. The sink isn't touched. Null is
 * fine. */
void phx_replay_writer_destroy(PhxReplayWriter *writer);
uint32_t phx_replay_writer_ticks(const PhxReplayWriter *writer); /* ticks completed */
uint64_t phx_replay_writer_bytes(const PhxReplayWriter *writer); /* bytes given to the sink */

/* Begins a replay that goes on from another one: the first `tick` ticks of `from`, with its header, content,
 * players, keyframes, notes and evidence, byte for byte; the writer then stands at that tick. Ended there, it
 * is a cut replay; continued with other commands, it is another match with the same beginning, which can be
 * verified from tick 0 like any other. Errors: PHX_ERROR_NOT_FOUND (`from` has fewer ticks),
 * PHX_ERROR_TRUNCATED (it has no content), PHX_ERROR_MEMORY, what the sink returned. */
PHX_MUST_USE PhxStatus phx_replay_writer_continue(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                                  const PhxAllocator *allocator, PhxReplayWriter **out,
                                                  PhxError *error);

/* What a copy does otherwise than phx_replay_writer_continue. Zero: nothing. */
typedef struct PhxReplayCopyOptions {
    bool repack;              /* content and snapshots are packed anew, as `packing` says */
    PhxReplayPacking packing; /* holds for what follows too */
    bool no_keyframes;        /* keyframes are left out; none of what follows is */
} PhxReplayCopyOptions;
/* The same with options. A snapshot that this build can't unpack, or whose bytes are broken, stays as it is.
 * Besides the errors above: PHX_ERROR_VERSION (this build lacks Zstandard, and the content or the order to
 * repack needs it). */
PHX_MUST_USE PhxStatus phx_replay_writer_copy(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                              const PhxReplayCopyOptions *options,
                                              const PhxAllocator *allocator, PhxReplayWriter **out,
                                              PhxError *error);
/* With content and snapshots packed anew, and no other option. */
PHX_MUST_USE PhxStatus phx_replay_writer_repack(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                                PhxReplayPacking packing, const PhxAllocator *allocator,
                                                PhxReplayWriter **out, PhxError *error);

/* The same with a sim at hand. `_begin` wants a sim at tick 0 and the blob it was created from, and writes
 * its players too, `_begin_packed` with the packing that is asked for (`_begin`: PHX_REPLAY_PACK_BEST);
 * `_step` writes the commands, steps, and writes the hashes (its status is the step's or the
 * writer's; the sim has stepped unless phx_sim_tick says otherwise). `_tick` is for who steps elsewhere:
 * called after each step with that step's commands. Both write a keyframe where one is due; `_keyframe` does
 * that alone, for who calls the writer itself, between two ticks. Errors: PHX_ERROR_STATE (the sim isn't at
 * the writer's tick), and those above. */
PHX_MUST_USE PhxStatus phx_replay_record_begin(PhxReplaySink sink, const PhxSim *sim, const void *content,
                                               size_t content_size, const PhxAllocator *allocator,
                                               PhxReplayWriter **out, PhxError *error);
PHX_MUST_USE PhxStatus phx_replay_record_begin_packed(PhxReplaySink sink, const PhxSim *sim,
                                                      const void *content, size_t content_size,
                                                      PhxReplayPacking packing, const PhxAllocator *allocator,
                                                      PhxReplayWriter **out, PhxError *error);
PHX_MUST_USE PhxStatus phx_replay_record_step(PhxReplayWriter *writer, PhxSim *sim,
                                              const PhxCommand *commands, uint32_t count);
PHX_MUST_USE PhxStatus phx_replay_record_tick(PhxReplayWriter *writer, const PhxSim *sim,
                                              const PhxCommand *commands, uint32_t count);

PHX_MUST_USE PhxStatus phx_replay_record_keyframe(PhxReplayWriter *writer, const PhxSim *sim);

/* A sink into a file. The file is made or emptied; after every `flush_ticks` ticks (0: 1), and whenever the
 * writer asks for it, its bytes are handed to the operating system, which keeps them if the program dies;
 * with `sync` they are also forced to the disk, which keeps them if the machine dies (slow: for a referee
 * that wants it). */
typedef struct PhxReplayFile PhxReplayFile;
typedef struct PhxReplayFileOptions {
    uint32_t flush_ticks;
    bool sync;
} PhxReplayFileOptions;
/* `options` null: each tick, no sync. Errors: PHX_ERROR_IO with the path and the system's words,
 * PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_replay_file_create(const char *path, const PhxReplayFileOptions *options,
                                              PhxReplayFile **out, PhxError *error);
PhxReplaySink phx_replay_file_sink(PhxReplayFile *file);
/* The system's errno of the first write that failed; 0: none has, or it gave no reason. Null is fine. */
int phx_replay_file_fault(const PhxReplayFile *file);
/* Flushes, closes and frees. Null is fine. Errors: PHX_ERROR_IO where any write before or the last one
 * failed; errno is then as phx_replay_file_fault would say. */
PhxStatus phx_replay_file_close(PhxReplayFile *file);

/* ---- reading
 * ---------------------------------------------------------------------------------------------------- */

/* Opens a replay that lies in memory; `bytes` is borrowed until phx_replay_close. Every byte is checked here,
 * once. Whatever begins as a replay opens, down to an empty file: what is whole up to the first fault is
 * kept, and phx_replay_info says what that is, where the fault lies and how much was lost. `allocator` null:
 * the C library's. Errors (with *out null): PHX_ERROR_FORMAT (no replay), PHX_ERROR_VERSION (of another
 * format version), PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_replay_open(const void *bytes, size_t size, const PhxAllocator *allocator,
                                       PhxReplay **out, PhxError *error);
/* Reads a file of at most `size_limit` bytes (0: 4 GiB, or half of the address space) into memory and opens
 * it. Besides the errors above: PHX_ERROR_IO (with the path and the system's words), PHX_ERROR_LIMIT. */
PHX_MUST_USE PhxStatus phx_replay_load(const char *path, uint64_t size_limit, PhxReplay **out,
                                       PhxError *error);
void phx_replay_close(PhxReplay *replay); /* null is fine */

typedef enum PhxReplayState {
    PHX_REPLAY_COMPLETE, /* ends with its end record */
    PHX_REPLAY_CUT,      /* the bytes end too early: the recorder died, or the file was cut */
    PHX_REPLAY_GARBLED   /* a record's bytes were changed, or contradict those before */
} PhxReplayState;
const char *phx_replay_state_name(PhxReplayState state); /* "complete", "cut", "garbled" */

/* Records of one kind: how many were kept, and their bytes with type, length and checksum. */
typedef struct PhxReplayKindInfo {
    uint32_t count;
    uint64_t bytes;
} PhxReplayKindInfo;
/* Kind k as phx_replay_kind_name(k) calls it ("header", "content", "commands" ..); null beyond the last,
 * which is "unknown": records that a later version may have added and that may be skipped. */
const char *phx_replay_kind_name(uint32_t kind);

typedef struct PhxReplayPlayer {
    bool listed; /* the replay names this player */
    uint8_t team;
    char name[17];                    /* UTF-8, zero-terminated; control characters are shown as '?' */
    uint64_t commands, command_bytes; /* that this slot gave */
} PhxReplayPlayer;

/* All that a replay says of itself, without a simulation. */
typedef struct PhxReplayInfo {
    PhxReplayState state;
    PhxError fault; /* status PHX_OK when complete; else PHX_ERROR_TRUNCATED or _FORMAT, the byte, and why */
    uint64_t bytes, kept_bytes, lost_bytes; /* of the file; whole and checked; from the fault to the end */
    bool has_header;                        /* false: all below but kinds is zero */
    bool has_content;                       /* false: cut before the match could begin; it can't be played */
    bool content_readable;                  /* false: no content, or packed as this build can't unpack */
    uint32_t version, sim_revision;
    uint64_t schema_hash, content_hash, settings_hash;
    PhxSettings settings;
    uint64_t content_bytes;                        /* of the blob, unpacked */
    uint32_t map_width, map_height, unit_capacity; /* 0 where the blob is of a version unknown here */
    uint32_t table_count;
    const char *table_names[PHX_REPLAY_TABLE_LIMIT]; /* live as long as the replay */
    uint32_t ticks;                                  /* complete ticks that were kept: 0 .. ticks - 1 */
    uint64_t milliseconds;                           /* their time at the match's tick rate */
    uint64_t start_root;                             /* root before tick 0 */
    uint64_t final_root;       /* root after the last kept tick; start_root where there is none */
    uint32_t pending_commands; /* given to a tick that was never completed: the recorder died in its step */
    uint32_t player_count;     /* highest listed slot + 1 */
    PhxReplayPlayer players[PHX_PLAYER_LIMIT];
    uint64_t host_commands;           /* given by PHX_SLOT_HOST */
    uint64_t other_commands;          /* by slots that no player can have */
    uint64_t commands, command_bytes; /* all, of complete ticks */
    uint32_t busiest_commands;        /* most commands in one tick */
    uint32_t notes;
    uint32_t keyframes, keyframes_readable; /* kept; of them those that this build can unpack */
    uint32_t evidence;                      /* states of which sides disagreed */
    bool indexed;                           /* it has its index, which was right; else one was made */
    PhxReplayKindInfo kinds[PHX_REPLAY_KIND_LIMIT];
} PhxReplayInfo;
const PhxReplayInfo *phx_replay_info(const PhxReplay *replay); /* lives as long as the replay */
/* The content blob, which lives as long as the replay; null where it was lost or isn't readable here. */
const void *phx_replay_content(const PhxReplay *replay, size_t *size);
/* Hashes of the tables before tick 0, table_count of them. */
const uint64_t *phx_replay_start_hashes(const PhxReplay *replay);

/* The notes in order: *position is 0 at first and is kept by the caller between calls; false after the last.
 * `text` is zero-terminated, control characters shown as '?'. */
typedef struct PhxReplayNote {
    uint32_t tick;          /* it was written before this tick was complete */
    PhxReplayNoteKind kind; /* PHX_REPLAY_NOTE_TEXT for kinds unknown here */
    uint8_t slot;
    char text[PHX_REPLAY_TEXT_LIMIT + 1];
} PhxReplayNote;
bool phx_replay_note_next(const PhxReplay *replay, uint64_t *position, PhxReplayNote *out);

/* A snapshot inside a replay. Keyframes are numbered by tick, ascending, from 0. */
typedef struct PhxReplaySnapshot {
    uint32_t tick;     /* phx_sim_tick of the state */
    uint8_t slot;      /* evidence: whose it is; PHX_REPLAY_NO_SLOT for a keyframe */
    uint64_t root;     /* as recorded */
    uint32_t size;     /* bytes as the record says: a claim, until it is read */
    uint32_t packed;   /* bytes in the file */
    bool readable;     /* this build can unpack it */
    uint64_t position; /* offset of its record */
} PhxReplaySnapshot;
bool phx_replay_keyframe(const PhxReplay *replay, uint32_t number, PhxReplaySnapshot *out); /* false: none */
/* The keyframe with the highest tick <= `tick` that this build can unpack; false: none. */
bool phx_replay_keyframe_before(const PhxReplay *replay, uint32_t tick, PhxReplaySnapshot *out);
/* Evidence in the order of the file: *position is 0 at first and is kept by the caller; false after the last.
 */
bool phx_replay_evidence_next(const PhxReplay *replay, uint64_t *position, PhxReplaySnapshot *out);
/* Unpacks snapshot->size bytes into `buffer`; what phx_sim_restore makes of them is another question. Don't
 * allocate by `size` without a bound of your own: phx_sim_state_bytes + PHX_REPLAY_SNAPSHOT_EXTRA is one.
 * Errors: PHX_ERROR_FORMAT (they don't unpack), PHX_ERROR_VERSION (not readable here), PHX_ERROR_FULL,
 * PHX_ERROR_MEMORY. */
enum { PHX_REPLAY_SNAPSHOT_EXTRA = 4096 };
PHX_MUST_USE PhxStatus phx_replay_snapshot_read(const PhxReplay *replay, const PhxReplaySnapshot *snapshot,
                                                void *buffer, size_t capacity);

/* Walks over the kept ticks in order. All pointers live until the next call with the same cursor. */
typedef struct PhxReplayTick {
    uint32_t tick;
    const PhxCommand *commands; /* in canonical order (slot, sequence) */
    uint32_t command_count;
    bool complete; /* false: the pending commands of a tick without hashes, given once, last */
    uint64_t root; /* after the tick; 0 where it isn't complete, likewise the tables' */
    const uint64_t *table_hashes;
} PhxReplayTick;
typedef struct PhxReplayCursor PhxReplayCursor;
/* Errors: PHX_ERROR_MEMORY. The replay must outlive the cursor. */
PHX_MUST_USE PhxStatus phx_replay_cursor_create(const PhxReplay *replay, PhxReplayCursor **out);
bool phx_replay_cursor_next(PhxReplayCursor *cursor, PhxReplayTick *out); /* false at the end */
void phx_replay_cursor_rewind(PhxReplayCursor *cursor);
/* The next one will be tick `tick` (0 .. ticks), by way of the keyframes. Errors: PHX_ERROR_NOT_FOUND. */
PHX_MUST_USE PhxStatus phx_replay_cursor_seek(PhxReplayCursor *cursor, uint32_t tick);
void phx_replay_cursor_destroy(PhxReplayCursor *cursor); /* null is fine */

/* ---- playing and verifying
 * --------------------------------------------------------------------------------------- */

typedef struct PhxReplayPlayback PhxReplayPlayback;

/* Creates the match's world at tick 0 from the replay's settings and content. `config` null: a zeroed one; a
 * game's replay needs the game in it. `error` may be null. Errors: PHX_ERROR_TRUNCATED (header or content
 * lost), PHX_ERROR_VERSION (another simulation revision, or content that this build can't unpack),
 * PHX_ERROR_MISMATCH (schema, tables, or content hash), and those of phx_sim_create. The replay must outlive
 * the playback. */
PHX_MUST_USE PhxStatus phx_replay_playback_create(const PhxReplay *replay, const PhxSimConfig *config,
                                                  PhxReplayPlayback **out, PhxError *error);
/* The world, owned by the playback. Look at it as you like; whoever changes it plays another match. */
PhxSim *phx_replay_playback_sim(PhxReplayPlayback *playback);
bool phx_replay_playback_done(const PhxReplayPlayback *playback); /* all complete ticks were played */
/* Plays the next tick. `recorded` (may be null) gets what the replay says of it, to compare with the sim's
 * hashes; it lives until the next step. Errors: PHX_ERROR_NOT_FOUND when done, those of phx_sim_step. */
PHX_MUST_USE PhxStatus phx_replay_playback_step(PhxReplayPlayback *playback, PhxReplayTick *recorded);
/* Goes to any tick, forward or backward: afterwards phx_sim_tick is `tick` (0 .. ticks kept) and the next
 * step plays that tick. The sim stays the same object; its state is that of a playback that came here step by
 * step. It begins at the last keyframe before the goal, unless it is nearer already; one that this build
 * can't unpack, or that doesn't hold the recorded root, is passed over for an older one, and tick 0 comes
 * from the content. Cost: one restore, and as many steps as the goal lies behind that keyframe. Errors:
 * PHX_ERROR_NOT_FOUND (beyond the last kept tick), PHX_ERROR_MEMORY, those of phx_sim_step. */
PHX_MUST_USE PhxStatus phx_replay_playback_seek(PhxReplayPlayback *playback, uint32_t tick, PhxError *error);
/* Ticks computed by this playback so far, those of seeks included. */
uint64_t phx_replay_playback_stepped(const PhxReplayPlayback *playback);
void phx_replay_playback_destroy(PhxReplayPlayback *playback); /* null is fine */

/* In the order of the exit codes that `phx replay verify` gives. */
typedef enum PhxReplayVerdict {
    PHX_REPLAY_VERIFIED,   /* every kept tick gives the recorded hashes; the replay is complete or cut */
    PHX_REPLAY_DIVERGED,   /* a tick gives other hashes, or a keyframe isn't the state at its tick */
    PHX_REPLAY_UNREADABLE, /* no header or content, a garbled record (what stands before it does verify), or a
                              blob that makes no world */
    PHX_REPLAY_NOT_VERIFIABLE /* recorded by another simulation revision, or with other tables; or this build
                                 can't unpack its content */
} PhxReplayVerdict;
const char *phx_replay_verdict_name(PhxReplayVerdict verdict); /* "verified" .. "not verifiable" */

typedef struct PhxReplayTableDifference {
    uint32_t table;
    const char *name; /* lives as long as the replay */
    uint64_t recorded, computed;
} PhxReplayTableDifference;

typedef struct PhxReplayVerification {
    PhxReplayVerdict verdict;
    uint32_t ticks; /* that gave the recorded hashes */
    uint32_t tick;  /* diverged: the first tick with other hashes, or PHX_REPLAY_BEFORE_FIRST */
    uint64_t recorded_root, computed_root; /* diverged: after that tick; verified: after the last, equal */
    uint32_t difference_count; /* diverged: tables; 0 where the recorded root contradicts its own tables */
    PhxReplayTableDifference differences[PHX_REPLAY_TABLE_LIMIT];
    uint32_t keyframes;        /* compared, byte for byte, with the computed state, and found equal */
    uint32_t keyframes_passed; /* of which only the root was compared: not readable here */
    bool keyframe_differs;     /* diverged: the keyframe at `tick` isn't the state there; hashes were equal */
    PhxError error;            /* why, in words; status PHX_OK when verified and complete */
} PhxReplayVerification;

/* Called after each tick with the number of ticks checked and of all. */
typedef void (*PhxReplayProgress)(void *user, uint32_t done, uint32_t ticks);

/* Computes the match again from settings, content and commands, and compares root and table hashes of each
 * tick and the keyframes, trusting none. PHX_OK whenever there is a verdict, whichever it is; else
 * PHX_ERROR_MEMORY or PHX_ERROR_ARGUMENT. Cost: that of the match. `config` as above, `progress` may be null.
 */
PHX_MUST_USE PhxStatus phx_replay_verify(const PhxReplay *replay, const PhxSimConfig *config,
                                         PhxReplayProgress progress, void *user, PhxReplayVerification *out);

#ifdef __cplusplus
}
#endif
#endif
