/* queue.c: see queue.h. */
#include "lockstep/queue.h"

#include <string.h>

size_t phx_queue_room(const PhxQueue *queue) {
    const size_t free_bytes = queue->capacity - (queue->tail - queue->head);
    return free_bytes > PHX_QUEUE_RECORD_HEAD ? free_bytes - PHX_QUEUE_RECORD_HEAD : 0;
}

bool phx_queue_push(PhxQueue *queue, const uint8_t *record, size_t size) {
    const size_t held = queue->tail - queue->head;
    if (size > UINT32_MAX || queue->capacity - held < PHX_QUEUE_RECORD_HEAD) return false;
    if (size > queue->capacity - held - PHX_QUEUE_RECORD_HEAD) return false;
    if (queue->capacity - queue->tail < size + PHX_QUEUE_RECORD_HEAD) {
        memmove(queue->data, queue->data + queue->head, held);
        queue->head = 0;
        queue->tail = held;
    }
    const uint32_t stored = (uint32_t)size;
    memcpy(queue->data + queue->tail, &stored, sizeof stored); /* never leaves this process: any byte order */
    memcpy(queue->data + queue->tail + PHX_QUEUE_RECORD_HEAD, record, size);
    queue->tail += PHX_QUEUE_RECORD_HEAD + size;
    queue->count++;
    return true;
}

const uint8_t *phx_queue_front(const PhxQueue *queue, size_t *size) {
    if (queue->count == 0) return NULL;
    uint32_t stored;
    memcpy(&stored, queue->data + queue->head, sizeof stored);
    *size = stored;
    return queue->data + queue->head + PHX_QUEUE_RECORD_HEAD;
}

void phx_queue_pop(PhxQueue *queue) {
    size_t size;
    if (!phx_queue_front(queue, &size)) return;
    queue->head += PHX_QUEUE_RECORD_HEAD + size;
    queue->count--;
    if (queue->count == 0) queue->head = queue->tail = 0;
}
