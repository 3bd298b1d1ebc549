/* formation.c: the slots of formations of rows; circles and patterns are in formation_rings.c.
 *
 * In: bodies, ranks, a shape and a width. Out: slots in the frame, rank by rank and row by row. Rows are
 * filled from the front, the last one of a rank in its middle. Cost: linear. Determinism: integers; positions
 * are sums of pitches, so that equal numbers give equal rows.
 */
#include "motion/formation_rows.h"

enum {
    COLUMN_FILES = 2,
    LINE_UNITS = 20,               /* units of a rank that stand in one row of a line */
    FARTHEST = 4096 * PHX_FIX_ONE, /* from the anchor */
    RADIUS_LOW = PHX_FIX_ONE / 16, /* as unit_type.radius has it */
    RADIUS_HIGH = 16 * PHX_FIX_ONE
};

static const char *const shape_names[PHX_FORMATION_SHAPE_COUNT] = {"column", "line",   "rectangle",
                                                                   "wedge",  "circle", "pattern"};

const char *phx_formation_shape_name(PhxFormationShape shape) {
    return (unsigned)shape < PHX_FORMATION_SHAPE_COUNT ? shape_names[shape] : NULL;
}

static PhxStatus check(const PhxFormationSpec *spec) {
    if (spec->count == 0 || (unsigned)spec->shape >= PHX_FORMATION_SHAPE_COUNT) return PHX_ERROR_ARGUMENT;
    if (spec->count > PHX_FORMATION_UNITS) return PHX_ERROR_LIMIT;
    if (spec->shape == PHX_FORMATION_PATTERN && spec->pattern_count > PHX_FORMATION_PATTERN_SLOTS)
        return PHX_ERROR_LIMIT;
    if (spec->gap < 0 || spec->gap > 16 * PHX_FIX_ONE || spec->width < 0 || spec->limit < 0)
        return PHX_ERROR_RANGE;
    for (uint32_t i = 0; i < spec->count; i++) {
        if (spec->radius[i] < RADIUS_LOW || spec->radius[i] > RADIUS_HIGH) return PHX_ERROR_RANGE;
        if (spec->rank && spec->rank[i] >= PHX_FORMATION_RANKS) return PHX_ERROR_RANGE;
        if (spec->width > 0 && spec->width < 2 * spec->radius[i]) return PHX_ERROR_RANGE;
    }
    return PHX_OK;
}

static void count_ranks(const PhxFormationSpec *spec, PhxFormationRank ranks[PHX_FORMATION_RANKS]) {
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++) ranks[r] = (PhxFormationRank){0};
    for (uint32_t i = 0; i < spec->count; i++) {
        PhxFormationRank *rank = &ranks[spec->rank ? spec->rank[i] : 0];
        rank->count++;
        if (spec->radius[i] > rank->radius) rank->radius = spec->radius[i];
    }
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++)
        ranks[r].pitch = (2 * ranks[r].radius + spec->gap + 1) & ~1;
}

/* The width of a block that is twice as wide as deep: the root of twice its area. Bound: 1,024 squares of
 * 2^22 raw: below 2^55. */
static fix16_t block_width(const PhxFormationRank ranks[PHX_FORMATION_RANKS]) {
    uint64_t area = 0;
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++)
        area += (uint64_t)ranks[r].count * (uint64_t)ranks[r].pitch * (uint64_t)ranks[r].pitch;
    return (fix16_t)phx_isqrt64(2 * area);
}

static uint32_t files_within(const PhxFormationRank *rank, fix16_t gap, fix16_t width) {
    const int64_t files = ((int64_t)width + gap) / rank->pitch;
    return files < 1 ? 1 : (uint32_t)(files > PHX_FORMATION_UNITS ? PHX_FORMATION_UNITS : files);
}

/* How many of a rank stand in the row of this number, counted over all ranks. */
static uint32_t files_of(const PhxFormationSpec *spec, const PhxFormationRank *rank, fix16_t block,
                         uint32_t row) {
    uint32_t files = COLUMN_FILES;
    if (spec->shape == PHX_FORMATION_WEDGE)
        files = row + 1;
    else if (spec->shape != PHX_FORMATION_COLUMN && spec->shape != PHX_FORMATION_LINE)
        files = files_within(rank, spec->gap, block);
    else if (spec->width == 0 && spec->shape == PHX_FORMATION_LINE)
        files = rank->count > LINE_UNITS ? (rank->count + 1) / 2 : rank->count;
    const bool has_width = spec->width > 0 && spec->shape < PHX_FORMATION_CIRCLE;
    if (has_width) {
        const uint32_t wide = files_within(rank, spec->gap, spec->width);
        if (spec->shape != PHX_FORMATION_WEDGE || wide < files) files = wide;
    }
    if (spec->limit > 0) {
        const uint32_t narrow = files_within(rank, spec->gap, spec->limit);
        if (narrow < files) files = narrow;
    }
    return files;
}

static bool lay_rows(const PhxFormationSpec *spec, const PhxFormationRank ranks[PHX_FORMATION_RANKS],
                     PhxFormationSlot *slots) {
    const fix16_t block = block_width(ranks);
    fix16_t half = 0; /* the last row's bodies */
    int64_t x = 0;
    uint32_t filled = 0, row = 0;
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++) {
        const PhxFormationRank *rank = &ranks[r];
        for (uint32_t left = rank->count; left > 0; row++) {
            const uint32_t files = files_of(spec, rank, block, row), in_row = files < left ? files : left;
            if (row > 0) x -= half + spec->gap + rank->radius;
            const int64_t edge = -(int64_t)(in_row - 1) * (rank->pitch / 2);
            if (x < -FARTHEST || edge < -FARTHEST) return false;
            for (uint32_t i = 0; i < in_row; i++)
                slots[filled++] = (PhxFormationSlot){
                    {(fix16_t)x, (fix16_t)(edge + (int64_t)i * rank->pitch)}, rank->radius, (uint8_t)r};
            half = rank->radius;
            left -= in_row;
        }
    }
    return true;
}

static fix16_t larger(fix16_t a, fix16_t b) { return a > b ? a : b; }

static PhxFormationExtent extent_of(const PhxFormationSlot *slots, uint32_t count, fix16_t gap) {
    PhxFormationExtent extent = {0};
    for (uint32_t i = 0; i < count; i++) {
        const PhxFormationSlot *slot = &slots[i];
        extent.front = larger(extent.front, slot->at.x + slot->radius);
        extent.back = larger(extent.back, slot->radius - slot->at.x);
        extent.side = larger(extent.side, (slot->at.y < 0 ? -slot->at.y : slot->at.y) + slot->radius);
        extent.reach = larger(extent.reach, (fix16_t)phx_vec2_length(slot->at));
        extent.pitch = larger(extent.pitch, 2 * slot->radius + gap);
    }
    return extent;
}

static PhxStatus lay_out(const PhxFormationSpec *spec, const PhxFormationRank ranks[PHX_FORMATION_RANKS],
                         PhxFormationSlot *slots) {
    PhxStatus status = PHX_OK;
    switch (spec->shape) {
    case PHX_FORMATION_CIRCLE:
        status = phx_formation_rings(ranks, spec->gap, slots) ? PHX_OK : PHX_ERROR_RANGE;
        break;
    case PHX_FORMATION_PATTERN:
        status = phx_formation_pattern(spec, ranks, slots);
        break;
    default:
        return lay_rows(spec, ranks, slots) ? PHX_OK : PHX_ERROR_RANGE;
    }
    if (status != PHX_OK || spec->limit == 0) return status;
    const PhxFormationExtent extent = extent_of(slots, spec->count, spec->gap);
    if (2 * (int64_t)extent.side <= spec->limit) return PHX_OK;
    return lay_rows(spec, ranks, slots) ? PHX_OK : PHX_ERROR_RANGE;
}

PhxStatus phx_formation_layout(const PhxFormationSpec *spec, PhxFormationSlot *slots,
                               PhxFormationExtent *extent) {
    PhxFormationRank ranks[PHX_FORMATION_RANKS];
    PhxStatus status = check(spec);
    if (status != PHX_OK) return status;
    count_ranks(spec, ranks);
    status = lay_out(spec, ranks, slots);
    if (status == PHX_OK && extent) *extent = extent_of(slots, spec->count, spec->gap);
    return status;
}
