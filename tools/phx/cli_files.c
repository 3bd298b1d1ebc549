/* cli_files.c: whole files in and out, with a bound on what is read and never half a file written. */
#include "phx/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end whatever the file's size claims to be (a pipe has none); null on failure, errno set; EFBIG
 * above the limit. */
static char *read_all(FILE *file, size_t limit, size_t *size) {
    size_t capacity = 65536, used = 0;
    char *bytes = malloc(capacity);
    while (bytes != NULL) {
        used += fread(bytes + used, 1, capacity - 1 - used, file);
        if (used > limit) errno = EFBIG;
        if (ferror(file) || used > limit) break;
        if (used < capacity - 1) {
            bytes[used] = 0;
            *size = used;
            return bytes;
        }
        char *larger = realloc(bytes, capacity * 2);
        if (larger == NULL) break;
        bytes = larger;
        capacity *= 2;
    }
    free(bytes);
    return NULL;
}

int phx_cli_load(PhxCli *cli, const char *path, size_t limit, void **bytes, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return phx_cli_fail(cli, "%s: %s", path, strerror(errno));
    *bytes = read_all(file, limit, size);
    const int fault = *bytes == NULL ? errno : 0;
    fclose(file);
    if (fault == EFBIG) return phx_cli_fail(cli, "%s: larger than %zu bytes", path, limit);
    if (fault != 0) return phx_cli_fail(cli, "%s: %s", path, strerror(fault));
    return PHX_CLI_GO;
}

int phx_cli_store(PhxCli *cli, const char *path, const void *bytes, size_t size) {
    /* /dev/stdout, a pipe and the like can't be renamed over. */
    struct stat about;
    const bool plain = stat(path, &about) != 0 || S_ISREG(about.st_mode);
    char beside[4096];
    const int length = snprintf(beside, sizeof beside, "%s%s", path, plain ? ".part" : "");
    if (length < 0 || (size_t)length >= sizeof beside)
        return phx_cli_fail(cli, "%s: the path is too long", path);
    FILE *file = fopen(beside, "wb");
    if (file == NULL) return phx_cli_fail(cli, "%s: %s", beside, strerror(errno));
    bool good = fwrite(bytes, 1, size, file) == size && fflush(file) == 0;
    int fault = good ? 0 : errno;
    if (fclose(file) != 0 && good) good = false, fault = errno;
    if (good && plain && rename(beside, path) != 0) good = false, fault = errno;
    if (good) return PHX_CLI_GO;
    if (plain) unlink(beside);
    return phx_cli_fail(cli, "%s: %s", path, strerror(fault));
}
