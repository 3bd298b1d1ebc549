/* cmd_bench_crowd_say.c: phx bench crowd: its rows as tables and as JSON. */
#include "phx/cmd_bench_crowd.h"

#include <inttypes.h>
#include <string.h>

static const double rest_target = 0.002, apart_target = 1;

static double a_second(const PhxBenchCrowdRow *row) {
    return row->ms_median > 0 ? row->count * 1e3 / row->ms_median : 0;
}

static bool begins_at_one_point(const PhxBenchCrowdRow *row) { return strcmp(row->name, "point") == 0; }

static void print_special(const PhxCli *cli, const PhxBenchCrowdRow *row) {
    if (row->stands)
        phx_cli_print(cli, "%s: standard deviation of positions over the last second %.5f (at most %g: %s)\n",
                      row->name, row->deviation, rest_target,
                      row->deviation <= rest_target ? "met" : "NOT MET");
    if (!begins_at_one_point(row)) return;
    if (row->apart > 0)
        phx_cli_print(cli, "%s: apart after %.2f s (at most %g: %s)\n", row->name, row->apart, apart_target,
                      row->apart <= apart_target ? "met" : "NOT MET");
    else
        phx_cli_print(cli, "%s: never apart (at most %g s: NOT MET)\n", row->name, apart_target);
}

static void print_row(const PhxCli *cli, const PhxBenchCrowdRow *row) {
    phx_cli_print(cli, "%-11s %6" PRIu32, row->name, row->count);
    if (row->threads > 0)
        phx_cli_print(cli, " %7" PRIu32 " %6" PRIu32 " %9.4f %14.0f", row->threads, row->steps,
                      row->ms_median, a_second(row));
    else
        phx_cli_print(cli, " %7s %6" PRIu32 " %9s %14s", "judged", row->steps, "-", "-");
    phx_cli_print(cli, " %7.4f %9.4f %8.4f %9.5f %8.4f %8.4f %8.4f", row->arrived, row->arrivable,
                  row->overlap_max, row->overlaps, row->wall_max, row->jitter_motion, row->jitter_rest);
    if (row->threads > 0) phx_cli_print(cli, "  %016" PRIx64, row->root);
    phx_cli_print(cli, "\n");
}

void phx_bench_crowd_print(const PhxCli *cli, const PhxBenchCrowdRow *rows, uint32_t count) {
    if (count == 0) return;
    phx_cli_print(cli, "%-11s %6s %7s %6s %9s %14s %7s %9s %8s %9s %8s %8s %8s  %s\n", "scenario", "units",
                  "threads", "steps", "ms/step", "agent-steps/s", "arrived", "arrivable", "overlap",
                  "overlaps", "wall", "jitter", "at rest", "root");
    for (uint32_t i = 0; i < count; i++) print_row(cli, &rows[i]);
    phx_cli_print(cli,
                  "\nms/step: median. arrivable: who can have arrived at the preferred speed, straight. "
                  "overlap, wall: deepest, in\n"
                  "radii. overlaps: pairs an agent-step. jitter: changes of side a unit and second in motion "
                  "and at rest, of lateral\n"
                  "accelerations above %g.\n",
                  rows[0].threshold);
    for (uint32_t i = 0; i < count; i++) print_special(cli, &rows[i]);
}

static void set_real(json_t *object, const char *key, double value) {
    json_object_set_new(object, key, json_real(value));
}

void phx_bench_crowd_json(const PhxBenchCrowdRow *row, json_t *object) {
    json_object_set_new(object, "scenario", json_string(row->name));
    json_object_set_new(object, "n", json_integer(row->count));
    json_object_set_new(object, "steps", json_integer(row->steps));
    if (row->threads > 0) {
        json_object_set_new(object, "threads", json_integer(row->threads));
        set_real(object, "agent_steps_per_s", a_second(row));
        set_real(object, "ms_per_step", row->ms_median);
        set_real(object, "mean_ms_per_step", row->ms_mean);
    }
    set_real(object, "arrived", row->arrived);
    set_real(object, "arrivable", row->arrivable);
    set_real(object, "overlap_max_radii", row->overlap_max);
    set_real(object, "overlaps_per_agent_step", row->overlaps);
    set_real(object, "wall_max_radii", row->wall_max);
    set_real(object, "wall_unit_steps", row->wall_hits);
    set_real(object, "jitter_rest", row->jitter_rest);
    set_real(object, "jitter_motion", row->jitter_motion);
    set_real(object, "jitter_threshold", row->threshold);
    if (row->stands) {
        set_real(object, "deviation", row->deviation);
        set_real(object, "deviation_target", rest_target);
        json_object_set_new(object, "met", json_boolean(row->deviation <= rest_target));
    }
    if (begins_at_one_point(row)) {
        json_object_set_new(object, "apart_after_s", row->apart > 0 ? json_real(row->apart) : json_null());
        set_real(object, "apart_target_s", apart_target);
        json_object_set_new(object, "met", json_boolean(row->apart > 0 && row->apart <= apart_target));
    }
    if (row->threads > 0) json_object_set_new(object, "root", phx_cli_hash_json(row->root));
}
