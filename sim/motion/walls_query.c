/* walls_query.c: the wall segments near a point.
 *
 * In: walls in buckets, a point, a range. Out: segments whose open side the point is on, nearest first. A
 * segment that sectors cut stands for itself by the piece that the point's projection falls on, or the last
 * piece before it: the nearest one. So each is found once, at its true distance, and what is cut isn't seen.
 * Cost: the entries of the buckets that the range touches; none in the open. Getting a segment: a binary
 * search for each border that it passes.
 *
 * Determinism: the answer is the first of a total order, (squared distance, rank); a segment that lies in
 * several buckets is met several times and kept once. Rank: of a grid (axis, line, lower end), where the
 * lower end may be any piece's, as no two segments of a line overlap; of polygons the index.
 */
#include "base/assert.h"
#include "motion/walls_sector.h"

enum {
    CELL_BITS = 16,
    DIR_ONE = 1 << 30,
    RANK_LINE = 12,
    RANK_AXIS = 25,
};

static bool before(const PhxWallNear *a, const PhxWallNear *b) {
    return a->distance_sq != b->distance_sq ? a->distance_sq < b->distance_sq : a->rank < b->rank;
}

/* What is being asked, and what was found. */
typedef struct Query {
    const PhxWalls *walls;
    PhxVec2 at;
    fix16_t range;
    uint64_t range_sq;
    uint32_t limit, found;
    PhxWallNear *out;
} Query;

static void insert(Query *q, PhxWallNear item) {
    uint32_t at = q->found;
    while (at > 0 && before(&item, &q->out[at - 1])) at--;
    if (at == q->limit || (at > 0 && q->out[at - 1].rank == item.rank)) return;
    q->found = q->found < q->limit ? q->found + 1 : q->limit;
    for (uint32_t i = q->found - 1; i > at; i--) q->out[i] = q->out[i - 1];
    q->out[at] = item;
}

/* Where a sector begins (cells). */
typedef struct Corner {
    uint32_t x, y;
} Corner;

static Corner corner_of(const PhxWalls *walls, uint32_t sector) {
    return (Corner){(sector % walls->sectors_x) << walls->sector_shift, (sector / walls->sectors_x)
                                                                            << walls->sector_shift};
}

static inline int64_t raw_of(uint32_t cells) { return (int64_t)cells << CELL_BITS; }

/* Squared distance to a piece; false where the point isn't on its open side, the line is out of range, or
 * another piece of the same segment is nearer. Coordinates are relative to the sector, |.| <= 2^24. */
static inline bool distance_to_piece(uint32_t word, int32_t along, int32_t across, int32_t range,
                                     uint64_t *distance_sq) {
    const int32_t from_line = across - (int32_t)(phx_wall_line(word) << CELL_BITS);
    const int32_t beside = word & PHX_WALL_SOLID_BEHIND ? -from_line : from_line;
    if (beside <= 0 || beside >= range) return false;
    const int32_t from_low = along - (int32_t)(phx_wall_low(word) << CELL_BITS);
    const int32_t beyond = from_low - (int32_t)(phx_wall_length(word) << CELL_BITS);
    int64_t miss = 0;
    if (from_low < 0) {
        if ((word >> PHX_WALL_JOINT_LOW & 3) == PHX_WALL_CUT) return false;
        miss = from_low;
    } else if (beyond >= 0) {
        if ((word & 3) == PHX_WALL_CUT) return false;
        miss = beyond;
    }
    *distance_sq = (uint64_t)(miss * miss) + (uint64_t)((int64_t)beside * beside);
    return true;
}

/* The buckets first_x..last_x, first_y..last_y of one sector. */
static void search_sector(Query *q, uint32_t index, uint32_t first_x, uint32_t last_x, uint32_t first_y,
                          uint32_t last_y) {
    const PhxWallSector *sector = phx_wall_sector(q->walls, index);
    if (sector->count == 0) return;
    const Corner corner = corner_of(q->walls, index);
    const int32_t x = (int32_t)(q->at.x - raw_of(corner.x)), y = (int32_t)(q->at.y - raw_of(corner.y));
    const uint16_t *starts = phx_wall_starts(sector), *item = starts + PHX_WALL_STARTS;
    for (uint32_t by = first_y; by <= last_y; by++) {
        const uint16_t *start = starts + by * PHX_WALL_BUCKETS;
        for (uint32_t i = start[first_x], end = start[last_x + 1]; i < end; i++) {
            const uint32_t word = sector->block[item[i]];
            const bool vertical = word >> PHX_WALL_AXIS & 1;
            PhxWallNear near;
            if (!distance_to_piece(word, vertical ? y : x, vertical ? x : y, q->range, &near.distance_sq))
                continue;
            if (near.distance_sq >= q->range_sq) continue;
            const uint32_t line = phx_wall_line(word) + (vertical ? corner.x : corner.y);
            const uint32_t low = phx_wall_low(word) + (vertical ? corner.y : corner.x);
            near.rank = (uint32_t)vertical << RANK_AXIS | line << RANK_LINE | low;
            near.place = index << PHX_WALL_PLACE_SHIFT | item[i];
            insert(q, near);
        }
    }
}

/* First and last cell of one axis within the range; false where there are none. */
static bool clip_cells(int64_t at, int64_t range, uint32_t size, uint32_t *first, uint32_t *last) {
    const int64_t low = at - range, high = at + range;
    if (high < 0) return false;
    const uint64_t from = low < 0 ? 0 : (uint64_t)low >> CELL_BITS, to = (uint64_t)high >> CELL_BITS;
    if (from >= size) return false;
    *first = (uint32_t)from;
    *last = to < size ? (uint32_t)to : size - 1;
    return true;
}

static void search_grid(Query *q) {
    const PhxWalls *walls = q->walls;
    uint32_t x0, x1, y0, y1;
    if (!clip_cells(q->at.x, q->range, walls->width, &x0, &x1) ||
        !clip_cells(q->at.y, q->range, walls->height, &y0, &y1))
        return;
    const uint32_t shift = walls->sector_shift, mask = (1u << shift) - 1;
    for (uint32_t sy = y0 >> shift; sy <= y1 >> shift; sy++) {
        const uint32_t first_y = sy == y0 >> shift ? (y0 & mask) >> PHX_WALL_BUCKET_SHIFT : 0;
        const uint32_t last_y = (sy == y1 >> shift ? y1 & mask : mask) >> PHX_WALL_BUCKET_SHIFT;
        for (uint32_t sx = x0 >> shift; sx <= x1 >> shift; sx++) {
            const uint32_t first_x = sx == x0 >> shift ? (x0 & mask) >> PHX_WALL_BUCKET_SHIFT : 0;
            const uint32_t last_x = (sx == x1 >> shift ? x1 & mask : mask) >> PHX_WALL_BUCKET_SHIFT;
            search_sector(q, sy * walls->sectors_x + sx, first_x, last_x, first_y, last_y);
        }
    }
}

/* Squared distance from the point to a segment; false where the point isn't on its open side.
 * Differences are at most 2^31 raw, products with directions 2^62. */
static bool distance_to(const PhxWall *wall, PhxVec2 at, uint64_t *distance_sq) {
    const int64_t rx = (int64_t)at.x - wall->start.x, ry = (int64_t)at.y - wall->start.y;
    const int64_t beside = phx_round_shift(wall->dir.x * ry - wall->dir.y * rx, 30);
    if (beside >= 0) return false;
    const int64_t along = phx_round_shift(wall->dir.x * rx + wall->dir.y * ry, 30);
    if (along < 0) {
        *distance_sq = (uint64_t)(rx * rx) + (uint64_t)(ry * ry);
    } else if (along > wall->length) {
        const int64_t ex = (int64_t)at.x - wall->end.x, ey = (int64_t)at.y - wall->end.y;
        *distance_sq = (uint64_t)(ex * ex) + (uint64_t)(ey * ey);
    } else {
        *distance_sq = (uint64_t)(beside * beside);
    }
    return true;
}

/* First and last bucket of one axis; false where the range misses them all. */
static bool clip_axis(int64_t at, int64_t range, int32_t origin, uint32_t shift, uint32_t size,
                      uint32_t *first, uint32_t *last) {
    const int64_t low = at - range - origin, high = at + range - origin;
    if (high < 0) return false;
    const uint64_t from = low < 0 ? 0 : (uint64_t)low >> shift, to = (uint64_t)high >> shift;
    if (from >= size) return false;
    *first = (uint32_t)from;
    *last = to < size ? (uint32_t)to : size - 1;
    return true;
}

static void search_polygons(Query *q) {
    const PhxWalls *walls = q->walls;
    uint32_t first_x, last_x, first_y, last_y;
    if (!clip_axis(q->at.x, q->range, walls->origin_x, walls->bucket_shift, walls->buckets_x, &first_x,
                   &last_x) ||
        !clip_axis(q->at.y, q->range, walls->origin_y, walls->bucket_shift, walls->buckets_y, &first_y,
                   &last_y))
        return;
    for (uint32_t by = first_y; by <= last_y; by++) {
        const uint32_t *start = walls->bucket_start + (size_t)by * walls->buckets_x;
        for (uint32_t i = start[first_x]; i < start[last_x + 1]; i++) {
            const uint32_t index = walls->bucket_item[i];
            PhxWallNear near = {.rank = index, .place = index};
            if (!distance_to(&walls->wall[index], q->at, &near.distance_sq)) continue;
            if (near.distance_sq < q->range_sq) insert(q, near);
        }
    }
}

uint32_t phx_walls_nearest(const PhxWalls *walls, PhxVec2 at, fix16_t range, uint32_t limit,
                           PhxWallNear *out) {
    PHX_ASSERT(limit <= PHX_WALLS_MAX_NEAR, limit, 0);
    if (range <= 0 || limit == 0) return 0;
    Query q = {.walls = walls,
               .at = at,
               .range = range,
               .range_sq = (uint64_t)range * (uint64_t)range,
               .limit = limit,
               .out = out};
    if (walls->sector)
        search_grid(&q);
    else if (walls->count > 0)
        search_polygons(&q);
    return q.found;
}

/* The word of the sector that begins at (line, 0) on an axis: what a piece that is cut goes on with. */
static uint32_t word_at_border(const PhxWallSector *sector, uint32_t axis, uint32_t line, uint32_t low) {
    const uint32_t wanted = axis << PHX_WALL_AXIS | line << PHX_WALL_LINE | low << PHX_WALL_LOW;
    uint32_t first = 0, last = sector->count;
    while (first < last) { /* the first one behind (axis, line, low) */
        const uint32_t middle = first + (last - first) / 2;
        if (sector->block[middle] >> PHX_WALL_LOW > wanted >> PHX_WALL_LOW)
            last = middle;
        else
            first = middle + 1;
    }
    PHX_ASSERT(first > 0, line, low);
    return sector->block[first - 1];
}

/* A piece with its ends on the map (cells along its axis), which grows. */
typedef struct Piece {
    uint32_t axis, line, low, high; /* line: in the sector */
    uint32_t at_low, at_high;
    bool behind;
} Piece;

static Piece piece_of(uint32_t word, uint32_t start) {
    const uint32_t low = start + phx_wall_low(word);
    return (Piece){.axis = word >> PHX_WALL_AXIS & 1,
                   .line = phx_wall_line(word),
                   .low = low,
                   .high = low + phx_wall_length(word),
                   .at_low = word >> PHX_WALL_JOINT_LOW & 3,
                   .at_high = word & 3,
                   .behind = (word & PHX_WALL_SOLID_BEHIND) != 0};
}

/* Goes on over the borders of sectors, until the ends are real or out of sight. */
static void grow(const PhxWalls *walls, uint32_t index, Piece *piece) {
    const uint32_t step = piece->axis ? walls->sectors_x : 1, sight = PHX_WALLS_SIGHT >> CELL_BITS;
    const uint32_t low = piece->low, high = piece->high, side = 1u << walls->sector_shift;
    for (uint32_t at = index - step; piece->at_low == PHX_WALL_CUT && low - piece->low <= sight; at -= step) {
        const PhxWallSector *sector = phx_wall_sector(walls, at);
        const uint32_t word = word_at_border(sector, piece->axis, piece->line, side - 1);
        piece->low -= phx_wall_length(word);
        piece->at_low = word >> PHX_WALL_JOINT_LOW & 3;
    }
    for (uint32_t at = index + step; piece->at_high == PHX_WALL_CUT && piece->high - high <= sight;
         at += step) {
        const uint32_t word = word_at_border(phx_wall_sector(walls, at), piece->axis, piece->line, 0);
        piece->high += phx_wall_length(word);
        piece->at_high = word & 3;
    }
}

/* The direction before a joint (`back`), or after it: a turn to the left where it is convex. */
static PhxDir turned(PhxDir dir, uint32_t joint, bool back) {
    if (joint == PHX_WALL_CUT) return dir;
    const bool left = (joint == PHX_WALL_CONVEX) != back;
    return left ? phx_dir(-dir.y, dir.x) : phx_dir(dir.y, -dir.x);
}

static PhxWall wall_of(const Piece *piece, Corner corner) {
    const bool forward = piece->axis ? !piece->behind : piece->behind; /* the solid on the left */
    const fix16_t low = (fix16_t)raw_of(piece->low), high = (fix16_t)raw_of(piece->high);
    const fix16_t line = (fix16_t)raw_of(piece->line + (piece->axis ? corner.x : corner.y));
    const fix16_t from = forward ? low : high, to = forward ? high : low;
    const int32_t one = forward ? DIR_ONE : -DIR_ONE;
    PhxWall wall = {.start = piece->axis ? phx_vec2(line, from) : phx_vec2(from, line),
                    .end = piece->axis ? phx_vec2(line, to) : phx_vec2(to, line),
                    .dir = piece->axis ? phx_dir(0, one) : phx_dir(one, 0),
                    .length = high - low,
                    .at_start = (uint8_t)(forward ? piece->at_low : piece->at_high),
                    .at_end = (uint8_t)(forward ? piece->at_high : piece->at_low)};
    wall.prev_dir = turned(wall.dir, wall.at_start, true);
    wall.next_dir = turned(wall.dir, wall.at_end, false);
    return wall;
}

PhxWall phx_walls_get(const PhxWalls *walls, const PhxWallNear *near) {
    if (!walls->sector) return walls->wall[near->place];
    const uint32_t index = near->place >> PHX_WALL_PLACE_SHIFT;
    const uint32_t word =
        phx_wall_sector(walls, index)->block[near->place & ((1u << PHX_WALL_PLACE_SHIFT) - 1)];
    const Corner corner = corner_of(walls, index);
    Piece piece = piece_of(word, word >> PHX_WALL_AXIS & 1 ? corner.y : corner.x);
    grow(walls, index, &piece);
    return wall_of(&piece, corner);
}

uint32_t phx_walls_of_sector(const PhxWalls *walls, uint32_t sector, PhxWall *out, uint32_t limit) {
    if (!walls->sector) {
        for (uint32_t i = 0; i < walls->count && i < limit; i++) out[i] = walls->wall[i];
        return walls->count;
    }
    const PhxWallSector *s = phx_wall_sector(walls, sector);
    const Corner corner = corner_of(walls, sector);
    for (uint32_t i = 0; i < s->count && i < limit; i++) {
        const uint32_t word = s->block[i];
        const Piece piece = piece_of(word, word >> PHX_WALL_AXIS & 1 ? corner.y : corner.x);
        out[i] = wall_of(&piece, corner);
    }
    return s->count;
}
