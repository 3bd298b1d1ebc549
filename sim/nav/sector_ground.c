/* sector_ground.c: what all fronts in a sector need to know of its cells: allowed steps, plain cells,
 * regions.
 *
 * In: a grid and a sector's number. Out: PhxSectorGround. Cells of the 64 x 64 square that lie outside of the
 * map are walls. Regions: a diagonal step needs both side cells open, so that the four neighbours decide what
 * can be reached. They are found by runs: the open cells of a row that follow each other are one run, which
 * is joined with the runs above that it touches (union-find, the lower number being the root; Rosenfeld,
 * Pfaltz: Sequential Operations in Digital Picture Processing, 1966).
 *
 * Cost: about 2 ns a cell; byte operations over rows, which compilers turn into vector code.
 * Determinism: a pure function of the costs.
 */
#include "nav/sector.h"

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/field_work.h"

enum {
    SIDE = PHX_SECTOR_SIDE,
    ROW = SIDE + 2,                   /* a row of bytes with its border */
    RUNS = PHX_SECTOR_SIDE / 2 * SIDE /* most runs of a sector */
};

PhxSectorFrame phx_sector_frame(uint32_t width, uint32_t height, uint32_t sector) {
    PHX_ASSERT(sector < phx_sector_count(width, height), sector, phx_sector_count(width, height));
    PhxSectorFrame frame = {.sector = sector};
    frame.sx = sector % phx_sectors_across(width);
    frame.sy = sector / phx_sectors_across(width);
    frame.x0 = frame.sx << PHX_SECTOR_SHIFT;
    frame.y0 = frame.sy << PHX_SECTOR_SHIFT;
    frame.width = width - frame.x0 < SIDE ? width - frame.x0 : SIDE;
    frame.height = height - frame.y0 < SIDE ? height - frame.y0 : SIDE;
    return frame;
}

/* 255 where `cost` is passable, else 0. */
static inline uint8_t open_mask(uint8_t cost) { return (uint8_t)(cost != PHX_NAV_IMPASSABLE ? 255 : 0); }
/* Allowed steps of a row: a diagonal one needs both cells beside it. */
static void find_row(const uint8_t *restrict up, const uint8_t *restrict at, const uint8_t *restrict down,
                     uint8_t *restrict moves) {
    for (int x = 0; x < SIDE; x++) {
        const uint8_t c = at[x];
        const uint8_t e = open_mask(at[x + 1]), w = open_mask(at[x - 1]);
        const uint8_t s = open_mask(down[x]), n = open_mask(up[x]);
        const uint8_t se = open_mask(down[x + 1]), sw = open_mask(down[x - 1]);
        const uint8_t ne = open_mask(up[x + 1]), nw = open_mask(up[x - 1]);
        moves[x] = (uint8_t)(((e & 1) | (e & s & se & 2) | (s & 4) | (s & w & sw & 8) | (w & 16) |
                              (w & n & nw & 32) | (n & 64) | (n & e & ne & 128)) &
                             open_mask(c));
    }
}

static void fill_row(const uint8_t *restrict cost, const uint8_t *restrict moves, uint32_t *restrict facts) {
    for (int x = 0; x < SIDE; x++) facts[x] = (uint32_t)cost[x] | (uint32_t)moves[x] << PHX_FACT_MOVES;
}

/* Smallest cost of a row, and largest of a passable cell. */
static void widen_bounds(const uint8_t *cost, uint8_t *low, uint8_t *high) {
    uint8_t least = *low, most = *high;
    for (int x = 0; x < SIDE; x++) {
        const uint8_t c = cost[x], passable = c & open_mask(c);
        least = c < least ? c : least;
        most = passable > most ? passable : most;
    }
    *low = least;
    *high = most;
}

static uint64_t open_bits(const uint8_t *cost) {
    uint64_t bits = 0;
    for (unsigned x = 0; x < SIDE; x++) bits |= (uint64_t)(cost[x] != PHX_NAV_IMPASSABLE) << x;
    return bits;
}

/* Row y of the sector, -1 and 64 included, into a row with a border of walls. Only the sector's own cells
 * count: those of its neighbours are walls to it. */
static void load_row(const PhxNavGrid *grid, const PhxSectorFrame *frame, int y, uint8_t *row) {
    memset(row, PHX_NAV_IMPASSABLE, SIDE);
    if (y < 0 || y >= (int)frame->height) return;
    memcpy(row, grid->cost + (size_t)(frame->y0 + (uint32_t)y) * grid->width + frame->x0, frame->width);
}

static uint16_t root_of(uint16_t *parent, uint16_t run) {
    while (parent[run] != run) {
        parent[run] = parent[parent[run]];
        run = parent[run];
    }
    return run;
}

static void join(uint16_t *parent, uint16_t a, uint16_t b) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* The bits from `from` on that follow each other. */
static uint64_t run_at(uint64_t bits, unsigned from) {
    const uint64_t shut = ~bits >> from << from;
    const uint64_t below = shut ? (shut & (~shut + 1)) - 1 : ~(uint64_t)0;
    return below >> from << from;
}

/* Numbers the runs of all rows into `region`, and joins those that touch. Returns their count. */
static uint32_t find_runs(PhxSectorGround *ground, uint16_t *parent) {
    uint32_t count = 0;
    for (unsigned y = 0; y < SIDE; y++) {
        uint16_t *row = ground->region + y * SIDE;
        const uint64_t above = y ? ground->open[y - 1] : 0;
        for (uint64_t left = ground->open[y]; left;) {
            const unsigned from = phx_bit_lowest(left);
            const uint64_t run = run_at(left, from);
            const uint16_t name = (uint16_t)count++;
            parent[name] = name;
            left &= ~run;
            for (unsigned x = from; x < SIDE && run >> x & 1; x++) row[x] = name;
            for (uint64_t touch = run & above; touch;) {
                const unsigned x = phx_bit_lowest(touch);
                join(parent, name, row[(int)x - SIDE]);
                touch &= ~run_at(above, x);
            }
        }
    }
    return count;
}

static void find_regions(PhxSectorGround *ground) {
    uint16_t parent[RUNS], label[RUNS];
    memset(ground->region, 255, sizeof ground->region);
    const uint32_t runs = find_runs(ground, parent);
    uint16_t count = 0;
    for (uint32_t i = 0; i < runs; i++) {
        const uint16_t root = root_of(parent, (uint16_t)i);
        label[i] = root == i ? count++ : label[root];
    }
    ground->region_count = count;
    for (unsigned y = 0; y < SIDE; y++)
        for (uint64_t left = ground->open[y]; left;) {
            const unsigned from = phx_bit_lowest(left);
            const uint64_t run = run_at(left, from);
            uint16_t *row = ground->region + y * SIDE;
            const uint16_t name = label[row[from]];
            left &= ~run;
            for (unsigned x = from; x < SIDE && run >> x & 1; x++) row[x] = name;
        }
}

void phx_sector_ground(PhxSectorGround *ground, const PhxNavGrid *grid, uint32_t sector) {
    uint8_t rows[3][ROW], moves[SIDE];
    ground->frame = phx_sector_frame(grid->width, grid->height, sector);
    memset(rows, PHX_NAV_IMPASSABLE, sizeof rows);
    uint8_t low = PHX_NAV_IMPASSABLE, high = 0;
    load_row(grid, &ground->frame, 0, rows[0] + 1);
    for (int y = 0; y < SIDE; y++) {
        const uint8_t *up = rows[(y + 2) % 3] + 1, *at = rows[y % 3] + 1;
        uint8_t *down = rows[(y + 1) % 3] + 1;
        load_row(grid, &ground->frame, y + 1, down);
        find_row(up, at, down, moves);
        fill_row(at, moves, ground->facts + y * SIDE);
        ground->open[y] = open_bits(at);
        widen_bounds(at, &low, &high);
    }
    ground->min_cost = low;
    ground->max_cost = high;
    find_regions(ground);
    uint32_t shut = 0;
    for (uint32_t y = 0; y < ground->frame.height; y++)
        shut |= ground->open[y] != ~(uint64_t)0 >> (SIDE - ground->frame.width);
    ground->uniform = !shut && low == high ? low : 0;
}
