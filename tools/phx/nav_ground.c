/* nav_ground.c: the ground that phx nav looks at: a .map file's, or a match's, as units of one size or type
 * meet it. See nav_input.h.
 */
#include "content/moving_ai.h"
#include "phx/cmd_replay.h"
#include "phx/nav_input.h"
#include "phx/solo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/sim_internal.h"

/* Maps. */

static bool begins(const void *bytes, size_t size, const char *with) {
    return size >= strlen(with) && memcmp(bytes, with, strlen(with)) == 0;
}

static const char replay_mark[] = "\x89PHXR";

static size_t limit_of(const void *head, size_t size) {
    if (begins(head, size, "type") || begins(head, size, replay_mark)) return PHX_CLI_FILE_LIMIT;
    return phx_solo_content_limit(head, size);
}

static int take_ground(PhxNavInput *input, const PhxNavGrid *map) {
    const size_t cells = (size_t)map->width * map->height;
    input->grid = (PhxNavGrid){.width = map->width, .height = map->height};
    input->ground = malloc(cells);
    input->plane = malloc(cells);
    if (input->ground == NULL || input->plane == NULL)
        return phx_cli_fail_status(input->cli, input->path, PHX_ERROR_MEMORY, NULL);
    memcpy(input->ground, map->cost, cells);
    input->grid.cost = input->plane;
    return PHX_CLI_GO;
}

static void compose(PhxNavInput *input) {
    const PhxCostSources sources = {
        .width = input->grid.width, .height = input->grid.height, .ground = input->ground};
    const PhxCostProfile plain = {0};
    const PhxCellRect all = {0, 0, (int32_t)input->grid.width, (int32_t)input->grid.height};
    phx_cost_compose(&sources, &plain, 0, input->size, all, input->plane);
}

static int read_map(PhxNavInput *input, const void *bytes, size_t size) {
    PhxMovingAiMap map;
    PhxError error = {0};
    const PhxStatus status = phx_moving_ai_read_map(bytes, size, "map", PHX_MOVING_AI_COSTS_DEFAULT,
                                                    phx_allocator_default(), &map, &error);
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, input->path, status, &error);
    const PhxNavGrid grid = {.width = map.width, .height = map.height, .cost = map.cost};
    const int code = take_ground(input, &grid);
    phx_moving_ai_free_map(&map);
    if (code == PHX_CLI_GO) compose(input);
    return code;
}

/* Matches. */

/* The type that words name, by name or number. */
static int find_type(PhxNavInput *input, const PhxSim *sim, const char *words, uint32_t *type) {
    char list[256] = "";
    size_t at = 0;
    PhxUnitTypeInfo info;
    uint32_t number = UINT32_MAX;
    const bool counted = phx_nav_input_numbers(words, &number, 1);
    for (*type = 0; phx_sim_unit_type(sim, *type, &info); (*type)++) {
        if (strcmp(info.name, words) == 0 || (counted && number == *type)) {
            input->radius = info.radius;
            return PHX_CLI_GO;
        }
        const int length = snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", info.name);
        if (length > 0 && at + (size_t)length < sizeof list) at += (size_t)length;
    }
    list[at] = 0;
    return phx_cli_fail(input->cli, "--type: %.40s: no such type of unit in %s; there are: %s", words,
                        input->path, list);
}

/* The plane that units of a type and team walk on. The sim is this program's own: a layer may be opened. */
static int take_layer(PhxNavInput *input, PhxSim *sim, const PhxNavWords *words) {
    uint32_t type, team = 0;
    int code = find_type(input, sim, words->type, &type);
    if (code != PHX_CLI_GO) return code;
    if (words->team != NULL && (!phx_nav_input_numbers(words->team, &team, 1) || team >= PHX_PLAYER_LIMIT))
        return phx_cli_fail(input->cli, "--team: %.40s: a number from 0 to %d is wanted", words->team,
                            PHX_PLAYER_LIMIT - 1);
    phx_layers_note(sim);
    PhxStatus status = phx_layers_update(sim);
    const uint32_t layer = phx_layers_find(sim, type, team);
    if (status == PHX_OK) status = phx_routes_open(sim->layers.routes, layer, &sim->jobs);
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, input->path, status, NULL);
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    memcpy(input->plane, plane.cost, (size_t)plane.width * plane.height);
    input->size = phx_layers_size(sim, layer);
    PhxUnitTypeInfo info;
    if (phx_sim_unit_type(sim, type, &info))
        snprintf(input->whom, sizeof input->whom, "%s of team %u", info.name, (unsigned)team);
    return PHX_CLI_GO;
}

static int take_match(PhxNavInput *input, PhxSim *sim, const PhxNavWords *words) {
    const PhxNavGrid grid = phx_sim_map(sim);
    int code = take_ground(input, &grid);
    if (code == PHX_CLI_GO && words->type != NULL)
        code = take_layer(input, sim, words);
    else if (code == PHX_CLI_GO)
        compose(input);
    return code;
}

static int read_blob(PhxNavInput *input, const void *blob, size_t size, const PhxNavWords *words) {
    const PhxSimConfig config = {.game = input->cli->game};
    PhxSim *sim;
    PhxError error = {0};
    const PhxStatus status = phx_sim_create(&config, blob, size, NULL, &sim, &error);
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, input->path, status, &error);
    const int code = take_match(input, sim, words);
    phx_sim_destroy(sim);
    return code;
}

static int read_replay(PhxNavInput *input, const void *bytes, size_t size, const PhxNavWords *words) {
    PhxReplay *replay;
    PhxReplayStage stage;
    PhxError error = {0};
    uint32_t tick = 0;
    const PhxStatus status = phx_replay_open(bytes, size, NULL, &replay, &error);
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, input->path, status, &error);
    int code = phx_replay_cmd_stage(input->cli, input->path, replay, 1, &stage);
    if (code == PHX_CLI_GO) {
        code = phx_replay_cmd_tick(input->cli, "--tick", words->tick ? words->tick : "0", replay, &tick);
        if (code == PHX_CLI_GO) code = phx_replay_cmd_goto(input->cli, input->path, &stage, tick);
        if (code == PHX_CLI_GO) code = take_match(input, stage.sim, words);
        phx_replay_cmd_stage_close(&stage);
    }
    phx_replay_close(replay);
    return code;
}

/* Takes `bytes`. */
static int read_match(PhxNavInput *input, void *bytes, size_t size, const PhxNavWords *words) {
    PhxSoloContent content;
    const PhxScenarioChanges none = {0};
    int code = phx_solo_content_take(input->cli, input->path, bytes, size, &none, &content);
    if (code != PHX_CLI_GO) return code;
    code = read_blob(input, content.blob, content.blob_size, words);
    phx_solo_content_close(&content);
    return code;
}

int phx_nav_ground_read(PhxNavInput *input, const PhxNavWords *words) {
    void *bytes;
    size_t size;
    int code = phx_cli_load_by(input->cli, input->path, limit_of, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    const bool map = begins(bytes, size, "type"), replay = begins(bytes, size, replay_mark);
    if (map && words->type != NULL)
        code = phx_cli_fail(
            input->cli, "--type: %s is a map without units; give --radius, or name a scenario", input->path);
    else if (!replay && words->tick != NULL)
        code = phx_cli_fail(input->cli, "--tick: %s is no replay: it has its first tick alone", input->path);
    else if (!map && !replay)
        return read_match(input, bytes, size, words);
    else
        code = map ? read_map(input, bytes, size) : read_replay(input, bytes, size, words);
    free(bytes);
    return code;
}
