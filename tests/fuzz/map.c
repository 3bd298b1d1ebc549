/* map.c: any bytes as a MovingAI .map: a map or an error, no crash, no hang, no allocation by a count not yet
 * checked. */
#include "content/moving_ai.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PhxMovingAiMap map = {0};
    PhxError error = {0};
    const PhxStatus status = phx_moving_ai_read_map(data, size, "fuzz.map", PHX_MOVING_AI_COSTS_DEFAULT,
                                                    phx_allocator_default(), &map, &error);
    if (status != PHX_OK) {
        if (error.status != status || error.text[0] == 0 || map.cost != NULL) abort();
        return 0;
    }
    /* A map never has more cells than its file has bytes, and only known costs. */
    if ((size_t)map.width * map.height > size) abort();
    for (size_t i = 0; i < (size_t)map.width * map.height; i++)
        if (map.cost[i] != 1 && map.cost[i] != 2 && map.cost[i] != 255) abort();
    phx_moving_ai_free_map(&map);
    return 0;
}
