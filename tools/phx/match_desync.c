/* match_desync.c: a desync as one side of a match sees it: what it keeps, what it says to its user, and the
 * drill that makes one. */
#include "phx/match.h"

#include "state/world.h"
#include "step/sim_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 480, NOTES = PHX_NET_PLAYERS_MAX + 2 };

/* ---- evidence */

int phx_match_evidence_begin(PhxMatch *match) {
    PhxError error = {0};
    const PhxSettings *settings = &match->plan.settings;
    const PhxEvidenceOptions options = {
        .ticks = phx_evidence_span(settings->ticks_per_turn, settings->input_delay),
        .replica = {.game = match->cli->game}};
    const PhxStatus status = phx_evidence_create(match->sim, match->plan.content, match->plan.content_size,
                                                 &options, &match->evidence, &error);
    return status ? phx_cli_fail_status(match->cli, match->plan.title, status, &error) : PHX_CLI_GO;
}

void phx_match_evidence_tick(PhxMatch *match, const PhxCommand *commands, uint32_t count) {
    if (!match->evidence) return;
    const PhxStatus status = phx_evidence_tick(match->evidence, match->sim, commands, count);
    if (status == PHX_OK) return;
    phx_cli_note(match->cli, "evidence of a desync: %s; the match goes on without keeping any",
                 phx_status_text(status));
    phx_evidence_destroy(match->evidence);
    match->evidence = NULL;
}

/* The network was told of the match before there was evidence, so it asks by way of the match. */
static void tree_keep(void *user, uint32_t tick) {
    PhxMatch *match = user;
    if (match->evidence) phx_evidence_keep(match->evidence, tick);
}

static uint32_t tree_size(void *user, const PhxNetTreeQuestion *question) {
    PhxMatch *match = user;
    if (!match->evidence) return 0;
    const PhxNetTree tree = phx_evidence_tree(match->evidence);
    return tree.size(tree.user, question);
}

static void tree_values(void *user, const PhxNetTreeQuestion *question, uint32_t at, uint32_t count,
                        uint64_t *out) {
    PhxMatch *match = user;
    const PhxNetTree tree = phx_evidence_tree(match->evidence);
    tree.values(tree.user, question, at, count, out);
}

static uint32_t state_size(void *user, uint32_t tick) {
    const PhxMatch *match = user;
    PhxBundleContents contents;
    if (!match->evidence || !phx_evidence_contents(match->evidence, &contents) || contents.tick != tick)
        return 0;
    return contents.after.size <= PHX_NET_STATE_MAX ? (uint32_t)contents.after.size : 0;
}

static void state_read(void *user, uint32_t tick, uint32_t at, uint32_t count, uint8_t *out) {
    const PhxMatch *match = user;
    PhxBundleContents contents;
    (void)tick; /* the one whose size was asked */
    if (phx_evidence_contents(match->evidence, &contents)) memcpy(out, contents.after.bytes + at, count);
}

/* The last piece is there: over to the state. What this side recorded since the desync stays as it was. */
static bool mend(PhxMatch *match, uint32_t tick) {
    PhxError error = {0};
    char text[TEXT];
    const PhxStatus status =
        phx_evidence_mend(match->evidence, match->sim, match->mending, match->mending_size, &error);
    if (status != PHX_OK)
        snprintf(text, sizeof text, "the state after tick %" PRIu32 " from the host was not taken: %s", tick,
                 error.text);
    else
        snprintf(text, sizeof text,
                 "went over to the host's state after tick %" PRIu32
                 "; hashes are right again from tick %" PRIu32,
                 tick, phx_sim_tick(match->sim));
    phx_cli_note(match->cli, "%s", text);
    phx_match_note(match, PHX_REPLAY_NOTE_DESYNC, PHX_REPLAY_NO_SLOT, text);
    return status == PHX_OK;
}

static bool state_take(void *user, uint32_t tick, uint32_t total, uint32_t at, const uint8_t *bytes,
                       uint32_t count) {
    PhxMatch *match = user;
    if (!match->evidence || total > phx_sim_state_bytes(match->sim) + PHX_REPLAY_SNAPSHOT_EXTRA) return false;
    if (at == 0) {
        free(match->mending);
        match->mending = malloc(total);
        match->mending_size = total;
    }
    if (!match->mending) return false;
    memcpy(match->mending + at, bytes, count);
    return at + count == total && mend(match, tick);
}

PhxNetTree phx_match_tree(PhxMatch *match) {
    return (PhxNetTree){.user = match,
                        .keep = tree_keep,
                        .size = tree_size,
                        .values = tree_values,
                        .state_size = state_size,
                        .state_read = state_read,
                        .state_take = state_take};
}

/* ---- words */

/* Side i of a desync, 0 .. PHX_NET_PLAYERS_MAX; the last is the referee. */
static bool has_side(uint32_t mask, uint32_t side) {
    return side < PHX_NET_PLAYERS_MAX ? mask >> side & 1 : (mask & PHX_NET_REFEREE_BIT) != 0;
}

static uint32_t side_count(uint32_t mask) {
    uint32_t count = 0;
    for (uint32_t side = 0; side <= PHX_NET_PLAYERS_MAX; side++) count += has_side(mask, side);
    return count;
}

static const char *table_name(const PhxMatch *match, uint16_t table) {
    const char *name = table == PHX_NET_NO_TABLE ? NULL : phx_sim_table_name(match->sim, table);
    return name ? name : "none (roots differ, tables don't)";
}

/* "player 1", "the host": without the name, which the line has no room for. */
static void short_name(uint32_t side, char text[40]) {
    if (side < PHX_NET_PLAYERS_MAX)
        snprintf(text, 40, "player %" PRIu32, side);
    else
        snprintf(text, 40, "the host");
}

static void append(char *text, size_t size, const char *more) {
    const size_t length = strlen(text);
    if (length + 1 < size) snprintf(text + length, size - length, "%s", more);
}

/* "0x0001a3f0 here, 0x0001a3f1 at player 2 and the host": one's own value first, then each other one with the
 * sides that have it. */
static void value_words(const PhxMatch *match, const PhxNetEvent *event, char *text, size_t size) {
    const uint32_t here = match->plan.side;
    char value[24], name[40];
    uint32_t done = 0;
    text[0] = 0;
    for (uint32_t step = 0; step <= PHX_NET_PLAYERS_MAX + 1u; step++) {
        const uint32_t first = step == 0 ? here : step - 1;
        if (first > PHX_NET_PLAYERS_MAX || !has_side(event->value_mask, first) || done >> first & 1) continue;
        phx_state_value_words(match->sim, event->table, event->column, event->values[first], value,
                              sizeof value);
        append(text, size, done ? ", " : "");
        append(text, size, value);
        append(text, size, first == here ? " here" : " at ");
        for (uint32_t side = 0, named = 0; side <= PHX_NET_PLAYERS_MAX; side++) {
            if (!has_side(event->value_mask, side) || event->values[side] != event->values[first]) continue;
            done |= UINT32_C(1) << side;
            short_name(side, name);
            if (first != here) append(text, size, named++ ? " and " : ""), append(text, size, name);
        }
    }
}

static void located_words(const PhxMatch *match, const PhxNetEvent *event, char *text, size_t size) {
    char cell[120], values[TEXT - 160];
    if (event->column == PHX_NET_NO_COLUMN) {
        snprintf(text, size, "tick %" PRIu32 ": table %s; column and row could not be found out", event->tick,
                 table_name(match, event->table));
        return;
    }
    phx_state_cell_words(match->sim, event->table, event->column,
                         event->cell == PHX_NET_NO_CELL ? 0 : event->cell, cell, sizeof cell);
    if (event->cell == PHX_NET_NO_CELL) {
        snprintf(text, size, "tick %" PRIu32 ": %.*s; the row could not be found out", event->tick,
                 (int)strcspn(cell, " ["), cell);
        return;
    }
    value_words(match, event, values, sizeof values);
    snprintf(text, size, "tick %" PRIu32 ": %s: %s", event->tick, cell, values);
}

/* Who diverged, or that nobody can be blamed. */
static void blame_words(const PhxMatch *match, const PhxNetEvent *event, char *text, size_t size) {
    const uint32_t majority = phx_net_majority(event), others = event->mask & ~majority;
    char name[40];
    text[0] = 0;
    if (majority == 0) {
        snprintf(text, size,
                 "no root has a majority: nobody is to blame; the commands decide (phx replay verify)");
        return;
    }
    for (uint32_t side = 0, named = 0; side <= PHX_NET_PLAYERS_MAX; side++) {
        if (!has_side(others, side)) continue;
        append(text, size, named++ ? " and " : "");
        append(text, size, phx_match_slot_name(match, side, name));
    }
    char rest[80];
    snprintf(rest, sizeof rest, " diverged: %" PRIu32 " of %" PRIu32 " sides agree", side_count(majority),
             side_count(event->mask));
    append(text, size, rest);
}

/* ---- the bundle */

static void bundle_path(PhxMatch *match, uint32_t tick) {
    const char *wanted = match->plan.bundle;
    char side[40];
    if (wanted) {
        snprintf(match->bundle, sizeof match->bundle, "%s", wanted);
        return;
    }
    if (match->plan.side < PHX_NET_PLAYERS_MAX)
        snprintf(side, sizeof side, "player%" PRIu32, match->plan.side);
    else
        snprintf(side, sizeof side, "host");
    snprintf(match->bundle, sizeof match->bundle, "desync-%" PRIu32 "-%s.bundle", tick, side);
}

typedef struct Notes {
    PhxBundleNote notes[NOTES];
    char texts[NOTES][TEXT];
    uint32_t count;
} Notes;

static char *add_note(Notes *notes, uint8_t slot) {
    notes->notes[notes->count] = (PhxBundleNote){slot, notes->texts[notes->count]};
    return notes->texts[notes->count++];
}

/* Where, who, and each side's root. */
static void make_notes(const PhxMatch *match, Notes *notes) {
    const PhxNetEvent *event = &match->desync;
    char value[24];
    notes->count = 0;
    located_words(match, event, add_note(notes, PHX_REPLAY_NO_SLOT), TEXT);
    for (uint32_t side = 0; side <= PHX_NET_PLAYERS_MAX; side++) {
        if (!has_side(event->mask, side)) continue;
        char *text = add_note(notes, side < PHX_NET_PLAYERS_MAX ? (uint8_t)side : (uint8_t)PHX_SLOT_HOST);
        snprintf(text, TEXT, "root %016" PRIx64 " after tick %" PRIu32, event->root[side], event->tick);
        if (event->cell == PHX_NET_NO_CELL || !has_side(event->value_mask, side)) continue;
        phx_state_value_words(match->sim, event->table, event->column, event->values[side], value,
                              sizeof value);
        append(text, TEXT, ", value ");
        append(text, TEXT, value);
    }
}

/* Writes the bundle anew with what is known by now; `last`: into the replay too. */
static void save_evidence(PhxMatch *match, bool last) {
    PhxBundleContents contents;
    Notes notes;
    PhxError error = {0};
    if (!match->evidence) return;
    phx_evidence_keep(match->evidence, match->desync.tick);
    if (!phx_evidence_contents(match->evidence, &contents) || contents.tick != match->desync.tick) return;
    make_notes(match, &notes);
    contents.slot =
        match->plan.side < PHX_NET_PLAYERS_MAX ? (uint8_t)match->plan.side : (uint8_t)PHX_SLOT_HOST;
    contents.notes = notes.notes;
    contents.note_count = notes.count;
    bundle_path(match, contents.tick);
    if (phx_evidence_write(match->evidence, match->bundle, &contents, &error)) {
        (void)phx_cli_fail(match->cli, "evidence: %s", error.text);
        match->bundle[0] = 0;
        match->broken = true;
    }
    if (!last) return;
    if (match->bundle[0])
        phx_cli_note(match->cli, "evidence of the desync: %s%s", match->bundle,
                     !contents.after.bytes || !contents.before.bytes ? " (without all of its states)" : "");
    if (match->writer && phx_bundle_append(match->writer, &contents))
        (void)phx_cli_fail(match->cli, "%s: the evidence could not be added", match->plan.replay);
}

/* ---- events */

static void say_mended(PhxMatch *match, const PhxNetEvent *event) {
    char text[TEXT] = "", name[40];
    for (uint32_t side = 0; side < PHX_NET_PLAYERS_MAX; side++) {
        if (!has_side(event->mask, side)) continue;
        append(text, sizeof text, text[0] ? " and " : "");
        append(text, sizeof text, phx_match_slot_name(match, side, name));
    }
    char rest[80];
    snprintf(rest, sizeof rest, " mended: all hashes are compared again from tick %" PRIu32, event->tick);
    append(text, sizeof text, rest);
    phx_cli_note(match->cli, "%s", text);
    phx_match_note(match, PHX_REPLAY_NOTE_DESYNC, PHX_REPLAY_NO_SLOT, text);
    phx_cli_set(match->cli, "mended_at", json_integer(event->tick));
}

void phx_match_desync_event(PhxMatch *match, const PhxNetEvent *event) {
    char text[TEXT];
    if (event->type == PHX_NET_EVENT_MENDED) {
        say_mended(match, event);
        return;
    }
    if (event->type == PHX_NET_EVENT_DESYNC) {
        if (match->desync.type != PHX_NET_EVENT_NONE) return;
        match->desync = *event;
        snprintf(text, sizeof text, "desync at tick %" PRIu32 ", table %s", event->tick,
                 table_name(match, event->table));
        phx_match_note(match, PHX_REPLAY_NOTE_DESYNC, PHX_REPLAY_NO_SLOT, text);
        phx_cli_note(match->cli, "%s", text);
        save_evidence(match, false);
        return;
    }
    if (match->desync.type != PHX_NET_EVENT_DESYNC) return;
    match->desync = *event;
    located_words(match, event, text, sizeof text);
    phx_cli_note(match->cli, "%s", text);
    blame_words(match, event, text, sizeof text);
    phx_cli_note(match->cli, "%s", text);
    save_evidence(match, true);
}

void phx_match_desync_end(PhxMatch *match) {
    if (match->desync.type == PHX_NET_EVENT_DESYNC) save_evidence(match, true);
}

static json_t *side_json(const PhxMatch *match, const PhxNetEvent *event, uint32_t side) {
    char name[40], value[24];
    json_t *object = json_pack("{s:s*, s:o}", "side", phx_match_slot_name(match, side, name), "root",
                               phx_cli_hash_json(event->root[side]));
    if (!has_side(event->value_mask, side)) return object;
    if (event->cell == PHX_NET_NO_CELL) {
        json_object_set_new(object, "table_hash", phx_cli_hash_json(event->values[side]));
        return object;
    }
    phx_state_value_words(match->sim, event->table, event->column, event->values[side], value, sizeof value);
    json_object_set_new(object, "value", json_string(value));
    return object;
}

static void set_place(const PhxMatch *match, const PhxNetEvent *event, json_t *object) {
    const PhxColumnDesc *column = phx_state_column(match->sim, event->table, event->column);
    if (!column) return;
    json_object_set_new(object, "column", json_string(column->name));
    if (event->cell == PHX_NET_NO_CELL) return;
    json_object_set_new(object, "row", json_integer(event->cell / column->lanes));
    if (column->lanes > 1) json_object_set_new(object, "lane", json_integer(event->cell % column->lanes));
}

int phx_match_say_desync(PhxMatch *match) {
    const PhxNetEvent *event = &match->desync;
    const uint32_t majority = phx_net_majority(event);
    char sides[512] = "", name[40], root[32];
    json_t *list = json_array(), *diverged = json_array();
    for (uint32_t side = 0; side <= PHX_NET_PLAYERS_MAX; side++) {
        if (!has_side(event->mask, side)) continue;
        phx_match_slot_name(match, side, name);
        json_array_append_new(list, side_json(match, event, side));
        if (majority != 0 && !has_side(majority, side)) json_array_append_new(diverged, json_string(name));
        snprintf(root, sizeof root, " root %016" PRIx64, event->root[side]);
        append(sides, sizeof sides, sides[0] ? ", " : "");
        append(sides, sizeof sides, name);
        append(sides, sizeof sides, root);
    }
    json_t *object = json_pack("{s:I, s:s, s:o, s:o}", "tick", (json_int_t)event->tick, "table",
                               table_name(match, event->table), "sides", list, "diverged", diverged);
    set_place(match, event, object);
    if (match->bundle[0]) json_object_set_new(object, "bundle", json_string(match->bundle));
    phx_cli_set(match->cli, "desync", object);
    return phx_cli_false(match->cli, "desync at tick %" PRIu32 ", table %s: %s", event->tick,
                         table_name(match, event->table), sides);
}

/* ---- the drill */

/* TABLE.COLUMN:ROW behind the tick. */
static int parse_cell(PhxMatch *match, const char *text) {
    PhxMatchDrill *drill = &match->drill;
    PhxWorld *world = match->sim->world;
    char table[64] = "", column[64] = "";
    int used = 0;
    uint64_t row = 0;
    if (sscanf(text, "%63[^.].%63[^:]:%n", table, column, &used) != 2 || used == 0)
        return phx_cli_fail(match->cli, "--desync-drill: %.60s: TABLE.COLUMN:ROW is wanted", text);
    drill->table = phx_world_table_index(world, table);
    if (drill->table == UINT32_MAX) return phx_cli_fail(match->cli, "--desync-drill: no table %s", table);
    const PhxTable *of = &world->tables[drill->table];
    drill->column = phx_table_column_index(of, column);
    if (drill->column == UINT32_MAX || of->desc->columns[drill->column].klass != PHX_CLASS_STATE ||
        (of->generation && drill->column == 0))
        return phx_cli_fail(match->cli, "--desync-drill: %s.%s: no column that can be changed", table,
                            column);
    int code = phx_cli_u64(match->cli, "--desync-drill", text + used, &row);
    if (code == PHX_CLI_GO)
        code = phx_cli_range(match->cli, "--desync-drill", (long long)(row > INT32_MAX ? INT32_MAX : row), 0,
                             (long long)of->used - 1);
    drill->row = (uint32_t)row;
    drill->changes_cell = true;
    return code;
}

int phx_match_drill_set(PhxMatch *match, const char *text) {
    char tick[24];
    uint64_t number;
    if (!text) return PHX_CLI_GO;
    const char *colon = strchr(text, ':');
    snprintf(tick, sizeof tick, "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
    int code = phx_cli_u64(match->cli, "--desync-drill", tick, &number);
    if (code == PHX_CLI_GO)
        code =
            phx_cli_range(match->cli, "--desync-drill",
                          (long long)(number > INT32_MAX ? (uint64_t)INT32_MAX + 1 : number), 0, INT32_MAX);
    match->drill = (PhxMatchDrill){.wanted = true, .tick = (uint32_t)number};
    if (code == PHX_CLI_GO && colon) code = parse_cell(match, colon + 1);
    return code;
}

void phx_match_drill_strike(PhxMatch *match) {
    const PhxMatchDrill *drill = &match->drill;
    PhxTable *table = &match->sim->world->tables[drill->table];
    const uint64_t value = phx_table_get(table, drill->column, drill->row, 0);
    phx_table_set(table, drill->column, drill->row, 0, value ^ 1);
    if (table->width != 0) phx_grid_touch(table, drill->row % table->width, drill->row / table->width);
    phx_sim_refresh_hashes(match->sim);
}
