/* queue.h: a first-in-first-out queue of byte records in a fixed block. Each record lies in one piece, so
 * that it can be decoded in place. Pushing copies; when the end of the block is reached what is left moves to
 * the front. */
#ifndef PHX_LOCKSTEP_QUEUE_H
#define PHX_LOCKSTEP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PhxQueue {
    uint8_t *data; /* capacity bytes, the owner's */
    size_t capacity, head, tail;
    uint32_t count;
} PhxQueue;

enum { PHX_QUEUE_RECORD_HEAD = 4 }; /* bytes that a record takes besides its own */

static inline PhxQueue phx_queue_make(uint8_t *data, size_t capacity) {
    return (PhxQueue){.data = data, .capacity = capacity};
}
/* Bytes that the next record may have; 0 where not even an empty one fits. */
size_t phx_queue_room(const PhxQueue *queue);
/* False: no room, nothing changed. */
bool phx_queue_push(PhxQueue *queue, const uint8_t *record, size_t size);
/* The oldest record, valid until the next push; null where there is none. */
const uint8_t *phx_queue_front(const PhxQueue *queue, size_t *size);
/* Removes the oldest record, if there is one. */
void phx_queue_pop(PhxQueue *queue);

#endif
