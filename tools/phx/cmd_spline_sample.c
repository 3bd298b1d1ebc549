/* cmd_spline_sample.c: phx spline sample: a rail for a camera or an effect, frame by frame: time, place,
 * where it goes and where it looks. As CSV or JSON; all numbers are fixed point, so that every machine writes
 * the same.
 */
#include "phx/cmd_spline.h"

#include <phalanx/spline_rail.h>
#include <phalanx/vec2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 100000, SECOND = 1000000, ROW = 12 * PHX_FIX_TEXT + 40 };

static const PhxCliUsage usage = {
    .synopsis = "FILE",
    .about =
        "Follows the spline of a file at constant speed and says for each frame: time in seconds, place, "
        "the\ndirections in which it goes and looks (of length 1), heading in degrees. The file is YAML or, "
        "where\nits name ends in .csv, lines x,y or x,y,z:\n\n" PHX_SPLINE_TEXT_ABOUT
        "\nWith --look another spline says what it looks at, at the same share of its length.",
    .examples = "  phx spline sample flight.yaml --speed 8 --rate 60 --out flight.csv\n"
                "  phx spline sample flight.yaml --mode ping-pong --seconds 20 --look town.yaml --json\n",
    .least = 1,
    .most = 1};

typedef struct Sample {
    PhxCli *cli;
    char *out, *speed, *rate, *mode, *seconds, *look;
    PhxSplineText text, look_text;
    PhxSplineCurve curve, look_curve;
    PhxSplineRail rail;
    uint32_t frames;
    uint64_t hertz;
} Sample;

static int read_mode(Sample *sample) {
    static const char *const modes[] = {"once", "loop", "ping-pong"};
    if (sample->mode == NULL) return PHX_CLI_GO;
    for (uint32_t i = 0; i < 3; i++)
        if (!strcmp(sample->mode, modes[i])) {
            sample->rail.mode = (PhxSplineMode)i;
            return PHX_CLI_GO;
        }
    return phx_cli_fail(sample->cli, "--mode %.40s: once, loop or ping-pong is wanted", sample->mode);
}

/* A number above 0 and at most `most`, in units of 1 / 65536. */
static int read_number(Sample *sample, const char *option, const char *text, int most, fix16_t *out) {
    if (text == NULL) return PHX_CLI_GO;
    if (phx_fix_parse(text, strlen(text), out) == PHX_OK && *out > 0 && *out <= most * PHX_FIX_ONE)
        return PHX_CLI_GO;
    return phx_cli_fail(sample->cli, "%s %.40s: a number above 0 and at most %d is wanted", option, text,
                        most);
}

static int read_options(Sample *sample, fix16_t *seconds) {
    sample->hertz = 30;
    sample->rail.speed = PHX_FIX_ONE;
    int code = read_mode(sample);
    if (code == PHX_CLI_GO) code = read_number(sample, "--speed", sample->speed, 16384, &sample->rail.speed);
    if (code == PHX_CLI_GO) code = read_number(sample, "--seconds", sample->seconds, 30000, seconds);
    if (code == PHX_CLI_GO && sample->rate)
        code = phx_cli_u64(sample->cli, "--rate", sample->rate, &sample->hertz);
    if (code == PHX_CLI_GO && (sample->hertz < 1 || sample->hertz > 1000))
        code = phx_cli_fail(sample->cli, "--rate %.40s: a number from 1 to 1000 is wanted", sample->rate);
    return code;
}

static uint64_t time_of(const Sample *sample, uint32_t frame) {
    return (uint64_t)frame * SECOND / sample->hertz;
}

/* Curves, rail, and how many frames there are. */
static int make(Sample *sample, fix16_t seconds) {
    PhxCli *cli = sample->cli;
    int code = phx_spline_text_read(cli, cli->arguments[0], &sample->text);
    if (code == PHX_CLI_GO) code = phx_spline_curve_make(cli, &sample->text, &sample->curve);
    if (code == PHX_CLI_GO && sample->look)
        code = phx_spline_text_read(cli, sample->look, &sample->look_text);
    if (code == PHX_CLI_GO && sample->look)
        code = phx_spline_curve_make(cli, &sample->look_text, &sample->look_curve);
    if (code != PHX_CLI_GO) return code;
    PhxSplineRail *rail = &sample->rail;
    rail->eye = &sample->curve.spline, rail->eye_lengths = &sample->curve.lengths;
    if (sample->look)
        rail->target = &sample->look_curve.spline, rail->target_lengths = &sample->look_curve.lengths;
    const PhxStatus status = phx_spline_rail_check(rail);
    if (status != PHX_OK) return phx_cli_fail_status(cli, sample->text.path, status, NULL);
    const uint64_t turn = rail->mode == PHX_SPLINE_PING_PONG ? 2 : 1;
    const uint64_t time =
        seconds ? (uint64_t)seconds * SECOND / PHX_FIX_ONE : phx_spline_rail_time(rail) * turn;
    const uint64_t frames = (time * sample->hertz + SECOND - 1) / SECOND + 1;
    if (frames > FRAMES)
        return phx_cli_fail(
            cli,
            "that makes %llu frames; at most %d are written: take a lower --rate, a higher --speed, "
            "or --seconds",
            (unsigned long long)frames, FRAMES);
    sample->frames = (uint32_t)frames;
    return PHX_CLI_GO;
}

static fix16_t to_fix(int32_t dir) { return (fix16_t)phx_round_shift(dir, PHX_DIR_BITS - PHX_FIX_BITS); }

static json_t *dir_json(PhxSplineDir d) {
    return json_pack("[f, f, f]", to_fix(d.x) / 65536.0, to_fix(d.y) / 65536.0, to_fix(d.z) / 65536.0);
}

static json_t *frame_json(const PhxSplineView *view, uint64_t time) {
    return json_pack("{s:f, s:[f, f, f], s:o, s:o, s:f, s:f}", "time", (double)time / SECOND, "point",
                     view->at.x / 65536.0, view->at.y / 65536.0, view->at.z / 65536.0, "tangent",
                     dir_json(view->along), "look", dir_json(view->look), "heading",
                     view->heading * 360.0 / 65536, "length", (double)view->length / (1 << 24));
}

static size_t put_number(char *to, fix16_t value) {
    *to = ',';
    return 1 + phx_fix_format(value, to + 1, PHX_FIX_TEXT);
}

static size_t put_row(char *to, const PhxSplineView *view, uint64_t time) {
    const fix16_t degrees = (fix16_t)phx_div_round((int64_t)view->heading * 360 * PHX_FIX_ONE, 65536);
    const fix16_t values[] = {view->at.x,
                              view->at.y,
                              view->at.z,
                              to_fix(view->along.x),
                              to_fix(view->along.y),
                              to_fix(view->along.z),
                              to_fix(view->look.x),
                              to_fix(view->look.y),
                              to_fix(view->look.z),
                              degrees};
    size_t at = (size_t)sprintf(to, "%u.%06u", (unsigned)(time / SECOND), (unsigned)(time % SECOND));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) at += put_number(to + at, values[i]);
    to[at++] = '\n';
    return at;
}

static int write_frames(Sample *sample) {
    static const char head[] = "time,x,y,z,tangent_x,tangent_y,tangent_z,look_x,look_y,look_z,heading\n";
    char *text = malloc(sizeof head + (size_t)sample->frames * ROW);
    if (text == NULL) return phx_cli_fail(sample->cli, "no memory");
    size_t size = sizeof head - 1;
    memcpy(text, head, size);
    json_t *frames = json_array();
    for (uint32_t i = 0; i < sample->frames; i++) {
        const uint64_t time = time_of(sample, i);
        const PhxSplineView view = phx_spline_rail_at(&sample->rail, time);
        size += put_row(text + size, &view, time);
        if (sample->cli->json) json_array_append_new(frames, frame_json(&view, time));
    }
    phx_cli_set(sample->cli, "frames", frames);
    phx_cli_set(sample->cli, "length",
                json_real((double)phx_spline_length(sample->rail.eye_lengths) / (1 << 24)));
    const int code = phx_spline_text_out(sample->cli, sample->out, text, size);
    free(text);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}

static int run(Sample *sample) {
    fix16_t seconds = 0;
    int code = read_options(sample, &seconds);
    if (code == PHX_CLI_GO) code = make(sample, seconds);
    if (code == PHX_CLI_GO && sample->out) code = phx_cli_writable(sample->cli, sample->out);
    return code == PHX_CLI_GO ? write_frames(sample) : code;
}

int phx_spline_cmd_sample(PhxCli *cli, int argc, const char **argv) {
    Sample *sample = calloc(1, sizeof *sample);
    if (sample == NULL) return phx_cli_fail(cli, "no memory");
    sample->cli = cli;
    const struct poptOption table[] = {
        {"speed", 's', POPT_ARG_STRING, &sample->speed, 0, "units a second (default 1)", "X"},
        {"rate", 'r', POPT_ARG_STRING, &sample->rate, 0, "frames a second, 1 to 1000 (default 30)", "N"},
        {"mode", 'm', POPT_ARG_STRING, &sample->mode, 0, "once (default), loop or ping-pong", "MODE"},
        {"seconds", 't', POPT_ARG_STRING, &sample->seconds, 0, "how long (default: once along it, and back)",
         "X"},
        {"look", 'l', POPT_ARG_STRING, &sample->look, 0, "what it looks at: another spline", "FILE"},
        {"out", 'o', POPT_ARG_STRING, &sample->out, 0, "CSV file to write (default: standard output)",
         "FILE"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = run(sample);
    phx_spline_curve_end(&sample->curve);
    phx_spline_curve_end(&sample->look_curve);
    free(sample);
    return code;
}
