/* allocator.h: where a world's memory comes from. Phalanx asks for memory when something is created and
 * returns it when it is destroyed. A tick asks for memory only where the ground changed, when what is derived
 * of it (portal graphs, walls) has to grow.
 */
#ifndef PHALANX_ALLOCATOR_H
#define PHALANX_ALLOCATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `allocate` returns `size` bytes aligned to 64, or null; the bytes need not be cleared. `release` gets what
 * allocate returned, and its size. Both are called from the
 * thread that creates, steps, restores or destroys, and from no job. */
typedef struct PhxAllocator {
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} PhxAllocator;

/* The C library's allocator. */
PhxAllocator phx_allocator_default(void);

#ifdef __cplusplus
}
#endif
#endif
