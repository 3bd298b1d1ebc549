/* orca_lines.c: the half-planes of units and of walls against their geometric definition, in doubles.
 *
 * Units: the nearest point of the truncated cone's boundary, found among an arc and two legs. Walls: what a
 * half-plane is for. The velocity obstacle of a wall is convex, so each permitted velocity, not only the
 * nearest one, keeps the disc off the wall for the whole horizon; and a velocity that does so with room is
 * never forbidden.
 */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "motion/orca_lines.h"

enum { ONE = 1 << 16, LIMIT = 1000 };

static double unit(uint64_t *seed) { return (double)(test_random(seed) >> 11) * 0x1p-53; }
static double real(int64_t raw) { return (double)raw / 65536; }

typedef struct Boundary {
    double nx, ny, c, distance; /* outward normal, n . point, distance from v */
} Boundary;

/* The nearest of arc and legs to relative velocity v; `second` is the distance of the next best kind. */
static Boundary nearest_boundary(double px, double py, double vx, double vy, double radius, double horizon,
                                 double *second) {
    const double p = hypot(px, py), ux = px / p, uy = py / p;
    Boundary found[3];
    const double wx = vx - px / horizon, wy = vy - py / horizon, w = hypot(wx, wy);
    found[0] = (Boundary){.distance = 1e9};
    if (w > 0 && (wx * ux + wy * uy) / w < -radius / p) {
        found[0] = (Boundary){wx / w, wy / w, 0, fabs(w - radius / horizon)};
        found[0].c = (found[0].nx * px + found[0].ny * py + radius) / horizon;
    }
    const double sine = radius / p, cosine = sqrt(1 - sine * sine), first = cosine * p / horizon;
    for (int side = 0; side < 2; side++) {
        const double s = side ? -sine : sine;
        const double dx = ux * cosine - uy * s, dy = uy * cosine + ux * s, t = fmax(vx * dx + vy * dy, first);
        found[1 + side] = (Boundary){side ? dy : -dy, side ? -dx : dx, 0, hypot(vx - t * dx, vy - t * dy)};
    }
    int best = 0;
    for (int i = 1; i < 3; i++)
        if (found[i].distance < found[best].distance) best = i;
    *second = 1e9;
    for (int i = 0; i < 3; i++)
        if (i != best) *second = fmin(*second, found[i].distance);
    return found[best];
}

static PhxOrcaBody random_body(uint64_t *seed, double place, double speed, double radius) {
    fix16_t v[4];
    for (int i = 0; i < 4; i++) v[i] = (fix16_t)((unit(seed) * 2 - 1) * (i < 2 ? place : speed) * ONE);
    return (PhxOrcaBody){
        .position = {v[0], v[1]}, .velocity = {v[2], v[3]}, .radius = (fix16_t)(radius * ONE)};
}

PHX_TEST(orca_lines, of_units_are_tangents_at_the_nearest_point) {
    const int total = getenv("PHX_LONG") ? 1000000 : 100000;
    double worst_normal = 0, worst_offset = 0;
    int compared = 0;
    for (int k = 0; k < total; k++) {
        uint64_t seed = 900000 + (uint64_t)k;
        const double place = k % 3 ? 6 : 30;
        PhxOrcaBody body[2];
        for (int i = 0; i < 2; i++) body[i] = random_body(&seed, place, 3, 0.0625 + unit(&seed) * 2);
        const double horizon = 0.25 + unit(&seed) * 8;
        const int64_t inv = llround(0x1p30 / horizon);
        PhxOrcaLine line[2];
        for (uint32_t i = 0; i < 2; i++) {
            const PhxNear near = {phx_vec2_distance_sq(body[0].position, body[1].position), 1 - i, 1 - i};
            const PhxOrcaPairs pairs = {.self = &body[i],
                                        .bodies = body,
                                        .near = &near,
                                        .slot = i,
                                        .horizon = (fix16_t)lround(horizon * ONE),
                                        .inv_horizon = inv,
                                        .max_speed = 64 * ONE,
                                        .inv_tick = (int64_t)20 << 30};
            line[i] = phx_orca_pair_line(&pairs, 0);
        }
        CHECK_THAT(line[0].normal.x == -line[1].normal.x && line[0].normal.y == -line[1].normal.y, "pair %d",
                   k);
        const double px = real(body[1].position.x - body[0].position.x),
                     py = real(body[1].position.y - body[0].position.y);
        const double vx = real(body[0].velocity.x - body[1].velocity.x),
                     vy = real(body[0].velocity.y - body[1].velocity.y);
        const double radius = real(body[0].radius + body[1].radius), nx = ldexp(line[0].normal.x, -30),
                     ny = ldexp(line[0].normal.y, -30);
        CHECK_THAT(fabs(nx * nx + ny * ny - 1) < 1e-8, "pair %d", k);
        Boundary want;
        if (hypot(px, py) <= radius) { /* the disc alone, within a tick */
            const double wx = vx - px * 20, wy = vy - py * 20, w = hypot(wx, wy);
            if (w < 0.01) continue;
            want = (Boundary){wx / w, wy / w, 0, 0};
            want.c = want.nx * px * 20 + want.ny * py * 20 + radius * 20;
        } else {
            double second;
            want = nearest_boundary(px, py, vx, vy, radius, horizon, &second);
            if (second - want.distance < 1e-3) continue; /* either will do */
            if (hypot(want.nx * px + want.ny * py, 0) > hypot(px, py) * (1 - 1e-4))
                continue; /* head on: turned */
        }
        /* self's half: n . v >= n . v_self + (c - n . v) / 2 */
        const double c = want.nx * real(body[0].velocity.x) + want.ny * real(body[0].velocity.y) +
                         (want.c - want.nx * vx - want.ny * vy) / 2;
        compared++;
        /* a short w has a direction as coarse as its last bit */
        const double w = hypot(vx - px / horizon, vy - py / horizon),
                     coarse = 1e-7 + 0x1p-14 / fmax(w, 0x1p-13);
        worst_normal = fmax(worst_normal, hypot(nx - want.nx, ny - want.ny) / coarse);
        worst_offset = fmax(worst_offset, fabs(real(line[0].offset) - c) / (0x1p-14 + coarse * 64));
        CHECK_THAT(hypot(nx - want.nx, ny - want.ny) < coarse, "pair %d: normal %g %g, not %g %g", k, nx, ny,
                   want.nx, want.ny);
        CHECK_THAT(fabs(real(line[0].offset) - c) < 0x1p-14 + coarse * 64, "pair %d: offset %g, not %g", k,
                   real(line[0].offset), c);
    }
    printf("%d compared; worst normal %.2g, offset %.2g of what is allowed\n", compared, worst_normal,
           worst_offset);
    CHECK(compared > total / 2);
}

/* Case 25: on and about the boundary between touching and not, no root of a negative, and unit normals. */
PHX_TEST(orca_lines, case_25_touching_discs_give_unit_normals) {
    for (int k = 0; k < 200000; k++) {
        uint64_t seed = 77 + (uint64_t)k;
        const fix16_t radius = (fix16_t)test_range(&seed, 1 << 12, 16 << 16);
        PhxOrcaBody body[2] = {{.radius = radius}, {.radius = radius}};
        PhxDir d = {1 << 30, 0};
        if (k % 2) d = phx_dir_of_angle((PhxAngle)test_random(&seed));
        body[1].position = phx_dir_scale(d, 2 * radius + (fix16_t)test_range(&seed, -2, 2));
        if (k % 3) body[0].velocity = phx_dir_scale(d, (fix16_t)test_range(&seed, -ONE, ONE));
        PhxOrcaLine line;
        const PhxNear near = {phx_vec2_distance_sq(body[0].position, body[1].position), 1, 1};
        const PhxOrcaPairs pairs = {.self = body,
                                    .bodies = body,
                                    .near = &near,
                                    .inv_horizon = (int64_t)1 << test_range(&seed, 20, 34),
                                    .max_speed = 64 * ONE,
                                    .inv_tick = (int64_t)20 << 30};
        line = phx_orca_pair_line(&pairs, 0);
        const double size = hypot(line.normal.x, line.normal.y) * 0x1p-30;
        CHECK_THAT(fabs(size - 1) < 1e-8, "case %d: %g", k, size);
        const PhxDir leg = phx_orca_leg(body[1].position.x, body[1].position.y, 2 * radius, k & 1);
        CHECK_THAT(fabs(hypot(leg.x, leg.y) * 0x1p-30 - 1) < 1e-4, "case %d", k);
    }
}

/* Least distance from the path p + t v, t in [0, horizon], to a segment. */
static double path_to_segment(double px, double py, double vx, double vy, double horizon, PhxVec2 a,
                              PhxVec2 b) {
    const double ends[4][2] = {
        {px, py}, {px + vx * horizon, py + vy * horizon}, {real(a.x), real(a.y)}, {real(b.x), real(b.y)}};
    double best = 1e9;
    for (int i = 0; i < 4; i++) { /* each end to the other segment */
        const double *q = ends[i], *from = ends[i < 2 ? 2 : 0], *to = ends[i < 2 ? 3 : 1];
        const double dx = to[0] - from[0], dy = to[1] - from[1], size = dx * dx + dy * dy;
        const double t =
            size > 0 ? fmin(fmax(((q[0] - from[0]) * dx + (q[1] - from[1]) * dy) / size, 0), 1) : 0;
        best = fmin(best, hypot(from[0] + t * dx - q[0], from[1] + t * dy - q[1]));
    }
    const double ex = ends[1][0] - px, ey = ends[1][1] - py, fx = ends[3][0] - ends[2][0],
                 fy = ends[3][1] - ends[2][1];
    const double den = ex * fy - ey * fx, gx = ends[2][0] - px, gy = ends[2][1] - py;
    if (den != 0) {
        const double s = (gx * fy - gy * fx) / den, t = (gx * ey - gy * ex) / den;
        if (s >= 0 && s <= 1 && t >= 0 && t <= 1) return 0;
    }
    return best;
}

static double path_to_walls(const PhxWalls *walls, const PhxOrcaBody *body, double vx, double vy,
                            double horizon) {
    double best = 1e9;
    static PhxWall wall[LIMIT];
    const uint32_t count = phx_walls_of_sector(walls, 0, wall, LIMIT);
    CHECK(count <= LIMIT);
    for (uint32_t i = 0; i < count; i++)
        best = fmin(best, path_to_segment(real(body->position.x), real(body->position.y), vx, vy, horizon,
                                          wall[i].start, wall[i].end));
    return best;
}

static bool permitted(const PhxOrcaLine *lines, uint32_t count, double vx, double vy, double slack) {
    for (uint32_t i = 0; i < count; i++)
        if (ldexp(lines[i].normal.x, -30) * vx + ldexp(lines[i].normal.y, -30) * vy <
            real(lines[i].offset) - slack)
            return false;
    return true;
}

typedef struct WallTally {
    int asked, permitted, free_before, lines, forbidden_free;
} WallTally;

static void check_body(const PhxWalls *walls, const PhxOrcaBody *body, double horizon, uint64_t *seed,
                       int name, WallTally *tally) {
    const double radius = real(body->radius), speed = 4;
    PhxWallNear near[PHX_WALLS_MAX_NEAR];
    const uint32_t found = phx_walls_nearest(
        walls, body->position, (fix16_t)((speed * horizon + radius) * ONE) + 2, PHX_WALLS_MAX_NEAR, near);
    PhxOrcaLine lines[PHX_WALLS_MAX_NEAR];
    if (found == PHX_WALLS_MAX_NEAR || path_to_walls(walls, body, 0, 0, 0) <= radius + 0.001) return;
    const uint32_t count = phx_orca_wall_lines(body, llround(0x1p30 / horizon), walls, near, found, lines);
    tally->lines += (int)count;
    tally->asked++;
    /* the present velocity is permitted where it keeps off with room */
    const double vx = real(body->velocity.x), vy = real(body->velocity.y);
    if (path_to_walls(walls, body, vx, vy, horizon) > radius + 0.01) {
        tally->free_before++;
        tally->forbidden_free += !permitted(lines, count, vx, vy, 0x1p-10);
    }
    for (int k = 0; k < 40; k++) { /* permitted ones keep off */
        const double x = (unit(seed) * 2 - 1) * speed, y = (unit(seed) * 2 - 1) * speed;
        if (x * x + y * y > speed * speed || !permitted(lines, count, x, y, 0)) continue;
        tally->permitted++;
        const double gap = path_to_walls(walls, body, x, y, horizon);
        CHECK_THAT(gap >= radius - 0.002 * (1 + horizon),
                   "scene %d: %g of %g at (%g, %g) v (%g, %g) horizon %g", name, gap, radius,
                   real(body->position.x), real(body->position.y), x, y, horizon);
    }
}

PHX_TEST(orca_lines, of_walls_permit_what_keeps_off_them) {
    WallTally boxes = {0}, maps = {0};
    static uint8_t cost[32 * 32];
    for (int k = 0; k < 6000; k++) {
        uint64_t seed = 41000 + (uint64_t)k;
        const bool map = k % 2;
        PhxVec2 shape[8];
        PhxNavGrid grid = {32, 32, cost};
        const uint32_t sizes[] = {(uint32_t)test_range(&seed, 2, 6)};
        if (map) {
            memset(cost, 1, sizeof cost);
            for (int i = 0; i < 6; i++) {
                const int64_t x = test_range(&seed, 8, 22), y = test_range(&seed, 8, 22),
                              w = test_range(&seed, 1, 6), h = test_range(&seed, 1, 6);
                for (int64_t cy = y; cy < y + h; cy++) memset(cost + cy * 32 + x, 255, (size_t)w);
            }
        } else { /* a convex polygon about (16, 16) */
            const double turn = unit(&seed) * 6.3, a = 1 + unit(&seed) * 5, b = 1 + unit(&seed) * 5;
            for (uint32_t i = 0; i < sizes[0]; i++) {
                const double t = 6.283185307 * i / sizes[0], x = a * cos(t), y = b * sin(t);
                shape[i] = phx_vec2((fix16_t)((16 + x * cos(turn) - y * sin(turn)) * ONE),
                                    (fix16_t)((16 + x * sin(turn) + y * cos(turn)) * ONE));
            }
        }
        PhxWalls walls;
        const PhxJobs serial = phx_jobs_serial();
        CHECK_OK(map ? phx_walls_create_grid(&walls, phx_allocator_default(), &grid, &serial)
                     : phx_walls_create_polygons(&walls, phx_allocator_default(), shape, sizes, 1));
        PhxOrcaBody body = random_body(&seed, 8, 3, 0.25 + unit(&seed));
        body.position = phx_vec2_add(body.position, phx_vec2(16 * ONE, 16 * ONE));
        bool inside = map && cost[(body.position.y / ONE) * 32 + body.position.x / ONE] != 1;
        if (!map) {
            inside = true;
            for (uint32_t i = 0; i < walls.count; i++)
                inside = inside && phx_dir_det(walls.wall[i].dir,
                                               phx_dir(body.position.x - walls.wall[i].start.x,
                                                       body.position.y - walls.wall[i].start.y)) >= 0;
        }
        if (!inside) check_body(&walls, &body, 0.25 + unit(&seed) * 2, &seed, k, map ? &maps : &boxes);
        phx_walls_destroy(&walls);
    }
    printf("polygons: %d asked, %d lines, %d velocities permitted, %d of %d free ones forbidden\n",
           boxes.asked, boxes.lines, boxes.permitted, boxes.forbidden_free, boxes.free_before);
    printf("maps: %d asked, %d lines, %d velocities permitted, %d of %d free ones forbidden\n", maps.asked,
           maps.lines, maps.permitted, maps.forbidden_free, maps.free_before);
    CHECK(boxes.permitted > 10000 && maps.permitted > 10000);
    CHECK(boxes.forbidden_free == 0 && maps.forbidden_free == 0);
}

/* Units with one position and velocity: the two of a pair get opposite unit normals, whatever their slots,
 * and each of any number on one spot has a way out that none of the others forbids: their normals leave a gap
 * of half a turn. */
PHX_TEST(orca_lines, of_units_on_one_spot_are_opposite_and_leave_a_way_out) {
    enum { CROWD = 40 };
    uint32_t free_ones = 0;
    for (uint32_t first = 0; first < 4000 * CROWD; first += CROWD) {
        const PhxOrcaBody body[CROWD] = {{.radius = ONE, .velocity = {ONE, 5}},
                                         {.radius = ONE, .velocity = {ONE, 5}}};
        PhxDir normal[CROWD];
        for (uint32_t i = 1; i < CROWD; i++) {
            for (uint32_t side = 0; side < 2; side++) {
                const PhxNear near = {0, first + (side ? 0 : i), 1 - side};
                const PhxOrcaPairs pairs = {.self = &body[side],
                                            .bodies = body,
                                            .near = &near,
                                            .slot = first + (side ? i : 0),
                                            .horizon = ONE,
                                            .inv_horizon = (int64_t)1 << 30,
                                            .max_speed = 2 * ONE,
                                            .inv_tick = (int64_t)20 << 30};
                const PhxDir n = phx_orca_pair_line(&pairs, 0).normal;
                if (side == 0) normal[i] = n;
                CHECK_THAT(side == 0 || (n.x == -normal[i].x && n.y == -normal[i].y),
                           "slots %" PRIu32 " and %" PRIu32, first, first + i);
            }
            CHECK(fabs(hypot(normal[i].x, normal[i].y) * 0x1p-30 - 1) < 1e-8);
        }
        bool free = false;
        for (int k = 0; k < 256 && !free; k++) {
            const double x = cos(k * 0.0245436926), y = sin(k * 0.0245436926);
            free = true;
            for (int i = 1; i < CROWD && free; i++) free = x * normal[i].x + y * normal[i].y >= -0x1p24;
        }
        free_ones += free;
    }
    CHECK_EQ(free_ones, 4000);
}
