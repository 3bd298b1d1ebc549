/* nav_tile.c: what tiles promise, on random maps of several sectors. */
#include "nav/tile.h"
#include "nav_random.h"
#include "nav_tiles.h"

/* A random map whose walls are sparse enough, or clumped enough, that ways cross several sectors. */
static TestMap wide_map(uint64_t *seed) {
    TestMap map = test_map_random(seed, 200);
    const uint32_t width = map.grid.width, cells = width * map.grid.height;
    const int64_t kind = test_range(seed, 0, 2), kept = test_range(seed, 0, 60);
    const uint64_t patches = test_random(seed);
    for (uint32_t c = 0; c < cells; c++) {
        const uint32_t x = c % width, y = c / width;
        if (map.cost[c] != PHX_NAV_IMPASSABLE) continue;
        if (kind == 0 ? test_range(seed, 0, 99) >= kept
                      : kind == 1 && !(patches >> (y / 9 % 8 * 8 + x / 9 % 8) & 1))
            map.cost[c] = map.cost[c ? c - 1 : 0] == PHX_NAV_IMPASSABLE ? 3 : map.cost[c ? c - 1 : 0];
    }
    return map;
}

/* A serpentine of corridors, one cell wide, of a cost. */
static TestMap serpentine(uint32_t width, uint32_t height, uint8_t cost) {
    uint8_t *cells = malloc((size_t)width * height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            cells[y * width + x] = y % 2 == 0 || x == (y / 2 % 2 ? 0 : width - 1) ? cost : PHX_NAV_IMPASSABLE;
    return (TestMap){{width, height, cells}, cells};
}

static uint32_t ascending(uint32_t *goals, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = kept;
        const uint32_t goal = goals[i];
        bool again = false;
        for (uint32_t k = 0; k < kept; k++) again |= goals[k] == goal;
        if (again) continue;
        for (; at && goals[at - 1] > goal; at--) goals[at] = goals[at - 1];
        goals[at] = goal;
        kept++;
    }
    return kept;
}

static const PhxFieldWeights weight_choices[4] = {{10, 14}, {5741, 8119}, {1, 1}, {3, 6}};

static void check_all(TestTiles *tiles, const uint32_t *goals, uint32_t count, int map) {
    PhxError error = {0};
    for (uint32_t s = 0; s < tiles->sectors; s++) (void)test_tiles_sector(tiles, s);
    if (phx_tiles_check((const PhxTile *const *)tiles->tiles, &tiles->grid, tiles->weights, goals, count,
                        &error))
        CHECK_THAT(false, "map %d of %u x %u: %s", map, tiles->grid.width, tiles->grid.height, error.text);
}

/* No tile tells less than the exact field, and in the goal's sector little more. */
static void check_costs(TestTiles *tiles, const uint32_t *goals, uint32_t count, int map) {
    TestField made = test_field_make(&tiles->grid, 0);
    const PhxStatus status =
        phx_field_build(&made.field, &tiles->grid, tiles->weights, goals, count, made.scratch);
    /* a field's sums have 32 bits, a tile's costs 64 */
    const uint32_t cells = tiles->grid.width * tiles->grid.height;
    for (uint32_t c = 0; c < cells && status == PHX_OK; c++) {
        const uint64_t told = phx_tile_cost(test_tiles_at(tiles, c), &tiles->grid, c);
        const uint32_t best = made.field.integration[c];
        CHECK_THAT(best == PHX_FIELD_UNREACHED ? told == UINT64_MAX : told >= best && told != UINT64_MAX,
                   "map %d cell %u: %" PRIu64 ", at best %u", map, c, told, best);
    }
    CHECK(status == PHX_OK || status == PHX_ERROR_LIMIT);
    test_field_free(&made);
}

PHX_TEST(tile, costs_fall_along_every_arrow_and_every_cell_with_a_way_has_one) {
    uint64_t seed = 51;
    uint64_t sectors = 0;
    for (int i = 0; i < 60; i++) {
        TestMap map = i == 0 ? serpentine(190, 131, 254) : i == 1 ? serpentine(1, 200, 9) : wide_map(&seed);
        uint32_t goals[20];
        const uint32_t wanted = i % 3 == 0 ? 1 : (uint32_t)test_range(&seed, 1, 20);
        const uint32_t count = ascending(goals, test_map_goals(&map, &seed, wanted, goals));
        if (count) {
            TestTiles tiles;
            test_tiles_make(&tiles, &map.grid, weight_choices[test_range(&seed, 0, 3)]);
            test_tiles_aim(&tiles, goals, count);
            check_all(&tiles, goals, count, i);
            check_costs(&tiles, goals, count, i);
            sectors += tiles.sectors;
            test_tiles_free(&tiles);
        }
        free(map.cost);
    }
    fprintf(stderr, "%" PRIu64 " sectors\n", sectors);
    CHECK(sectors > 200);
}

/* The checker must find what is wrong. */
PHX_TEST(tile, the_proof_finds_faults) {
    uint64_t seed = 52;
    TestMap map = wide_map(&seed);
    while (map.grid.width < 100 || map.grid.height < 100) free(map.cost), map = wide_map(&seed);
    uint32_t goal;
    CHECK_EQ(test_map_goals(&map, &seed, 1, &goal), 1);
    TestTiles tiles;
    test_tiles_make(&tiles, &map.grid, PHX_FIELD_WEIGHTS_DEFAULT);
    test_tiles_aim(&tiles, &goal, 1);
    check_all(&tiles, &goal, 1, 0);
    int found = 0;
    for (int i = 0; i < 200; i++) {
        PhxTile *tile = tiles.tiles[test_range(&seed, 0, tiles.sectors - 1)];
        const uint32_t local = (uint32_t)test_range(&seed, 0, PHX_SECTOR_CELLS - 1);
        const PhxTile before = *tile;
        if ((tile->flow[local] & PHX_FLOW_CODE) > PHX_FLOW_NONE) continue;
        const int kind = (int)test_range(&seed, 0, 3);
        if (kind == 0) tile->sum[local] += 1;
        if (kind == 1) tile->flow[local] = PHX_FLOW_NONE;
        if (kind == 2) tile->flow[local] = PHX_FLOW_WALL;
        if (kind == 3) tile->flow[local] = tile->flow[local] < 8 ? tile->flow[local] ^ 4 : PHX_FLOW_GOAL;
        if (memcmp(tile, &before, sizeof before) == 0) continue;
        CHECK_THAT(phx_tiles_check((const PhxTile *const *)tiles.tiles, &map.grid, tiles.weights, &goal, 1,
                                   NULL) == PHX_ERROR_MISMATCH,
                   "fault %d of kind %d, sector %u cell %u", i, kind, tile->sector, local);
        *tile = before;
        found++;
    }
    CHECK(found > 50);
    test_tiles_free(&tiles);
    free(map.cost);
}

/* Sight is told exactly where a goal is seen, and the straight way to it is no longer than the one told. */
static void check_sight(TestTiles *tiles, const uint32_t *goals, uint32_t count, int map) {
    const uint32_t width = tiles->grid.width, cells = width * tiles->grid.height;
    for (uint32_t c = 0; c < cells; c++) {
        bool in_sight, want = false;
        const PhxTile *tile = test_tiles_at(tiles, c);
        const uint8_t code = phx_tile_flow(tile, &tiles->grid, c, &in_sight);
        for (uint32_t g = 0; g < count && code < PHX_FLOW_GOAL; g++) {
            const int dx = abs((int)(goals[g] % width) - (int)(c % width)),
                      dy = abs((int)(goals[g] / width) - (int)(c / width));
            const uint64_t way = ((uint64_t)abs(dx - dy) * tiles->weights.straight +
                                  (uint64_t)(dx < dy ? dx : dy) * tiles->weights.diagonal) *
                                 tiles->grid.cost[goals[g]];
            want |= phx_sight_sees(&tiles->sight->window[g], width, c % width, c / width) &&
                    way <= phx_tile_cost(tile, &tiles->grid, c);
        }
        CHECK_THAT(in_sight == want, "map %d cell (%u, %u)", map, c % width, c / width);
    }
}

static PhxVec2 random_point(const PhxNavGrid *grid, uint64_t *seed) {
    PhxVec2 p = {(fix16_t)test_range(seed, 0, grid->width * (int64_t)65536 - 1),
                 (fix16_t)test_range(seed, 0, grid->height * (int64_t)65536 - 1)};
    if (test_range(seed, 0, 3) == 0) p.x &= ~32767; /* on a line or in the middle */
    if (test_range(seed, 0, 3) == 0) p.y &= ~32767;
    if (test_range(seed, 0, 7) == 0) p.x |= 65535; /* just before a line */
    if (test_range(seed, 0, 7) == 0) p.y |= 65535;
    if (test_range(seed, 0, 7) == 0) p.x = p.x / (64 * 65536) * (64 * 65536); /* on a sector's border */
    if (test_range(seed, 0, 7) == 0) p.y = p.y / (64 * 65536) * (64 * 65536);
    return p;
}

static bool is_unit(PhxDir d) {
    const double x = d.x / 1073741824.0, y = d.y / 1073741824.0, off = x * x + y * y - 1;
    return off < 1e-6 && off > -1e-6;
}

static PhxVec2 moved(PhxVec2 p, PhxDir d, fix16_t length) {
    return phx_vec2_add(p, phx_dir_scale(d, length));
}

static void check_direction(TestTiles *tiles, PhxVec2 p, PhxVec2 goal_point, int map, uint64_t *counted) {
    const PhxNavGrid *grid = &tiles->grid;
    const uint32_t cell = phx_nav_cell_at(grid, p.x, p.y);
    const PhxTile *tile = test_tiles_at(tiles, cell);
    const uint8_t code = phx_tile_flow(tile, grid, cell, NULL);
    const PhxDir d = phx_tile_direction(tile, grid, goal_point, p.x, p.y);
    PhxDir batch;
    phx_tile_directions(tile, grid, 1, &goal_point, &p, &batch);
    CHECK(batch.x == d.x && batch.y == d.y);
    if (code == PHX_FLOW_GOAL || code == PHX_FLOW_NONE) CHECK(d.x == 0 && d.y == 0);
    if (code == PHX_FLOW_WALL) {
        const PhxVec2 to = phx_nav_cell_center(grid, phx_nav_nearest_open(grid, cell));
        const double dx = (double)to.x - p.x, dy = (double)to.y - p.y;
        const double cross = (dx * d.y - dy * d.x) / 1073741824.0 / (dx * dx + dy * dy);
        CHECK_THAT(is_unit(d) && dx * d.x + dy * d.y > 0 && cross < 1e-4 && cross > -1e-4, "map %d (%d, %d)",
                   map, p.x, p.y);
    }
    if (code >= PHX_FLOW_GOAL) return;
    CHECK_THAT(is_unit(d), "map %d at (%d, %d): (%d, %d)", map, p.x, p.y, d.x, d.y);
    const fix16_t lengths[] = {1, 100, 8192, 32768, 65536};
    for (int l = 0; l < 5; l++) {
        const PhxVec2 q = moved(p, d, lengths[l]);
        CHECK_THAT(phx_nav_line_of_sight(grid, p, q), "map %d (%d, %d) to (%d, %d)", map, p.x, p.y, q.x, q.y);
    }
    ++*counted;
}

PHX_TEST(tile, steps_of_up_to_one_unit_touch_passable_cells_only) {
    uint64_t seed = 53, counted = 0;
    for (int i = 0; i < 40; i++) {
        TestMap map = wide_map(&seed);
        uint32_t goals[3];
        const uint32_t count =
            ascending(goals, test_map_goals(&map, &seed, (uint32_t)test_range(&seed, 1, 3), goals));
        if (count) {
            TestTiles tiles;
            test_tiles_make(&tiles, &map.grid, PHX_FIELD_WEIGHTS_DEFAULT);
            test_tiles_aim(&tiles, goals, count);
            check_sight(&tiles, goals, count, i);
            for (int k = 0; k < 10000; k++) {
                PhxVec2 at = random_point(&map.grid, &seed);
                if (k % 4 == 0) { /* close to a goal */
                    at = phx_nav_cell_center(&map.grid, goals[(uint32_t)k / 4 % count]);
                    at.x += (fix16_t)test_range(&seed, -3 * 65536, 3 * 65536);
                    at.y += (fix16_t)test_range(&seed, -3 * 65536, 3 * 65536);
                    if (phx_nav_cell_at(&map.grid, at.x, at.y) == PHX_NAV_NO_CELL) continue;
                }
                PhxVec2 point = phx_nav_cell_center(&map.grid, goals[(uint32_t)k % count]);
                point.x += (fix16_t)test_range(&seed, -32768, 32767);
                point.y += (fix16_t)test_range(&seed, -32768, 32767);
                if (k % 5 == 0) point = random_point(&map.grid, &seed);
                check_direction(&tiles, at, point, i, &counted);
            }
            test_tiles_free(&tiles);
        }
        free(map.cost);
    }
    fprintf(stderr, "%" PRIu64 " directions\n", counted);
    CHECK(counted > 100000);
}

PHX_TEST(tile, who_follows_it_arrives) {
    const int maps = (int)test_count(20, 60, 3000);
    uint64_t seed = 54;
    int walks = 0;
    double worst = 0;
    for (int i = 0; i < maps; i++) {
        TestMap map = wide_map(&seed);
        uint32_t goals[3];
        const uint32_t count =
            ascending(goals, test_map_goals(&map, &seed, (uint32_t)test_range(&seed, 1, 3), goals));
        if (count) {
            TestTiles tiles;
            test_tiles_make(&tiles, &map.grid, PHX_FIELD_WEIGHTS_DEFAULT);
            test_tiles_aim(&tiles, goals, count);
            TestField made = test_field_make(&map.grid, 0);
            CHECK_OK(phx_field_build(&made.field, &map.grid, tiles.weights, goals, count, made.scratch));
            for (int k = 0; k < 30; k++) {
                PhxVec2 p = random_point(&map.grid, &seed);
                uint32_t cell = phx_nav_cell_at(&map.grid, p.x, p.y), cells = 0;
                for (uint32_t c = cell; made.field.flow[c] < PHX_FLOW_GOAL; cells++)
                    c = (uint32_t)((int32_t)c + phx_flow_dy[made.field.flow[c]] * (int32_t)map.grid.width +
                                   phx_flow_dx[made.field.flow[c]]);
                if (!cells) continue;
                uint32_t steps = 0;
                uint8_t code = 0;
                /* generous, as a way of other cells may cost as little; who goes back and forth never arrives
                 */
                for (const uint32_t most = 8 * (4 * cells + 400); steps < most; steps++) {
                    const PhxTile *tile = test_tiles_at(&tiles, cell);
                    code = phx_tile_flow(tile, &map.grid, cell, NULL);
                    if (code >= PHX_FLOW_GOAL) break;
                    const PhxVec2 none = {-65536, -65536};
                    p = moved(p, phx_tile_direction(tile, &map.grid, none, p.x, p.y), 8192);
                    cell = phx_nav_cell_at(&map.grid, p.x, p.y);
                }
                CHECK_THAT(code == PHX_FLOW_GOAL,
                           "map %d walk %d: at (%.3f, %.3f) after %u steps for %u cells", i, k, p.x / 65536.0,
                           p.y / 65536.0, steps, cells);
                if (cells > 50 && steps / 8.0 / cells > worst) worst = steps / 8.0 / cells;
                walks++;
            }
            test_field_free(&made);
            test_tiles_free(&tiles);
        }
        free(map.cost);
    }
    fprintf(stderr, "%d walks, at worst %.2f units a cell\n", walks, worst);
    CHECK(walks > maps * 8);
}

/* A serpentine so long and dear that its corridors lie farther apart than 32 bits can tell: costs are exact
 * all the same, and the tile has several bases. */
PHX_TEST(tile, costs_beyond_32_bits_are_exact) {
    const PhxFieldWeights weights = {5741, 8119};
    TestMap map = serpentine(3000, 15, 254);
    const uint32_t width = map.grid.width, goal = 0;
    TestTiles tiles;
    test_tiles_make(&tiles, &map.grid, weights);
    test_tiles_aim(&tiles, &goal, 1);
    uint32_t most = 0;
    uint64_t cost = 0;
    for (uint32_t y = 0; y < map.grid.height; y++) {
        for (uint32_t k = 0; k < width; k++) {
            const bool back = y / 2 % 2 == 1;
            const uint32_t x = y % 2 == 0 ? (back ? width - 1 - k : k) : back ? 0 : width - 1;
            const PhxTile *tile = test_tiles_at(&tiles, y * width + x);
            CHECK_THAT(phx_tile_cost(tile, &map.grid, y * width + x) == cost, "cell (%u, %u)", x, y);
            most = tile->bands > most ? tile->bands : most;
            cost += (uint64_t)254 * weights.straight;
            if (y % 2) break;
        }
    }
    fprintf(stderr, "up to %u bases, farthest cell at %" PRIu64 "\n", most, cost);
    CHECK(most > 2 && cost > (uint64_t)8 << 32);
    check_all(&tiles, &goal, 1, 0);
    test_tiles_free(&tiles);
    free(map.cost);
    /* more corridors than bases: the arrows lead on all the same */
    map = serpentine(3000, 70, 254);
    test_tiles_make(&tiles, &map.grid, weights);
    test_tiles_aim(&tiles, &goal, 1);
    check_all(&tiles, &goal, 1, 1);
    uint32_t cell = 68 * width + 1500, steps = 0;
    uint8_t code;
    while ((code = phx_tile_flow(test_tiles_at(&tiles, cell), &map.grid, cell, NULL)) < 8) {
        cell = (uint32_t)((int32_t)cell + phx_flow_dy[code] * (int32_t)width + phx_flow_dx[code]);
        CHECK(++steps < 40 * width);
    }
    CHECK_EQ(code, PHX_FLOW_GOAL);
    test_tiles_free(&tiles);
    free(map.cost);
}

static bool same_tile(const PhxTile *a, const PhxTile *b) {
    return a->sector == b->sector && a->bands == b->bands && a->aim_count == b->aim_count &&
           memcmp(a->base, b->base, sizeof a->base) == 0 && memcmp(a->sum, b->sum, sizeof a->sum) == 0 &&
           memcmp(a->flow, b->flow, sizeof a->flow) == 0 && memcmp(a->aim, b->aim, sizeof a->aim) == 0 &&
           memcmp(a->aims, b->aims, sizeof a->aims) == 0;
}

/* What was in the memory, and which tiles were built before, doesn't matter; nor does the goals' order. */
PHX_TEST(tile, is_a_pure_function_of_grid_and_goals) {
    uint64_t seed = 55;
    for (int i = 0; i < 20; i++) {
        TestMap map = wide_map(&seed);
        uint32_t goals[8];
        const uint32_t count = ascending(goals, test_map_goals(&map, &seed, 8, goals));
        if (count) {
            TestTiles a, b;
            test_tiles_make(&a, &map.grid, PHX_FIELD_WEIGHTS_DEFAULT);
            test_tiles_make(&b, &map.grid, PHX_FIELD_WEIGHTS_DEFAULT);
            test_tiles_aim(&a, goals, count);
            test_tiles_aim(&b, goals, count);
            uint32_t turned[8];
            for (uint32_t g = 0; g < count; g++) turned[g] = goals[count - 1 - g];
            b.task.goals = turned;
            for (uint32_t s = 0; s < a.sectors; s++) (void)test_tiles_sector(&a, s);
            for (uint32_t s = b.sectors; s-- > 0;) {
                memset(b.work, (int)s + 1, sizeof *b.work);
                CHECK_THAT(same_tile(test_tiles_sector(&b, s), a.tiles[s]), "map %d sector %u", i, s);
            }
            test_tiles_free(&a);
            test_tiles_free(&b);
        }
        free(map.cost);
    }
}

/* Ground of one cost with patches of others, and with walls. */
static TestMap patched(uint64_t *seed, uint32_t width, uint32_t height) {
    uint8_t *cost = malloc((size_t)width * height);
    const int64_t low = test_range(seed, 1, 10), high = low + test_range(seed, 1, 30);
    memset(cost, (int)low, (size_t)width * height);
    for (int k = 0; k < 60; k++) {
        const uint32_t x0 = (uint32_t)test_range(seed, 0, width - 1),
                       y0 = (uint32_t)test_range(seed, 0, height - 1);
        const uint32_t x1 = x0 + (uint32_t)test_range(seed, 1, 30),
                       y1 = y0 + (uint32_t)test_range(seed, 1, 30);
        const uint8_t kind = (uint8_t)(k % 3 == 0 ? PHX_NAV_IMPASSABLE : k % 3 == 1 ? high : low);
        for (uint32_t y = y0; y < y1 && y < height; y++)
            for (uint32_t x = x0; x < x1 && x < width; x++) cost[y * width + x] = kind;
    }
    return (TestMap){{width, height, cost}, cost};
}

/* What a walk costs: its length in each cell times the cell's cost. Against the exact field, whose steps go
 * in eight directions only; so less is possible. */
static double walked_cost(TestTiles *tiles, uint32_t cell, uint32_t goal) {
    const PhxVec2 to = phx_nav_cell_center(&tiles->grid, goal);
    PhxVec2 at = phx_nav_cell_center(&tiles->grid, cell);
    double cost = 0;
    for (int steps = 0; cell != goal; steps++) {
        CHECK_THAT(steps < 20000, "at (%.3f, %.3f)", at.x / 65536.0, at.y / 65536.0);
        at = moved(at, phx_tile_direction(test_tiles_at(tiles, cell), &tiles->grid, to, at.x, at.y), 8192);
        cell = phx_nav_cell_at(&tiles->grid, at.x, at.y);
        cost += 0.125 * tiles->grid.cost[cell];
    }
    const double x = (to.x - at.x) / 65536.0, y = (to.y - at.y) / 65536.0;
    return cost + (x > 0 ? x : -x) + (y > 0 ? y : -y);
}

PHX_TEST(tile, walks_over_mixed_ground_cost_little_more_than_the_best) {
    uint64_t seed = 56;
    double sum = 0, worst = 0;
    int count = 0;
    for (int i = 0; i < 20; i++) {
        TestMap map = patched(&seed, 200, 150);
        TestTiles tiles;
        test_tiles_make(&tiles, &map.grid, (PhxFieldWeights){5741, 8119});
        TestField made = test_field_make(&map.grid, 0);
        for (int k = 0; k < 20; k++) {
            uint32_t ends[2];
            CHECK_EQ(test_map_goals(&map, &seed, 2, ends), 2);
            CHECK_OK(phx_field_build(&made.field, &map.grid, tiles.weights, &ends[1], 1, made.scratch));
            const double best = made.field.integration[ends[0]] / 5741.0;
            if (made.field.integration[ends[0]] == PHX_FIELD_UNREACHED || best < 30) continue;
            test_tiles_aim(&tiles, &ends[1], 1);
            const double ratio = walked_cost(&tiles, ends[0], ends[1]) / best;
            sum += ratio, count++;
            worst = ratio > worst ? ratio : worst;
        }
        test_field_free(&made);
        test_tiles_free(&tiles);
        free(map.cost);
    }
    fprintf(stderr, "%d walks, mean %.4f, worst %.4f\n", count, sum / count, worst);
    CHECK(count > 200 && sum / count <= 1);
}

/* FNV-1a, of numbers from their lowest byte on. */
static void mix(uint64_t *hash, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *hash = (*hash ^ (value >> 8 * i & 255)) * UINT64_C(0x100000001b3);
}

static void mix_tile(uint64_t *hash, const PhxTile *tile) {
    mix(hash, tile->sector, 4), mix(hash, tile->bands, 4), mix(hash, tile->aim_count, 4);
    for (int i = 0; i < PHX_TILE_BANDS; i++) mix(hash, tile->base[i], 8);
    for (int i = 0; i < PHX_TILE_FAR_LIMIT; i++) mix(hash, tile->aims[i], 4);
    for (int i = 0; i < PHX_SECTOR_CELLS; i++)
        mix(hash, tile->sum[i], 4), mix(hash, tile->flow[i], 1), mix(hash, tile->aim[i], 2);
}

static void mix_ring(uint64_t *hash, const PhxTileRing *ring) {
    for (int side = 0; side < 4; side++)
        for (int i = 0; i < PHX_SECTOR_SIDE; i++) {
            mix(hash, ring->value[side][i], 8), mix(hash, ring->rest[side][i], 8);
            mix(hash, ring->aim[side][i], 4), mix(hash, ring->light[side][i], 1);
        }
}

static void mix_sight(uint64_t *hash, const PhxSight *sight) {
    mix(hash, sight->count, 4);
    for (uint32_t g = 0; g < sight->count; g++)
        for (int y = 0; y < PHX_SIGHT_SIDE; y++)
            mix(hash, sight->window[g].rows[y][0], 8), mix(hash, sight->window[g].rows[y][1], 8);
}

/* Map i: random, open, with patches, rooms, a serpentine. */
static TestMap known_map(int i, uint64_t *seed) {
    if (i % 4 == 0) return patched(seed, 150 + 9 * (uint32_t)i, 130);
    if (i == 1) return serpentine(200, 70, 254);
    if (i % 4 > 1) return wide_map(seed);
    TestMap map = patched(seed, 192, 192 - (uint32_t)i % 8);
    for (uint32_t c = 0; c < map.grid.width * map.grid.height; c++) {
        const uint32_t x = c % map.grid.width, y = c / map.grid.width;
        const bool wall = (x % 16 == 0 && y % 16 != 5) || (y % 16 == 0 && x % 16 != 4);
        map.cost[c] = wall && i % 8 == 5 ? PHX_NAV_IMPASSABLE : 3;
    }
    return map;
}

/* Whoever compiles it, and whatever is done to make it faster: every bit of rings, tiles and windows. */
PHX_TEST(tile, says_what_it_always_said) {
    uint64_t seed = 57, tiles_hash = UINT64_C(0xcbf29ce484222325), rings_hash = tiles_hash,
             sight_hash = tiles_hash;
    for (int i = 0; i < 24; i++) {
        TestMap map = known_map(i, &seed);
        uint32_t goals[20];
        const uint32_t count =
            ascending(goals, test_map_goals(&map, &seed, i % 6 == 3 ? 20 : 1 + (uint32_t)i % 3, goals));
        if (count) {
            TestTiles all;
            test_tiles_make(&all, &map.grid, weight_choices[(i + i / 4) % 4]);
            test_tiles_aim(&all, goals, count);
            mix_sight(&sight_hash, all.sight);
            for (uint32_t s = 0; s < all.sectors; s++) mix_tile(&tiles_hash, test_tiles_sector(&all, s));
            for (uint32_t s = 0; s < all.sectors; s++)
                if (all.rings[s]) mix_ring(&rings_hash, all.rings[s]);
            test_tiles_free(&all);
        }
        free(map.cost);
    }
    CHECK_EQ(tiles_hash, UINT64_C(0xae3410bf0119787d));
    CHECK_EQ(rings_hash, UINT64_C(0x881f1033a5c9c8b5));
    CHECK_EQ(sight_hash, UINT64_C(0x92b78255c1ad9fb1));
}
