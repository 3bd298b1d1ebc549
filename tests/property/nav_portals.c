/* nav_portals.c: the portal graph and routes over it, against fields of the whole map and naive searches; and
 * updates and repairs against building anew. */
#include "nav/portals.h"

#include "base/bitset.h"
#include "nav/components.h"
#include "nav/route_data.h"
#include "nav_random.h"

static const PhxFieldWeights all_weights[] = {{10, 14}, {5741, 8119}, {1, 1}, {1, 2}, {7, 14}};
enum { WEIGHTS = sizeof all_weights / sizeof all_weights[0] };

/* A block of cells gets one cost. */
static void paint(const TestMap *map, uint64_t *seed, int64_t largest, uint8_t cost) {
    const int64_t w = map->grid.width, h = map->grid.height;
    const int64_t x0 = test_range(seed, 0, w - 1), y0 = test_range(seed, 0, h - 1);
    const int64_t x1 = x0 + test_range(seed, 1, largest), y1 = y0 + test_range(seed, 1, largest);
    for (int64_t y = y0; y < y1 && y < h; y++)
        for (int64_t x = x0; x < x1 && x < w; x++) map->cost[y * w + x] = cost;
}

/* Long walls with doors, blocks, dust, patches of cost; some sectors stay empty. */
static TestMap make_map(uint64_t *seed, uint32_t max_side) {
    const uint32_t w = (uint32_t)test_range(seed, 1, max_side), h = (uint32_t)test_range(seed, 1, max_side);
    TestMap map = {{w, h, NULL}, malloc((size_t)w * h)};
    map.grid.cost = map.cost;
    const uint8_t plain = (uint8_t)(test_range(seed, 0, 1) ? 1 : test_range(seed, 1, 254));
    memset(map.cost, plain, (size_t)w * h);
    const int64_t kind = test_range(seed, 0, 4), area = (int64_t)w * h;
    if (kind >= 3)
        for (int64_t i = 0; i < area / 900; i++) paint(&map, seed, 40, (uint8_t)test_range(seed, 1, 254));
    if (kind >= 1)
        for (int64_t i = 0; i < area / 900; i++) paint(&map, seed, test_range(seed, 1, 30), 255);
    if (kind >= 2)
        for (int64_t i = test_range(seed, 0, 12); i > 0; i--) {
            const int64_t x = test_range(seed, 0, w - 1), y = test_range(seed, 0, h - 1);
            const bool upright = test_range(seed, 0, 1);
            for (int64_t k = 0; k < (upright ? h : w); k++)
                if (test_range(seed, 0, 24)) map.cost[upright ? k * w + x : y * w + k] = 255;
        }
    if (kind == 4)
        for (int64_t i = 0; i < area / 10; i++) map.cost[test_range(seed, 0, area - 1)] = 255;
    return map;
}

/* A seventh of the maps are long and thin. */
static TestMap any_map(uint64_t *seed, int i) {
    TestMap map = make_map(seed, 330);
    if (i % 7 == 3) {
        free(map.cost);
        const uint32_t w = i % 2 ? 4096 : 1, h = i % 2 ? 1 : 4096;
        map = (TestMap){{w, h, NULL}, malloc(4096)};
        map.grid.cost = map.cost;
        for (int c = 0; c < 4096; c++)
            map.cost[c] = test_range(seed, 0, 900) ? (uint8_t)test_range(seed, 1, 9) : 255;
    }
    return map;
}

static PhxPortals *build(const PhxNavGrid *grid, PhxFieldWeights weights) {
    PhxPortals *portals = NULL;
    const PhxJobs jobs = phx_jobs_serial();
    CHECK_OK(phx_portals_create(&portals, phx_allocator_default(), grid->width, grid->height, weights, 1));
    CHECK_OK(phx_portals_build(portals, grid, &jobs));
    return portals;
}

static int less_u32(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Ascending passable cells without repeats. */
static uint32_t pick_goals(const TestMap *map, uint64_t *seed, uint32_t most, uint32_t *goals) {
    const uint32_t count = test_map_goals(map, seed, most, goals);
    uint32_t kept = 0;
    qsort(goals, count, sizeof *goals, less_u32);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || goals[i] != goals[i - 1]) goals[kept++] = goals[i];
    return kept;
}

static uint32_t map_cell(const PhxNavGrid *grid, uint32_t sector, uint32_t local) {
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    return (frame.y0 + local / 64) * grid->width + frame.x0 + local % 64;
}

/* Both ends of each portal face each other; vertices are in order; every contact has a portal near. */
static void check_vertices(const PhxPortals *portals, const PhxNavGrid *grid, int map) {
    for (uint32_t s = 0; s < portals->sectors; s++) {
        const PhxPortalVertex *vertex = phx_portals_vertices(portals, s);
        for (uint32_t v = 0; v < phx_portals_vertex_count(portals, s); v++) {
            const uint32_t here = map_cell(grid, s, vertex[v].cell);
            const PhxPortalVertex *other =
                phx_portals_vertices(portals, vertex[v].partner_sector) + vertex[v].partner;
            const uint32_t there = map_cell(grid, vertex[v].partner_sector, other->cell);
            CHECK_THAT(other->partner_sector == s && other->partner == v, "map %d sector %u", map, s);
            const int d = vertex[v].side * 2;
            CHECK_EQ(there, (int64_t)here + phx_flow_dx[d] + (int64_t)phx_flow_dy[d] * grid->width);
            CHECK(grid->cost[here] != 255 && grid->cost[there] != 255 && vertex[v].cost == grid->cost[here]);
            CHECK_EQ(vertex[v].out_cost, portals->weights.straight * grid->cost[there]);
            CHECK(v == 0 || vertex[v - 1].side < vertex[v].side ||
                  (vertex[v - 1].side == vertex[v].side && vertex[v - 1].cell < vertex[v].cell));
        }
    }
}

/* Costs between all vertices of a sector over its edges (Floyd, Warshall) are those of fronts. */
static void check_edges(const PhxPortals *portals, const PhxNavGrid *grid, int map) {
    PhxSectorGround *ground = malloc(sizeof *ground);
    PhxSectorWork *work = malloc(sizeof *work);
    uint64_t *way = malloc(256 * 256 * sizeof *way);
    for (uint32_t s = 0; s < portals->sectors; s++) {
        const PhxPortalBlock *block = &portals->block[s];
        const uint32_t n = block->vertex_count;
        for (uint32_t i = 0; i < n * n; i++) way[i] = i % n == i / n ? 0 : UINT64_MAX / 4;
        for (uint32_t b = 0; b < n; b++)
            for (uint32_t k = block->start[b]; k < block->start[b + 1]; k++)
                way[block->to[k] * n + b] = block->cost[k];
        for (uint32_t c = 0; c < n; c++)
            for (uint32_t a = 0; a < n; a++)
                for (uint32_t b = 0; b < n; b++)
                    if (way[a * n + c] + way[c * n + b] < way[a * n + b])
                        way[a * n + b] = way[a * n + c] + way[c * n + b];
        phx_sector_ground(ground, grid, s);
        for (uint32_t b = 0; b < n; b++) {
            CHECK_EQ(ground->region[block->vertex[b].cell], block->vertex[b].region);
            const PhxSectorSeed seed = {block->vertex[b].cell, 0};
            phx_sector_front(work, ground, portals->weights, &seed, 1);
            for (uint32_t a = 0; a < n; a++) {
                const uint32_t want = work->sum[block->vertex[a].cell];
                CHECK_THAT(want == PHX_FIELD_UNREACHED ? way[a * n + b] >= UINT64_MAX / 4
                                                       : way[a * n + b] == want,
                           "map %d sector %u from %u to %u: %" PRIu64 ", not %u", map, s, a, b,
                           way[a * n + b], want);
            }
        }
    }
    free(ground);
    free(work);
    free(way);
}

static void check_parts(const PhxPortals *portals, const PhxNavGrid *grid, uint64_t *seed, int map) {
    const uint32_t cells = grid->width * grid->height;
    uint32_t *label = malloc(cells * sizeof *label), *stack = malloc(cells * sizeof *stack), largest;
    uint32_t *name = malloc(cells * sizeof *name);
    (void)phx_components_build(grid, label, stack, &largest);
    memset(name, 255, cells * sizeof *name);
    for (int i = 0; i < 300; i++) {
        const uint32_t cell = (uint32_t)test_range(seed, 0, cells - 1);
        const uint32_t part = phx_portals_part(portals, grid, cell);
        if (label[cell] == PHX_COMPONENT_NONE) {
            CHECK_EQ(part, PHX_NAV_NO_CELL);
            continue;
        }
        CHECK_THAT(part < cells && label[part] == label[cell], "map %d cell %u", map, cell);
        CHECK_THAT(name[label[cell]] == UINT32_MAX || name[label[cell]] == part, "map %d cell %u", map, cell);
        name[label[cell]] = part;
    }
    free(label);
    free(stack);
    free(name);
}

/* Sweeps over the graph's edges, from what the goals give within their sectors, until nothing changes. */
static uint64_t *naive_route(const PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *goals,
                             uint32_t count) {
    uint64_t *value = malloc((phx_portals_total(portals) + 1) * sizeof *value);
    PhxSectorGround *ground = malloc(sizeof *ground);
    PhxSectorWork *work = malloc(sizeof *work);
    for (uint32_t s = 0; s < portals->sectors; s++) {
        PhxSectorSeed seeds[64];
        uint32_t seeded = 0;
        for (uint32_t i = 0; i < count; i++)
            if (phx_sector_at(grid->width, goals[i] % grid->width, goals[i] / grid->width) == s)
                seeds[seeded++] = (PhxSectorSeed){
                    (uint16_t)phx_sector_local(goals[i] % grid->width, goals[i] / grid->width), 0};
        phx_sector_ground(ground, grid, s);
        phx_sector_front(work, ground, portals->weights, seeds, seeded);
        for (uint32_t v = 0; v < portals->block[s].vertex_count; v++) {
            const uint32_t sum = work->sum[portals->block[s].vertex[v].cell];
            value[portals->first[s] + v] = sum == PHX_FIELD_UNREACHED ? UINT64_MAX : sum;
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t s = 0; s < portals->sectors; s++) {
            const PhxPortalBlock *block = &portals->block[s];
            for (uint32_t b = 0; b < block->vertex_count; b++) {
                const PhxPortalVertex *vertex = &block->vertex[b];
                const uint64_t across = value[portals->first[vertex->partner_sector] + vertex->partner];
                uint64_t *at = value + portals->first[s];
                if (across != UINT64_MAX && across + vertex->out_cost < at[b])
                    at[b] = across + vertex->out_cost, changed = true;
                for (uint32_t k = block->start[b]; k < block->start[b + 1] && at[b] != UINT64_MAX; k++)
                    if (at[b] + block->cost[k] < at[block->to[k]])
                        at[block->to[k]] = at[b] + block->cost[k], changed = true;
            }
        }
    }
    free(ground);
    free(work);
    return value;
}

static void check_values(const PhxRoute *route, const PhxPortals *portals, const uint64_t *want, bool all,
                         int map) {
    for (uint32_t s = 0; s < portals->sectors; s++) {
        if (!phx_route_covers(route, portals, s)) {
            CHECK_THAT(!all, "map %d sector %u", map, s);
            continue;
        }
        for (uint32_t v = 0; v < portals->block[s].vertex_count; v++) {
            const uint64_t got = phx_route_value(route, portals, s, v), sum = want[portals->first[s] + v];
            CHECK_THAT(got == sum, "map %d sector %u vertex %u: %" PRIu64 ", not %" PRIu64, map, s, v, got,
                       sum);
        }
    }
}

/* Never below the field of the whole map; returns the sums of both over the vertices. */
static void check_lengths(const PhxPortals *portals, const PhxNavGrid *grid, const uint64_t *value,
                          const uint32_t *goals, uint32_t count, double *routed, double *least,
                          double *worst) {
    TestField made = test_field_make(grid, 0);
    const PhxStatus status = phx_field_build(&made.field, grid, portals->weights, goals, count, made.scratch);
    if (!status)
        for (uint32_t s = 0; s < portals->sectors; s++)
            for (uint32_t v = 0; v < portals->block[s].vertex_count; v++) {
                const uint32_t exact =
                    made.field.integration[map_cell(grid, s, portals->block[s].vertex[v].cell)];
                const uint64_t got = value[portals->first[s] + v];
                CHECK(exact == PHX_FIELD_UNREACHED ? got == UINT64_MAX : got >= exact && got != UINT64_MAX);
                if (exact == PHX_FIELD_UNREACHED || exact < 64u * portals->weights.straight) continue;
                *routed += (double)got / exact;
                *least += 1;
                if ((double)got / exact > *worst) *worst = (double)got / exact;
            }
    test_field_free(&made);
}

PHX_TEST(portals, graph_and_routes_equal_naive_ones_and_lie_close_above_the_field) {
    uint64_t seed = 21;
    double routed = 0, least = 0, worst = 0;
    uint32_t partly = 0;
    for (int i = 0; i < 60; i++) {
        const TestMap map = any_map(&seed, i);
        PhxPortals *portals = build(&map.grid, all_weights[i % WEIGHTS]);
        check_vertices(portals, &map.grid, i);
        check_edges(portals, &map.grid, i);
        check_parts(portals, &map.grid, &seed, i);
        PhxRoute *route = NULL;
        CHECK_OK(phx_route_create(&route, phx_allocator_default(), portals));
        for (int k = 0; k < 4; k++) {
            uint32_t goals[60];
            const uint32_t count =
                pick_goals(&map, &seed, (uint32_t)test_range(&seed, 1, k < 2 ? 1 : 60), goals);
            if (!count) break;
            uint64_t *want = naive_route(portals, &map.grid, goals, count);
            uint64_t wanted[64] = {0};
            for (int part = 0; part < 3; part++) { /* lazily, then on, then everything */
                phx_bitset_add(wanted, (size_t)test_range(&seed, 0, portals->sectors - 1));
                CHECK_OK(phx_route_solve(route, portals, &map.grid, goals, count, part == 0,
                                         part == 2 ? NULL : wanted, 0));
                check_values(route, portals, want, part == 2, i);
                for (uint32_t s = 0; s < portals->sectors; s++) {
                    CHECK(phx_route_covers(route, portals, s) || !phx_bitset_get(wanted, s));
                    partly += !phx_route_covers(route, portals, s);
                }
            }
            check_lengths(portals, &map.grid, want, goals, count, &routed, &least, &worst);
            free(want);
        }
        phx_route_destroy(route, phx_allocator_default());
        phx_portals_destroy(portals);
        free(map.cost);
    }
    CHECK(partly > 500);
    CHECK_THAT(routed / least < 1.03, "mean %f of %f, worst %f", routed / least, least, worst);
}

/* Everything that an update must give as building anew does. */
static void check_same_graph(const PhxPortals *a, const PhxPortals *b, int map, int edit) {
    CHECK(memcmp(a->first, b->first, (a->sectors + 1) * sizeof *a->first) == 0);
    CHECK(memcmp(a->first_live, b->first_live, (a->sectors + 1) * sizeof *a->first_live) == 0);
    CHECK(memcmp(a->part, b->part, a->first_live[a->sectors] * sizeof *a->part) == 0);
    for (uint32_t s = 0; s < a->sectors; s++) {
        const PhxPortalBlock *x = &a->block[s], *y = &b->block[s];
        CHECK_THAT(x->vertex_count == y->vertex_count && x->edge_count == y->edge_count &&
                       x->live_count == y->live_count && x->size == y->size,
                   "map %d edit %d sector %u", map, edit, s);
        CHECK_THAT(memcmp(x->vertex, y->vertex, x->vertex_count * sizeof *x->vertex) == 0 &&
                       memcmp(x->cost, y->cost, x->edge_count * sizeof *x->cost) == 0 &&
                       memcmp(x->start, y->start, (x->vertex_count + 1) * sizeof *x->start) == 0 &&
                       memcmp(x->live_cell, y->live_cell, x->live_count * sizeof *x->live_cell) == 0 &&
                       memcmp(x->to, y->to, x->edge_count) == 0,
                   "map %d edit %d sector %u", map, edit, s);
    }
    CHECK_EQ(a->block_bytes, b->block_bytes);
}

/* What a route or a tile can notice of a sector: all but partners' numbers and regions' labels. */
static bool looks_alike(const PhxPortals *a, const PhxPortals *b, uint32_t s) {
    const PhxPortalBlock *x = &a->block[s], *y = &b->block[s];
    if (x->vertex_count != y->vertex_count || x->edge_count != y->edge_count ||
        x->live_count != y->live_count)
        return false;
    for (uint32_t v = 0; v < x->vertex_count; v++) {
        PhxPortalVertex p = x->vertex[v], q = y->vertex[v];
        p.partner = q.partner = 0;
        p.region = q.region = 0;
        if (memcmp(&p, &q, sizeof p) != 0) return false;
    }
    return memcmp(x->cost, y->cost, x->edge_count * sizeof *x->cost) == 0 &&
           memcmp(x->start, y->start, (x->vertex_count + 1) * sizeof *x->start) == 0 &&
           memcmp(x->live_cell, y->live_cell, x->live_count * sizeof *x->live_cell) == 0 &&
           memcmp(x->to, y->to, x->edge_count) == 0;
}

enum { ROUTES = 3, MOST_GOALS = 12 };

/* A map under edits, with its graph and some routes, of which the first is solved wholly. */
typedef struct Live {
    TestMap map;
    uint8_t *before; /* costs before the edit */
    PhxPortals *portals;
    PhxRoute *route[ROUTES];
    uint32_t goals[ROUTES][MOST_GOALS], count[ROUTES];
} Live;

static bool live_make(Live *live, uint64_t *seed, int map, PhxFieldWeights weights) {
    live->map = any_map(seed, map);
    const size_t cells = (size_t)live->map.grid.width * live->map.grid.height;
    for (int r = 0; r < ROUTES; r++) {
        live->count[r] =
            pick_goals(&live->map, seed, (uint32_t)test_range(seed, 1, MOST_GOALS), live->goals[r]);
        if (!live->count[r]) {
            free(live->map.cost);
            return false;
        }
    }
    live->before = malloc(cells);
    live->portals = build(&live->map.grid, weights);
    for (int r = 0; r < ROUTES; r++) {
        uint64_t wanted[64] = {0};
        phx_bitset_add(wanted, (size_t)test_range(seed, 0, live->portals->sectors - 1));
        CHECK_OK(phx_route_create(&live->route[r], phx_allocator_default(), live->portals));
        CHECK_OK(phx_route_solve(live->route[r], live->portals, &live->map.grid, live->goals[r],
                                 live->count[r], true, r ? wanted : NULL, 0));
    }
    return true;
}

static void live_free(Live *live) {
    for (int r = 0; r < ROUTES; r++) phx_route_destroy(live->route[r], phx_allocator_default());
    phx_portals_destroy(live->portals);
    free(live->map.cost);
    free(live->before);
}

/* A building goes up, burns down, or the ground changes. Goals stay passable. Returns the changed sectors. */
static uint32_t edit(Live *live, uint64_t *seed, uint32_t *sectors) {
    const PhxNavGrid *grid = &live->map.grid;
    const size_t cells = (size_t)grid->width * grid->height;
    memcpy(live->before, live->map.cost, cells);
    for (int64_t i = test_range(seed, 1, 3); i > 0; i--) {
        const int64_t kind = test_range(seed, 0, 3);
        paint(&live->map, seed, test_range(seed, 0, 9) ? 6 : 70,
              kind < 2 ? 255 : (uint8_t)test_range(seed, 1, kind == 2 ? 1 : 254));
    }
    for (int r = 0; r < ROUTES; r++)
        for (uint32_t i = 0; i < live->count[r]; i++)
            if (live->map.cost[live->goals[r][i]] == 255) live->map.cost[live->goals[r][i]] = 3;
    uint64_t marks[64] = {0};
    uint32_t count = 0;
    for (uint32_t c = 0; c < cells; c++)
        if (live->map.cost[c] != live->before[c])
            phx_bitset_add(marks, phx_sector_at(grid->width, c % grid->width, c / grid->width));
    for (uint32_t s = 0; s < live->portals->sectors; s++)
        if (phx_bitset_get(marks, s)) sectors[count++] = s;
    return count;
}

static void check_repair(Live *live, int r, const PhxPortals *old, const PhxPortals *fresh,
                         const uint64_t *changed, int map, int number) {
    const PhxNavGrid *grid = &live->map.grid;
    uint64_t moved[64], *before = malloc((phx_portals_total(old) + 1) * sizeof *before);
    PhxRoute *route = live->route[r], *anew = NULL;
    const bool whole = route->exhausted;
    memcpy(before, route->value, phx_portals_total(old) * sizeof *before);
    CHECK_OK(phx_route_repair(route, live->portals, grid, live->goals[r], live->count[r], changed, moved, 0));
    CHECK_OK(phx_route_create(&anew, phx_allocator_default(), fresh));
    CHECK_OK(phx_route_solve(anew, fresh, grid, live->goals[r], live->count[r], true, NULL, 0));
    for (uint32_t s = 0; s < old->sectors; s++) {
        CHECK_THAT(phx_route_covers(route, live->portals, s) || (r && !phx_bitset_get(route->asked, s)),
                   "map %d edit %d route %d sector %u", map, number, r, s);
        if (!phx_route_covers(route, live->portals, s)) continue;
        const uint32_t n = fresh->block[s].vertex_count;
        bool same = n == old->block[s].vertex_count;
        for (uint32_t v = 0; v < n; v++) {
            const uint64_t got = phx_route_value(route, live->portals, s, v),
                           want = phx_route_value(anew, fresh, s, v);
            CHECK_THAT(got == want, "map %d edit %d route %d sector %u vertex %u: %" PRIu64 ", not %" PRIu64,
                       map, number, r, s, v, got, want);
            same = same && old->block[s].vertex[v].cell == fresh->block[s].vertex[v].cell &&
                   old->block[s].vertex[v].side == fresh->block[s].vertex[v].side &&
                   before[old->first[s] + v] == got;
        }
        if (whole)
            CHECK_THAT(phx_bitset_get(moved, s) == !same, "map %d edit %d route %d sector %u", map, number, r,
                       s);
    }
    phx_route_destroy(anew, phx_allocator_default());
    free(before);
}

PHX_TEST(portals, updates_and_repairs_equal_building_anew) {
    const int most = (int)test_count(80, 240, 2000);
    const PhxJobs jobs = phx_jobs_serial();
    uint64_t seed = 22;
    uint32_t kept = 0, differing = 0;
    for (int i = 0, edits = 0; edits < most; i++) {
        const PhxFieldWeights weights = all_weights[i % WEIGHTS];
        Live live;
        if (!live_make(&live, &seed, i, weights)) continue;
        PhxPortals *old = build(&live.map.grid, weights);
        for (int k = 0; k < 20; k++, edits++) {
            uint32_t sectors[4096];
            uint64_t changed[64];
            const uint32_t count = edit(&live, &seed, sectors);
            CHECK_OK(phx_portals_update(live.portals, &live.map.grid, sectors, count, &jobs, changed));
            PhxPortals *fresh = build(&live.map.grid, weights);
            check_same_graph(live.portals, fresh, i, k);
            for (uint32_t s = 0; s < fresh->sectors; s++) {
                CHECK_THAT(phx_bitset_get(changed, s) == !looks_alike(old, fresh, s),
                           "map %d edit %d sector %u", i, k, s);
                differing += phx_bitset_get(changed, s);
                kept += !phx_bitset_get(changed, s);
            }
            for (int r = 0; r < ROUTES; r++) check_repair(&live, r, old, fresh, changed, i, k);
            phx_portals_destroy(old);
            old = fresh;
        }
        phx_portals_destroy(old);
        live_free(&live);
    }
    CHECK_THAT(kept > (uint32_t)most * 4 && differing > (uint32_t)most * 5 / 6, "%u kept, %u differing", kept,
               differing);
}

PHX_TEST(portals, threads_do_not_change_the_graph) {
    uint64_t seed = 23;
    for (int i = 0; i < 4; i++) {
        const TestMap map = make_map(&seed, 700);
        PhxPortals *one = build(&map.grid, all_weights[i]), *many = NULL;
        PhxJobs jobs;
        CHECK_OK(phx_jobs_threads_create(3, &jobs));
        CHECK_OK(phx_portals_create(&many, phx_allocator_default(), map.grid.width, map.grid.height,
                                    all_weights[i], 3));
        CHECK_OK(phx_portals_build(many, &map.grid, &jobs));
        check_same_graph(one, many, i, 0);
        CHECK_OK(phx_portals_build(many, &map.grid, &jobs)); /* once more, over itself */
        check_same_graph(one, many, i, 1);
        phx_jobs_threads_destroy(&jobs);
        phx_portals_destroy(one);
        phx_portals_destroy(many);
        free(map.cost);
    }
}

/* An allocator that gives up after some calls, and counts what is out. */
typedef struct Meter {
    int64_t left, out;
} Meter;

static void *meter_allocate(void *user, size_t size) {
    Meter *meter = user;
    if (meter->left-- <= 0) return NULL;
    meter->out += (int64_t)size;
    const PhxAllocator real = phx_allocator_default();
    return real.allocate(real.user, size);
}

static void meter_release(void *user, void *memory, size_t size) {
    Meter *meter = user;
    meter->out -= (int64_t)size;
    const PhxAllocator real = phx_allocator_default();
    real.release(real.user, memory, size);
}

/* Builds, solves, edits, repairs, with memory for `left` allocations; everything is given back. */
static PhxStatus run_with(int64_t left, TestMap *map, size_t *bytes) {
    Meter meter = {left, 0};
    const PhxAllocator allocator = {meter_allocate, meter_release, &meter};
    const PhxJobs jobs = phx_jobs_serial();
    PhxPortals *portals = NULL;
    PhxRoute *route = NULL;
    const uint32_t goal = 0, sectors[] = {1, 2};
    uint64_t changed[64], moved[64];
    map->cost[0] = 1;
    map->cost[70] = 1;
    PhxStatus status =
        phx_portals_create(&portals, allocator, map->grid.width, map->grid.height, all_weights[0], 1);
    if (!status) status = phx_portals_build(portals, &map->grid, &jobs);
    if (!status) status = phx_route_create(&route, allocator, portals);
    if (!status) status = phx_route_solve(route, portals, &map->grid, &goal, 1, true, NULL, 0);
    for (uint32_t y = 0; y < map->grid.height; y += 2) map->cost[y * map->grid.width + 127] = 255;
    if (!status) status = phx_portals_update(portals, &map->grid, sectors, 2, &jobs, changed);
    if (!status) status = phx_route_repair(route, portals, &map->grid, &goal, 1, changed, moved, 0);
    if (!status) CHECK_EQ(phx_portals_bytes(portals) + phx_route_bytes(route), meter.out);
    if (bytes && !status) *bytes = (size_t)meter.out;
    phx_route_destroy(route, allocator);
    phx_portals_destroy(portals);
    CHECK_EQ(meter.out, 0);
    for (uint32_t y = 0; y < map->grid.height; y += 2) map->cost[y * map->grid.width + 127] = 1;
    return status;
}

PHX_TEST(portals, lack_of_memory_and_bad_costs_are_told) {
    TestMap map = {{200, 64, NULL}, malloc(200 * 64)};
    map.grid.cost = map.cost;
    memset(map.cost, 1, 200 * 64);
    size_t bytes = 0;
    int64_t needed = 0;
    while (run_with(needed, &map, &bytes) == PHX_ERROR_MEMORY) needed++;
    CHECK(needed > 8 && bytes > 0);
    PhxPortals *portals = build(&map.grid, all_weights[0]);
    const PhxJobs jobs = phx_jobs_serial();
    const uint32_t sectors[] = {0, 1};
    uint64_t changed[1];
    map.cost[70] = 0;
    CHECK_EQ(phx_portals_update(portals, &map.grid, sectors, 2, &jobs, changed), PHX_ERROR_RANGE);
    CHECK_EQ(phx_portals_build(portals, &map.grid, &jobs), PHX_ERROR_RANGE);
    map.cost[70] = 1;
    PhxPortals *anew = build(&map.grid, all_weights[0]);
    check_same_graph(portals, anew, 0, 0); /* neither changed anything */
    phx_portals_destroy(portals);
    phx_portals_destroy(anew);
    static const PhxFieldWeights bad[] = {{0, 0}, {10, 9}, {10, 21}, {6001, 8000}};
    for (int i = 0; i < 4; i++)
        CHECK_EQ(phx_portals_create(&portals, phx_allocator_default(), 9, 9, bad[i], 1), PHX_ERROR_ARGUMENT);
    free(map.cost);
}

/* The least of maps, one without a passable cell, and rows of cells whose portals all lie in one line. */
PHX_TEST(portals, extreme_maps) {
    static const uint32_t sides[][2] = {{1, 1}, {4096, 1}, {1, 4096}, {65, 65}, {64, 64}};
    uint64_t all[64], changed[64], moved[64];
    memset(all, 255, sizeof all);
    for (int i = 0; i < 10; i++) {
        const uint32_t w = sides[i / 2][0], h = sides[i / 2][1];
        uint8_t *cost = malloc((size_t)w * h);
        memset(cost, i % 2 ? 255 : 254, (size_t)w * h);
        const PhxNavGrid grid = {w, h, cost};
        PhxPortals *portals = build(&grid, all_weights[1]);
        CHECK_EQ(phx_portals_part(portals, &grid, w * h - 1), i % 2 ? PHX_NAV_NO_CELL : 0);
        cost[0] = 7; /* so that there is a goal */
        const PhxJobs jobs = phx_jobs_serial();
        const uint32_t sector = 0, goals[] = {0, 0};
        CHECK_OK(phx_portals_update(portals, &grid, &sector, 1, &jobs, changed));
        PhxRoute *route = NULL;
        CHECK_OK(phx_route_create(&route, phx_allocator_default(), portals));
        CHECK_OK(phx_route_solve(route, portals, &grid, goals, 2, true, all, 0));
        uint64_t worst = 0;
        for (uint32_t s = 0; s < phx_sector_count(w, h); s++) {
            CHECK(phx_route_covers(route, portals, s));
            for (uint32_t v = 0; v < phx_portals_vertex_count(portals, s); v++)
                if (phx_route_value(route, portals, s, v) > worst)
                    worst = phx_route_value(route, portals, s, v);
        }
        /* the farthest vertex of a row begins its last sector; the goal costs 7 */
        if (w * h == 4096 && w != h) CHECK_EQ(worst, i % 2 ? 0 : (uint64_t)5741 * (4031 * 254 + 7));
        CHECK_OK(phx_route_repair(route, portals, &grid, goals, 1, changed, moved, 0)); /* left one out */
        phx_route_destroy(route, phx_allocator_default());
        phx_portals_destroy(portals);
        free(cost);
    }
}
