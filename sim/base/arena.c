/* arena.c: the default allocator and the arena over any allocator. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static size_t align_up(size_t size) { return (size + PHX_ARENA_ALIGN - 1) & ~(size_t)(PHX_ARENA_ALIGN - 1); }

static void *default_allocate(void *user, size_t size) {
    (void)user;
#if defined(_WIN32) /* its C library has no aligned_alloc, and what stands for it has its own free */
    return _aligned_malloc(align_up(size ? size : 1), PHX_ARENA_ALIGN);
#else
    return aligned_alloc(PHX_ARENA_ALIGN, align_up(size ? size : 1));
#endif
}

static void default_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

PhxAllocator phx_allocator_default(void) {
    return (PhxAllocator){.allocate = default_allocate, .release = default_release, .user = NULL};
}

PhxArena phx_arena_measure(void) { return (PhxArena){.base = NULL, .size = SIZE_MAX}; }

PhxStatus phx_arena_create(PhxArena *arena, PhxAllocator allocator, size_t size) {
    *arena = (PhxArena){.allocator = allocator, .size = size ? align_up(size) : PHX_ARENA_ALIGN};
    arena->base = allocator.allocate(allocator.user, arena->size);
    if (!arena->base) return PHX_ERROR_MEMORY;
    memset(arena->base, 0, arena->size);
    return PHX_OK;
}

void phx_arena_destroy(PhxArena *arena) {
    if (arena->base) arena->allocator.release(arena->allocator.user, arena->base, arena->size);
    *arena = (PhxArena){0};
}

void *phx_arena_push(PhxArena *arena, size_t count, size_t size) {
    PHX_ASSERT(size == 0 || count <= (SIZE_MAX / 2 - PHX_ARENA_ALIGN) / size, count, size);
    const size_t bytes = align_up(count * size);
    PHX_ASSERT(bytes <= arena->size - arena->used, bytes, arena->size);
    void *piece = arena->base ? arena->base + arena->used : NULL;
    arena->used += bytes;
    return piece;
}
