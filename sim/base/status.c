/* status.c: names of statuses, and the one place where an error's text is formatted. */
#include <phalanx/status.h>

#include <stdarg.h>
#include <stdio.h>

#define STATUS_NAME(name, text) "PHX_" #name,
#define STATUS_TEXT(name, text) text,
static const char *const status_names[] = {PHX_STATUS_LIST(STATUS_NAME)};
static const char *const status_texts[] = {PHX_STATUS_LIST(STATUS_TEXT)};
enum { STATUS_COUNT = sizeof status_names / sizeof status_names[0] };

const char *phx_status_name(PhxStatus status) {
    return (unsigned)status < STATUS_COUNT ? status_names[status] : "PHX_ERROR_UNKNOWN";
}

const char *phx_status_text(PhxStatus status) {
    return (unsigned)status < STATUS_COUNT ? status_texts[status] : "a status that this build does not know";
}

PhxStatus phx_error_set(PhxError *error, PhxStatus status, uint64_t offset, const char *format, ...) {
    if (error) {
        va_list args;
        error->status = status;
        error->offset = offset;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}
