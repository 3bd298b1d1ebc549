/* queue.h: the canonical order of the commands of one tick: (player slot, sequence); the host's slot, 255, is
 * last. Determinism: the order in which commands arrived cannot matter, because no two have the same key.
 */
#ifndef PHX_COMMAND_QUEUE_H
#define PHX_COMMAND_QUEUE_H

#include <phalanx/status.h>
#include <stdint.h>

/* Key of a command and where it stands in the caller's list. */
typedef struct PhxQueuedCommand {
    uint8_t slot;
    uint32_t sequence;
    uint32_t index;
} PhxQueuedCommand;

/* Sorts into canonical order. Errors: PHX_ERROR_ARGUMENT if two have the same slot and sequence. */
PHX_MUST_USE PhxStatus phx_command_queue_order(PhxQueuedCommand *queue, uint32_t count);

#endif
