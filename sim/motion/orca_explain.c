/* orca_explain.c: why one unit chose its velocity: its half-planes, who made them, and what became of them.
 *
 * In: a scene that is prepared and gathered, a slot. Out: an explanation of plain values. Cost: one unit's
 * program with all half-planes made; for its walls the square of their number, some tens.
 *
 * Determinism: a pure function of what solving reads; it writes the explanation alone. The choice comes from
 * the functions by which it is made in a tick (phx_orca_row_collect, phx_orca_row_solve), so the two can't
 * part. Half-planes of neighbours are made anew by the function that makes them by need. Which wall a
 * half-plane is of is seen by handing in one wall more each time: those before don't depend on it.
 */
#include <string.h>

#include "base/assert.h"
#include "motion/orca_row.h"

enum { CONTACT_SLACK = 16 }; /* raw: more than the program's rounding */

/* How far outside of a half-plane a velocity is; |.| <= 2^28 + 2^23. */
static fix16_t outside(PhxDir normal, fix16_t offset, PhxVec2 v) {
    return (fix16_t)(offset - phx_vec2_dot_dir(v, normal));
}

/* source[i] becomes the index in row->beside of the wall that half-plane i is of. */
static void find_walls(const PhxOrcaScene *scene, const PhxOrcaRow *row, uint8_t source[PHX_WALLS_MAX_NEAR]) {
    const int64_t inv_horizon = scene->work->reach[row->self->class_of].inv_wall_horizon;
    PhxOrcaLine lines[PHX_WALLS_MAX_NEAR];
    uint32_t known = 0;
    for (uint32_t n = 1; n <= row->met; n++) {
        const uint32_t made = phx_orca_wall_lines(row->self, inv_horizon, row->walls, row->beside, n, lines);
        if (made > known) source[known++] = (uint8_t)(n - 1);
    }
    PHX_ASSERT(known == row->hard, known, row->hard);
}

static PhxOrcaHalfPlane of_wall(const PhxOrcaRow *row, const PhxOrcaLine *line, uint32_t index) {
    const PhxWallNear *near = &row->beside[index];
    const PhxWall wall = phx_walls_get(row->walls, near);
    const uint64_t radius_sq = (uint64_t)((int64_t)row->self->radius * row->self->radius);
    return (PhxOrcaHalfPlane){.normal = line->normal,
                              .offset = line->offset,
                              .distance = (fix16_t)phx_isqrt64(near->distance_sq),
                              .source = PHX_ORCA_FROM_WALL,
                              .overlaps = near->distance_sq <= radius_sq,
                              .slot = UINT32_MAX,
                              .start = wall.start,
                              .end = wall.end};
}

static PhxOrcaHalfPlane of_unit(const PhxOrcaRow *row, uint32_t index) {
    const PhxOrcaLine line = phx_orca_pair_line(&row->pairs, index);
    const PhxNear *near = &row->near[index];
    const PhxOrcaBody *other = &row->pairs.bodies[near->row];
    const int64_t radii = (int64_t)row->self->radius + other->radius;
    return (PhxOrcaHalfPlane){.normal = line.normal,
                              .offset = line.offset,
                              .distance = (fix16_t)phx_isqrt64(near->distance_sq),
                              .source = PHX_ORCA_FROM_UNIT,
                              .overlaps = near->distance_sq <= (uint64_t)(radii * radii),
                              .slot = near->slot,
                              .radius = other->radius,
                              .avoid = other->radius + other->shell,
                              .kept = (fix16_t)phx_orca_pair_radius(row->self, other, near->distance_sq),
                              .weight = other->weight,
                              .position = other->position,
                              .velocity = other->velocity,
                              .relative = phx_vec2_sub(row->self->velocity, other->velocity)};
}

/* Contacts, where the fallback kept them: it does wherever it can, and then the choice violates none. */
static void explain_contacts(const PhxOrcaRow *row, PhxOrcaExplanation *out) {
    const bool crept = (out->flags & PHX_ORCA_CREPT) != 0;
    PhxOrcaLine contact[PHX_ORCA_MAX_NEIGHBOURS];
    bool near[PHX_ORCA_MAX_NEIGHBOURS];
    for (uint32_t i = 0; i < row->found; i++) {
        near[i] = phx_orca_contact_line(&row->pairs, i, row->max_speed, crept, &contact[i]);
        if (near[i] && outside(contact[i].normal, contact[i].offset, out->chosen) > CONTACT_SLACK) return;
    }
    for (uint32_t i = 0; i < row->found; i++) {
        if (!near[i]) continue;
        out->line[out->walls + i].contact_normal = contact[i].normal;
        out->line[out->walls + i].contact_offset = contact[i].offset;
    }
}

/* The largest violation of the velocity that creeping began from. */
static void explain_creep(const PhxOrcaScene *scene, uint32_t index, PhxOrcaExplanation *out) {
    PhxOrcaRow row;
    uint8_t flags;
    phx_orca_row_collect(scene, index, &row);
    row.creep = 0;
    const PhxVec2 still = phx_orca_row_solve(&row, &flags);
    for (uint32_t i = out->walls; i < out->count; i++) {
        const fix16_t by = outside(out->line[i].normal, out->line[i].offset, still);
        if (by > out->least) out->least = by;
    }
}

/* How far the chosen velocity is outside of each half-plane, and the largest of each kind. */
static void judge(PhxOrcaExplanation *out) {
    for (uint32_t i = 0; i < out->count; i++) {
        PhxOrcaHalfPlane *line = &out->line[i];
        fix16_t *largest = i < out->walls ? &out->wall_violation : &out->violation;
        line->violation = outside(line->normal, line->offset, out->chosen);
        if (line->violation > *largest) *largest = line->violation;
    }
}

void phx_orca_explain(const PhxOrcaScene *scene, uint32_t slot, PhxOrcaExplanation *out) {
    PHX_ASSERT(slot < scene->spatial->capacity, slot, scene->spatial->capacity);
    const uint32_t index = scene->spatial->row_of[slot];
    PHX_ASSERT(index < scene->spatial->count && scene->spatial->slot[index] == slot, slot, index);
    PhxOrcaRow row;
    uint8_t source[PHX_WALLS_MAX_NEAR] = {0};
    phx_orca_row_collect(scene, index, &row);
    memset(out, 0, sizeof *out);
    out->slot = slot;
    out->position = row.self->position;
    out->velocity = row.self->velocity;
    out->preferred = row.preferred;
    out->radius = row.self->radius;
    out->avoid = row.self->radius + row.self->shell;
    out->weight = row.self->weight;
    out->max_speed = row.max_speed;
    out->horizon = row.pairs.horizon;
    out->creep = row.creep;
    out->change = row.change;
    out->walls_met = row.met;
    out->walls = row.hard;
    out->count = row.hard + row.found;
    find_walls(scene, &row, source);
    for (uint32_t i = 0; i < row.hard; i++) out->line[i] = of_wall(&row, &row.lines[i], source[i]);
    for (uint32_t i = 0; i < row.found; i++) out->line[row.hard + i] = of_unit(&row, i);
    out->chosen = phx_orca_row_solve(&row, &out->flags);
    if (out->flags & PHX_ORCA_WALLED) out->walls_back = out->line[0].offset - row.lines[0].offset;
    judge(out);
    out->least = out->flags & PHX_ORCA_CREPT ? 0 : out->violation;
    if (out->flags & PHX_ORCA_CROWDED) explain_contacts(&row, out);
    if (out->flags & PHX_ORCA_CREPT) explain_creep(scene, index, out);
}
