/* scenario.c: any bytes as a scenario: parsed, placed on a small map, made into a blob and a world, without
 * touching the file system; or an error that says where. */
#include "content/scenario.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, UNITS = 500 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    (void)user;
    if (phx_command_check(bytes, size, slot, NULL) != PHX_OK) abort();
}

/* What was parsed has to become a blob that makes a world, or an error with words. */
static void build(PhxScenario *scenario) {
    static uint8_t cost[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        cost[i] = i / SIDE % 7 == 3 && i % SIDE % 11 != 5 ? PHX_NAV_IMPASSABLE : (uint8_t)(1 + i % 3);
    const PhxNavGrid map = {.width = SIDE, .height = SIDE, .cost = cost};
    scenario->kind_grid = malloc(SIDE * SIDE);
    scenario->height_grid = malloc(SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        scenario->kind_grid[i] = (uint8_t)(i % SIDE / 8);
        scenario->height_grid[i] = (uint8_t)(i / SIDE / 4 * 3);
    }
    PhxYamlError error = {0};
    void *blob;
    size_t size;
    if (phx_scenario_build(scenario, &map, &blob, &size, &error) != PHX_OK) {
        if (error.text[0] == 0 || blob != NULL) abort();
        return;
    }
    PhxSim *sim;
    const PhxSimConfig config = {.field_cache_bytes = 1};
    if (phx_sim_create(&config, blob, size, NULL, &sim, NULL) != PHX_OK) abort();
    for (uint32_t i = 0; i < scenario->order_count && i < 8; i++)
        phx_scenario_orders(scenario, sim, scenario->orders[i].tick, ignore, NULL);
    phx_sim_destroy(sim);
    free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    const PhxStatus status = phx_scenario_parse("fuzz.yaml", data, size, &scenario, &error);
    if (status != PHX_OK) {
        if (error.status != status || strncmp(error.text, "fuzz.yaml:", 10) != 0 || scenario != NULL) abort();
        return 0;
    }
    /* Large numbers are allowed; here they only would cost time. */
    uint64_t listed = 0;
    for (uint32_t i = 0; i < scenario->order_count; i++) listed += scenario->orders[i].group_count;
    if (scenario->unit_count <= UNITS && scenario->unit_capacity <= 4096 &&
        scenario->order_capacity <= 4096 && listed <= 100)
        build(scenario);
    phx_scenario_destroy(scenario);
    return 0;
}
