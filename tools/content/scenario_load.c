/* scenario_load.c: a scenario and its map from files. See scenario.h. */
#include "content/height_map.h"
#include "content/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAP_FILE_LIMIT = 1 << 25,   /* bytes: 4096 x 4096 letters, line ends and a header fit */
    HEIGHT_FILE_LIMIT = 1 << 27 /* and as many numbers */
};

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

/* A path of a scenario: relative to the scenario's folder. */
static bool path_beside(const char *scenario_path, const char *path, char *out, size_t capacity) {
    const char *slash = strrchr(scenario_path, '/');
    int length;
    if (path[0] == '/' || slash == NULL)
        length = snprintf(out, capacity, "%s", path);
    else
        length = snprintf(out, capacity, "%.*s/%s", (int)(slash - scenario_path), scenario_path, path);
    return length >= 0 && (size_t)length < capacity;
}

/* The map's path: as given on the command line, or beside the scenario. */
static bool map_path(const char *scenario_path, const PhxScenario *scenario, const char *override, char *out,
                     size_t capacity) {
    if (override == NULL) return path_beside(scenario_path, scenario->map, out, capacity);
    const int length = snprintf(out, capacity, "%s", override);
    return length >= 0 && (size_t)length < capacity;
}

/* The letter that stands for it in pictures. */
static char letter_of(uint8_t letter) { return letter == 'G' ? '.' : letter == 'O' ? '@' : (char)letter; }

static uint8_t cost_of(uint8_t letter, const PhxMovingAiCosts *costs) {
    switch (letter) {
    case '.':
    case 'G':
        return costs->ground;
    case 'S':
        return costs->swamp;
    case 'W':
        return costs->water;
    case 'T':
        return costs->trees;
    default:
        return PHX_NAV_IMPASSABLE;
    }
}

static uint8_t kind_of(uint8_t letter, const PhxScenario *scenario) {
    const char *at = strchr(PHX_SCENARIO_LETTERS, letter);
    return at ? scenario->letter_kinds[at - PHX_SCENARIO_LETTERS] : 0;
}

/* A message of a reader of bytes, which begins with the file's name. */
static PhxStatus pass_on(PhxYamlError *error, PhxStatus status, const PhxError *fault) {
    if (error == NULL) return status;
    *error = (PhxYamlError){.status = status, .line = (uint32_t)fault->offset};
    memcpy(error->text, fault->text, sizeof fault->text);
    return status;
}

/* The map's costs and letters, and the scenario's grid of kinds, where it has several. */
static PhxStatus load_map(const char *path, PhxScenario *scenario, PhxMovingAiMap *map, char **letters,
                          PhxYamlError *error) {
    char *bytes;
    size_t size;
    PhxStatus status = read_file(path, MAP_FILE_LIMIT, &bytes, &size, error);
    if (status != PHX_OK) return status;
    PhxError fault = {0};
    status = phx_moving_ai_read_letters(bytes, size, path, phx_allocator_default(), map, &fault);
    free(bytes);
    if (status != PHX_OK) return pass_on(error, status, &fault);
    const size_t cells = (size_t)map->width * map->height;
    *letters = malloc(cells + 1);
    if (scenario->kind_count > 1) scenario->kind_grid = malloc(cells);
    if (*letters == NULL || (scenario->kind_count > 1 && scenario->kind_grid == NULL)) {
        phx_moving_ai_free_map(map);
        return phx_yaml_fail(error, PHX_ERROR_MEMORY, path, 0, 0, "out of memory");
    }
    for (size_t i = 0; i < cells; i++) {
        const uint8_t letter = map->cost[i];
        (*letters)[i] = letter_of(letter);
        map->cost[i] = cost_of(letter, &scenario->terrain);
        if (scenario->kind_grid) scenario->kind_grid[i] = kind_of(letter, scenario);
    }
    (*letters)[cells] = 0;
    return PHX_OK;
}

static PhxStatus load_heights(const char *scenario_path, PhxScenario *scenario, const PhxMovingAiMap *map,
                              PhxYamlError *error) {
    char path[4096], *bytes;
    size_t size;
    if (scenario->height_map[0] == 0 || scenario->foreign_map) return PHX_OK;
    if (!path_beside(scenario_path, scenario->height_map, path, sizeof path))
        return phx_yaml_fail(error, PHX_ERROR_LIMIT, scenario_path, 0, 0, "height_map: the path is too long");
    PhxStatus status = read_file(path, HEIGHT_FILE_LIMIT, &bytes, &size, error);
    if (status != PHX_OK) return status;
    PhxError fault = {0};
    scenario->height_grid = malloc((size_t)map->width * map->height);
    if (scenario->height_grid == NULL)
        status = phx_yaml_fail(error, PHX_ERROR_MEMORY, path, 0, 0, "out of memory");
    else
        status =
            phx_height_map_read(bytes, size, path, map->width, map->height, scenario->height_grid, &fault);
    free(bytes);
    return status != PHX_OK && scenario->height_grid != NULL ? pass_on(error, status, &fault) : status;
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
        status = load_map(where, out->scenario, &map, &out->letters, error);
    if (status == PHX_OK) status = load_heights(path, out->scenario, &map, error);
    if (status == PHX_OK) {
        keep_map_name(out->scenario, where);
        const PhxNavGrid grid = {.width = map.width, .height = map.height, .cost = map.cost};
        out->width = map.width;
        out->height = map.height;
        status = phx_scenario_build(out->scenario, &grid, &out->blob, &out->blob_size, error);
    }
    phx_moving_ai_free_map(&map);
    if (status != PHX_OK) phx_scenario_unload(out);
    return status;
}

void phx_scenario_unload(PhxScenarioFile *file) {
    phx_scenario_destroy(file->scenario);
    free(file->letters);
    free(file->blob);
    *file = (PhxScenarioFile){0};
}
