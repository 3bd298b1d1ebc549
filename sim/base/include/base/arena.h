/* arena.h: one block of memory, handed out in pieces that live as long as the block.
 *
 * In: an allocator and a size that was computed beforehand. Out: cleared pieces, each aligned to 64 bytes.
 * Use: describe the layout once as a function that calls phx_arena_push; run it with a measuring arena (base
 * is null: nothing is handed out, `used` grows), then allocate `used` bytes and run it again. Determinism:
 * pieces are cleared, so that no byte of them depends on the heap; addresses never enter the state.
 */
#ifndef PHX_BASE_ARENA_H
#define PHX_BASE_ARENA_H

#include <phalanx/allocator.h>
#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

enum { PHX_ARENA_ALIGN = 64 };

typedef struct PhxArena {
    unsigned char *base; /* null while measuring */
    size_t used, size;
    PhxAllocator allocator;
} PhxArena;

/* A measuring arena. */
PhxArena phx_arena_measure(void);

/* Allocates and clears `size` bytes. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_arena_create(PhxArena *arena, PhxAllocator allocator, size_t size);
void phx_arena_destroy(PhxArena *arena);

/* `count` elements of `size` bytes, cleared; null while measuring. A product that overflows or a piece that
 * doesn't fit is a programmer error (the measuring run made the arena large enough). */
void *phx_arena_push(PhxArena *arena, size_t count, size_t size);

#define PHX_ARENA_ARRAY(arena, type, count) ((type *)phx_arena_push((arena), (count), sizeof(type)))

#endif
