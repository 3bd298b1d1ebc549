/* walls_build.c: the walls of a grid: made, changed, and given back, a sector at a time.
 *
 * In: a grid, a rectangle that has changed. Out: PhxWalls. Method: the sectors are measured, memory is taken
 * for those that need more, then they are filled; so where memory fails nothing has been touched. Cost: two
 * looks at the cells of the sectors concerned; both passes run on all threads, what lies between them is some
 * steps a sector.
 *
 * Determinism: each sector is a pure function of its cells and those around it (walls_sector.c), and is
 * written by one range of a loop. Memory is asked for and given back in order of sectors, by the caller's
 * thread.
 */
#include <string.h>

#include "base/arena.h"
#include "motion/walls_sector.h"

enum { GRAIN = 8, FEW = 4 };

/* Sectors first_x..last_x of rows first_y..last_y. */
typedef struct Task {
    PhxWalls *walls;
    const PhxNavGrid *grid;
    uint32_t first_x, first_y, across, count;
} Task;

static uint32_t sector_index(const Task *task, uint32_t i) {
    return (task->first_y + i / task->across) * task->walls->sectors_x + task->first_x + i % task->across;
}

static void count_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Task *task = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        phx_wall_sector_count(task->walls, task->grid, sector_index(task, i));
}

static void fill_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Task *task = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        phx_wall_sector_fill(task->walls, task->grid, sector_index(task, i));
}

static void run(const Task *task, const PhxJobs *jobs, PhxRangeFn fn) {
    Task copy = *task; /* the context of a job isn't const */
    if (task->count <= FEW)
        fn(&copy, 0, task->count, 0);
    else
        phx_parallel_for(jobs, task->count, GRAIN, fn, &copy);
}

static uint32_t block_bytes(uint32_t count, uint32_t items) {
    return count ? count * 4 + (PHX_WALL_STARTS + items) * 2 : 0;
}

static void release(const PhxWalls *walls, uint32_t **block, uint32_t *bytes) {
    if (*block) walls->allocator.release(walls->allocator.user, *block, *bytes);
    *block = NULL;
    *bytes = 0;
}

/* Whether the sector's block holds what was counted, without being far too large for it. */
static bool block_fits(const PhxWallSector *sector) {
    const uint32_t need = block_bytes(sector->fresh_count, sector->fresh_items);
    return need == 0 || (need <= sector->bytes && sector->bytes <= 2 * need + 512);
}

/* Takes fresh blocks; all or none. */
static PhxStatus take_blocks(const Task *task) {
    PhxWalls *walls = task->walls;
    for (uint32_t i = 0; i < task->count; i++) {
        PhxWallSector *sector = &walls->sector[sector_index(task, i)];
        if (block_fits(sector)) continue;
        const uint32_t need = block_bytes(sector->fresh_count, sector->fresh_items);
        const uint32_t bytes = (need + need / 16 + PHX_ARENA_ALIGN - 1) & ~(uint32_t)(PHX_ARENA_ALIGN - 1);
        sector->fresh = walls->allocator.allocate(walls->allocator.user, bytes);
        sector->fresh_bytes = bytes;
        if (sector->fresh) continue;
        for (uint32_t k = 0; k <= i; k++) {
            PhxWallSector *taken = &walls->sector[sector_index(task, k)];
            release(walls, &taken->fresh, &taken->fresh_bytes);
        }
        return PHX_ERROR_MEMORY;
    }
    return PHX_OK;
}

/* Puts the fresh blocks in the place of the old ones. */
static void change_blocks(const Task *task) {
    PhxWalls *walls = task->walls;
    for (uint32_t i = 0; i < task->count; i++) {
        PhxWallSector *sector = &walls->sector[sector_index(task, i)];
        if (!sector->fresh && sector->fresh_count > 0) continue;
        release(walls, &sector->block, &sector->bytes);
        sector->block = sector->fresh;
        sector->bytes = sector->fresh_bytes;
        sector->fresh = NULL;
        sector->fresh_bytes = 0;
    }
}

static bool same(const PhxWallSector *a, const PhxWallSector *b) {
    return a->count == b->count && (a->count == 0 || memcmp(a->block, b->block, (size_t)a->count * 4) == 0);
}

/* What an overlay has in common with its base it doesn't keep. */
static void settle(const Task *task) {
    PhxWalls *walls = task->walls;
    for (uint32_t i = 0; i < task->count; i++) {
        const uint32_t index = sector_index(task, i);
        PhxWallSector *sector = &walls->sector[index];
        sector->own = !walls->base || !same(sector, phx_wall_sector(walls->base, index));
        if (sector->own) continue;
        release(walls, &sector->block, &sector->bytes);
        sector->count = sector->items = 0;
    }
}

static uint32_t pieces(const Task *task) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->count; i++) count += task->walls->sector[sector_index(task, i)].count;
    return count;
}

static PhxStatus rebuild(const Task *task, const PhxJobs *jobs) {
    run(task, jobs, count_range);
    const PhxStatus status = take_blocks(task);
    if (status != PHX_OK) return status;
    change_blocks(task);
    run(task, jobs, fill_range);
    settle(task);
    return PHX_OK;
}

static Task whole(PhxWalls *walls, const PhxNavGrid *grid) {
    return (Task){.walls = walls,
                  .grid = grid,
                  .across = walls->sectors_x,
                  .count = walls->sectors_x * walls->sectors_y};
}

static PhxStatus take_sectors(PhxWalls *walls) {
    const size_t bytes = sizeof(PhxWallSector) * walls->sectors_x * walls->sectors_y;
    walls->sector = walls->allocator.allocate(walls->allocator.user, bytes);
    if (!walls->sector) {
        *walls = (PhxWalls){0};
        return PHX_ERROR_MEMORY;
    }
    memset(walls->sector, 0, bytes);
    return PHX_OK;
}

PhxStatus phx_walls_create_grid_cut(PhxWalls *walls, PhxAllocator allocator, const PhxNavGrid *grid,
                                    const PhxJobs *jobs, uint32_t shift) {
    *walls = (PhxWalls){0};
    if (grid->width - 1 >= PHX_NAV_MAX_SIDE || grid->height - 1 >= PHX_NAV_MAX_SIDE)
        return PHX_ERROR_ARGUMENT;
    *walls = (PhxWalls){.allocator = allocator,
                        .width = grid->width,
                        .height = grid->height,
                        .sector_shift = shift,
                        .sectors_x = ((grid->width - 1) >> shift) + 1,
                        .sectors_y = ((grid->height - 1) >> shift) + 1};
    PhxStatus status = take_sectors(walls);
    if (status != PHX_OK) return status;
    const Task task = whole(walls, grid);
    status = rebuild(&task, jobs);
    if (status != PHX_OK)
        phx_walls_destroy(walls);
    else
        walls->count = pieces(&task);
    return status;
}

PhxStatus phx_walls_create_grid(PhxWalls *walls, PhxAllocator allocator, const PhxNavGrid *grid,
                                const PhxJobs *jobs) {
    return phx_walls_create_grid_cut(walls, allocator, grid, jobs, PHX_WALLS_SECTOR_SHIFT);
}

PhxStatus phx_walls_create_over(PhxWalls *walls, PhxAllocator allocator, const PhxWalls *base) {
    *walls = (PhxWalls){.allocator = allocator,
                        .width = base->width,
                        .height = base->height,
                        .sector_shift = base->sector_shift,
                        .sectors_x = base->sectors_x,
                        .sectors_y = base->sectors_y,
                        .base = base};
    return take_sectors(walls);
}

/* A change of a cell concerns the lines around it and the ends of segments at its corners. Returns false
 * where the rectangle holds no cell of the map. */
static bool sectors_of(const PhxWalls *walls, PhxCellRect rect, Task *task) {
    const int32_t width = (int32_t)walls->width, height = (int32_t)walls->height;
    if (rect.x0 >= rect.x1 || rect.y0 >= rect.y1) return false;
    if (rect.x0 >= width || rect.y0 >= height || rect.x1 <= 0 || rect.y1 <= 0) return false;
    const uint32_t shift = walls->sector_shift;
    const uint32_t low_x = rect.x0 > 1 ? (uint32_t)rect.x0 - 1 : 0;
    const uint32_t low_y = rect.y0 > 1 ? (uint32_t)rect.y0 - 1 : 0;
    const uint32_t high_x = (uint32_t)(rect.x1 < width ? rect.x1 : width - 1); /* the cell behind */
    const uint32_t high_y = (uint32_t)(rect.y1 < height ? rect.y1 : height - 1);
    task->first_x = low_x >> shift;
    task->first_y = low_y >> shift;
    task->across = (high_x >> shift) - task->first_x + 1;
    task->count = task->across * ((high_y >> shift) - task->first_y + 1);
    return true;
}

PhxStatus phx_walls_update_grid(PhxWalls *walls, const PhxNavGrid *grid, PhxCellRect rect,
                                const PhxJobs *jobs) {
    Task task = {.walls = walls, .grid = grid};
    if (!sectors_of(walls, rect, &task)) return PHX_OK;
    const uint32_t before = pieces(&task);
    const PhxStatus status = rebuild(&task, jobs);
    if (status == PHX_OK) walls->count += pieces(&task) - before;
    return status;
}

void phx_walls_destroy(PhxWalls *walls) {
    const uint32_t sectors = walls->sector ? walls->sectors_x * walls->sectors_y : 0;
    for (uint32_t i = 0; i < sectors; i++) release(walls, &walls->sector[i].block, &walls->sector[i].bytes);
    if (walls->sector)
        walls->allocator.release(walls->allocator.user, walls->sector, sizeof(PhxWallSector) * sectors);
    if (walls->wall) phx_walls_release_polygons(walls);
    *walls = (PhxWalls){0};
}

size_t phx_walls_bytes(const PhxWalls *walls) {
    if (!walls->sector) return phx_walls_polygon_bytes(walls);
    const uint32_t sectors = walls->sectors_x * walls->sectors_y;
    size_t bytes = sizeof(PhxWallSector) * sectors;
    for (uint32_t i = 0; i < sectors; i++) bytes += walls->sector[i].bytes;
    return bytes;
}
