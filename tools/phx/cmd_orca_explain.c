/* cmd_orca_explain.c: phx orca explain: plays a match to a tick, and says, and draws, why a unit chose the
 * velocity that it chose in the last tick.
 */
#include "phx/cmd_orca.h"
#include "phx/cmd_replay.h"
#include "phx/solo.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const PhxCliUsage usage = {
    .synopsis = "SCENARIO|BLOB|REPLAY --unit N --tick T",
    .about =
        "Plays T ticks of a match and explains which velocity unit N chose in the last of them: its "
        "neighbours and the\n"
        "walls near it, the half-plane that each of them leaves, what no half-plane forbids, and what was "
        "done where that is\n"
        "nothing. The choice is computed once more by the same code, and nothing of the match changes. "
        "--unit worst takes\n"
        "the unit that violates a half-plane most.\n\n"
        "The table lists half-planes in the order in which they count: velocities v are permitted where\n"
        "normal . v >= offset. `outside` is how far the chosen velocity is on the forbidden side. `holds "
        "it`: "
        "but for these, a\n"
        "better velocity could be had; `contact`: a better one would press it too far into that unit. "
        "Numbers "
        "are in world\n"
        "units (cells), and units a second.\n"
        "The picture shows the plane of velocities at the left, and the place, with what others do within a "
        "second, at the\n"
        "right.",
    .examples = "  phx orca explain tests/scenario/door.yaml --unit 17 --tick 200\n"
                "  phx orca explain tests/scenario/door.yaml --unit 17 --tick 200 --svg why.svg\n"
                "  phx orca explain match.phxr --unit 3 --tick 1200 --png why.png --json | jq .fallback\n",
    .least = 1,
    .most = 1};

enum { TICKS_MOST = 100000000 };

typedef struct Explain {
    PhxCli *cli;
    const char *path;
    char *unit_word, *tick_word, *seed, *map, *bot, *svg, *png;
    int threads;
    bool worst; /* --unit worst */
    uint32_t slot;
    uint64_t tick;
} Explain;

/* Words. */

static int read_words(Explain *e) {
    uint64_t slot = 0;
    PhxCli *cli = e->cli;
    if (e->unit_word == NULL)
        return phx_cli_fail(cli, "--unit is missing: --unit N, the slot of a unit, or --unit worst, whose "
                                 "half-planes are violated most");
    e->worst = strcmp(e->unit_word, "worst") == 0;
    int code = e->worst ? PHX_CLI_GO : phx_cli_u64(cli, "--unit", e->unit_word, &slot);
    if (code == PHX_CLI_GO && slot > UINT32_MAX)
        code = phx_cli_fail(cli, "--unit: %.40s: no match has so many units", e->unit_word);
    e->slot = (uint32_t)slot;
    if (code == PHX_CLI_GO && e->tick_word != NULL) code = phx_cli_u64(cli, "--tick", e->tick_word, &e->tick);
    if (code == PHX_CLI_GO && e->tick_word != NULL && e->tick == 0)
        code = phx_cli_fail(cli, "--tick: 0: nothing was chosen before the first tick: give 1 for the choice "
                                 "made in that");
    if (code == PHX_CLI_GO && e->tick > TICKS_MOST)
        code = phx_cli_fail(cli, "--tick: %.40s: a tick from 1 to %d is wanted", e->tick_word, TICKS_MOST);
    return code;
}

static int parse(Explain *e, int argc, const char **argv) {
    PhxCli *cli = e->cli;
    const struct poptOption table[] = {
        {"unit", 'u', POPT_ARG_STRING, &e->unit_word, 0, "the unit's slot, or worst", "N"},
        {"tick", 't', POPT_ARG_STRING, &e->tick_word, 0,
         "the tick, from 1: as many are played (default: the match's end)", "T"},
        {"svg", 0, POPT_ARG_STRING, &e->svg, 0, "draw it, as .svg", "OUT"},
        {"png", 'o', POPT_ARG_STRING, &e->png, 0, "draw it, .png or .svg", "OUT"},
        {"threads", 'j', POPT_ARG_INT, &e->threads, 0, "compute with N threads (default 1)", "N"},
        {"seed", 's', POPT_ARG_STRING, &e->seed, 0, "of a scenario: another seed of all random draws", "N"},
        {"map", 'm', POPT_ARG_STRING, &e->map, 0, "of a scenario: play on this .map", "FILE"},
        {"bot", 'b', POPT_ARG_STRING, &e->bot, 0, "of a scenario: this bot for every player", "NAME"},
        POPT_TABLEEND};
    e->threads = 1;
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--threads", e->threads, 1, PHX_JOBS_WORKERS_MAX);
    if (code == PHX_CLI_GO) code = read_words(e);
    const size_t length = e->svg ? strlen(e->svg) : 4;
    if (code == PHX_CLI_GO && e->svg && (length < 5 || strcasecmp(e->svg + length - 4, ".svg") != 0))
        code = phx_cli_fail(cli, "--svg: %s: a name that ends in .svg is wanted; --png writes the others",
                            e->svg);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, e->svg);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, e->png);
    if (code == PHX_CLI_GO) e->path = cli->arguments[0];
    return code;
}

/* What is said. */

static double real(fix16_t value) { return value / 65536.0; }
/* For three decimals: never -0.000. */
static double shown(double value) { return fabs(value) < 0.0005 ? 0 : value; }
static double of_dir(int32_t value) { return value / 1073741824.0; }
static double size_of(PhxVec2 v) { return hypot(real(v.x), real(v.y)); }

/* "unit 3", or "unit 3, soldier of red". */
static void name_unit(const PhxSim *sim, uint32_t slot, char *text, size_t size) {
    const PhxUnitView units = phx_sim_units(sim);
    PhxUnitTypeInfo type;
    PhxPlayerInfo player;
    snprintf(text, size, "unit %" PRIu32, slot);
    if (slot < units.used && phx_sim_unit_type(sim, units.type[slot], &type) &&
        phx_sim_player(sim, units.player[slot], &player))
        snprintf(text, size, "unit %" PRIu32 ", %s of %s", slot, type.name, player.name);
}

static void say_velocity(const PhxCli *cli, const char *name, PhxVec2 v) {
    phx_cli_print(cli, "  %-10s %8.3f %8.3f   speed %.3f\n", name, shown(real(v.x)), shown(real(v.y)),
                  size_of(v));
}

static void say_line(const PhxCli *cli, const PhxOrcaExplanation *why, uint32_t i) {
    const PhxOrcaHalfPlane *line = &why->line[i];
    char name[32], about[96], radii[16] = "-";
    phx_orca_source_name(why, i, name);
    if (line->source == PHX_ORCA_FROM_WALL) {
        snprintf(about, sizeof about, "%.3f %.3f to %.3f %.3f", real(line->start.x), real(line->start.y),
                 real(line->end.x), real(line->end.y));
    } else {
        snprintf(about, sizeof about, "relative velocity %.3f %.3f", shown(real(line->relative.x)),
                 shown(real(line->relative.y)));
        snprintf(radii, sizeof radii, "%.3f", real(line->kept));
    }
    const char *mark = phx_orca_touches(why, i)           ? "contact"
                       : phx_orca_holds(why, i)           ? "holds it"
                       : line->violation > PHX_ORCA_BINDS ? "violated"
                                                          : "";
    phx_cli_print(cli, "%4" PRIu32 "  %-11s %8.3f %7s %8.3f %7.3f %9.3f %9.3f  %-8s %-8s %s\n", i, name,
                  real(line->distance), radii, shown(of_dir(line->normal.x)), shown(of_dir(line->normal.y)),
                  shown(real(line->offset)), shown(real(line->violation)), mark,
                  line->overlaps ? "overlaps" : "", about);
}

static void say_words(const PhxCli *cli, const PhxOrcaExplanation *why) {
    phx_cli_print(cli, "  fallback   %s: %s\n", phx_orca_fallback_name(why->flags),
                  phx_orca_fallback_words(why->flags));
    if (why->flags & PHX_ORCA_CROWDED)
        phx_cli_print(cli, "             largest violation %.3f by units%s", real(why->violation),
                      why->flags & PHX_ORCA_CREPT ? "" : "\n");
    if (why->flags & PHX_ORCA_CREPT)
        phx_cli_print(cli, "; the least is %.3f, and it may creep by %.3f more\n", real(why->least),
                      real(why->creep));
    if (why->flags & PHX_ORCA_WALLED)
        phx_cli_print(cli, "             walls' half-planes moved back by %.3f, violated by up to %.3f\n",
                      real(why->walls_back), real(why->wall_violation));
    phx_cli_print(cli,
                  "  neighbours %" PRIu32 ", walls %" PRIu32 " near, %" PRIu32
                  " of them with a half-plane; horizon %.3f s\n"
                  "  keeps      %.3f from units, with the weight %u\n",
                  why->count - why->walls, why->walls_met, why->walls, real(why->horizon), real(why->avoid),
                  (unsigned)why->weight);
}

static void say(const PhxCli *cli, const PhxSim *sim, const PhxOrcaExplanation *why, const char *path) {
    char name[80];
    name_unit(sim, why->slot, name, sizeof name);
    phx_cli_print(cli, "%s: tick %" PRIu32 ": %s, at %.3f %.3f, radius %.3f, speed up to %.3f\n", path,
                  phx_sim_tick(sim), name, real(why->position.x), real(why->position.y), real(why->radius),
                  real(why->max_speed));
    say_velocity(cli, "velocity", why->velocity);
    say_velocity(cli, "preferred", why->preferred);
    say_velocity(cli, "chosen", why->chosen);
    if (why->change > 0)
        phx_cli_print(cli, "  reach      its velocity can change by %.3f in the tick\n", real(why->change));
    say_words(cli, why);
    if (why->count == 0) return;
    phx_cli_print(cli, "   #  of          distance   radii        normal        offset   outside\n");
    for (uint32_t i = 0; i < why->count; i++) say_line(cli, why, i);
}

/* The same as JSON. */

static json_t *pair_json(PhxVec2 v) { return json_pack("[f, f]", real(v.x), real(v.y)); }

static json_t *line_json(const PhxOrcaHalfPlane *line) {
    const bool wall = line->source == PHX_ORCA_FROM_WALL;
    json_t *entry =
        json_pack("{s:s, s:[f, f], s:f, s:f, s:f, s:b}", "source", wall ? "wall" : "unit", "normal",
                  of_dir(line->normal.x), of_dir(line->normal.y), "offset", real(line->offset), "outside",
                  real(line->violation), "distance", real(line->distance), "overlaps", (int)line->overlaps);
    if (wall) {
        json_object_set_new(entry, "start", pair_json(line->start));
        json_object_set_new(entry, "end", pair_json(line->end));
        return entry;
    }
    json_object_set_new(entry, "unit", json_integer(line->slot));
    json_object_set_new(entry, "radius", json_real(real(line->radius)));
    json_object_set_new(entry, "avoid", json_real(real(line->avoid)));
    json_object_set_new(entry, "kept", json_real(real(line->kept)));
    json_object_set_new(entry, "weight", json_integer(line->weight));
    json_object_set_new(entry, "position", pair_json(line->position));
    json_object_set_new(entry, "velocity", pair_json(line->velocity));
    if ((line->contact_normal.x | line->contact_normal.y) != 0)
        json_object_set_new(entry, "contact",
                            json_pack("{s:[f, f], s:f}", "normal", of_dir(line->contact_normal.x),
                                      of_dir(line->contact_normal.y), "offset", real(line->contact_offset)));
    json_object_set_new(entry, "relative_velocity", pair_json(line->relative));
    return entry;
}

static void set_json(PhxCli *cli, const PhxSim *sim, const PhxOrcaExplanation *why, const char *path) {
    json_t *lines = json_array();
    for (uint32_t i = 0; i < why->count; i++) json_array_append_new(lines, line_json(&why->line[i]));
    phx_cli_set(cli, "file", json_string(path));
    phx_cli_set(cli, "tick", json_integer(phx_sim_tick(sim)));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(sim)));
    phx_cli_set(cli, "unit", json_integer(why->slot));
    phx_cli_set(cli, "position", pair_json(why->position));
    phx_cli_set(cli, "radius", json_real(real(why->radius)));
    phx_cli_set(cli, "avoid", json_real(real(why->avoid)));
    phx_cli_set(cli, "weight", json_integer(why->weight));
    phx_cli_set(cli, "max_speed", json_real(real(why->max_speed)));
    phx_cli_set(cli, "change", json_real(real(why->change)));
    phx_cli_set(cli, "horizon", json_real(real(why->horizon)));
    phx_cli_set(cli, "velocity", pair_json(why->velocity));
    phx_cli_set(cli, "preferred", pair_json(why->preferred));
    phx_cli_set(cli, "chosen", pair_json(why->chosen));
    phx_cli_set(cli, "chosen_raw", json_pack("[i, i]", (int)why->chosen.x, (int)why->chosen.y));
    phx_cli_set(cli, "fallback", json_string(phx_orca_fallback_name(why->flags)));
    phx_cli_set(cli, "violation", json_real(real(why->violation)));
    phx_cli_set(cli, "wall_violation", json_real(real(why->wall_violation)));
    phx_cli_set(cli, "walls_back", json_real(real(why->walls_back)));
    phx_cli_set(cli, "least_violation", json_real(real(why->least)));
    phx_cli_set(cli, "creep", json_real(real(why->creep)));
    phx_cli_set(cli, "walls_near", json_integer(why->walls_met));
    phx_cli_set(cli, "lines", lines);
}

/* The picture. */

static int draw(const Explain *e, const PhxSim *sim, const PhxOrcaExplanation *why, const char *out) {
    char title[160], note[200], name[80];
    PhxError error = {0};
    if (out == NULL) return PHX_CLI_GO;
    const char *slash = strrchr(e->path, '/');
    name_unit(sim, why->slot, name, sizeof name);
    snprintf(title, sizeof title, "Why this velocity  ·  %s, tick %" PRIu32, name, phx_sim_tick(sim));
    snprintf(note, sizeof note, "%s: %s", slash ? slash + 1 : e->path, phx_orca_fallback_words(why->flags));
    const PhxOrcaView view = {.sim = sim, .why = why, .title = title, .note = note};
    const PhxStatus status = phx_orca_picture_write(out, &view, &error);
    if (status != PHX_OK) return phx_cli_fail_status(e->cli, out, status, &error);
    phx_cli_print(e->cli, "  picture    %s, %d x %d pixels\n", out, PHX_ORCA_PICTURE_WIDTH,
                  PHX_ORCA_PICTURE_HEIGHT);
    return PHX_CLI_GO;
}

/* The match. */

/* No choice was made: whether it is the unit, or the tick. */
static int fail_absent(const Explain *e, const PhxSim *sim) {
    const PhxUnitView units = phx_sim_units(sim);
    const uint32_t tick = phx_sim_tick(sim);
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < units.used; i++) {
        if (!phx_generation_alive(units.generation[i])) continue;
        if (first == UINT32_MAX) first = i;
        last = i;
    }
    if (first == UINT32_MAX)
        return phx_cli_fail(e->cli, "--unit: %" PRIu32 ": %s has no unit at tick %" PRIu32, e->slot, e->path,
                            tick);
    if (phx_sim_unit_handle(sim, e->slot) == PHX_HANDLE_NONE)
        return phx_cli_fail(e->cli,
                            "--unit: %" PRIu32 ": not alive at tick %" PRIu32 " of %s; its %" PRIu32
                            " units are in the slots %" PRIu32 " to %" PRIu32,
                            e->slot, tick, e->path, units.live, first, last);
    return phx_cli_fail(e->cli,
                        "--tick: %" PRIu32 ": unit %" PRIu32 " of %s chose nothing in this tick: the match "
                        "was paused, or the unit wasn't there yet; give another tick",
                        tick, e->slot, e->path);
}

/* The unit whose largest violation is largest; ties: the lowest slot. */
static uint32_t find_worst(const PhxSim *sim) {
    PhxOrcaExplanation why;
    uint32_t worst = 0;
    fix16_t most = -1;
    for (uint32_t i = 0; i < phx_sim_units(sim).used; i++) {
        if (!phx_sim_explain_unit(sim, i, &why)) continue;
        const fix16_t by = why.violation > why.wall_violation ? why.violation : why.wall_violation;
        if (by > most) worst = i, most = by;
    }
    return worst;
}

static int explain(Explain *e, const PhxSim *sim) {
    PhxOrcaExplanation why;
    if (e->worst) e->slot = find_worst(sim);
    if (!phx_sim_explain_unit(sim, e->slot, &why)) return fail_absent(e, sim);
    set_json(e->cli, sim, &why, e->path);
    say(e->cli, sim, &why, e->path);
    int code = draw(e, sim, &why, e->svg);
    if (code == PHX_CLI_GO) code = draw(e, sim, &why, e->png);
    if (code == PHX_CLI_GO && e->svg) phx_cli_set(e->cli, "svg", json_string(e->svg));
    if (code == PHX_CLI_GO && e->png) phx_cli_set(e->cli, "png", json_string(e->png));
    return code;
}

static int play_replay(Explain *e, const PhxReplay *replay, PhxReplayStage *stage) {
    PhxCli *cli = e->cli;
    const uint32_t ticks = phx_replay_info(replay)->ticks;
    if (ticks == 0) return phx_cli_fail(cli, "%s: the replay holds no tick", e->path);
    if (e->tick_word == NULL) e->tick = ticks;
    if (e->tick > ticks)
        return phx_cli_fail(cli, "--tick: %" PRIu64 ": %s has the ticks 1 to %" PRIu32, e->tick, e->path,
                            ticks);
    int code = phx_replay_cmd_goto(cli, e->path, stage, (uint32_t)e->tick - 1);
    if (code != PHX_CLI_GO) return code;
    PhxReplayTick recorded;
    const PhxStatus status = phx_replay_playback_step(stage->playback, &recorded);
    if (status != PHX_OK) return phx_cli_fail_status(cli, e->path, status, NULL);
    if (recorded.root != phx_sim_root(stage->sim))
        phx_cli_note(
            cli,
            "%s: this program computes another state than was recorded, and explains that; phx replay "
            "verify names the tick",
            e->path);
    return explain(e, stage->sim);
}

static int open_replay(Explain *e, const void *bytes, size_t size) {
    PhxCli *cli = e->cli;
    PhxReplay *replay;
    PhxReplayStage stage;
    PhxError error = {0};
    if (e->seed || e->map || e->bot)
        return phx_cli_fail(cli, "%s: %s is a replay, which has its own; leave the option out",
                            e->seed  ? "--seed"
                            : e->map ? "--map"
                                     : "--bot",
                            e->path);
    const PhxStatus status = phx_replay_open(bytes, size, NULL, &replay, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, e->path, status, &error);
    int code = phx_replay_cmd_stage(cli, e->path, replay, e->threads, &stage);
    if (code == PHX_CLI_GO) {
        code = play_replay(e, replay, &stage);
        phx_replay_cmd_stage_close(&stage);
    }
    phx_replay_close(replay);
    return code;
}

static int play_solo(Explain *e, const PhxSoloContent *content) {
    PhxSolo solo;
    const PhxSoloOptions options = {.threads = (uint32_t)e->threads, .bot = e->bot};
    if (e->tick_word == NULL) e->tick = content->ticks;
    if (e->tick == 0) return phx_cli_fail(e->cli, "--tick is missing: %s has no length of its own", e->path);
    int code = phx_solo_open(&solo, e->cli, content, &options);
    if (code != PHX_CLI_GO) return code;
    while (code == PHX_CLI_GO && phx_sim_tick(solo.sim) < e->tick) {
        code = phx_solo_step(&solo);
        phx_cli_progress(e->cli, phx_sim_tick(solo.sim), e->tick, "ticks played");
    }
    if (code == PHX_CLI_GO) code = explain(e, solo.sim);
    phx_solo_close(&solo);
    return code;
}

/* Takes `bytes`. */
static int open_solo(Explain *e, void *bytes, size_t size) {
    PhxSoloContent content;
    PhxScenarioChanges changes = {.map = e->map, .has_seed = e->seed != NULL, .ticks = (uint32_t)e->tick};
    int code = e->seed ? phx_cli_u64(e->cli, "--seed", e->seed, &changes.seed) : PHX_CLI_GO;
    if (code != PHX_CLI_GO) {
        free(bytes);
        return code;
    }
    code = phx_solo_content_take(e->cli, e->path, bytes, size, &changes, &content);
    if (code != PHX_CLI_GO) return code;
    code = play_solo(e, &content);
    phx_solo_content_close(&content);
    return code;
}

static const char replay_mark[] = "\x89PHXR";

static bool begins(const void *bytes, size_t size, const char *with) {
    return size >= strlen(with) && memcmp(bytes, with, strlen(with)) == 0;
}

static size_t limit_of(const void *head, size_t size) {
    return begins(head, size, replay_mark) ? PHX_CLI_FILE_LIMIT : phx_solo_content_limit(head, size);
}

int phx_orca_cmd_explain(PhxCli *cli, int argc, const char **argv) {
    Explain e = {.cli = cli};
    void *bytes;
    size_t size;
    int code = parse(&e, argc, argv);
    if (code == PHX_CLI_GO) code = phx_cli_load_by(cli, e.path, limit_of, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    if (begins(bytes, size, replay_mark)) {
        code = open_replay(&e, bytes, size);
        free(bytes);
    } else if (begins(bytes, size, "type")) {
        code = phx_cli_fail(cli, "%s: a map without units; name a scenario that plays on it", e.path);
        free(bytes);
    } else {
        code = open_solo(&e, bytes, size);
    }
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
