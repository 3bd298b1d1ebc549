/* cli_files.c: whole files in and out, with a bound on what is read and never half a file written. */
#include "phx/cli.h"
#include "picture/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end whatever the file's size claims to be (a pipe has none); null on failure, errno set; EFBIG
 * above the limit, which `limit_of` (may be null) makes out of the first bytes. */
static char *read_all(FILE *file, PhxCliLimit limit_of, size_t *limit, size_t *size) {
    size_t capacity = 65536, used = 0;
    char *bytes = malloc(capacity);
    while (bytes != NULL) {
        used += fread(bytes + used, 1, capacity - 1 - used, file);
        if (limit_of != NULL) *limit = limit_of(bytes, used);
        limit_of = NULL;
        if (used > *limit && !ferror(file)) errno = EFBIG;
        if (ferror(file) || used > *limit) break;
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

static int load(PhxCli *cli, const char *path, PhxCliLimit limit_of, size_t limit, void **bytes,
                size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return phx_cli_fail(cli, "%s: %s", path, strerror(errno));
    *bytes = read_all(file, limit_of, &limit, size);
    const int fault = *bytes == NULL ? errno : 0;
    fclose(file);
    if (fault == EFBIG) return phx_cli_fail(cli, "%s: larger than %zu bytes", path, limit);
    if (fault != 0) return phx_cli_fail(cli, "%s: %s", path, strerror(fault));
    return PHX_CLI_GO;
}

int phx_cli_load(PhxCli *cli, const char *path, size_t limit, void **bytes, size_t *size) {
    return load(cli, path, NULL, limit, bytes, size);
}

int phx_cli_load_by(PhxCli *cli, const char *path, PhxCliLimit limit_of, void **bytes, size_t *size) {
    return load(cli, path, limit_of, 0, bytes, size);
}

int phx_cli_writable(PhxCli *cli, const char *path) {
    struct stat about;
    if (path == NULL) return PHX_CLI_GO;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode)) return phx_cli_fail(cli, "%s: %s", path, strerror(EISDIR));
        if (access(path, W_OK) == 0) return PHX_CLI_GO;
        return phx_cli_fail(cli, "%s: %s", path, strerror(errno));
    }
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file < 0 && errno == EEXIST) return PHX_CLI_GO; /* a link to a file that is yet to be made */
    if (file < 0) return phx_cli_fail(cli, "%s: %s", path, strerror(errno));
    close(file);
    unlink(path);
    return PHX_CLI_GO;
}

int phx_cli_writable_picture(PhxCli *cli, const char *path) {
    PhxError error = {0};
    const PhxStatus status = path != NULL ? phx_picture_check(path, &error) : PHX_OK;
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(cli, path, status, &error);
}

int phx_cli_fail_replay(PhxCli *cli, const char *path, PhxStatus status, int fault, bool begun,
                        const PhxError *error) {
    struct stat about;
    if (!begun && stat(path, &about) == 0 && S_ISREG(about.st_mode)) unlink(path);
    if (status != PHX_ERROR_IO || fault == 0) return phx_cli_fail_status(cli, path, status, error);
    return phx_cli_fail(cli, "%s: %s%s", path, strerror(fault),
                        begun ? "; the replay is cut there: phx replay info says what was kept" : "");
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
