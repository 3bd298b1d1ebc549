/* scenario_load.c: a scenario and its map from files, and the scripted orders as commands. See scenario.h. */
#include "content/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_FILE_LIMIT = 1 << 25 /* bytes: 4096 x 4096 letters, line ends and a header fit */ };

static PhxStatus read_file(const char *path, size_t limit, char **bytes, size_t *size, PhxYamlError *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return phx_yaml_fail(error, PHX_ERROR_IO, path, 0, 0, "%s", strerror(errno));
    size_t capacity = 65536, used = 0;
    char *text = malloc(capacity);
    while (text != NULL) {
        used += fread(text + used, 1, capacity - used, file);
        if (used < capacity || used > limit) break;
        char *larger = realloc(text, capacity *= 2);
        if (larger == NULL) free(text);
        text = larger;
    }
    const bool failed = ferror(file) != 0;
    const int why = errno;
    fclose(file);
    PhxStatus status = PHX_OK;
    if (text == NULL)
        status = phx_yaml_fail(error, PHX_ERROR_MEMORY, path, 0, 0, "out of memory");
    else if (failed)
        status = phx_yaml_fail(error, PHX_ERROR_IO, path, 0, 0, "%s", strerror(why));
    else if (used > limit)
        status = phx_yaml_fail(error, PHX_ERROR_LIMIT, path, 0, 0, "larger than %zu bytes", limit);
    if (status != PHX_OK) {
        free(text);
        return status;
    }
    *bytes = text;
    *size = used;
    return PHX_OK;
}

/* The map's path: as given, or relative to the scenario's folder. */
static bool map_path(const char *scenario_path, const PhxScenario *scenario, const char *override, char *out,
                     size_t capacity) {
    const char *slash = strrchr(scenario_path, '/');
    int length;
    if (override != NULL || scenario->map[0] == '/' || slash == NULL)
        length = snprintf(out, capacity, "%s", override != NULL ? override : scenario->map);
    else
        length =
            snprintf(out, capacity, "%.*s/%s", (int)(slash - scenario_path), scenario_path, scenario->map);
    return length >= 0 && (size_t)length < capacity;
}

/* The kinds of letters, told apart by their costs. */
static const PhxMovingAiCosts letter_codes = {.ground = 1, .swamp = 2, .water = 3, .trees = 4};

static char letter_of(uint8_t code) {
    return code == 1 ? '.' : code == 2 ? 'S' : code == 3 ? 'W' : code == 4 ? 'T' : '@';
}

static uint8_t cost_of(uint8_t code, const PhxMovingAiCosts *costs) {
    return code == 1   ? costs->ground
           : code == 2 ? costs->swamp
           : code == 3 ? costs->water
           : code == 4 ? costs->trees
                       : PHX_NAV_IMPASSABLE;
}

static PhxStatus load_map(const char *path, const PhxMovingAiCosts *costs, PhxMovingAiMap *map,
                          char **letters, PhxYamlError *error) {
    char *bytes;
    size_t size;
    PhxStatus status = read_file(path, MAP_FILE_LIMIT, &bytes, &size, error);
    if (status != PHX_OK) return status;
    PhxError fault = {0};
    status = phx_moving_ai_read_map(bytes, size, path, letter_codes, phx_allocator_default(), map, &fault);
    free(bytes);
    if (status != PHX_OK) {
        if (error != NULL) {
            *error = (PhxYamlError){.status = status, .line = (uint32_t)fault.offset};
            memcpy(error->text, fault.text, sizeof fault.text);
        }
        return status;
    }
    const size_t cells = (size_t)map->width * map->height;
    *letters = malloc(cells + 1);
    if (*letters == NULL) {
        phx_moving_ai_free_map(map);
        return phx_yaml_fail(error, PHX_ERROR_MEMORY, path, 0, 0, "out of memory");
    }
    for (size_t i = 0; i < cells; i++) {
        (*letters)[i] = letter_of(map->cost[i]);
        map->cost[i] = cost_of(map->cost[i], costs);
    }
    (*letters)[cells] = 0;
    return PHX_OK;
}

static void apply_changes(PhxScenario *scenario, const PhxScenarioChanges *changes) {
    if (changes == NULL) return;
    scenario->foreign_map = changes->map != NULL;
    if (changes->has_seed) scenario->settings.match_key = changes->seed;
    if (changes->ticks != 0)
        scenario->ticks = changes->ticks;
    else if (scenario->foreign_map)
        scenario->ticks *= 4; /* ways may be longer there; at most 4 * 10^8 */
}

PhxStatus phx_scenario_load(const char *path, const PhxScenarioChanges *changes, PhxScenarioFile *out,
                            PhxYamlError *error) {
    *out = (PhxScenarioFile){0};
    char *text;
    size_t size;
    PhxStatus status = read_file(path, PHX_YAML_SIZE_LIMIT, &text, &size, error);
    if (status != PHX_OK) return status;
    status = phx_scenario_load_bytes(path, text, size, changes, out, error);
    free(text);
    return status;
}

/* A long path loses its beginning. */
static void keep_map_name(PhxScenario *scenario, const char *where) {
    const size_t length = strlen(where), room = sizeof scenario->map_file - 1;
    const size_t kept = length > room ? room : length;
    memcpy(scenario->map_file, where + (length - kept), kept + 1);
}

PhxStatus phx_scenario_load_bytes(const char *path, const void *bytes, size_t size,
                                  const PhxScenarioChanges *changes, PhxScenarioFile *out,
                                  PhxYamlError *error) {
    *out = (PhxScenarioFile){0};
    PhxStatus status = phx_scenario_parse(path, bytes, size, &out->scenario, error);
    if (status != PHX_OK) return status;
    apply_changes(out->scenario, changes);
    char where[4096];
    PhxMovingAiMap map = {0};
    if (!map_path(path, out->scenario, changes ? changes->map : NULL, where, sizeof where))
        status = phx_yaml_fail(error, PHX_ERROR_LIMIT, path, 0, 0, "map: the path is too long");
    else
        status = load_map(where, &out->scenario->terrain, &map, &out->letters, error);
    if (status == PHX_OK) {
        keep_map_name(out->scenario, where);
        const PhxNavGrid grid = {.width = map.width, .height = map.height, .cost = map.cost};
        out->width = map.width;
        out->height = map.height;
        status = phx_scenario_build(out->scenario, &grid, &out->blob, &out->blob_size, error);
        phx_moving_ai_free_map(&map);
    }
    if (status != PHX_OK) phx_scenario_unload(out);
    return status;
}

void phx_scenario_unload(PhxScenarioFile *file) {
    phx_scenario_destroy(file->scenario);
    free(file->letters);
    free(file->blob);
    *file = (PhxScenarioFile){0};
}

/* Orders. */

typedef struct Batch {
    PhxHandle units[PHX_COMMAND_UNIT_LIMIT];
    uint16_t count;
} Batch;

static void emit_batch(const PhxScenarioOrder *order, PhxVec2 goal, Batch *batch, PhxScenarioEmit emit,
                       void *user) {
    if (batch->count == 0) return;
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    size_t size;
    const PhxCommandData command = {.type = order->stop ? PHX_COMMAND_STOP : PHX_COMMAND_MOVE,
                                    .goal_x = goal.x,
                                    .goal_y = goal.y,
                                    .queued = order->queued,
                                    .unit_count = batch->count,
                                    .units = batch->units};
    if (phx_command_encode(&command, bytes, sizeof bytes, &size) == PHX_OK)
        emit(user, order->player, bytes, (uint32_t)size);
    batch->count = 0;
}

static void emit_order(const PhxScenario *scenario, const PhxScenarioOrder *order, PhxScenarioEmit emit,
                       void *user) {
    Batch batch = {.count = 0};
    const bool own_goals = !order->stop && order->goal.kind == PHX_PLACE_SCATTER;
    uint32_t next_goal = order->first_goal;
    PhxVec2 goal = {order->goal.x, order->goal.y};
    for (uint32_t i = 0; i < order->group_count; i++) {
        const PhxScenarioGroup *group = &scenario->groups[scenario->group_list[order->first_group + i]];
        for (uint32_t k = 0; k < group->count; k++) {
            /* The first row of a table has generation 1. */
            batch.units[batch.count++] = phx_handle_make(group->first_unit + k, 1);
            if (own_goals) goal = scenario->goals[next_goal++];
            if (own_goals || batch.count == PHX_COMMAND_UNIT_LIMIT)
                emit_batch(order, goal, &batch, emit, user);
        }
    }
    emit_batch(order, goal, &batch, emit, user);
}

void phx_scenario_orders(const PhxScenario *scenario, uint32_t tick, PhxScenarioEmit emit, void *user) {
    uint32_t low = 0, high = scenario->order_count; /* the first order of this tick or later */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (scenario->orders[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < scenario->order_count && scenario->orders[low].tick == tick; low++)
        emit_order(scenario, &scenario->orders[low], emit, user);
}
