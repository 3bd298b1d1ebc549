/* cli_values.c: what options hold: numbers within a range, lists of numbers, threads; and JSON values. */
#include "phx/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int phx_cli_range(PhxCli *cli, const char *option, long long value, long long low, long long high) {
    if (value >= low && value <= high) return PHX_CLI_GO;
    return phx_cli_fail(cli, "%s: %lld: a number from %lld to %lld is wanted", option, value, low, high);
}

int phx_cli_optional(PhxCli *cli, const char *option, long long *value, long long low, long long high,
                     const char *otherwise) {
    if (*value == PHX_CLI_DEFAULT) return *value = 0, PHX_CLI_GO;
    if (*value >= low && *value <= high) return PHX_CLI_GO;
    return phx_cli_fail(cli, "%s: %lld: a number from %lld to %lld is wanted; leave the option out for %s",
                        option, *value, low, high, otherwise);
}

/* strtoull without its white space, signs and silent overflow. */
static bool parse_u64(const char *text, size_t length, uint64_t *out) {
    char copy[32];
    if (length == 0 || length >= sizeof copy || text[0] < '0' || text[0] > '9') return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *end;
    errno = 0;
    const bool hex = copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X');
    if (hex && copy[2] == 0) return false;
    const unsigned long long value = strtoull(copy, &end, hex ? 16 : 10);
    if (errno != 0 || *end != 0) return false;
    *out = value;
    return true;
}

int phx_cli_u64(PhxCli *cli, const char *option, const char *text, uint64_t *out) {
    if (parse_u64(text, strlen(text), out)) return PHX_CLI_GO;
    return phx_cli_fail(cli, "%s: %.40s: a whole number from 0 to 2^64 - 1 is wanted, decimal or 0x", option,
                        text);
}

int phx_cli_list(PhxCli *cli, const char *option, const char *text, uint32_t low, uint32_t high,
                 uint32_t *out, uint32_t limit, uint32_t *count) {
    *count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        uint64_t value;
        if (!parse_u64(at, length, &value) || value < low || value > high)
            return phx_cli_fail(
                cli, "%s: %.40s: numbers from %" PRIu32 " to %" PRIu32 " with commas between are wanted",
                option, text, low, high);
        if (*count == limit) return phx_cli_fail(cli, "%s: at most %" PRIu32 " numbers", option, limit);
        out[(*count)++] = (uint32_t)value;
        at += length;
        if (*at == 0) return PHX_CLI_GO;
    }
}

void phx_cli_set(PhxCli *cli, const char *key, json_t *value) {
    /* Text that is no UTF-8 (a path) can't be JSON: null then. */
    if (json_object_set_new(cli->root, key, value != NULL ? value : json_null()) != 0) abort();
}

json_t *phx_cli_hash_json(uint64_t hash) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return json_string(text);
}

int phx_cli_jobs_begin(PhxCli *cli, uint32_t threads, PhxJobs *out) {
    const int code = phx_cli_range(cli, "--threads", threads, 1, PHX_JOBS_WORKERS_MAX);
    if (code != PHX_CLI_GO) return code;
    *out = phx_jobs_serial();
    if (threads == 1) return PHX_CLI_GO;
    const PhxStatus status = phx_jobs_threads_create(threads, out);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(cli, "--threads", status, NULL);
}

void phx_cli_jobs_end(PhxJobs *jobs, uint32_t threads) {
    if (threads > 1) phx_jobs_threads_destroy(jobs);
}
