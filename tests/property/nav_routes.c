/* nav_routes.c: the service of sector routes: neither cache, nor drops, nor threads, nor the history of edits
 * can be seen in what it says; its memory is bounded; bad input has a defined result. PHX_LONG=1 tries some
 * ten times as many maps and edits; under a sanitizer there are less than half as many as by default.
 */
#include <phalanx/jobs.h>
#include <phalanx/routes.h>

#include "nav/components.h"
#include "nav/routes_cache.h"
#include "nav_random.h"

enum { LAYERS = 2, REACH = 2 };

/* The inputs of the planes: ground costs; layer n is the most of the (2n + 1)^2 cells around. */
typedef struct World {
    uint32_t width, height;
    uint8_t *ground;
} World;

static void compose(void *user, uint32_t layer, PhxCellRect rect, uint8_t *plane) {
    const World *world = user;
    const int64_t n = layer;
    for (int64_t y = rect.y0; y < rect.y1; y++)
        for (int64_t x = rect.x0; x < rect.x1; x++) {
            uint8_t most = 0;
            for (int64_t v = y - n; v <= y + n; v++)
                for (int64_t u = x - n; u <= x + n; u++)
                    if (u >= 0 && v >= 0 && u < world->width && v < world->height &&
                        world->ground[v * world->width + u] > most)
                        most = world->ground[v * world->width + u];
            plane[y * world->width + x] = most;
        }
}

/* A set's name: a cell, and above it what the set is: the cell; a square of 3 x 3; every 37th cell from it
 * on; nothing; a cell beyond the map. Repeats and any order, as a caller may give them. */
enum { ONE, SQUARE, MANY, NOTHING, BEYOND, KINDS };
static uint64_t goal_name(uint32_t cell, uint32_t kind) { return (uint64_t)kind << 32 | cell; }

static uint32_t expand(void *user, uint32_t layer, uint64_t goal, uint32_t *cells) {
    const World *world = user;
    const uint32_t cell = (uint32_t)goal, all = world->width * world->height;
    uint32_t count = 0;
    (void)layer;
    switch (goal >> 32) {
    case ONE:
        cells[count++] = cell;
        break;
    case SQUARE:
        for (uint32_t i = 0; i < 9; i++) cells[count++] = (cell + i / 3 * world->width + i % 3) % all;
        cells[count++] = cell;
        break;
    case MANY:
        for (uint32_t i = cell; i < all && count < 40; i += 37) cells[count++] = all - 1 - i;
        break;
    case BEYOND:
        cells[count++] = all;
        cells[count++] = UINT32_MAX;
        break;
    default:
        break;
    }
    return count;
}

static World make_world(uint64_t *seed, uint32_t width, uint32_t height) {
    World world = {width, height, malloc((size_t)width * height)};
    const int64_t walls = test_range(seed, 0, 35), blocks = test_range(seed, 0, 30);
    const bool uniform = test_range(seed, 0, 2) == 0;
    for (uint32_t i = 0; i < width * height; i++)
        world.ground[i] = test_range(seed, 0, 99) < walls ? 255
                          : uniform                       ? 3
                                                          : (uint8_t)test_range(seed, 1, 9);
    /* Open and closed places larger than a cell. */
    for (int64_t b = 0; b < blocks; b++) {
        const uint8_t cost = test_range(seed, 0, 1) ? 255 : (uint8_t)test_range(seed, 1, 254);
        const uint32_t x0 = (uint32_t)test_range(seed, 0, width - 1),
                       y0 = (uint32_t)test_range(seed, 0, height - 1);
        const uint32_t w = (uint32_t)test_range(seed, 1, 40), h = (uint32_t)test_range(seed, 1, 40);
        for (uint32_t y = y0; y < y0 + h && y < height; y++)
            for (uint32_t x = x0; x < x0 + w && x < width; x++) world.ground[y * width + x] = cost;
    }
    return world;
}

/* `layers`: a bit each. */
static PhxRoutes *make_some_routes(World *world, size_t cache_bytes, uint32_t layers, const PhxJobs *jobs) {
    const PhxRoutesConfig config = {.width = world->width,
                                    .height = world->height,
                                    .weights = PHX_FIELD_WEIGHTS_DEFAULT,
                                    .allocator = phx_allocator_default(),
                                    .workers = jobs->workers,
                                    .cache_bytes = cache_bytes,
                                    .compose = compose,
                                    .reach = REACH,
                                    .goals = expand,
                                    .user = world};
    PhxRoutes *routes;
    CHECK_OK(phx_routes_create(&config, &routes));
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        if (layers >> layer & 1) CHECK_OK(phx_routes_open(routes, layer, jobs));
    return routes;
}
static PhxRoutes *make_routes(World *world, size_t cache_bytes, const PhxJobs *jobs) {
    return make_some_routes(world, cache_bytes, (1u << LAYERS) - 1, jobs);
}

/* What is asked of a service: the tile of a sector. */
typedef struct Wish {
    uint32_t layer, sector;
    uint64_t goal;
} Wish;

static uint32_t cell_in(const World *world, uint32_t sector) {
    const PhxSectorFrame frame = phx_sector_frame(world->width, world->height, sector);
    return (frame.y0 + frame.height / 2) * world->width + frame.x0 + frame.width / 2;
}

/* Asks for tiles in the order given, in as many batches as it takes, and keeps copies. */
static void ask(PhxRoutes *routes, const World *world, const Wish *wishes, uint32_t count,
                const PhxJobs *jobs, bool drop, PhxTile *out) {
    for (uint32_t first = 0; first < count;) {
        uint32_t slots[4096], claimed = 0;
        if (drop) phx_routes_drop(routes);
        phx_routes_begin(routes);
        while (first + claimed < count && claimed < 4096 &&
               phx_routes_claim(routes, wishes[first + claimed].layer, wishes[first + claimed].goal,
                                cell_in(world, wishes[first + claimed].sector), &slots[claimed]))
            claimed++;
        CHECK(claimed > 0);
        CHECK_OK(phx_routes_build(routes, jobs));
        for (uint32_t i = 0; i < claimed; i++) out[first + i] = *phx_routes_tile(routes, slots[i]);
        first += claimed;
    }
}

static bool same_tile(const PhxTile *a, const PhxTile *b) {
    return a->sector == b->sector && a->bands == b->bands && a->aim_count == b->aim_count &&
           memcmp(a->base, b->base, sizeof a->base) == 0 && memcmp(a->sum, b->sum, sizeof a->sum) == 0 &&
           memcmp(a->flow, b->flow, sizeof a->flow) == 0 && memcmp(a->aim, b->aim, sizeof a->aim) == 0 &&
           memcmp(a->aims, b->aims, sizeof a->aims) == 0;
}

/* What units are told in every cell, through the public calls. */
static void check_answers(const PhxTile *a, const PhxTile *b, const PhxNavGrid *plane, uint64_t *seed) {
    const PhxSectorFrame frame = phx_sector_frame(plane->width, plane->height, a->sector);
    for (uint32_t y = frame.y0; y < frame.y0 + frame.height; y++)
        for (uint32_t x = frame.x0; x < frame.x0 + frame.width; x++) {
            const uint32_t cell = y * plane->width + x;
            bool see_a, see_b;
            CHECK_EQ(phx_tile_cost(a, plane, cell), phx_tile_cost(b, plane, cell));
            CHECK_EQ(phx_tile_flow(a, plane, cell, &see_a), phx_tile_flow(b, plane, cell, &see_b));
            CHECK_EQ(see_a, see_b);
            const fix16_t px = (fix16_t)(x * 65536 + (uint32_t)test_range(seed, 0, 65535));
            const fix16_t py = (fix16_t)(y * 65536 + (uint32_t)test_range(seed, 0, 65535));
            const PhxVec2 goal = {px / 2, py / 2};
            const PhxDir da = phx_tile_direction(a, plane, goal, px, py);
            const PhxDir db = phx_tile_direction(b, plane, goal, px, py);
            CHECK(da.x == db.x && da.y == db.y);
        }
}

static void check_same(const PhxTile *a, const PhxTile *b, const Wish *wishes, uint32_t count,
                       const char *what, uint64_t seed, int step) {
    for (uint32_t i = 0; i < count; i++)
        CHECK_THAT(same_tile(&a[i], &b[i]),
                   "%s: seed %" PRIu64 " step %d: layer %u goal %" PRIx64 " sector %u", what, seed, step,
                   wishes[i].layer, wishes[i].goal, wishes[i].sector);
}

static uint64_t random_goal(const World *world, uint64_t *seed) {
    return goal_name((uint32_t)test_range(seed, 0, (int64_t)world->width * world->height - 1),
                     (uint32_t)test_range(seed, 0, 9) % KINDS);
}

static void shuffle(Wish *wishes, uint32_t count, uint64_t *seed) {
    for (uint32_t k = count; k > 1; k--) {
        const uint32_t j = (uint32_t)test_range(seed, 0, k - 1);
        const Wish swap = wishes[k - 1];
        wishes[k - 1] = wishes[j], wishes[j] = swap;
    }
}

PHX_TEST(routes, neither_cache_nor_drops_nor_threads_can_be_seen) {
    static const uint32_t threads[] = {1, 2, 3, 8};
    enum { GOALS = 5 };
    for (uint64_t round = 0; round < test_count(2, 4, 40); round++) {
        uint64_t seed = round + 1;
        World world =
            make_world(&seed, (uint32_t)test_range(&seed, 1, 300), (uint32_t)test_range(&seed, 1, 200));
        const uint32_t sectors = phx_sector_count(world.width, world.height);
        const uint32_t count = sectors * GOALS * LAYERS;
        Wish *wishes = malloc(count * sizeof *wishes);
        uint64_t goals[GOALS];
        for (int g = 0; g < GOALS; g++) goals[g] = random_goal(&world, &seed);
        for (uint32_t i = 0; i < count; i++)
            wishes[i] = (Wish){i / sectors % LAYERS, i % sectors, goals[i / sectors / LAYERS]};
        PhxTile *first = malloc(count * sizeof *first), *other = malloc(count * sizeof *other);
        const PhxJobs serial = phx_jobs_serial();
        PhxRoutes *plain = make_routes(&world, (size_t)40 << 20, &serial);
        ask(plain, &world, wishes, count, &serial, false, first);
        CHECK_EQ(phx_routes_use(plain).tiles_evicted, 0);
        for (int t = 0; t < 4; t++) {
            PhxJobs jobs;
            CHECK_OK(phx_jobs_threads_create(threads[t], &jobs));
            for (int way = 0; way < 3; way++) {
                static const size_t bytes[] = {0, (size_t)40 << 20, 600 << 10};
                PhxRoutes *routes = make_routes(&world, bytes[way], &jobs);
                ask(routes, &world, wishes, count, &jobs, way == 1, other);
                check_same(first, other, wishes, count,
                           way == 0   ? "one tile"
                           : way == 1 ? "dropped"
                                      : "a few",
                           round, t);
                if (way == 0) CHECK(phx_routes_use(routes).tiles_evicted >= count / 2 || count < 4);
                phx_routes_destroy(routes);
            }
            phx_jobs_threads_destroy(&jobs);
        }
        /* The order of wishes, and tiles that are there already. */
        Wish *mixed = malloc(count * sizeof *mixed);
        memcpy(mixed, wishes, count * sizeof *mixed);
        shuffle(mixed, count, &seed);
        PhxRoutes *routes = make_routes(&world, 2 << 20, &serial);
        ask(routes, &world, mixed, count, &serial, false, other);
        ask(routes, &world, wishes, count, &serial, false, other);
        check_same(first, other, wishes, count, "another order", round, 0);
        const PhxNavGrid plane = phx_routes_plane(routes, wishes[count - 1].layer);
        check_answers(&first[count - 1], &other[count - 1], &plane, &seed);
        phx_routes_destroy(routes), phx_routes_destroy(plain);
        free(first), free(other), free(wishes), free(mixed), free(world.ground);
    }
}

/* A rectangle of another cost, or of noise, or of walls; mostly small, sometimes with no effect or beyond the
 * map. */
static PhxCellRect random_edit(World *world, uint64_t *seed) {
    const int32_t x = (int32_t)test_range(seed, -8, (int64_t)world->width + 8),
                  y = (int32_t)test_range(seed, -8, (int64_t)world->height + 8);
    const int64_t most = test_range(seed, 0, 19) == 0 ? 90 : 9, kind = test_range(seed, 0, 5);
    const PhxCellRect rect = {x, y, x + (int32_t)test_range(seed, 0, most),
                              y + (int32_t)test_range(seed, 0, most)};
    const uint8_t cost = (uint8_t)test_range(seed, 1, 254);
    for (int32_t v = rect.y0; v < rect.y1; v++)
        for (int32_t u = rect.x0; u < rect.x1; u++) {
            if (u < 0 || v < 0 || u >= (int32_t)world->width || v >= (int32_t)world->height) continue;
            uint8_t *cell = &world->ground[(uint32_t)v * world->width + (uint32_t)u];
            *cell = kind <= 1   ? 255
                    : kind == 2 ? 3
                    : kind == 3 ? (uint8_t)test_range(seed, 1, 255)
                    : kind == 4 ? cost
                                : *cell;
        }
    return rect;
}

typedef struct Edits {
    World world;
    uint32_t sectors, count;
    Wish *wishes[LAYERS];
    PhxTile *fresh, *kept;
} Edits;

/* Rings that aren't doubtful are those of a service that is made from nothing, as far as it has them. */
static void check_rings(const PhxRoutes *kept, const PhxRoutes *fresh, uint32_t layer, uint64_t seed,
                        int step) {
    for (uint32_t slot = 0; slot < kept->cache.chunk_count * PHX_ROUTES_RINGS; slot++) {
        const PhxRoutesEntry *entry = &kept->cache.entry[slot];
        if (entry->key.kind != PHX_ROUTES_RING || entry->key.layer != layer || entry->doubtful) continue;
        const uint32_t other = phx_routes_cache_find(&fresh->cache, entry->key);
        if (other == PHX_ROUTES_NONE) continue;
        const PhxTileRing *a = phx_routes_cache_memory(&kept->cache, slot);
        const PhxTileRing *b = phx_routes_cache_memory(&fresh->cache, other);
        CHECK_THAT(memcmp(a->value, b->value, sizeof a->value) == 0 &&
                       memcmp(a->rest, b->rest, sizeof a->rest) == 0 &&
                       memcmp(a->aim, b->aim, sizeof a->aim) == 0 &&
                       memcmp(a->light, b->light, sizeof a->light) == 0,
                   "seed %" PRIu64 " step %d: ring of layer %u goal %" PRIx64 " sector %u", seed, step, layer,
                   entry->key.goal, entry->key.sector);
    }
}

/* A service that lived through all edits against one that is made from nothing, in one layer. */
static void check_edit(const Edits *e, uint32_t layer, PhxRoutes *routes, const PhxJobs *jobs, uint64_t seed,
                       int step) {
    const PhxJobs serial = phx_jobs_serial();
    PhxRoutes *anew = make_some_routes((World *)&e->world, (size_t)40 << 20, 1u << layer, &serial);
    const PhxNavGrid a = phx_routes_plane(anew, layer), b = phx_routes_plane(routes, layer);
    CHECK_THAT(memcmp(a.cost, b.cost, (size_t)a.width * a.height) == 0, "seed %" PRIu64 " step %d", seed,
               step);
    uint64_t random = seed + (uint64_t)step;
    for (uint32_t i = 0; i < 10; i++) {
        const uint32_t cell = (uint32_t)test_range(&random, 0, (int64_t)a.width * a.height - 1);
        CHECK_EQ(phx_routes_part(routes, layer, cell), phx_routes_part(anew, layer, cell));
    }
    ask(anew, &e->world, e->wishes[layer], e->count, &serial, false, e->fresh);
    check_rings(routes, anew, layer, seed, step);
    ask(routes, &e->world, e->wishes[layer], e->count, jobs, false, e->kept);
    check_rings(routes, anew, layer, seed, step);
    check_same(e->fresh, e->kept, e->wishes[layer], e->count, "edit", seed, step);
    phx_routes_destroy(anew);
}

/* Claims tiles and never builds them, with changes between the claims. */
static void claim_in_vain(const Edits *e, uint32_t layer, PhxRoutes *routes, const PhxJobs *jobs) {
    phx_routes_begin(routes);
    for (uint32_t i = 0; i < e->count / 2; i++) {
        const Wish wish = e->wishes[layer][i];
        uint32_t slot;
        if (!phx_routes_claim(routes, layer, wish.goal, cell_in(&e->world, wish.sector), &slot)) break;
        if (i == e->count / 4) CHECK_OK(phx_routes_refresh(routes, jobs));
    }
}

/* Returns how many tiles were shifted. */
static uint64_t run_edits(uint64_t seed, int edits, size_t cache_bytes, uint32_t threads) {
    enum { GOALS = 4 };
    uint64_t random = seed;
    PhxJobs jobs;
    CHECK_OK(phx_jobs_threads_create(threads, &jobs));
    Edits e = {.world = make_world(&random, (uint32_t)test_range(&random, 120, 260),
                                   (uint32_t)test_range(&random, 100, 200))};
    e.sectors = phx_sector_count(e.world.width, e.world.height);
    const uint32_t all = e.sectors * GOALS;
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        e.wishes[layer] = malloc(all * sizeof(Wish));
        for (uint32_t g = 0; g < GOALS; g++) {
            const uint64_t goal = random_goal(&e.world, &random);
            for (uint32_t i = 0; i < e.sectors; i++)
                e.wishes[layer][g * e.sectors + i] = (Wish){layer, i, goal};
        }
    }
    e.fresh = malloc(all * sizeof *e.fresh), e.kept = malloc(all * sizeof *e.kept);
    PhxRoutes *routes = make_routes(&e.world, cache_bytes, &jobs);
    for (int step = 0; step < edits; step++) {
        for (int64_t n = test_range(&random, 0, 3); n >= 0; n -= 3)
            phx_routes_touch(routes, random_edit(&e.world, &random));
        if (test_range(&random, 0, 30) == 0) phx_routes_drop(routes);
        CHECK_OK(phx_routes_refresh(routes, &jobs));
        /* Mostly a few tiles, so that the others live through several edits. */
        const uint32_t layer = (uint32_t)step % LAYERS;
        shuffle(e.wishes[layer], all, &random);
        e.count = step % 5 == 4 ? all : all / 4 + 1;
        if (test_range(&random, 0, 9) == 0) {
            phx_routes_touch(routes, random_edit(&e.world, &random));
            claim_in_vain(&e, layer, routes, &jobs);
        }
        check_edit(&e, layer, routes, &jobs, seed, step);
    }
    const PhxRoutesUse use = phx_routes_use(routes);
    fprintf(stderr,
            "seed %" PRIu64 ": %d edits, %u tiles at most, %" PRIu64 " built, %" PRIu64 " shifted, %" PRIu64
            " repairs\n",
            seed, edits, all, use.tiles_built, use.tiles_shifted, use.routes_repaired);
    /* With room for all, a good part outlived the edits. */
    if (cache_bytes > (size_t)4 << 20)
        CHECK(use.tiles_built < (uint64_t)edits * all / 4 && use.routes_repaired > 0);
    phx_routes_destroy(routes);
    phx_jobs_threads_destroy(&jobs);
    free(e.wishes[0]), free(e.wishes[1]), free(e.fresh), free(e.kept), free(e.world.ground);
    return use.tiles_shifted;
}

PHX_TEST(routes, after_edits_equal_those_made_from_nothing) {
    const uint32_t seeds = test_count(4, 4, 8), edits = test_count(14, 38, 250);
    uint64_t shifted = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        shifted += run_edits(seed, (int)edits, seed % 2 ? (size_t)40 << 20 : 900 << 10, seed % 4 < 2 ? 1 : 3);
    CHECK(edits < 250 || shifted > 0); /* rare on small maps: most of their tiles lie near a goal */
}

/* A chain of rooms a sector wide; in each wall are one or two doors, in each room may stand obstacles. */
static World make_rooms(uint64_t *seed, uint32_t rooms) {
    World world = {rooms * 64, 64, malloc((size_t)rooms * 64 * 64)};
    const uint8_t cost = (uint8_t)test_range(seed, 1, 3);
    memset(world.ground, cost, (size_t)world.width * world.height);
    for (uint32_t r = 1; r < rooms; r++) {
        const uint32_t x = r * 64 + (uint32_t)test_range(seed, 0, 40);
        const int64_t door = test_range(seed, 1, 40), wide = test_range(seed, 3, 22);
        for (uint32_t y = 0; y < 64; y++)
            if (y < door || y >= door + wide) world.ground[y * world.width + x] = 255;
    }
    return world;
}

/* Walls with a gap come and go in one room: beyond it, all ways become longer or shorter by one amount. */
PHX_TEST(routes, a_detour_far_away_shifts_what_lies_behind) {
    enum { ROOMS = 9 };
    uint64_t shifted = 0, built = 0, asked = 0;
    for (uint64_t round = 1; round <= test_count(4, 8, 120); round++) {
        uint64_t seed = round + 900;
        Edits e = {.world = make_rooms(&seed, ROOMS), .sectors = ROOMS, .count = 2 * ROOMS};
        const uint32_t width = e.world.width;
        const uint64_t goals[2] = {goal_name(width * 32 + width - 20, round % 4 ? ONE : SQUARE),
                                   goal_name(width * (uint32_t)test_range(&seed, 1, 62) + 40, ONE)};
        e.wishes[0] = malloc(e.count * sizeof(Wish));
        for (uint32_t i = 0; i < e.count; i++) e.wishes[0][i] = (Wish){0, i % ROOMS, goals[i / ROOMS]};
        e.fresh = malloc(e.count * sizeof *e.fresh), e.kept = malloc(e.count * sizeof *e.kept);
        const PhxJobs jobs = phx_jobs_serial();
        PhxRoutes *routes = make_some_routes(&e.world, round % 3 ? (size_t)20 << 20 : 700 << 10, 1, &jobs);
        const uint8_t cost = e.world.ground[0];
        for (int step = 0; step < 8; step++) {
            const int32_t x = (int32_t)test_range(&seed, 3, 5) * 64 + 44;
            const int32_t gap = (int32_t)test_range(&seed, 0, 60);
            const bool wall = test_range(&seed, 0, 3) != 0;
            for (int32_t y = 0; y < 64; y++)
                for (int32_t u = x; u < x + 3; u++)
                    e.world.ground[y * (int32_t)width + u] = wall && (y < gap || y >= gap + 4) ? 255 : cost;
            phx_routes_touch(routes, (PhxCellRect){x, 0, x + 3, 64});
            CHECK_OK(phx_routes_refresh(routes, &jobs));
            check_edit(&e, 0, routes, &jobs, round, step);
            asked += e.count;
        }
        const PhxRoutesUse use = phx_routes_use(routes);
        shifted += use.tiles_shifted, built += use.tiles_built;
        phx_routes_destroy(routes);
        free(e.wishes[0]), free(e.fresh), free(e.kept), free(e.world.ground);
    }
    fprintf(stderr, "%" PRIu64 " tiles asked for, %" PRIu64 " built, %" PRIu64 " shifted\n", asked, built,
            shifted);
    CHECK(shifted > asked / 10);
}

/* An allocator that counts. */
typedef struct Counted {
    size_t now, most;
} Counted;
static void *count_allocate(void *user, size_t size) {
    Counted *counted = user;
    counted->now += size;
    if (counted->now > counted->most) counted->most = counted->now;
    return phx_allocator_default().allocate(NULL, size);
}
static void count_release(void *user, void *memory, size_t size) {
    Counted *counted = user;
    counted->now -= size;
    phx_allocator_default().release(NULL, memory, size);
}

PHX_TEST(routes, keep_within_their_memory_under_ten_times_the_load) {
    enum { CAP = 2 << 20 };
    uint64_t seed = 77;
    World world = make_world(&seed, 500, 300);
    Counted counted = {0, 0};
    const PhxJobs jobs = phx_jobs_serial();
    const PhxRoutesConfig config = {
        world.width, world.height, {10, 14}, {count_allocate, count_release, &counted}, 1, CAP, compose,
        REACH,       expand,       &world};
    PhxRoutes *routes;
    CHECK_OK(phx_routes_create(&config, &routes));
    CHECK_OK(phx_routes_open(routes, 0, &jobs));
    const size_t before = counted.now;
    const uint32_t sectors = phx_sector_count(world.width, world.height);
    size_t wanted = 0;
    for (uint32_t g = 0; wanted < (size_t)10 * CAP; g++) {
        const uint64_t goal = goal_name((uint32_t)test_range(&seed, 0, 149999), g % 3);
        for (uint32_t s = 0; s < sectors;) {
            phx_routes_begin(routes);
            uint32_t claimed = 0, slot;
            while (s + claimed < sectors &&
                   phx_routes_claim(routes, 0, goal, cell_in(&world, s + claimed), &slot))
                claimed++;
            CHECK(claimed > 0);
            CHECK_OK(phx_routes_build(routes, &jobs));
            s += claimed;
            const PhxRoutesUse use = phx_routes_use(routes);
            CHECK_THAT(use.cache_bytes <= use.cache_limit && use.cache_limit <= CAP, "%zu of %zu",
                       use.cache_bytes, use.cache_limit);
        }
        wanted += sectors * sizeof(PhxTile);
    }
    const PhxRoutesUse use = phx_routes_use(routes);
    CHECK(use.cache_peak > (size_t)CAP * 9 / 10 && use.tiles_evicted > 9 * CAP / sizeof(PhxTile) / 2);
    CHECK_EQ(counted.now, before); /* a batch allocates nothing */
    CHECK(counted.most >= use.cache_limit);
    phx_routes_destroy(routes);
    CHECK_EQ(counted.now, 0);
    free(world.ground);
}

/* An allocator that gives out nothing once it has given so many pieces. */
typedef struct Short {
    uint32_t left;
    size_t now;
} Short;
static void *short_allocate(void *user, size_t size) {
    Short *s = user;
    if (s->left == 0) return NULL;
    s->left--;
    s->now += size;
    return phx_allocator_default().allocate(NULL, size);
}
static void short_release(void *user, void *memory, size_t size) {
    Short *s = user;
    s->now -= size;
    phx_allocator_default().release(NULL, memory, size);
}

/* Makes a service with room for so many pieces, lets each step that fails find more later, and asks it. True
 * if all went well at once. */
static bool run_short(World *world, uint32_t pieces, const Wish *wishes, uint32_t count, PhxTile *out) {
    Short memory = {pieces, 0};
    const PhxJobs jobs = phx_jobs_serial();
    const PhxRoutesConfig config = {world->width,
                                    world->height,
                                    PHX_FIELD_WEIGHTS_DEFAULT,
                                    {short_allocate, short_release, &memory},
                                    1,
                                    1 << 20,
                                    compose,
                                    REACH,
                                    expand,
                                    world};
    PhxRoutes *routes;
    bool smooth = true;
    uint64_t seed = 5;
    PhxStatus status = phx_routes_create(&config, &routes);
    if (status != PHX_OK) {
        CHECK_EQ(status, PHX_ERROR_MEMORY);
        CHECK(routes == NULL && memory.now == 0);
        return false;
    }
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        while ((status = phx_routes_open(routes, layer, &jobs)) != PHX_OK) {
            CHECK_EQ(status, PHX_ERROR_MEMORY);
            CHECK(!phx_routes_is_open(routes, layer) && memory.left == 0);
            smooth = false;
            memory.left = UINT32_MAX;
        }
    for (int edit = 0; edit < 4; edit++) {
        ask(routes, world, wishes, count, &jobs, false, out);
        /* Checkered strips: many more regions and portals, and then few again. */
        const int32_t x0 = edit / 2 * 60;
        for (int32_t y = 0; y < (int32_t)world->height; y++)
            for (int32_t x = x0; x < x0 + 10 && x < (int32_t)world->width; x++)
                world->ground[y * (int32_t)world->width + x] = edit % 2                  ? 2
                                                               : test_range(&seed, 0, 2) ? 3
                                                                                         : 255;
        phx_routes_touch(routes, (PhxCellRect){x0, 0, x0 + 10, (int32_t)world->height});
        while ((status = phx_routes_refresh(routes, &jobs)) != PHX_OK) {
            CHECK_EQ(status, PHX_ERROR_MEMORY);
            CHECK_EQ(memory.left, 0);
            smooth = false;
            memory.left = UINT32_MAX;
        }
    }
    ask(routes, world, wishes, count, &jobs, false, out);
    phx_routes_destroy(routes);
    CHECK_EQ(memory.now, 0);
    return smooth;
}

PHX_TEST(routes, short_of_memory_at_every_step_they_say_so_and_go_on_later) {
    uint64_t seed = 31;
    World world = make_world(&seed, 130, 70);
    uint8_t *before = malloc((size_t)world.width * world.height);
    memcpy(before, world.ground, (size_t)world.width * world.height);
    enum { GOALS = 2 };
    const uint32_t sectors = phx_sector_count(world.width, world.height), count = sectors * GOALS * LAYERS;
    Wish *wishes = malloc(count * sizeof *wishes);
    for (uint32_t i = 0; i < count; i++)
        wishes[i] =
            (Wish){i / sectors % LAYERS, i % sectors, goal_name(i / sectors / LAYERS ? 5000 : 9000, ONE)};
    PhxTile *plenty = malloc(count * sizeof *plenty), *scarce = malloc(count * sizeof *scarce);
    CHECK(run_short(&world, UINT32_MAX, wishes, count, plenty));
    uint32_t pieces = 0;
    for (bool done = false; !done; pieces++) {
        memcpy(world.ground, before, (size_t)world.width * world.height);
        memset(scarce, 0, count * sizeof *scarce);
        done = run_short(&world, pieces, wishes, count, scarce);
        if (scarce[count - 1].bands)
            check_same(plenty, scarce, wishes, count, "short of memory", 31, (int)pieces);
    }
    fprintf(stderr, "%u pieces suffice\n", pieces - 1);
    CHECK(pieces > 20);
    free(plenty), free(scarce), free(wishes), free(before), free(world.ground);
}

/* All that a sector says is "no way". */
static void check_no_way(const PhxTile *tile, const PhxNavGrid *plane) {
    const PhxSectorFrame frame = phx_sector_frame(plane->width, plane->height, tile->sector);
    for (uint32_t y = frame.y0; y < frame.y0 + frame.height; y++)
        for (uint32_t x = frame.x0; x < frame.x0 + frame.width; x++) {
            const uint32_t cell = y * plane->width + x;
            bool seen;
            const uint8_t flow = phx_tile_flow(tile, plane, cell, &seen);
            CHECK(phx_tile_cost(tile, plane, cell) == UINT64_MAX && !seen);
            CHECK_EQ(flow, plane->cost[cell] == 255 ? PHX_FLOW_WALL : PHX_FLOW_NONE);
            if (plane->cost[cell] == 255) continue;
            const PhxDir d = phx_tile_direction(tile, plane, (PhxVec2){0, 0}, (fix16_t)(x * 65536 + 32768),
                                                (fix16_t)(y * 65536 + 32768));
            CHECK(d.x == 0 && d.y == 0);
        }
}

static void check_goal_kinds(World *world) {
    const PhxJobs jobs = phx_jobs_serial();
    PhxRoutes *routes = make_routes(world, 0, &jobs);
    const PhxNavGrid plane = phx_routes_plane(routes, 0);
    PhxTile tile;
    const Wish nothing = {0, 0, goal_name(0, NOTHING)}, beyond = {0, 0, goal_name(0, BEYOND)};
    ask(routes, world, &nothing, 1, &jobs, false, &tile);
    check_no_way(&tile, &plane);
    ask(routes, world, &beyond, 1, &jobs, false, &tile);
    check_no_way(&tile, &plane);
    const uint32_t last = world->width * world->height - 1;
    for (uint32_t g = 0; g < 2; g++) { /* a goal in a wall is none; in the open it is one */
        world->ground[last] = g ? 1 : 255;
        phx_routes_touch(routes, (PhxCellRect){(int32_t)world->width - 1, (int32_t)world->height - 1,
                                               INT32_MAX, INT32_MAX});
        CHECK_OK(phx_routes_refresh(routes, &jobs));
        const Wish wish = {0, phx_sector_count(world->width, world->height) - 1, goal_name(last, ONE)};
        ask(routes, world, &wish, 1, &jobs, false, &tile);
        if (!g) check_no_way(&tile, &plane);
        CHECK_EQ(phx_tile_cost(&tile, &plane, last), g ? 0 : -1);
    }
    phx_routes_destroy(routes);
}

PHX_TEST(routes, bad_input_has_a_defined_result) {
    static const uint32_t sizes[][2] = {{1, 1}, {4096, 1}, {1, 4096}, {64, 64}, {65, 1}, {130, 70}};
    for (int i = 0; i < 6; i++) {
        World world = {sizes[i][0], sizes[i][1], malloc((size_t)sizes[i][0] * sizes[i][1])};
        memset(world.ground, 1, (size_t)world.width * world.height);
        check_goal_kinds(&world);
        memset(world.ground, 0, (size_t)world.width * world.height); /* a cost of 0 counts as 1 */
        const PhxJobs jobs = phx_jobs_serial();
        PhxRoutes *routes = make_routes(&world, 0, &jobs);
        CHECK_EQ(phx_routes_plane(routes, 0).cost[0], 1);
        memset(world.ground, 255, (size_t)world.width * world.height); /* walls alone */
        phx_routes_touch(routes, (PhxCellRect){INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX});
        CHECK_OK(phx_routes_refresh(routes, &jobs));
        const PhxNavGrid plane = phx_routes_plane(routes, 1);
        CHECK_EQ(phx_routes_part(routes, 1, 0), PHX_NAV_NO_CELL);
        CHECK_EQ(phx_routes_nearest(routes, 1, 0, 0), PHX_NAV_NO_CELL);
        PhxTile tile;
        const Wish wish = {1, 0, goal_name(0, ONE)};
        ask(routes, &world, &wish, 1, &jobs, false, &tile);
        check_no_way(&tile, &plane);
        /* Touching nothing does nothing. */
        world.ground[0] = 7;
        phx_routes_touch(routes, (PhxCellRect){0, 0, 0, 1});
        phx_routes_touch(routes, (PhxCellRect){5, 5, 2, 9});
        phx_routes_touch(routes, (PhxCellRect){(int32_t)world.width, 0, INT32_MAX, 1});
        phx_routes_touch(routes, (PhxCellRect){INT32_MIN, 0, 0, 1});
        CHECK_OK(phx_routes_refresh(routes, &jobs));
        CHECK_EQ(phx_routes_plane(routes, 0).cost[0], 255);
        CHECK_EQ(phx_routes_open(routes, PHX_ROUTES_LAYER_LIMIT, &jobs), PHX_ERROR_LIMIT);
        phx_routes_destroy(routes);
        free(world.ground);
    }
    World world = {8, 8, NULL};
    PhxRoutesConfig good = {
        8, 8, PHX_FIELD_WEIGHTS_DEFAULT, phx_allocator_default(), 1, 0, compose, REACH, expand, &world};
    PhxRoutes *routes;
    for (int i = 0; i < 8; i++) {
        PhxRoutesConfig bad = good;
        if (i == 0) bad.width = 0;
        if (i == 1) bad.height = 4097;
        if (i == 2) bad.weights.straight = 0;
        if (i == 3) bad.weights.diagonal = 21;
        if (i == 4) bad.workers = 0;
        if (i == 5) bad.compose = NULL;
        if (i == 6) bad.goals = NULL;
        if (i == 7) bad.weights = (PhxFieldWeights){6001, 8000};
        CHECK_EQ(phx_routes_create(&bad, &routes), PHX_ERROR_ARGUMENT);
        CHECK(routes == NULL);
    }
    phx_routes_destroy(NULL);
}

/* Parts and nearest cells against a flood and a look at every cell. */
PHX_TEST(routes, parts_and_nearest_cells_equal_a_flood) {
    for (uint64_t round = 0; round < 20; round++) {
        uint64_t seed = round + 500;
        World world =
            make_world(&seed, (uint32_t)test_range(&seed, 1, 220), (uint32_t)test_range(&seed, 1, 220));
        const PhxJobs jobs = phx_jobs_serial();
        PhxRoutes *routes = make_routes(&world, 0, &jobs);
        const PhxNavGrid plane = phx_routes_plane(routes, 0);
        const uint32_t cells = plane.width * plane.height;
        uint32_t *label = malloc(cells * sizeof *label), *stack = malloc(cells * sizeof *stack), largest;
        (void)phx_components_build(&plane, label, stack, &largest);
        for (int i = 0; i < 150; i++) {
            const uint32_t a = (uint32_t)test_range(&seed, 0, cells - 1),
                           b = (uint32_t)test_range(&seed, 0, cells - 1);
            const uint32_t pa = phx_routes_part(routes, 0, a), pb = phx_routes_part(routes, 0, b);
            CHECK_EQ(pa == PHX_NAV_NO_CELL, label[a] == PHX_COMPONENT_NONE);
            CHECK_EQ(pa == pb, label[a] == label[b]);
            const uint32_t want = label[a] == PHX_COMPONENT_NONE
                                      ? PHX_NAV_NO_CELL
                                      : phx_components_nearest(&plane, label, label[a], b);
            CHECK_THAT(phx_routes_nearest(routes, 0, a, b) == want, "round %" PRIu64 ": %u to %u", round, a,
                       b);
        }
        phx_routes_destroy(routes);
        free(label), free(stack), free(world.ground);
    }
}
