/* field_work.h: the memory of one field build, and its three stages. For the files of nav only (and their
 * tests).
 *
 * The cells have a border of one impassable cell around the map (stride = width + 2), so that no stage asks
 * whether a neighbour lies in the map. Stages: phx_field_find_moves (what steps exist), phx_field_run_front
 * or phx_field_run_wave (sums by a
 * bucket queue), phx_field_point_flow (arrows).
 */
#ifndef PHX_NAV_FIELD_WORK_H
#define PHX_NAV_FIELD_WORK_H

#include <phalanx/nav.h>

enum {
    PHX_FRONT_CHUNK = 32, /* words of a chunk: the link to an older chunk, then 31 cells */
    PHX_FRONT_CHUNK_CELLS = PHX_FRONT_CHUNK - 1,
    PHX_FRONT_MAX_RING = 1024, /* buckets; enough, as diagonal * 254 / (straight / 2) < 1018 */
    PHX_FRONT_MIN_RING = 64    /* one word of the occupancy set */
};

/* What is known of a cell beside its sum; of whole maps 16 bits: allowed steps (bit d: direction d; 0 in
 * walls), and at 0 the cost, where costs differ, or else `arrived` (bit d: a best way enters the cell, from
 * the goal, in direction d). Sectors keep more in 32 bits: plain (255 where the passable ones of the cells E,
 * S, W, N cost the same as it, else 0). */
enum { PHX_FACT_MOVES = 8, PHX_FACT_PLAIN = 16, PHX_FACT_ARRIVED = 24 }; /* shifts */

typedef struct PhxFieldWork {
    uint32_t width, height, stride, cells; /* cells: with the border */
    uint32_t straight, diagonal;           /* weights */
    uint32_t min_cost, max_cost;           /* of the passable cells */
    const uint8_t *cost;                   /* of the map, without border */
    uint32_t *dist;                        /* sums; in walls 0 where costs differ */
    uint16_t *facts;
    uint32_t *reached;  /* cells reached in the bucket in work, where costs differ */
    uint32_t *sum_rows; /* six rows of sums: two for each of three rows of the map */
    uint8_t *byte_rows; /* five rows of bytes */
    /* the bucket queue */
    uint32_t *pool;                     /* chunks */
    uint32_t pool_chunks, fresh, freed; /* capacity; first never used; head of the free list (0: none) */
    uint32_t *buckets;                  /* two rings of PHX_FRONT_MAX_RING; see field_queue.h */
    uint64_t *occupied;                 /* bit set of the buckets that aren't empty in either */
    uint32_t shift, ring_mask;          /* a sum's bucket is sum >> shift, at (sum >> shift) & ring_mask */
    uint32_t bucket;                    /* the bucket that is being emptied */
    uint32_t requeues;                  /* how often the pool ran out */
    bool requeuing;
    bool full;     /* not even a requeue found room: the pool is smaller than phx_field_work_lay makes it */
    bool overflow; /* a sum above UINT32_MAX - 1 was met and left out */
} PhxFieldWork;

/* Cell of the map to cell with border. */
static inline uint32_t phx_field_work_cell(const PhxFieldWork *work, uint32_t cell) {
    return (cell / work->width + 1) * work->stride + cell % work->width + 1;
}
/* Offsets of the directions 0..7. */
static inline void phx_field_work_offsets(const PhxFieldWork *work, int32_t offset[8]) {
    for (int d = 0; d < 8; d++) offset[d] = phx_flow_dy[d] * (int32_t)work->stride + phx_flow_dx[d];
}

/* Lays the arrays of `work` into `scratch`, or only measures (null); gives the size in bytes. */
size_t phx_field_work_lay(PhxFieldWork *work, uint32_t width, uint32_t height, void *scratch);

/* How a build used its pool, for tests. */
typedef struct PhxFieldPool {
    uint32_t limit;            /* in: chunks to do with; 0: all */
    uint32_t chunks, requeues; /* out: chunks ever used; how often the pool ran out */
} PhxFieldPool;

/* phx_field_build with a limited pool. PHX_ERROR_FULL where that is too small; the field is empty then. */
PHX_MUST_USE PhxStatus phx_field_build_within(PhxField *field, const PhxNavGrid *grid,
                                              PhxFieldWeights weights, const uint32_t *goals,
                                              uint32_t goal_count, void *scratch, PhxFieldPool *pool);

/* Fills the cells (unreached, nowhere arrived), min_cost and max_cost. */
void phx_field_find_moves(PhxFieldWork *work, const PhxNavGrid *grid);
/* Lowers the sums (PHX_FIELD_UNREACHED stays where no way leads). Goals are checked before. Front: where all
 * passable cells cost the same; wave: any costs. */
void phx_field_run_wave(PhxFieldWork *work, const uint32_t *goals, uint32_t goal_count);
void phx_field_run_front(PhxFieldWork *work, const uint32_t *goals, uint32_t goal_count);
/* Writes integration and flow of the field. */
void phx_field_point_flow(PhxFieldWork *work, PhxField *field);

#endif
