/* file.c: replays in files: the sink that writes one as the match runs, and reading one into memory.
 *
 * In: a path. Out: bytes on disk, or in memory under a limit that is checked while reading.
 * Cost: one write to the operating system for each flush; a flush with `sync` waits for the disk.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* fileno, fsync */
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/record.h"

struct PhxReplayFile {
    FILE *stream;
    PhxReplayFileOptions options;
    uint32_t unflushed; /* ticks */
    PhxStatus status;
    int fault; /* errno of the first failure; 0: none, or the system gave none */
};

/* Keeps what the system says of a failed call; later ones fail for the same reason or a lesser one. */
static PhxStatus checked(PhxReplayFile *file, bool good) {
    if (good) return PHX_OK;
    if (file->fault == 0) file->fault = errno;
    return PHX_ERROR_IO;
}

static PhxStatus to_disk(PhxReplayFile *file) {
    errno = 0;
    if (fflush(file->stream) != 0) return checked(file, false);
    if (!file->options.sync) return PHX_OK;
#if defined(_WIN32)
    return checked(file, _commit(_fileno(file->stream)) == 0);
#else
    return checked(file, fsync(fileno(file->stream)) == 0);
#endif
}

static PhxStatus file_write(void *user, const void *bytes, size_t size) {
    PhxReplayFile *file = user;
    if (file->status != PHX_OK) return file->status;
    errno = 0;
    return file->status = checked(file, fwrite(bytes, 1, size, file->stream) == size);
}

static PhxStatus file_tick_done(void *user, bool now) {
    PhxReplayFile *file = user;
    if (file->status != PHX_OK) return file->status;
    if (!now && ++file->unflushed < file->options.flush_ticks) return PHX_OK;
    if (!now) file->unflushed = 0; /* else the tick's end is still to come */
    return file->status = to_disk(file);
}

PhxStatus phx_replay_file_create(const char *path, const PhxReplayFileOptions *options, PhxReplayFile **out,
                                 PhxError *error) {
    *out = NULL;
    PhxReplayFile *file = calloc(1, sizeof *file);
    if (!file) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "%s: out of memory", path);
    if (options) file->options = *options;
    errno = 0;
    file->stream = fopen(path, "wb");
    if (!file->stream) {
        free(file);
        return phx_error_set(error, PHX_ERROR_IO, 0, "%s: %s", path, strerror(errno));
    }
    *out = file;
    return PHX_OK;
}

PhxReplaySink phx_replay_file_sink(PhxReplayFile *file) {
    return (PhxReplaySink){.write = file_write, .tick_done = file_tick_done, .user = file};
}

int phx_replay_file_fault(const PhxReplayFile *file) { return file ? file->fault : 0; }

PhxStatus phx_replay_file_close(PhxReplayFile *file) {
    if (!file) return PHX_OK;
    PhxStatus status = file->status;
    if (status == PHX_OK) status = to_disk(file);
    errno = 0;
    if (fclose(file->stream) != 0) status = checked(file, false);
    errno = file->fault;
    free(file);
    return status;
}

/* Reads all of a stream, at most `limit` bytes, into a buffer that doubles as bytes come in: no size is
 * believed, and what doesn't begin as a replay (a device without an end, say) isn't read on: its first bytes
 * are returned, for phx_replay_open to refuse. */
static PhxStatus read_all(FILE *stream, size_t limit, uint8_t **out, size_t *out_size) {
    size_t capacity = limit < 65536 ? limit + 1 : 65536, size = 0;
    uint8_t *bytes = malloc(capacity);
    PhxStatus status = bytes ? PHX_OK : PHX_ERROR_MEMORY;
    while (status == PHX_OK) {
        const size_t got = fread(bytes + size, 1, capacity - size, stream);
        size += got;
        if (size > limit)
            status = PHX_ERROR_LIMIT;
        else if (ferror(stream))
            status = PHX_ERROR_IO;
        else if (size < capacity || memcmp(bytes, phx_replay_signature, PHX_REPLAY_SIGNATURE_SIZE) != 0)
            break;
        else {
            capacity = capacity <= limit / 2 ? capacity * 2 : limit + 1;
            uint8_t *larger = realloc(bytes, capacity);
            if (larger)
                bytes = larger;
            else
                status = PHX_ERROR_MEMORY;
        }
    }
    if (status != PHX_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    *out_size = size;
    return PHX_OK;
}

PhxStatus phx_replay_load(const char *path, uint64_t size_limit, PhxReplay **out, PhxError *error) {
    const uint64_t most = SIZE_MAX / 2 < UINT64_C(1) << 32 ? SIZE_MAX / 2 : UINT64_C(1) << 32;
    const size_t limit = (size_t)(size_limit == 0 || size_limit > most ? most : size_limit);
    uint8_t *bytes = NULL;
    size_t size = 0;
    *out = NULL;
    errno = 0;
    FILE *stream = fopen(path, "rb");
    if (!stream) return phx_error_set(error, PHX_ERROR_IO, 0, "%s: %s", path, strerror(errno));
    PhxStatus status = read_all(stream, limit, &bytes, &size);
    const int reason = errno;
    fclose(stream);
    if (status == PHX_ERROR_LIMIT)
        return phx_error_set(error, status, limit, "%s: larger than %llu bytes", path,
                             (unsigned long long)limit);
    if (status != PHX_OK)
        return phx_error_set(error, status, 0, "%s: %s", path,
                             status == PHX_ERROR_IO ? strerror(reason) : phx_status_text(status));
    PhxError fault = {0};
    status = phx_replay_open(bytes, size, NULL, out, &fault);
    if (status != PHX_OK) {
        free(bytes);
        return phx_error_set(error, status, fault.offset, "%s: %s", path, fault.text);
    }
    (*out)->owned = bytes;
    return PHX_OK;
}
