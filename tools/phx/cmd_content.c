/* cmd_content.c: phx content: scenario and map to the canonical blob, what a blob says of itself, and a made
 * map. */
#include "content/make_map.h"
#include "phx/solo.h"
#include "step/sim_internal.h"

#include <inttypes.h>
#include <phalanx/building.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const actions_help =
    "usage: phx content compile SCENARIO -o BLOB   scenario and map to one canonical blob\n"
    "       phx content info BLOB|SCENARIO         what is in it\n"
    "       phx content make-map -o MAP            make a map for two sides\n\n"
    "A blob holds the map, the unit types, the players and their first units, capacities and settings; "
    "every\n"
    "peer and every replay of a match carries the same bytes. `phx content ACTION --help` says more.\n\n"
    "Examples:\n"
    "  phx content compile tests/scenario/clash.yaml -o clash.phxc\n"
    "  phx content info clash.phxc --json\n"
    "  phx content make-map --seed 7 --size 512 -o made.map\n";

static void set_settings(PhxCli *cli, const PhxContentInfo *info) {
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, info->settings.match_key);
    phx_cli_set(cli, "seed", json_string(key));
    phx_cli_set(cli, "tick_rate", json_integer(info->settings.tick_rate));
    phx_cli_set(cli, "ticks_per_turn", json_integer(info->settings.ticks_per_turn));
    phx_cli_set(cli, "input_delay", json_integer(info->settings.input_delay));
}

/* The players and their units, of the world at tick 0. */
static void list_players(PhxCli *cli, const PhxSim *sim) {
    json_t *list = json_array();
    const PhxUnitView units = phx_sim_units(sim);
    PhxPlayerInfo player;
    for (uint32_t slot = 0; slot < PHX_PLAYER_LIMIT && phx_sim_player(sim, slot, &player); slot++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < units.used; i++)
            count += phx_generation_alive(units.generation[i]) && units.player[i] == slot;
        json_t *entry = json_object();
        json_object_set_new(entry, "slot", json_integer(slot));
        json_object_set_new(entry, "name", json_string(player.name));
        json_object_set_new(entry, "team", json_integer(player.team));
        json_object_set_new(entry, "units", json_integer(count));
        json_array_append_new(list, entry);
        phx_cli_print(cli, "  player %-2" PRIu32 " %-16s team %-2u %6" PRIu32 " units\n", slot, player.name,
                      player.team, count);
    }
    phx_cli_set(cli, "players", list);
}

static void list_types(PhxCli *cli, const PhxSim *sim) {
    json_t *list = json_array();
    PhxUnitTypeInfo type;
    for (uint32_t i = 0; phx_sim_unit_type(sim, i, &type); i++) {
        char radius[PHX_FIX_TEXT], speed[PHX_FIX_TEXT];
        phx_fix_format(type.radius, radius, sizeof radius);
        phx_fix_format(type.speed, speed, sizeof speed);
        json_t *entry = json_object();
        json_object_set_new(entry, "name", json_string(type.name));
        json_object_set_new(entry, "radius", json_string(radius));
        json_object_set_new(entry, "speed", json_string(speed));
        json_array_append_new(list, entry);
        phx_cli_print(cli, "  type   %-2" PRIu32 " %-16s radius %s, %s units a second\n", i, type.name,
                      radius, speed);
    }
    phx_cli_set(cli, "unit_types", list);
}

/* What lies on the map, and what is scripted. */
static void list_ground(PhxCli *cli, const PhxSoloContent *content, const PhxSim *sim) {
    const PhxWorld *world = sim->world;
    const PhxScenario *scenario = content->file.scenario;
    uint32_t gates = 0;
    const uint32_t buildings = world->tables[PHX_TABLE_building].live;
    for (uint32_t i = 0; i < phx_sim_building_used(sim); i++) {
        PhxBuildingInfo building;
        gates += phx_sim_building(sim, phx_sim_building_handle(sim, i), &building) && building.gate;
    }
    const uint32_t profiles = world->tables[PHX_TABLE_cost_profile].live,
                   modifiers = world->tables[PHX_TABLE_modifier].live,
                   period = world->match.density_period[0];
    phx_cli_set(cli, "profiles", json_integer(profiles));
    phx_cli_set(cli, "buildings", json_integer(buildings));
    phx_cli_set(cli, "gates", json_integer(gates));
    phx_cli_set(cli, "modifiers", json_integer(modifiers));
    phx_cli_set(cli, "density_period", json_integer(period));
    phx_cli_print(cli,
                  "  ground   %" PRIu32 " profiles, %" PRIu32 " buildings of which %" PRIu32
                  " gates, %" PRIu32 " modifiers, density each %" PRIu32 " ticks\n",
                  profiles, buildings, gates, modifiers, period);
    if (scenario == NULL) return;
    phx_cli_set(cli, "kinds", json_integer(scenario->kind_count));
    phx_cli_set(cli, "orders", json_integer(scenario->order_count));
    phx_cli_print(cli, "  script   %" PRIu32 " kinds of ground, %" PRIu32 " orders\n", scenario->kind_count,
                  scenario->order_count);
}

/* Makes the world once, which checks every table of the blob. */
static int describe(PhxCli *cli, const PhxSoloContent *content) {
    const PhxContentInfo *info = &content->info;
    const PhxSimConfig config = {.game = cli->game};
    PhxSim *sim;
    PhxError error = {0};
    const PhxStatus status = phx_sim_create(&config, content->blob, content->blob_size, NULL, &sim, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, cli->arguments[0], status, &error);
    phx_cli_set(cli, "name", json_string(content->title));
    phx_cli_set(cli, "bytes", json_integer((json_int_t)content->blob_size));
    phx_cli_set(cli, "content_hash", phx_cli_hash_json(info->content_hash));
    phx_cli_set(cli, "schema_hash", phx_cli_hash_json(phx_sim_schema_hash(sim)));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(sim)));
    phx_cli_set(cli, "width", json_integer(info->width));
    phx_cli_set(cli, "height", json_integer(info->height));
    phx_cli_set(cli, "unit_capacity", json_integer(info->unit_capacity));
    phx_cli_set(cli, "order_capacity", json_integer(info->order_capacity));
    phx_cli_set(cli, "units", json_integer(phx_sim_units(sim).live));
    phx_cli_set(cli, "state_bytes", json_integer((json_int_t)phx_sim_state_bytes(sim)));
    set_settings(cli, info);
    phx_cli_print(cli, "%s: %zu bytes\n", content->title, content->blob_size);
    phx_cli_print(cli, "  content  %016" PRIx64 "  root at tick 0 %016" PRIx64 "\n", info->content_hash,
                  phx_sim_root(sim));
    phx_cli_print(cli, "  map      %" PRIu32 " x %" PRIu32 " cells\n", info->width, info->height);
    phx_cli_print(cli, "  units    %" PRIu32 " of at most %" PRIu32 ", order blocks at most %" PRIu32 "\n",
                  phx_sim_units(sim).live, info->unit_capacity, info->order_capacity);
    phx_cli_print(cli, "  settings seed %" PRIu64 ", %u ticks a second, %u a turn, input delay %u turns\n",
                  info->settings.match_key, info->settings.tick_rate, info->settings.ticks_per_turn,
                  info->settings.input_delay);
    list_ground(cli, content, sim);
    list_players(cli, sim);
    list_types(cli, sim);
    phx_sim_destroy(sim);
    return PHX_EXIT_OK;
}

static int compile(PhxCli *cli, int argc, const char **argv) {
    static const PhxCliUsage usage = {.synopsis = "SCENARIO -o BLOB",
                                      .about = "Reads a scenario (YAML) and the map that it names (MovingAI "
                                               ".map), places the units, and writes the\n"
                                               "canonical blob. Equal inputs give equal bytes on every "
                                               "machine. The scripted orders and the bots'\n"
                                               "names aren't content: they stay in the scenario.",
                                      .examples =
                                          "  phx content compile tests/scenario/clash.yaml -o clash.phxc\n"
                                          "  phx content compile tests/scenario/clash.yaml --map "
                                          "~/maps/Aftershock.map -o other.phxc --json\n",
                                      .least = 1,
                                      .most = 1};
    char *out = NULL, *map = NULL, *seed = NULL;
    const struct poptOption table[] = {
        {"output", 'o', POPT_ARG_STRING, &out, 0, "the blob to write", "FILE"},
        {"map", 'm', POPT_ARG_STRING, &map, 0, "another map; groups go to the nearest places that fit",
         "FILE"},
        {"seed", 's', POPT_ARG_STRING, &seed, 0, "another seed of all random draws", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code != PHX_CLI_GO) return code;
    PhxScenarioChanges changes = {.map = map, .has_seed = seed != NULL};
    if (out == NULL) return phx_cli_fail(cli, "--output is missing: phx content compile %s", usage.synopsis);
    if (seed != NULL && (code = phx_cli_u64(cli, "--seed", seed, &changes.seed)) != PHX_CLI_GO) return code;
    PhxSoloContent content;
    code = phx_solo_content_open(cli, cli->arguments[0], &changes, &content);
    if (code != PHX_CLI_GO) return code;
    if (content.file.scenario == NULL)
        code = phx_cli_fail(cli, "%s: this is a blob already", cli->arguments[0]);
    if (code == PHX_CLI_GO) code = phx_cli_store(cli, out, content.blob, content.blob_size);
    if (code == PHX_CLI_GO) {
        phx_cli_set(cli, "output", json_string(out));
        code = describe(cli, &content);
    }
    phx_solo_content_close(&content);
    return code;
}

static int info(PhxCli *cli, int argc, const char **argv) {
    static const PhxCliUsage usage = {
        .synopsis = "BLOB|SCENARIO",
        .about = "Checks a blob whole and says what is in it: hashes, map, settings, players, unit types.",
        .examples =
            "  phx content info clash.phxc\n  phx content info tests/scenario/duel.yaml --json | jq .units\n",
        .least = 1,
        .most = 1};
    const struct poptOption table[] = {POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code != PHX_CLI_GO) return code;
    PhxSoloContent content;
    const PhxScenarioChanges none = {0};
    code = phx_solo_content_open(cli, cli->arguments[0], &none, &content);
    if (code != PHX_CLI_GO) return code;
    code = describe(cli, &content);
    phx_solo_content_close(&content);
    return code;
}

/* The text of a .map file; null: no memory. */
static char *map_text(const char *letters, uint32_t side, size_t *length) {
    const size_t capacity = 64 + (size_t)side * (side + 1);
    char *text = malloc(capacity);
    if (text == NULL) return NULL;
    size_t at = (size_t)snprintf(text, capacity, "type octile\nheight %" PRIu32 "\nwidth %" PRIu32 "\nmap\n",
                                 side, side);
    for (uint32_t row = 0; row < side; row++) {
        memcpy(text + at, letters + (size_t)row * side, side);
        text[at + side] = '\n';
        at += side + 1;
    }
    *length = at;
    return text;
}

static int write_map(PhxCli *cli, const char *path, uint64_t seed, uint32_t side) {
    char *letters = malloc((size_t)side * side), *text = NULL;
    size_t length = 0;
    PhxStatus status = letters != NULL ? phx_make_map(seed, side, letters) : PHX_ERROR_MEMORY;
    if (status == PHX_OK && (text = map_text(letters, side, &length)) == NULL) status = PHX_ERROR_MEMORY;
    int code = status == PHX_OK ? phx_cli_store(cli, path, text, length)
                                : phx_cli_fail_status(cli, path, status, NULL);
    uint32_t open_cells = 0;
    for (size_t i = 0; status == PHX_OK && i < (size_t)side * side; i++)
        open_cells += letters[i] == '.' || letters[i] == 'S';
    free(letters);
    free(text);
    if (code != PHX_CLI_GO) return code;
    phx_cli_set(cli, "output", json_string(path));
    phx_cli_set(cli, "size", json_integer(side));
    phx_cli_set(cli, "open_cells", json_integer(open_cells));
    phx_cli_print(cli, "%s: %" PRIu32 " x %" PRIu32 " cells, %" PRIu32 " of them open\n", path, side, side,
                  open_cells);
    return PHX_EXIT_OK;
}

static int make_map(PhxCli *cli, int argc, const char **argv) {
    static const PhxCliUsage usage = {
        .synopsis = "-o MAP",
        .about = "Makes a map for two sides in MovingAI's .map format: ridges with passes, lakes, woods, "
                 "swamps, and a\n"
                 "river with four fords between the north-west and the south-east corner. It looks the same "
                 "when it is\n"
                 "turned by half a turn. The same seed and size give the same file on every machine.",
        .examples = "  phx content make-map --seed 6 --size 512 -o clash.map\n",
        .least = 0,
        .most = 0};
    char *out = NULL, *seed_text = NULL;
    int side = 512;
    uint64_t seed = 1;
    const struct poptOption table[] = {
        {"output", 'o', POPT_ARG_STRING, &out, 0, "the map to write", "FILE"},
        {"seed", 's', POPT_ARG_STRING, &seed_text, 0, "which map (default 1)", "N"},
        {"size", 0, POPT_ARG_INT, &side, 0, "cells of a side, 64 to 2048 (default 512)", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO && out == NULL)
        code = phx_cli_fail(cli, "--output is missing: phx content make-map -o MAP");
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--size", side, PHX_MAKE_MAP_LEAST, PHX_MAKE_MAP_MOST);
    if (code == PHX_CLI_GO && seed_text != NULL) code = phx_cli_u64(cli, "--seed", seed_text, &seed);
    return code == PHX_CLI_GO ? write_map(cli, out, seed, (uint32_t)side) : code;
}

int phx_cmd_content(PhxCli *cli, int argc, const char **argv) {
    const struct {
        const char *name, *command;
        PhxCliRun run;
    } actions[] = {{"compile", "content compile", compile},
                   {"info", "content info", info},
                   {"make-map", "content make-map", make_map}};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("%s", actions_help);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(argv[1], actions[i].name) != 0) continue;
        cli->command = actions[i].command;
        return actions[i].run(cli, argc - 1, argv + 1);
    }
    return phx_cli_fail(cli, "%s: compile, info or make-map is wanted; phx content --help",
                        argc > 1 ? argv[1] : "an action is missing");
}
