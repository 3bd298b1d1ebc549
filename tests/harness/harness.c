/* harness.c: what both runners share, and the plain runner. */
#include "harness.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void phx_test_fail(const char *file, int line, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s:%d: FAILED: %s\n", file, line, text);
#ifdef PHX_CRITERION
    cr_assert_fail("%s:%d: %s", file, line, text);
#endif
    exit(1);
}

static bool shared_is_required(void) {
    const char *require = getenv("PHX_REQUIRE_SHARED");
    return require && strcmp(require, "1") == 0;
}

#ifndef PHX_CRITERION
#include <setjmp.h>
static jmp_buf skip_target;
#endif

void phx_test_skip(const char *why) {
    if (shared_is_required())
        phx_test_fail(__FILE__, __LINE__, "PHX_REQUIRE_SHARED=1, and the test would skip: %s", why);
    fprintf(stderr, "SKIPPED: %s\n", why);
#ifdef PHX_CRITERION
    cr_skip_test("%s", why);
    exit(0);
#else
    longjmp(skip_target, 1);
#endif
}

char *test_read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    char *data = malloc((size_t)length + 1);
    const size_t got = data ? fread(data, 1, (size_t)length, file) : 0;
    fclose(file);
    if (!data || got != (size_t)length) {
        free(data);
        return NULL;
    }
    data[length] = 0;
    if (size) *size = (size_t)length;
    return data;
}

const char *test_shared(const char *relative) {
    static char path[2048];
    const char *root = getenv("PHX_SHARED");
    snprintf(path, sizeof path, "%s/%s", root ? root : PHX_SHARED_DIR, relative);
    if (access(path, R_OK) != 0) {
        static char why[2100];
        snprintf(why, sizeof why, "no reference data at %s", path);
        phx_test_skip(why);
    }
    return path;
}

const char *test_source(const char *relative) {
    static char path[2048];
    snprintf(path, sizeof path, "%s/%s", PHX_SOURCE_DIR, relative);
    return path;
}

const char *test_scratch(const char *name) {
    static char path[2048];
    snprintf(path, sizeof path, "%s/scratch", PHX_BUILD_DIR);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/scratch/%s-%ld", PHX_BUILD_DIR, name, (long)getpid());
    mkdir(path, 0777);
    return path;
}

#ifndef PHX_CRITERION
static PhxTestCase *first_test;

void phx_test_register(PhxTestCase *test) {
    PhxTestCase **end = &first_test;
    while (*end) end = &(*end)->next;
    *end = test;
}

/* True if the test ran, false if it skipped. A function of its own: longjmp may spoil the locals of the one
 * that calls setjmp. */
static bool run_to_the_end(const PhxTestCase *test) {
    if (setjmp(skip_target) != 0) return false;
    test->run();
    return true;
}

int main(int argc, char **argv) {
    const bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    const char *wanted = argc > 1 && !list ? argv[1] : "";
    int ran = 0, skipped = 0;
    for (const PhxTestCase *test = first_test; test; test = test->next) {
        char name[256];
        snprintf(name, sizeof name, "%s_%s", test->module, test->behaviour);
        if (!strstr(name, wanted)) continue;
        if (list) {
            puts(name);
            continue;
        }
        fprintf(stderr, "%s\n", name);
        if (run_to_the_end(test))
            ran++;
        else
            skipped++;
    }
    if (list) return 0;
    printf("%d passed, 0 failed, %d skipped\n", ran, skipped);
    return ran + skipped > 0 ? 0 : 1;
}
#endif
