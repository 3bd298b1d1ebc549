/* picture.c (test): trails stay within their bounds and end where units stand; the file holds what the world
 * holds. */
#include "picture/paint.h"

#include <math.h>
#include <unistd.h>

#include "draw_sample.h"

/* The points of a unit's trail in world units. */
static uint32_t trail_points(const PhxTrails *trails, uint32_t unit, double (*points)[2], uint32_t limit) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 8, 8);
    PhxCanvas canvas = {.cairo = cairo_create(surface), .scale = 1};
    uint32_t count = 0;
    if (phx_trails_path(trails, &canvas, unit)) {
        cairo_path_t *path = cairo_copy_path_flat(canvas.cairo);
        for (int i = 0; i < path->num_data && count < limit; i += path->data[i].header.length, count++) {
            points[count][0] = path->data[i + 1].point.x;
            points[count][1] = path->data[i + 1].point.y;
        }
        cairo_path_destroy(path);
    }
    cairo_destroy(canvas.cairo);
    cairo_surface_destroy(surface);
    return count;
}

PHX_TEST(picture, a_trail_spans_the_whole_match_in_bounded_samples) {
    enum { TICKS = 5000 };
    static double points[4096][2], was[TICKS + 1][SAMPLE_UNITS][2];
    PhxSim *sim = sample_sim();
    PhxTrails *trails = phx_trails_create(sim);
    const fix16_t start_x = phx_sim_units(sim).pos_x[0], start_y = phx_sim_units(sim).pos_y[0];
    PhxVec2 at;
    CHECK(!phx_trails_goal(trails, 0, &at));
    /* Far more ticks than samples; the units move during the first few hundred. */
    for (int tick = 0; tick <= TICKS; tick++) {
        const PhxUnitView now = phx_sim_units(sim);
        for (uint32_t i = 0; i < SAMPLE_UNITS; i++)
            was[tick][i][0] = now.pos_x[i] / 65536.0, was[tick][i][1] = now.pos_y[i] / 65536.0;
        if (tick == TICKS) break;
        sample_step(sim);
        phx_trails_record(trails, sim);
    }
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++) {
        const uint32_t count = trail_points(trails, i, points, 4096);
        CHECK_THAT(count >= 10 && count <= 1024, "unit %u: %u points", i, count);
        CHECK_THAT(fabs(points[count - 1][0] - units.pos_x[i] / 65536.0) < 0.5 &&
                       fabs(points[count - 1][1] - units.pos_y[i] / 65536.0) < 0.5,
                   "unit %u ends at %f, %f", i, points[count - 1][0], points[count - 1][1]);
        /* Each point is a place where the unit was (an eighth of a unit exact), in the order of time. (Cairo
         * itself joins points on one line.) */
        uint32_t tick = 0;
        for (uint32_t k = 0; k < count; k++) {
            while (tick <= TICKS && (fabs(was[tick][i][0] - points[k][0]) > 0.13 ||
                                     fabs(was[tick][i][1] - points[k][1]) > 0.13))
                tick++;
            CHECK_THAT(tick <= TICKS, "unit %u point %u: %f, %f", i, k, points[k][0], points[k][1]);
        }
    }
    CHECK(phx_trails_start(trails, 0, &at));
    CHECK(abs(at.x - start_x) <= 8192 && abs(at.y - start_y) <= 8192);
    CHECK(phx_trails_goal(trails, 0, &at));
    CHECK(at.x == 40 * fix16_one && at.y == 26 * fix16_one);
    CHECK(!phx_trails_start(trails, 100000, &at));
    phx_trails_destroy(trails);
    phx_sim_destroy(sim);
}

typedef struct Rgb {
    int r, g, b;
} Rgb;
static Rgb mean_of(cairo_surface_t *surface, const PhxCanvas *canvas, double x, double y, double side) {
    const unsigned char *data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    long sum[3] = {0}, count = 0;
    for (int j = (int)(canvas->top + y * canvas->scale); j < canvas->top + (y + side) * canvas->scale; j++)
        for (int i = (int)(canvas->left + x * canvas->scale); i < canvas->left + (x + side) * canvas->scale;
             i++, count++) {
            uint32_t pixel;
            memcpy(&pixel, data + (long)j * stride + i * 4L, 4);
            for (int c = 0; c < 3; c++) sum[c] += pixel >> (16 - 8 * c) & 255;
        }
    return (Rgb){(int)(sum[0] / count), (int)(sum[1] / count), (int)(sum[2] / count)};
}

PHX_TEST(picture, the_file_shows_water_woods_and_units_where_they_are) {
    static char letters[SAMPLE_WIDTH * SAMPLE_HEIGHT];
    char path[1024], again[1024];
    PhxError error;
    PhxSim *sim = sample_sim();
    PhxTrails *trails = phx_trails_create(sim);
    for (int tick = 0; tick < 60; tick++) sample_step(sim), phx_trails_record(trails, sim);
    for (uint32_t i = 0; i < SAMPLE_WIDTH * SAMPLE_HEIGHT; i++)
        letters[i] = sample_letter(i % SAMPLE_WIDTH, i / SAMPLE_WIDTH);
    snprintf(path, sizeof path, "%s/a.png", test_scratch("picture"));
    snprintf(again, sizeof again, "%s/b.png", test_scratch("picture_again"));
    const PhxPictureOptions options = {.title = "Sample <&> \xc3\xa9", .letters = letters, .size = 960};
    CHECK_OK(phx_picture_write_png(path, sim, trails, &options, &error));
    CHECK_OK(phx_picture_write_png(again, sim, trails, &options, &error));
    size_t size, size_again;
    char *bytes = test_read_file(path, &size), *bytes_again = test_read_file(again, &size_again);
    CHECK(size == size_again && memcmp(bytes, bytes_again, size) == 0);
    free(bytes), free(bytes_again);

    cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
    CHECK_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    const int width = cairo_image_surface_get_width(surface),
              height = cairo_image_surface_get_height(surface);
    CHECK(width >= 960 && width < 1060 && height >= 640 && height < 860);
    const PhxCanvas canvas = {.left = (width - 960) / 2, .top = (width - 960) / 2, .scale = 20};
    const Rgb water = mean_of(surface, &canvas, 34, 7, 4), woods = mean_of(surface, &canvas, 9, 21, 4);
    CHECK(water.b > water.r + 30 && water.b > water.g);
    CHECK(woods.g > woods.r + 10 && woods.g > woods.b + 10);
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++) {
        const PhxDrawColor want = phx_draw_player_color(units.player[i]);
        /* Behind the centre, where the nose isn't. */
        const double angle = units.heading[i] * 6.283185307179586 / 65536;
        const Rgb got = mean_of(surface, &canvas, units.pos_x[i] / 65536.0 - 0.15 * cos(angle) - 0.03,
                                units.pos_y[i] / 65536.0 - 0.15 * sin(angle) - 0.03, 0.06);
        CHECK_THAT(abs(got.r - (int)(want >> 24)) + abs(got.g - (int)(want >> 16 & 255)) +
                           abs(got.b - (int)(want >> 8 & 255)) <
                       60,
                   "unit %u is %d %d %d", i, got.r, got.g, got.b);
    }
    cairo_surface_destroy(surface);
    phx_trails_destroy(trails);
    phx_sim_destroy(sim);
}

PHX_TEST(picture, svg_by_name_defaults_and_a_path_that_cannot_be_written) {
    char path[1024];
    PhxError error = {0};
    PhxSim *sim = sample_sim();
    snprintf(path, sizeof path, "%s/a.svg", test_scratch("picture_svg"));
    CHECK_OK(phx_picture_write_png(path, sim, NULL, NULL, &error));
    size_t size;
    char *bytes = test_read_file(path, &size);
    CHECK(bytes && size > 1000 && strstr(bytes, "<svg") && strstr(bytes, "</svg>"));
    free(bytes);
    /* What is wrong is known before, and said in the system's words. */
    static const struct {
        const char *path, *says;
        PhxStatus status;
    } bad[] = {{"/nowhere/at/all.png", "/nowhere/at/all.png: No such file or directory", PHX_ERROR_IO},
               {"/nowhere/at/all.svg", "/nowhere/at/all.svg: No such file or directory", PHX_ERROR_IO},
               {"/", "/: Is a directory", PHX_ERROR_IO},
               {"a.gif", "a.gif: pictures are written as .png or .svg", PHX_ERROR_ARGUMENT}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(phx_picture_check(bad[i].path, &error), bad[i].status);
        CHECK_THAT(strstr(error.text, bad[i].says) == error.text, "%s", error.text);
        error = (PhxError){0};
        CHECK_EQ(phx_picture_write_png(bad[i].path, sim, NULL, NULL, &error), bad[i].status);
        CHECK_THAT(strstr(error.text, bad[i].says) == error.text, "%s", error.text);
    }
    /* A look leaves nothing behind. */
    snprintf(path, sizeof path, "%s/looked.PNG", test_scratch("picture_svg"));
    CHECK_OK(phx_picture_check(path, &error));
    CHECK(access(path, F_OK) != 0);
    strcat(path, ".part");
    CHECK(access(path, F_OK) != 0);
    /* A device is written as it is; a full one says so. */
    if (access("/dev/full", W_OK) == 0) {
        CHECK_EQ(phx_picture_write_png("/dev/full", sim, NULL, NULL, &error), PHX_ERROR_IO);
        CHECK_STR(error.text, "/dev/full: No space left on device");
    }
    /* Far fewer pixels than cells would need: clamped, not refused. */
    const PhxPictureOptions tiny = {.size = 1};
    snprintf(path, sizeof path, "%s/tiny.png", test_scratch("picture_tiny"));
    CHECK_OK(phx_picture_write_png(path, sim, NULL, &tiny, &error));
    phx_sim_destroy(sim);
}
