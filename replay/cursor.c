/* cursor.c: what is asked of an opened replay: info, content, notes, and the ticks in order.
 *
 * In: a PhxReplay, every kept record of which was checked when it was opened. Out: ticks, with commands in
 * place. Cost: the checksums are computed once more while walking; one block of memory for the busiest tick's
 * commands.
 */
#include <string.h>

#include "base/assert.h"
#include "replay/record.h"

struct PhxReplayCursor {
    const PhxReplay *replay;
    PhxAllocator allocator;
    uint64_t at;
    uint32_t tick;
    size_t size; /* of this block */
    uint64_t tables[PHX_REPLAY_TABLE_LIMIT];
    PhxCommand commands[]; /* replay->room of them */
};

const PhxReplayInfo *phx_replay_info(const PhxReplay *replay) { return &replay->info; }
const uint64_t *phx_replay_start_hashes(const PhxReplay *replay) { return replay->start_hashes; }

const void *phx_replay_content(const PhxReplay *replay, size_t *size) {
    if (size) *size = replay->content ? replay->content_size : 0;
    return replay->content;
}

const char *phx_replay_state_name(PhxReplayState state) {
    static const char *const names[] = {"complete", "cut", "garbled"};
    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

const char *phx_replay_note_name(PhxReplayNoteKind kind) {
    static const char *const names[] = {"text", "recorder", "joined", "left", "desync"};
    _Static_assert(sizeof names / sizeof names[0] == PHX_REPLAY_NOTE_COUNT, "a name for each kind of note");
    return (unsigned)kind < PHX_REPLAY_NOTE_COUNT ? names[kind] : "unknown";
}

/* The record at *at, among those that were kept; false at their end. */
static bool next_record(const PhxReplay *replay, uint64_t *at, PhxReplayRecord *record) {
    if (*at >= replay->info.kept_bytes) return false;
    if (phx_replay_record_read(replay->bytes, replay->info.kept_bytes, *at, record, NULL) != PHX_OK)
        return false;
    *at = record->next;
    return true;
}

bool phx_replay_note_next(const PhxReplay *replay, uint64_t *position, PhxReplayNote *out) {
    PhxReplayRecord record;
    if (!replay->info.has_content) return false;
    if (*position < replay->body) *position = replay->body;
    while (next_record(replay, position, &record)) {
        if (record.kind != PHX_REPLAY_KIND_NOTE) continue;
        PhxReader reader = phx_reader_make(record.payload, record.length);
        const PhxReplayNoteFields fields = phx_replay_get_note(&reader);
        out->tick = fields.tick;
        out->kind =
            fields.kind < PHX_REPLAY_NOTE_COUNT ? (PhxReplayNoteKind)fields.kind : PHX_REPLAY_NOTE_TEXT;
        out->slot = fields.slot;
        phx_replay_text_clean(out->text, sizeof out->text, record.payload + reader.at,
                              phx_reader_left(&reader));
        return true;
    }
    return false;
}

PhxStatus phx_replay_cursor_create(const PhxReplay *replay, PhxReplayCursor **out) {
    const PhxAllocator memory = replay->allocator;
    const size_t size = sizeof(PhxReplayCursor) + replay->room * sizeof(PhxCommand);
    PhxReplayCursor *cursor = memory.allocate(memory.user, size);
    *out = cursor;
    if (!cursor) return PHX_ERROR_MEMORY;
    memset(cursor, 0, size);
    cursor->replay = replay;
    cursor->allocator = memory;
    cursor->size = size;
    phx_replay_cursor_rewind(cursor);
    return PHX_OK;
}

void phx_replay_cursor_rewind(PhxReplayCursor *cursor) {
    cursor->at = cursor->replay->info.has_content ? cursor->replay->body : UINT64_MAX;
    cursor->tick = 0;
    memcpy(cursor->tables, cursor->replay->start_hashes, sizeof cursor->tables);
}

/* The first hashes behind a keyframe give all tables, so that nothing before it is missed. */
void phx_replay_cursor_jump(PhxReplayCursor *cursor, PhxReplayPlace place) {
    cursor->at = place.offset;
    cursor->tick = place.tick;
}

PhxStatus phx_replay_cursor_seek(PhxReplayCursor *cursor, uint32_t tick) {
    const PhxReplay *replay = cursor->replay;
    PhxReplayTick passed;
    if (tick > replay->info.ticks) return PHX_ERROR_NOT_FOUND;
    uint32_t k = replay->keyframes.count;
    while (k > 0 && replay->keyframes.places[k - 1].tick > tick) k--;
    const uint32_t from = k > 0 ? replay->keyframes.places[k - 1].tick : 0;
    if (tick < cursor->tick || from > cursor->tick) {
        phx_replay_cursor_rewind(cursor);
        if (k > 0) phx_replay_cursor_jump(cursor, replay->keyframes.places[k - 1]);
    }
    while (cursor->tick < tick && phx_replay_cursor_next(cursor, &passed)) continue;
    return PHX_OK;
}

void phx_replay_cursor_destroy(PhxReplayCursor *cursor) {
    if (cursor) cursor->allocator.release(cursor->allocator.user, cursor, cursor->size);
}

static uint32_t read_commands(PhxReplayCursor *cursor, const PhxReplayRecord *record) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayCommandsFields fields = phx_replay_get_commands(&reader);
    PhxReplayCommandWalk walk = {.reader = reader, .left = fields.count};
    uint32_t count = 0;
    PHX_ASSERT(fields.count <= cursor->replay->room, fields.count, cursor->replay->room);
    while (count < fields.count && phx_replay_command_next(&walk, &cursor->commands[count])) count++;
    return count;
}

bool phx_replay_cursor_next(PhxReplayCursor *cursor, PhxReplayTick *out) {
    PhxReplayRecord record;
    *out =
        (PhxReplayTick){.tick = cursor->tick, .commands = cursor->commands, .table_hashes = cursor->tables};
    while (next_record(cursor->replay, &cursor->at, &record)) {
        if (record.kind == PHX_REPLAY_KIND_COMMANDS) out->command_count = read_commands(cursor, &record);
        if (record.kind != PHX_REPLAY_KIND_HASHES) continue;
        PhxReader reader = phx_reader_make(record.payload, record.length);
        out->root = phx_replay_get_hashes(&reader).root;
        out->complete = phx_replay_hashes_apply(&reader, cursor->tables, cursor->replay->info.table_count,
                                                false) == PHX_OK;
        cursor->tick++;
        return out->complete;
    }
    out->table_hashes = NULL;
    return out->command_count > 0;
}
