/* search.c: brings up both sides, sees that they can be compared, and finds the first tick that differs. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/hunt.h"

void hunt_say(const Hunt *hunt, uint32_t done, uint32_t total, const char *format, ...) {
    char text[512];
    va_list list;
    if (!hunt->plan->say) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    hunt->plan->say(hunt->plan->say_user, text, done, total);
}

bool hunt_lost(Hunt *hunt, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(hunt->report->why, sizeof hunt->report->why, format, list);
    va_end(list);
    hunt->report->verdict = PHX_BISECT_CANNOT_TELL;
    return false;
}

bool hunt_ask(Hunt *hunt, char *replies[2], const char *format, ...) {
    char request[PHX_WORKER_REQUEST];
    va_list list;
    va_start(list, format);
    vsnprintf(request, sizeof request, format, list);
    va_end(list);
    bool good = true;
    for (int i = 0; i < 2; i++) good = phx_side_ask(&hunt->side[i], "%s", request) && good;
    for (int i = 0; i < 2; i++) good = phx_side_finish(&hunt->side[i], replies ? &replies[i] : NULL) && good;
    return good;
}

/* ---- opening */

/* The number behind "name=" in a list of such; `base` 10 or 16. */
static bool field(const char *text, const char *name, int base, uint64_t *out) {
    const size_t length = strlen(name);
    for (const char *at = text; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            char *end;
            *out = strtoull(at + length + 1, &end, base);
            return end != at + length + 1 && (*end == 0 || *end == ' ');
        }
    return false;
}

static bool field32(const char *text, const char *name, uint32_t limit, uint32_t *out) {
    uint64_t value;
    if (!field(text, name, 10, &value) || value > limit) return false;
    *out = (uint32_t)value;
    return true;
}

/* hello and open. The two sides are asked one after the other: their words differ. */
static bool open_side(Hunt *hunt, int i) {
    PhxSide *side = &hunt->side[i];
    HuntOpened *opened = &hunt->opened[i];
    char *rest;
    if (!phx_side_start(side) || !phx_side_ask(side, "hello %d", PHX_WORKER_VERSION) ||
        !phx_side_greeting(side, &rest))
        return hunt_lost(hunt, "%s: no worker: %s", side->spec.name, side->why);
    if (!field32(rest, "revision", UINT32_MAX, &opened->revision))
        return hunt_lost(hunt, "%s: is no worker", side->spec.name);
    if (!phx_side_ask(side, "open %s", hunt->plan->replays[i]) || !phx_side_finish(side, &rest))
        return hunt_lost(hunt, "%s: %s: %s", side->spec.name, hunt->plan->replays[i], side->why);
    if (!field32(rest, "ticks", UINT32_MAX, &opened->ticks) ||
        !field32(rest, "phases", PHX_TREE_PHASE_LIMIT, &opened->phases) ||
        !field32(rest, "tables", PHX_SCHEMA_TABLE_LIMIT, &opened->tables) ||
        !field(rest, "schema", 16, &opened->schema) || !field(rest, "content", 16, &opened->content))
        return hunt_lost(hunt, "%s: is no worker", side->spec.name);
    return true;
}

bool hunt_revive(Hunt *hunt, int i) { return open_side(hunt, i); }

static bool read_table_line(Hunt *hunt, const char *line) {
    unsigned table, column, capacity, used, lanes;
    char name[PHX_BISECT_NAME], word[8], klass[16];
    if (sscanf(line, "table %u %39s %7s %u %u", &table, name, word, &capacity, &used) == 5) {
        if (table >= PHX_SCHEMA_TABLE_LIMIT || table != hunt->table_count) return false;
        HuntTable *made = &hunt->tables[hunt->table_count++];
        made->capacity = capacity;
        memcpy(made->name, name, sizeof name);
        return true;
    }
    if (sscanf(line, "column %u %u %39s %7s %u %15s", &table, &column, name, word, &lanes, klass) != 6 ||
        table + 1 != hunt->table_count || column != hunt->tables[table].column_count ||
        column >= PHX_SCHEMA_COLUMN_LIMIT || lanes < 1 || lanes > 256)
        return false;
    HuntColumn *made = &hunt->tables[table].columns[hunt->tables[table].column_count++];
    made->lanes = lanes;
    made->scratch = strcmp(klass, "scratch") == 0;
    memcpy(made->name, name, sizeof name);
    memcpy(made->type, word, sizeof made->type);
    return true;
}

/* The list behind " name=" up to the next space. */
static void copy_list(char to[PHX_WORKER_LINE], const char *from) {
    from = from ? strchr(from, '=') + 1 : "";
    snprintf(to, PHX_WORKER_LINE, "%.*s", (int)strcspn(from, " "), from);
}

static bool read_phase_line(Hunt *hunt, const char *line) {
    unsigned index;
    char name[PHX_BISECT_NAME];
    if (sscanf(line, "phase %u %39s", &index, name) != 2 || index != hunt->phase_count ||
        index >= PHX_TREE_PHASE_LIMIT)
        return false;
    HuntPhase *made = &hunt->phases[hunt->phase_count++];
    memcpy(made->name, name, sizeof name);
    copy_list(made->reads, strstr(line, " reads="));
    copy_list(made->writes, strstr(line, " writes="));
    return true;
}

/* Tables and phases, as the left side tells them. */
static bool read_schema(Hunt *hunt) {
    static const char *const asked[] = {"tables", "phases"};
    PhxSide *side = &hunt->side[0];
    for (int i = 0; i < 2; i++) {
        char *line;
        if (!phx_side_ask(side, "%s", asked[i])) break;
        while ((line = phx_side_line(side)) != NULL && strcmp(line, "ok") != 0)
            if (!(i == 0 ? read_table_line(hunt, line) : read_phase_line(hunt, line)))
                return hunt_lost(hunt, "%s: its %s can't be read", side->spec.name, asked[i]);
    }
    if (side->dead) return hunt_lost(hunt, "%s: %s", side->spec.name, side->why);
    return true;
}

static bool begin(Hunt *hunt) {
    for (int i = 0; i < 2; i++) {
        hunt->side[i].spec = hunt->plan->sides[i];
        snprintf(hunt->report->names[i], PHX_BISECT_NAME, "%.39s", hunt->plan->sides[i].name);
    }
    if (!open_side(hunt, 0) || !open_side(hunt, 1)) return false;
    const HuntOpened *left = &hunt->opened[0], *right = &hunt->opened[1];
    if (left->revision != right->revision)
        return hunt_lost(hunt, "simulation revisions %u and %u can't be compared", left->revision,
                         right->revision);
    if (left->schema != right->schema || left->phases != right->phases || left->tables != right->tables)
        return hunt_lost(hunt, "the sides have other tables or phases (schema %016llx and %016llx)",
                         (unsigned long long)left->schema, (unsigned long long)right->schema);
    if (left->content != right->content) return hunt_lost(hunt, "the content differs");
    hunt->ticks = left->ticks < right->ticks ? left->ticks : right->ticks;
    if (hunt->plan->ticks && hunt->plan->ticks < hunt->ticks) hunt->ticks = hunt->plan->ticks;
    return read_schema(hunt);
}

/* ---- searching */

/* Plays one side's answer to `play` into `roots`; how many ticks it did. */
static uint32_t read_roots(PhxSide *side, uint32_t first, uint64_t *roots, uint32_t limit) {
    uint32_t count = 0;
    char *line;
    while ((line = phx_side_line(side)) != NULL) {
        if (strncmp(line, "ok ", 3) == 0) return count;
        if (strncmp(line, "error ", 6) == 0) {
            snprintf(side->why, sizeof side->why, "%.250s", line + 6);
            return count;
        }
        char *at = line;
        if (strncmp(line, "roots ", 6) != 0 || strtoul(line + 6, &at, 10) != first + count) continue;
        while (*at == ' ' && count < limit) {
            char *end;
            roots[count] = strtoull(at, &end, 16);
            if (end == at) break;
            count++;
            at = end;
        }
    }
    return count;
}

static void play_both(Hunt *hunt, uint32_t at, uint32_t to, uint32_t counts[2]) {
    for (int i = 0; i < 2; i++)
        (void)phx_side_ask(&hunt->side[i], "play %lu%s", (unsigned long)to, hunt->plan->deep ? " deep" : "");
    for (int i = 0; i < 2; i++) counts[i] = read_roots(&hunt->side[i], at, hunt->roots[i], PHX_BISECT_WINDOW);
}

/* Both sides back to `at`; a dead one is brought up again. */
static bool revive(Hunt *hunt, uint32_t at) {
    for (int i = 0; i < 2; i++) {
        if (!hunt->side[i].dead) continue;
        hunt_say(hunt, 0, 0, "%s: %s; started again, and played tick by tick from %lu",
                 hunt->side[i].spec.name, hunt->side[i].why, (unsigned long)at);
        if (!hunt_revive(hunt, i)) return false;
    }
    if (!hunt_ask(hunt, NULL, "seek %lu afresh", (unsigned long)at))
        return hunt_lost(hunt, "tick %lu can't be reached again: %s", (unsigned long)at,
                         hunt->side[0].dead ? hunt->side[0].why : hunt->side[1].why);
    return true;
}

/* True: hunt->tick is the first that differs (or where a side died: report->died). False: there is none, or
 * it can't be told. */
static bool search(Hunt *hunt) {
    uint32_t at = 0, window = 16, careful_until = 0, counts[2];
    while (at < hunt->ticks) {
        const uint32_t size = at < careful_until ? 1 : window;
        const uint32_t to = hunt->ticks - at < size ? hunt->ticks : at + size;
        play_both(hunt, at, to, counts);
        const uint32_t both = counts[0] < counts[1] ? counts[0] : counts[1];
        for (uint32_t i = 0; i < both; i++) {
            if (hunt->roots[0][i] == hunt->roots[1][i]) continue;
            hunt->tick = hunt->report->ticks = at + i;
            return true;
        }
        if (both < to - at && size > 1) {
            careful_until = to;
            if (!revive(hunt, at)) return false;
            continue;
        }
        if (both < to - at) {
            hunt->tick = hunt->report->ticks = at + both;
            if (counts[0] == counts[1])
                return hunt_lost(hunt, "both sides end in tick %lu: %s", (unsigned long)hunt->tick,
                                 hunt->side[0].why);
            hunt->report->died = counts[0] < counts[1] ? 0 : 1;
            return true;
        }
        at = to;
        if (window < PHX_BISECT_WINDOW) window *= 2;
        hunt_say(hunt, at, hunt->ticks, "ticks that agree");
    }
    hunt->report->ticks = hunt->ticks;
    return false;
}

static bool states_differ(const Hunt *hunt, HuntState states[2]) {
    if (states[0].root != states[1].root) return true;
    for (uint32_t t = 0; t < hunt->table_count; t++)
        if (states[0].tables[t] != states[1].tables[t]) return true;
    return false;
}

bool hunt_read_state(const char *text, HuntState *out) {
    char *end;
    *out = (HuntState){0};
    out->tick = (uint32_t)strtoul(text, &end, 10);
    if (end == text) return false;
    text = end;
    out->root = strtoull(text, &end, 16);
    if (end == text) return false;
    for (uint32_t t = 0; t < PHX_SCHEMA_TABLE_LIMIT; t++) {
        text = end;
        out->tables[t] = strtoull(text, &end, 16);
        if (end == text) break;
    }
    return true;
}

/* A file that can't be opened here is for the workers to judge. */
static void look_at_files(const PhxBisectPlan *plan, PhxBisectReport *report) {
    PhxError error;
    const bool one = strcmp(plan->replays[0], plan->replays[1]) == 0;
    for (int i = 0; i < (one ? 1 : 2); i++) {
        PhxReplay *replay;
        if (phx_replay_load(plan->replays[i], 0, &replay, &error) != PHX_OK) continue;
        phx_bisect_file(replay, plan->replays[i], &report->files[i]);
        phx_replay_close(replay);
    }
}

void phx_bisect_sides(const PhxBisectPlan *plan, PhxBisectReport *report) {
    memset(report, 0, sizeof *report);
    report->died = -1;
    report->agrees = report->reproduced = -2;
    Hunt *hunt = calloc(1, sizeof *hunt);
    if (!hunt) {
        report->verdict = PHX_BISECT_CANNOT_TELL;
        snprintf(report->why, sizeof report->why, "out of memory");
        return;
    }
    hunt->plan = plan;
    hunt->report = report;
    look_at_files(plan, report);
    if (begin(hunt)) {
        char *replies[2];
        HuntState states[2];
        if (!hunt_ask(hunt, replies, "hash") || !hunt_read_state(replies[0], &states[0]) ||
            !hunt_read_state(replies[1], &states[1]))
            (void)hunt_lost(hunt, "a side gives no hash: %s",
                            hunt->side[0].why[0] ? hunt->side[0].why : hunt->side[1].why);
        else if (states_differ(hunt, states))
            hunt_locate_start(hunt);
        else if (search(hunt))
            hunt_locate(hunt);
    }
    for (int i = 0; i < 2; i++) {
        if (!hunt->side[i].dead) (void)phx_side_ask(&hunt->side[i], "quit");
        phx_side_end(&hunt->side[i]);
    }
    if (report->ticks == 0 || report->ticks != plan->ticks) phx_bisect_weigh(report);
    free(hunt);
}
