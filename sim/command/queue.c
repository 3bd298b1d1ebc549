/* queue.c: see queue.h. */
#include "command/queue.h"

#include <stdbool.h>

#include "base/sort.h"

static bool comes_first(const PhxQueuedCommand *a, const PhxQueuedCommand *b) {
    if (a->slot != b->slot) return a->slot < b->slot;
    if (a->sequence != b->sequence) return a->sequence < b->sequence;
    return a->index < b->index;
}

PHX_DEFINE_SORT(sort_queue, PhxQueuedCommand, comes_first)

PhxStatus phx_command_queue_order(PhxQueuedCommand *queue, uint32_t count) {
    sort_queue(queue, count);
    for (uint32_t i = 1; i < count; i++)
        if (queue[i].slot == queue[i - 1].slot && queue[i].sequence == queue[i - 1].sequence)
            return PHX_ERROR_ARGUMENT;
    return PHX_OK;
}
