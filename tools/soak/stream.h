/* stream.h: the commands of a match as a list that commands can be taken out of.
 *
 * In: encoded commands, tick by tick. Out: each tick's commands for phx_sim_step, and the list without some
 * of them. Cost: linear; one block of bytes. Determinism: the order of the list is the order of adding.
 */
#ifndef PHX_TOOLS_SOAK_STREAM_H
#define PHX_TOOLS_SOAK_STREAM_H

#include <phalanx/sim.h>

typedef struct PhxStreamCommand {
    uint32_t tick; /* the step that gets it: phx_sim_tick before that step */
    uint32_t sequence, size;
    size_t offset; /* of its bytes */
    uint8_t slot;
} PhxStreamCommand;

/* A zeroed one is empty. */
typedef struct PhxStream {
    PhxStreamCommand *commands; /* by tick */
    uint32_t count, capacity;
    uint8_t *bytes;
    size_t used, size;
    bool failed; /* memory ended: the list isn't whole */
} PhxStream;

/* Ticks must not fall. The command's sequence is its place in the list. */
void phx_stream_add(PhxStream *stream, uint32_t tick, uint8_t slot, const void *bytes, uint32_t size);
void phx_stream_free(PhxStream *stream);

/* Writes the commands of `tick`, at most `limit`, and returns how many. `*at` is 0 before the first tick and
 * is kept by the caller; ticks are asked for in order. The bytes belong to the stream. */
uint32_t phx_stream_take(const PhxStream *stream, uint32_t *at, uint32_t tick, PhxCommand *out,
                         uint32_t limit);

/* The commands with the given places (rising), with their old sequence numbers, as a stream of its own. */
PHX_MUST_USE PhxStatus phx_stream_select(const PhxStream *stream, const uint32_t *places, uint32_t count,
                                         PhxStream *out);

#endif
