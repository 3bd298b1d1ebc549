/* orca_row.h: all that goes into the program of one unit, for those who solve it and those who explain it.
 * Internal to motion/ and its tests. */
#ifndef PHX_MOTION_ORCA_ROW_H
#define PHX_MOTION_ORCA_ROW_H

#include "motion/orca_program.h"

/* About 1.6 KiB, for the stack. `pairs` points into it: it isn't copied. */
typedef struct PhxOrcaRow {
    const PhxOrcaBody *self;
    const PhxWalls *walls;                  /* null: none */
    PhxWallNear beside[PHX_WALLS_MAX_NEAR]; /* the walls met, nearest first */
    uint32_t met;
    PhxNear near[PHX_ORCA_MAX_NEIGHBOURS]; /* the units found, nearest first */
    uint32_t found;
    PhxOrcaLine
        lines[PHX_ORCA_MAX_LINES]; /* the first `hard` are of walls; those of units are made by need */
    uint32_t hard;
    PhxOrcaPairs pairs;
    PhxVec2 preferred;
    fix16_t max_speed, creep;
    fix16_t change; /* of its velocity at most; 0: any */
} PhxOrcaRow;

/* orca.c: what a row of the grid meets, the scene being prepared and gathered; and the velocity it chooses.
 * Solving changes `lines`. */
void phx_orca_row_collect(const PhxOrcaScene *scene, uint32_t row, PhxOrcaRow *out);
PhxVec2 phx_orca_row_solve(PhxOrcaRow *row, uint8_t *flags);

#endif
