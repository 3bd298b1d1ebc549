/* walls_sector.c: the wall segments of one sector, from its cells.
 *
 * In: a grid, a sector. Out: the words and buckets of walls_sector.h. Method: the sector's cells with a
 * border of one are read into a matrix of bits, 8 cells at a time; the edges on a grid line are the
 * differences of two rows, and runs of equal bits are segments; for vertical lines the same is done with the
 * matrix turned over. How an outline goes on at an end of a run is told by the two cells beyond it. Cost: one
 * look a cell, some steps a segment.
 *
 * Determinism: a pure function of the cells of the sector and of those around it. Bits are packed by
 * arithmetic, not by the layout of memory.
 */
#include "motion/walls_sector.h"

#include <string.h>

#include "base/bitset.h"

enum { LINES = 66 };

/* Solid bits of the cells along lines of one axis. Line 0 is the one before the sector. */
typedef struct Matrix {
    uint64_t bits[LINES];  /* cells 0..63 of the sector; where it is smaller, the first one beyond it too */
    uint8_t before[LINES]; /* cell -1 */
    uint8_t beyond[LINES]; /* cell 64 */
} Matrix;

typedef struct Frame {
    int32_t x0, y0;
    uint32_t width, height;
    uint32_t lines_x, lines_y; /* grid lines that belong to the sector: one more in the last one */
} Frame;

static Frame frame_of(const PhxWalls *walls, uint32_t index) {
    const uint32_t side = 1u << walls->sector_shift;
    const uint32_t sx = index % walls->sectors_x, sy = index / walls->sectors_x;
    const uint32_t x0 = sx * side, y0 = sy * side;
    Frame f = {.x0 = (int32_t)x0,
               .y0 = (int32_t)y0,
               .width = walls->width - x0 < side ? walls->width - x0 : side,
               .height = walls->height - y0 < side ? walls->height - y0 : side};
    f.lines_x = f.width + (sx + 1 == walls->sectors_x);
    f.lines_y = f.height + (sy + 1 == walls->sectors_y);
    return f;
}

static inline uint64_t load8(const uint8_t *p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* Bit i: byte i is 255. */
static inline uint64_t solid8(uint64_t v) {
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f), ones = UINT64_C(0x0101010101010101);
    const uint64_t full = ((v & low7) + ones) & v & ~low7; /* bit 7 of a byte: it is 255 */
    return (full >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static uint64_t solid_bits(const uint8_t *cost, uint32_t count) {
    uint64_t bits = 0;
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) bits |= solid8(load8(cost + i)) << i;
    for (; i < count; i++) bits |= (uint64_t)(cost[i] == PHX_NAV_IMPASSABLE) << i;
    return bits;
}

/* Rows y0 - 1 .. y0 + height. */
static void read_rows(const PhxNavGrid *grid, const Frame *f, Matrix *rows) {
    const uint32_t right = (uint32_t)f->x0 + f->width;
    for (uint32_t k = 0; k < f->height + 2; k++) {
        const int32_t y = f->y0 + (int32_t)k - 1;
        rows->bits[k] = ~(uint64_t)0;
        rows->before[k] = rows->beyond[k] = 1;
        if (y < 0 || y >= (int32_t)grid->height) continue;
        const uint8_t *row = grid->cost + (size_t)y * grid->width;
        const uint8_t next = right >= grid->width || row[right] == PHX_NAV_IMPASSABLE;
        rows->bits[k] = solid_bits(row + f->x0, f->width);
        if (f->width < 64) rows->bits[k] |= (uint64_t)next << f->width;
        rows->beyond[k] = next;
        rows->before[k] = f->x0 == 0 || row[f->x0 - 1] == PHX_NAV_IMPASSABLE;
    }
}

static inline bool bit_at(const Matrix *m, uint32_t line, uint32_t at) {
    return at < 64 ? m->bits[line] >> at & 1 : m->beyond[line];
}

/* Turns a matrix of 64 x 64 bits over, in place: blocks of 32, 16 .. 1 change places. */
static void transpose(uint64_t bits[64]) {
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (uint32_t size = 32; size > 0; size >>= 1, mask ^= mask << size)
        for (uint32_t k = 0; k < 64; k = ((k | size) + 1) & ~size) {
            const uint64_t swap = (bits[k] >> size ^ bits[k | size]) & mask;
            bits[k] ^= swap << size;
            bits[k | size] ^= swap;
        }
}

/* The same cells along columns x0 - 1 .. x0 + width. */
static void read_columns(const Frame *f, const Matrix *rows, Matrix *columns) {
    uint64_t square[64] = {0};
    const uint32_t inside = f->height < 64 ? f->height + 1 : 64; /* rows of the sector; the one beyond */
    for (uint32_t k = 0; k < inside; k++) square[k] = rows->bits[k + 1];
    transpose(square);
    uint64_t before = 0, beyond = 0;
    for (uint32_t k = 0; k < inside; k++) {
        before |= (uint64_t)rows->before[k + 1] << k;
        beyond |= (uint64_t)rows->beyond[k + 1] << k;
    }
    const uint32_t last = f->height + 1;
    for (uint32_t k = 0; k < f->width + 2; k++) {
        const uint32_t x = k - 1; /* column of the sector */
        columns->bits[k] = k == 0 ? before : x < 64 ? square[x] : beyond;
        columns->before[k] = k == 0 ? rows->before[0] : bit_at(rows, 0, x);
        columns->beyond[k] = k == 0 ? rows->before[last] : bit_at(rows, last, x);
    }
}

static inline uint64_t low_bits(uint32_t count) {
    return count < 64 ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
}

static inline uint32_t population(uint64_t v) {
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(v * UINT64_C(0x0101010101010101) >> 56);
}

static void count_lines(const Matrix *m, uint32_t lines, uint32_t cells, PhxWallSector *sector) {
    const uint64_t within = low_bits(cells), bucket_starts = UINT64_C(0x1111111111111111);
    for (uint32_t k = 0; k < lines; k++) {
        const uint64_t edges = (m->bits[k] ^ m->bits[k + 1]) & within;
        if (edges == 0) continue;
        const uint64_t behind = edges & m->bits[k + 1], ahead = edges & m->bits[k];
        const uint64_t starts = (behind & ~(behind << 1)) | (ahead & ~(ahead << 1));
        sector->fresh_count += population(starts);
        sector->fresh_items += population(starts | (edges & bucket_starts));
    }
}

/* What lies beyond an end, on the solid's side of the line and on the open one. Where only the solid's side
 * is open the two solid cells of the corner touch by a point, and count as joined. */
static inline uint32_t joint(bool solid_side, bool open_side) {
    if (open_side) return PHX_WALL_CONCAVE;
    return solid_side ? PHX_WALL_CUT : PHX_WALL_CONVEX;
}

static uint32_t *fill_lines(const Matrix *m, uint32_t lines, uint32_t cells, uint32_t axis, uint32_t *out) {
    const uint64_t within = low_bits(cells);
    for (uint32_t k = 0; k < lines; k++) {
        uint64_t edges = (m->bits[k] ^ m->bits[k + 1]) & within;
        while (edges) {
            const uint32_t low = phx_bit_lowest(edges);
            const bool behind = m->bits[k + 1] >> low & 1;
            const uint32_t solid = behind ? k + 1 : k, open = behind ? k : k + 1;
            const uint64_t rest = ~(edges & m->bits[solid]) >> low;
            const uint32_t length = rest ? phx_bit_lowest(rest) : 64;
            const uint32_t high = low + length < cells ? low + length : cells;
            edges &= ~(low_bits(high) & ~low_bits(low));
            const uint32_t at_low = low == 0 ? joint(m->before[solid], m->before[open])
                                             : joint(bit_at(m, solid, low - 1), bit_at(m, open, low - 1));
            const uint32_t at_high = joint(bit_at(m, solid, high), bit_at(m, open, high));
            *out++ = axis << PHX_WALL_AXIS | k << PHX_WALL_LINE | low << PHX_WALL_LOW |
                     (high - low - 1) << PHX_WALL_LENGTH | (behind ? PHX_WALL_SOLID_BEHIND : 0u) |
                     at_low << PHX_WALL_JOINT_LOW | at_high;
        }
    }
    return out;
}

/* First bucket of a segment; how many it touches, and how far apart they are in number. The map's last line
 * counts to the bucket before it. */
static inline uint32_t buckets_of(const Frame *f, uint32_t word, uint32_t *first, uint32_t *step) {
    const bool vertical = word >> PHX_WALL_AXIS & 1;
    const uint32_t line = phx_wall_line(word), low = phx_wall_low(word),
                   cells = vertical ? f->width : f->height;
    const uint32_t across = (line < cells ? line : cells - 1) >> PHX_WALL_BUCKET_SHIFT;
    const uint32_t from = low >> PHX_WALL_BUCKET_SHIFT,
                   to = (low + phx_wall_length(word) - 1) >> PHX_WALL_BUCKET_SHIFT;
    *first = vertical ? from * PHX_WALL_BUCKETS + across : across * PHX_WALL_BUCKETS + from;
    *step = vertical ? PHX_WALL_BUCKETS : 1;
    return to - from + 1;
}

static void fill_buckets(const Frame *f, const uint32_t *word, uint32_t count, uint16_t *start) {
    uint16_t *item = start + PHX_WALL_STARTS;
    uint32_t first, step;
    memset(start, 0, sizeof *start * PHX_WALL_STARTS);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = buckets_of(f, word[i], &first, &step); n > 0; n--, first += step)
            start[first + 1]++;
    for (uint32_t b = 1; b < PHX_WALL_STARTS; b++) start[b] = (uint16_t)(start[b] + start[b - 1]);
    uint16_t next[PHX_WALL_BUCKETS * PHX_WALL_BUCKETS];
    memcpy(next, start, sizeof next);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = buckets_of(f, word[i], &first, &step); n > 0; n--, first += step)
            item[next[first]++] = (uint16_t)i;
}

void phx_wall_sector_count(PhxWalls *walls, const PhxNavGrid *grid, uint32_t index) {
    const Frame f = frame_of(walls, index);
    PhxWallSector *sector = &walls->sector[index];
    Matrix rows, columns;
    sector->fresh_count = sector->fresh_items = 0;
    read_rows(grid, &f, &rows);
    count_lines(&rows, f.lines_y, f.width, sector);
    read_columns(&f, &rows, &columns);
    count_lines(&columns, f.lines_x, f.height, sector);
}

void phx_wall_sector_fill(PhxWalls *walls, const PhxNavGrid *grid, uint32_t index) {
    PhxWallSector *sector = &walls->sector[index];
    sector->count = sector->fresh_count;
    sector->items = sector->fresh_items;
    if (sector->count == 0) return;
    const Frame f = frame_of(walls, index);
    Matrix rows, columns;
    read_rows(grid, &f, &rows);
    uint32_t *out = fill_lines(&rows, f.lines_y, f.width, 0, sector->block);
    read_columns(&f, &rows, &columns);
    out = fill_lines(&columns, f.lines_x, f.height, 1, out);
    fill_buckets(&f, sector->block, sector->count, (uint16_t *)out);
}
