/* stream.c: a list of commands. See stream.h. */
#include "soak/stream.h"

#include <stdlib.h>
#include <string.h>

static bool grow_commands(PhxStream *stream) {
    if (stream->count < stream->capacity) return true;
    const uint32_t capacity = 2 * stream->capacity + 64;
    PhxStreamCommand *commands = realloc(stream->commands, capacity * sizeof *commands);
    if (commands == NULL) return false;
    stream->commands = commands;
    stream->capacity = capacity;
    return true;
}

static bool grow_bytes(PhxStream *stream, uint32_t size) {
    if (stream->used + size <= stream->size) return true;
    const size_t larger = 2 * (stream->used + size) + 4096;
    uint8_t *bytes = realloc(stream->bytes, larger);
    if (bytes == NULL) return false;
    stream->bytes = bytes;
    stream->size = larger;
    return true;
}

static void append(PhxStream *stream, const PhxStreamCommand *command, const void *bytes) {
    if (!grow_commands(stream) || !grow_bytes(stream, command->size)) {
        stream->failed = true;
        return;
    }
    if (command->size > 0) memcpy(stream->bytes + stream->used, bytes, command->size);
    stream->commands[stream->count] = *command;
    stream->commands[stream->count++].offset = stream->used;
    stream->used += command->size;
}

void phx_stream_add(PhxStream *stream, uint32_t tick, uint8_t slot, const void *bytes, uint32_t size) {
    append(stream, &(PhxStreamCommand){.tick = tick, .sequence = stream->count, .size = size, .slot = slot},
           bytes);
}

void phx_stream_free(PhxStream *stream) {
    free(stream->commands);
    free(stream->bytes);
    *stream = (PhxStream){0};
}

uint32_t phx_stream_take(const PhxStream *stream, uint32_t *at, uint32_t tick, PhxCommand *out,
                         uint32_t limit) {
    uint32_t count = 0;
    while (*at < stream->count && stream->commands[*at].tick < tick) ++*at;
    for (; *at < stream->count && stream->commands[*at].tick == tick && count < limit; ++*at) {
        const PhxStreamCommand *command = &stream->commands[*at];
        out[count++] = (PhxCommand){.slot = command->slot,
                                    .sequence = command->sequence,
                                    .size = command->size,
                                    .bytes = stream->bytes + command->offset};
    }
    return count;
}

PhxStatus phx_stream_select(const PhxStream *stream, const uint32_t *places, uint32_t count, PhxStream *out) {
    *out = (PhxStream){0};
    for (uint32_t i = 0; i < count; i++) {
        const PhxStreamCommand *command = &stream->commands[places[i]];
        append(out, command, stream->bytes + command->offset);
    }
    if (!out->failed) return PHX_OK;
    phx_stream_free(out);
    return PHX_ERROR_MEMORY;
}
