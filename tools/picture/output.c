/* output.c: a picture's file, whole or not at all. See output.h; phx_picture_check is in picture.h. */
#include "picture/output.h"

#include "picture/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The ending of the file's name with its dot, or "". */
static const char *ending(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot : "";
}

bool phx_picture_is_svg(const char *path) { return strcasecmp(ending(path), ".svg") == 0; }

static PhxStatus fail(const char *path, int fault, PhxError *error) {
    return phx_error_set(error, PHX_ERROR_IO, 0, "%s: %s", path, strerror(fault ? fault : EIO));
}

/* *beside becomes the name to write first, or null for what can't be renamed over. */
static PhxStatus plan(const char *path, char **beside, PhxError *error) {
    struct stat about;
    const char *end = ending(path);
    const bool there = stat(path, &about) == 0;
    *beside = NULL;
    if (there && S_ISDIR(about.st_mode)) return fail(path, EISDIR, error);
    if (there && !S_ISREG(about.st_mode)) return PHX_OK;
    if (end[0] && strcasecmp(end, ".png") != 0 && !phx_picture_is_svg(path))
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0,
                             "%s: pictures are written as .png or .svg: give the file one of these endings",
                             path);
    const size_t size = strlen(path) + sizeof ".part";
    *beside = malloc(size);
    if (!*beside) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "%s: out of memory", path);
    snprintf(*beside, size, "%s.part", path);
    return PHX_OK;
}

PhxStatus phx_picture_check(const char *path, PhxError *error) {
    char *beside;
    struct stat about;
    PhxStatus status = plan(path, &beside, error);
    if (status != PHX_OK) return status;
    if (!beside) return access(path, W_OK) == 0 ? PHX_OK : fail(path, errno, error);
    const bool left_over = stat(beside, &about) == 0;
    const int file = open(beside, O_WRONLY | O_CREAT, 0666);
    if (file < 0) status = fail(path, errno, error);
    if (file >= 0) close(file);
    if (file >= 0 && !left_over) unlink(beside);
    free(beside);
    return status;
}

PhxStatus phx_picture_output_open(PhxPictureOutput *output, const char *path, PhxError *error) {
    *output = (PhxPictureOutput){.path = path};
    const PhxStatus status = plan(path, &output->beside, error);
    if (status != PHX_OK) return status;
    output->file = fopen(output->beside ? output->beside : path, "wb");
    if (output->file) return PHX_OK;
    const int fault = errno;
    free(output->beside);
    return fail(path, fault, error);
}

cairo_status_t phx_picture_output_write(void *user, const unsigned char *bytes, unsigned int size) {
    PhxPictureOutput *output = user;
    errno = 0;
    if (!output->fault && fwrite(bytes, 1, size, output->file) == size) return CAIRO_STATUS_SUCCESS;
    if (!output->fault) output->fault = errno ? errno : EIO;
    return CAIRO_STATUS_WRITE_ERROR;
}

PhxStatus phx_picture_output_close(PhxPictureOutput *output, bool keep, PhxError *error) {
    int fault = output->fault;
    if (fclose(output->file) != 0 && !fault) fault = errno ? errno : EIO;
    if (!fault && keep && output->beside && rename(output->beside, output->path) != 0) fault = errno;
    if ((fault || !keep) && output->beside) unlink(output->beside);
    free(output->beside);
    output->beside = NULL;
    return fault ? fail(output->path, fault, error) : PHX_OK;
}

PhxStatus phx_picture_finish(cairo_surface_t *surface, PhxPictureOutput *output, PhxStatus painted,
                             PhxError *error) {
    const bool svg = phx_picture_is_svg(output->path);
    cairo_status_t status = cairo_surface_status(surface);
    if (!painted && !status && !svg)
        status = cairo_surface_write_to_png_stream(surface, phx_picture_output_write, output);
    cairo_surface_finish(surface);
    if (!status) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    const char *path = output->path;
    const PhxStatus written = phx_picture_output_close(output, !painted && !status, error);
    if (painted == PHX_ERROR_MEMORY || status == CAIRO_STATUS_NO_MEMORY)
        return phx_error_set(error, PHX_ERROR_MEMORY, 0, "%s: no memory for the picture", path);
    if (written) return written;
    if (status) return phx_error_set(error, PHX_ERROR_IO, 0, "%s: %s", path, cairo_status_to_string(status));
    return painted;
}
