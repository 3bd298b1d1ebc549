/* reader.c: opens a replay: checks every byte once, keeps what is whole up to the first fault, and counts.
 *
 * In: bytes that nobody vouches for. Out: a PhxReplay, whose info says what was kept and what was lost.
 * Cost: one pass for the checksums; one block of memory of fixed size; nothing is allocated by a number in
 * the bytes. Determinism: a function of the bytes alone.
 */
#include <phalanx/content.h>
#include <phalanx/hash.h>
#include <stdlib.h>
#include <string.h>

#include "replay/pack.h"
#include "replay/record.h"

typedef struct Scan {
    PhxReplay *replay;
    PhxReplayInfo *info;
    uint64_t tables[PHX_REPLAY_TABLE_LIMIT];
    PhxReplayRecord pending; /* commands of a tick whose hashes are still to come */
    bool all;                /* a keyframe was the last: the next hashes have to give all tables */
    uint64_t index;          /* offset of the index record, 0: none so far */
    bool no_memory;
    bool ended;
} Scan;

/* A record whose checksum is right and whose contents are not: written so, or forged. */
static PhxStatus contradiction(Scan *scan, const PhxReplayRecord *record, const char *what) {
    return phx_error_set(&scan->info->fault, PHX_ERROR_FORMAT, record->offset,
                         "the %s record at byte %llu %s", phx_replay_kind_name(record->kind),
                         (unsigned long long)record->offset, what);
}

/* ---- records before the first tick ---- */

static bool name_is_printable(const uint8_t *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~') return false;
    return true;
}

static void read_table_names(PhxReplay *replay, PhxReader *reader) {
    for (uint32_t t = 0; t < replay->info.table_count && reader->status == PHX_OK; t++) {
        replay->start_hashes[t] = phx_read_u64(reader);
        const size_t length = phx_read_u8(reader);
        const uint8_t *name = phx_read_span(reader, length);
        if (length < 1 || length > PHX_REPLAY_NAME_LIMIT)
            phx_reader_fail(reader, PHX_ERROR_LIMIT);
        else if (name && !name_is_printable(name, length))
            phx_reader_fail(reader, PHX_ERROR_RANGE);
        else if (name)
            memcpy(replay->names[t], name, length);
        replay->info.table_names[t] = replay->names[t];
    }
}

static PhxStatus take_header(Scan *scan, const PhxReplayRecord *record) {
    PhxReplayInfo *info = scan->info;
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayHeaderFields fields = phx_replay_get_header(&reader);
    const uint8_t *settings = phx_read_span(&reader, PHX_SETTINGS_BYTES);
    if (!settings) return contradiction(scan, record, "is too short");
    if (phx_hash_bytes(settings, PHX_SETTINGS_BYTES) != fields.settings_hash)
        return contradiction(scan, record, "has settings that don't have their hash");
    if (phx_settings_decode(settings, &info->settings, NULL) != PHX_OK)
        return contradiction(scan, record, "has settings outside of their range");
    if (fields.table_count > PHX_REPLAY_TABLE_LIMIT)
        return contradiction(scan, record, "has too many tables");
    info->table_count = fields.table_count;
    read_table_names(scan->replay, &reader);
    if (phx_reader_finish(&reader) != PHX_OK)
        return contradiction(scan, record, "has a broken list of tables");
    info->has_header = true;
    info->sim_revision = fields.sim_revision;
    info->schema_hash = fields.schema_hash;
    info->content_hash = fields.content_hash;
    info->settings_hash = fields.settings_hash;
    info->start_root = info->final_root = fields.root;
    memcpy(scan->tables, scan->replay->start_hashes, sizeof scan->tables);
    return PHX_OK;
}

/* A frame can't grow without bounds, so that few bytes never ask for much memory. A build without Zstandard
 * takes its size as it stands: nothing is unpacked there. */
static PhxStatus unpack_content(Scan *scan, const PhxReplayRecord *record, PhxReader *reader) {
    PhxReplay *replay = scan->replay;
    const size_t size = phx_read_u32(reader), left = phx_reader_left(reader);
    const uint8_t *packed = phx_read_span(reader, left);
    if (!packed || size == 0 || size > PHX_REPLAY_CONTENT_LIMIT ||
        !phx_replay_pack_may_hold(PHX_REPLAY_ZSTD, packed, left, size))
        return contradiction(scan, record, "has a size that its bytes can't have");
    replay->content_size = size;
    if (!phx_replay_pack_known(PHX_REPLAY_ZSTD)) return PHX_OK;
    replay->unpacked = replay->allocator.allocate(replay->allocator.user, size);
    const PhxStatus status = replay->unpacked
                                 ? phx_replay_unpack(PHX_REPLAY_ZSTD, packed, left, replay->unpacked, size)
                                 : PHX_ERROR_MEMORY;
    if (status == PHX_ERROR_MEMORY) {
        scan->no_memory = true;
        return phx_error_set(&scan->info->fault, status, record->offset, "out of memory");
    }
    if (status != PHX_OK) return contradiction(scan, record, "has bytes that don't unpack");
    replay->content = replay->unpacked;
    return PHX_OK;
}

static PhxStatus find_content(Scan *scan, const PhxReplayRecord *record) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayContentFields fields = phx_replay_get_content(&reader);
    if (reader.status != PHX_OK || phx_reader_left(&reader) == 0)
        return contradiction(scan, record, "is empty");
    if (fields.encoding == PHX_REPLAY_ZSTD) return unpack_content(scan, record, &reader);
    if (fields.encoding != PHX_REPLAY_PLAIN)
        return phx_error_set(
            &scan->info->fault, PHX_ERROR_VERSION, record->offset,
            "the content record at byte %llu has encoding %u, which this version doesn't know",
            (unsigned long long)record->offset, fields.encoding);
    scan->replay->content = record->payload + reader.at;
    scan->replay->content_size = phx_reader_left(&reader);
    return PHX_OK;
}

static PhxStatus take_content(Scan *scan, const PhxReplayRecord *record) {
    PhxReplayInfo *info = scan->info;
    PhxContentInfo content;
    const PhxStatus status = find_content(scan, record);
    if (status != PHX_OK) return status;
    scan->replay->body = record->next;
    info->has_content = true;
    info->content_bytes = scan->replay->content_size;
    info->content_readable = scan->replay->content != NULL;
    if (info->content_readable &&
        phx_content_info(scan->replay->content, scan->replay->content_size, &content, NULL) == PHX_OK) {
        info->map_width = content.width;
        info->map_height = content.height;
        info->unit_capacity = content.unit_capacity;
    }
    return PHX_OK;
}

static PhxStatus take_player(Scan *scan, const PhxReplayRecord *record) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayPlayerFields fields = phx_replay_get_player(&reader);
    if (reader.status != PHX_OK) return contradiction(scan, record, "is too short");
    if (scan->info->ticks > 0 || scan->info->pending_commands > 0)
        return contradiction(scan, record, "follows a tick");
    if (fields.slot >= PHX_PLAYER_LIMIT)
        return contradiction(scan, record, "names a slot that no player can have");
    PhxReplayPlayer *player = &scan->info->players[fields.slot];
    if (player->listed) return contradiction(scan, record, "names a player again");
    player->listed = true;
    player->team = fields.team;
    phx_replay_text_clean(player->name, sizeof player->name, record->payload + reader.at,
                          phx_reader_left(&reader));
    if (scan->info->player_count <= fields.slot) scan->info->player_count = fields.slot + 1u;
    return PHX_OK;
}

/* ---- records of ticks ---- */

static PhxReplayCommandWalk walk_of(const PhxReplayRecord *record, PhxReplayCommandsFields *fields) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    *fields = phx_replay_get_commands(&reader);
    return (PhxReplayCommandWalk){.reader = reader, .left = fields->count};
}

static PhxStatus take_commands(Scan *scan, const PhxReplayRecord *record) {
    PhxReplayCommandsFields fields;
    PhxCommand command;
    PhxReplayCommandWalk walk = walk_of(record, &fields);
    if (walk.reader.status != PHX_OK) return contradiction(scan, record, "is too short");
    if (fields.tick != scan->info->ticks || scan->info->pending_commands > 0)
        return contradiction(scan, record, "is of a tick that isn't the next");
    if (fields.count == 0 || fields.count > PHX_TICK_COMMAND_LIMIT)
        return contradiction(scan, record, "has a number of commands outside of its range");
    while (phx_replay_command_next(&walk, &command)) continue;
    if (phx_reader_finish(&walk.reader) != PHX_OK)
        return contradiction(scan, record, "has a broken list of commands");
    scan->pending = *record;
    scan->info->pending_commands = fields.count;
    if (scan->replay->room < fields.count) scan->replay->room = fields.count;
    return PHX_OK;
}

/* The pending commands were executed: counts them for their slots. */
static void count_commands(Scan *scan) {
    PhxReplayInfo *info = scan->info;
    PhxReplayCommandsFields fields;
    PhxCommand command;
    PhxReplayCommandWalk walk = walk_of(&scan->pending, &fields);
    while (phx_replay_command_next(&walk, &command)) {
        info->commands++;
        info->command_bytes += command.size;
        if (command.slot < PHX_PLAYER_LIMIT) {
            info->players[command.slot].commands++;
            info->players[command.slot].command_bytes += command.size;
        } else if (command.slot == PHX_SLOT_HOST) {
            info->host_commands++;
        } else {
            info->other_commands++;
        }
    }
    if (info->busiest_commands < fields.count) info->busiest_commands = fields.count;
}

static PhxStatus take_hashes(Scan *scan, const PhxReplayRecord *record) {
    PhxReplayInfo *info = scan->info;
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayHashesFields fields = phx_replay_get_hashes(&reader);
    if (reader.status != PHX_OK) return contradiction(scan, record, "is too short");
    if (fields.tick != info->ticks || info->ticks == UINT32_MAX - 1)
        return contradiction(scan, record, "is of a tick that isn't the next");
    if (phx_replay_hashes_apply(&reader, scan->tables, info->table_count, scan->all) != PHX_OK)
        return contradiction(scan, record, "has a broken list of hashes");
    if (info->pending_commands > 0) count_commands(scan);
    scan->all = false;
    info->pending_commands = 0;
    info->final_root = fields.root;
    info->ticks++;
    return PHX_OK;
}

static PhxStatus take_note(Scan *scan, const PhxReplayRecord *record) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayNoteFields fields = phx_replay_get_note(&reader);
    if (reader.status != PHX_OK) return contradiction(scan, record, "is too short");
    if (fields.tick != scan->info->ticks)
        return contradiction(scan, record, "stands at another tick than it says");
    scan->info->notes++;
    return PHX_OK;
}

/* ---- snapshots ---- */

static PhxStatus take_keyframe(Scan *scan, const PhxReplayRecord *record) {
    PhxReplayInfo *info = scan->info;
    PhxReplayPlaces *places = &scan->replay->keyframes;
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayKeyframeFields fields = phx_replay_get_keyframe(&reader);
    if (reader.status != PHX_OK || phx_reader_left(&reader) == 0)
        return contradiction(scan, record, "is too short");
    if (fields.tick != info->ticks || info->pending_commands > 0)
        return contradiction(scan, record, "stands at another tick than it says");
    if (fields.root != info->final_root)
        return contradiction(scan, record, "has another root than the hashes before it");
    if (places->count > 0 && places->places[places->count - 1].tick == fields.tick)
        return contradiction(scan, record, "is the second of its tick");
    const PhxStatus status = phx_replay_places_add(
        places, &scan->replay->allocator, (PhxReplayPlace){.tick = fields.tick, .offset = record->offset});
    if (status == PHX_ERROR_LIMIT) return contradiction(scan, record, "is one more than there may be");
    if (status != PHX_OK) {
        scan->no_memory = true;
        return phx_error_set(&info->fault, status, record->offset, "out of memory");
    }
    info->keyframes++;
    info->keyframes_readable += phx_replay_pack_known(fields.encoding);
    scan->all = true;
    return PHX_OK;
}

static PhxStatus take_evidence(Scan *scan, const PhxReplayRecord *record) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayEvidenceFields fields = phx_replay_get_evidence(&reader);
    if (reader.status != PHX_OK || phx_reader_left(&reader) == 0)
        return contradiction(scan, record, "is too short");
    if (fields.tick > scan->info->ticks) return contradiction(scan, record, "is of a tick that comes later");
    scan->info->evidence++;
    return PHX_OK;
}

/* An index that is there has to be right: what was found while scanning is the measure. */
static PhxStatus take_index(Scan *scan, const PhxReplayRecord *record) {
    const PhxReplayPlaces *places = &scan->replay->keyframes;
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayIndexFields fields = phx_replay_get_index(&reader);
    bool right = fields.count == places->count && scan->info->pending_commands == 0;
    for (uint32_t i = 0; i < places->count && right && reader.status == PHX_OK; i++) {
        const uint32_t tick = phx_read_u32(&reader);
        right = tick == places->places[i].tick && phx_read_u64(&reader) == places->places[i].offset;
    }
    if (!right || phx_reader_finish(&reader) != PHX_OK)
        return contradiction(scan, record, "tells of other keyframes than there are");
    scan->index = record->offset;
    scan->info->indexed = true;
    return PHX_OK;
}

static PhxStatus take_end(Scan *scan, const PhxReplayRecord *record) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    const PhxReplayEndFields fields = phx_replay_get_end(&reader);
    if (phx_reader_finish(&reader) != PHX_OK)
        return contradiction(scan, record, "has another length than it must");
    if (fields.ticks != scan->info->ticks || fields.root != scan->info->final_root ||
        scan->info->pending_commands > 0)
        return contradiction(scan, record, "tells of another end than the records before it");
    if (fields.offset != record->offset || fields.index != scan->index)
        return contradiction(scan, record, "stands at another byte than it says, or its index does");
    scan->ended = true;
    return PHX_OK;
}

/* ---- the scan ---- */

static PhxStatus take(Scan *scan, const PhxReplayRecord *record) {
    static PhxStatus (*const takers[PHX_REPLAY_KIND_COUNT])(Scan *, const PhxReplayRecord *) = {
        [PHX_REPLAY_KIND_HEADER] = take_header,     [PHX_REPLAY_KIND_CONTENT] = take_content,
        [PHX_REPLAY_KIND_COMMANDS] = take_commands, [PHX_REPLAY_KIND_HASHES] = take_hashes,
        [PHX_REPLAY_KIND_END] = take_end,           [PHX_REPLAY_KIND_NOTE] = take_note,
        [PHX_REPLAY_KIND_PLAYER] = take_player,     [PHX_REPLAY_KIND_KEYFRAME] = take_keyframe,
        [PHX_REPLAY_KIND_INDEX] = take_index,       [PHX_REPLAY_KIND_EVIDENCE] = take_evidence,
    };
    const bool is_header = record->kind == PHX_REPLAY_KIND_HEADER,
               is_content = record->kind == PHX_REPLAY_KIND_CONTENT;
    const bool in_place = !scan->info->has_header    ? is_header
                          : !scan->info->has_content ? is_content
                                                     : !is_header && !is_content && !scan->ended;
    if (!in_place)
        return contradiction(scan, record, scan->ended ? "follows the end" : "is out of its place");
    if (scan->index != 0 && record->kind != PHX_REPLAY_KIND_END && record->kind != PHX_REPLAY_KIND_UNKNOWN)
        return contradiction(scan, record, "follows the index");
    return takers[record->kind] ? takers[record->kind](scan, record) : PHX_OK;
}

/* Does an end record that says where it stands lie at the very end? Then nothing was cut off. */
static bool tail_is_whole(const uint8_t *bytes, uint64_t size) {
    PhxReplayRecord record;
    const uint64_t length = PHX_REPLAY_FRAME + phx_replay_kind_limit(PHX_REPLAY_KIND_END);
    if (size < PHX_REPLAY_PREAMBLE + length) return false;
    if (phx_replay_record_read(bytes, size, size - length, &record, NULL) != PHX_OK) return false;
    PhxReader reader = phx_reader_make(record.payload, record.length);
    return record.kind == PHX_REPLAY_KIND_END && phx_replay_get_end(&reader).offset == size - length;
}

/* Out of memory is a fault of this machine and not of the bytes: then there is no replay. */
static void scan_records(Scan *scan) {
    PhxReplayInfo *info = scan->info;
    const uint8_t *bytes = scan->replay->bytes;
    const uint64_t size = scan->replay->size;
    uint64_t at = PHX_REPLAY_PREAMBLE;
    PhxStatus status = PHX_OK;
    info->kept_bytes = at;
    while (at < size && status == PHX_OK) {
        PhxReplayRecord record;
        status = phx_replay_record_read(bytes, size, at, &record, &info->fault);
        if (status == PHX_OK) status = take(scan, &record);
        if (status != PHX_OK) break;
        info->kinds[record.kind].count++;
        info->kinds[record.kind].bytes += record.next - at;
        info->kept_bytes = at = record.next;
    }
    if (status != PHX_OK && scan->ended)
        status = phx_error_set(&info->fault, PHX_ERROR_FORMAT, at, "%llu bytes after the end record",
                               (unsigned long long)(size - at));
    else if (status == PHX_OK && !scan->ended)
        status = phx_error_set(
            &info->fault, PHX_ERROR_TRUNCATED, size,
            "the bytes end at %llu without an end record: the recorder died, or the file was cut",
            (unsigned long long)size);
    if (status == PHX_ERROR_TRUNCATED && at < size && tail_is_whole(bytes, size))
        status = phx_error_set(&info->fault, PHX_ERROR_FORMAT, at,
                               "the record at byte %llu is garbled: its length runs past the end of the file",
                               (unsigned long long)at);
    info->state = status == PHX_OK                ? PHX_REPLAY_COMPLETE
                  : status == PHX_ERROR_TRUNCATED ? PHX_REPLAY_CUT
                                                  : PHX_REPLAY_GARBLED;
}

/* A header that was refused half-way leaves nothing behind. */
static void forget_header(PhxReplay *replay) {
    PhxReplayInfo *info = &replay->info;
    if (info->has_header) return;
    info->settings = (PhxSettings){0};
    info->table_count = 0;
    memset(info->table_names, 0, sizeof info->table_names);
}

static PhxStatus check_preamble(const uint8_t *bytes, size_t size, PhxError *error) {
    const size_t present = size < PHX_REPLAY_SIGNATURE_SIZE ? size : PHX_REPLAY_SIGNATURE_SIZE;
    if (present > 0 && memcmp(bytes, phx_replay_signature, present) != 0)
        return phx_error_set(error, PHX_ERROR_FORMAT, 0,
                             "this is no Phalanx replay: it begins with other bytes");
    if (size < PHX_REPLAY_PREAMBLE) return PHX_OK;
    PhxReader reader = phx_reader_make(bytes + PHX_REPLAY_SIGNATURE_SIZE, 4);
    const uint32_t version = phx_read_u32(&reader);
    if (version != PHX_REPLAY_VERSION)
        return phx_error_set(error, PHX_ERROR_VERSION, PHX_REPLAY_SIGNATURE_SIZE,
                             "a replay of format version %lu; this program reads version %d",
                             (unsigned long)version, PHX_REPLAY_VERSION);
    return PHX_OK;
}

PhxStatus phx_replay_open(const void *bytes, size_t size, const PhxAllocator *allocator, PhxReplay **out,
                          PhxError *error) {
    *out = NULL;
    const PhxStatus status = check_preamble(bytes, size, error);
    if (status != PHX_OK) return status;
    const PhxAllocator memory = allocator ? *allocator : phx_allocator_default();
    PhxReplay *replay = memory.allocate(memory.user, sizeof *replay);
    if (!replay) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    memset(replay, 0, sizeof *replay);
    replay->allocator = memory;
    replay->bytes = bytes;
    replay->size = size;
    PhxReplayInfo *info = &replay->info;
    info->bytes = size;
    info->version = PHX_REPLAY_VERSION;
    if (size < PHX_REPLAY_PREAMBLE) {
        info->state = PHX_REPLAY_CUT;
        phx_error_set(&info->fault, PHX_ERROR_TRUNCATED, size,
                      "the bytes end at %llu, inside of the signature", (unsigned long long)size);
    } else {
        Scan scan = {.replay = replay, .info = info};
        scan_records(&scan);
        forget_header(replay);
        if (scan.no_memory) {
            phx_replay_close(replay);
            return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
        }
    }
    info->lost_bytes = size - info->kept_bytes;
    if (info->has_header) info->milliseconds = (uint64_t)info->ticks * 1000 / info->settings.tick_rate;
    *out = replay;
    return PHX_OK;
}

void phx_replay_close(PhxReplay *replay) {
    if (!replay) return;
    const PhxAllocator memory = replay->allocator;
    free(replay->owned);
    phx_replay_places_free(&replay->keyframes, &memory);
    if (replay->unpacked) memory.release(memory.user, replay->unpacked, replay->content_size);
    memory.release(memory.user, replay, sizeof *replay);
}
