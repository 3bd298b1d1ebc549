/* document.c: the table of records in FORMAT.md, from the manifest. */
#include <stdio.h>
#include <string.h>

#include "replay/record.h"

typedef struct Field {
    const char *type, *name, *doc;
} Field;
typedef struct Entry {
    const char *name, *doc;
    unsigned type;
    unsigned long limit;
} Entry;

static void put(PhxTextSink sink, void *user, const char *text) { sink(user, text, strlen(text)); }

static void put_record(PhxTextSink sink, void *user, Entry entry) {
    char line[512];
    snprintf(line, sizeof line, "| **%s** | 0x%02x | %lu | %s |\n", entry.name, entry.type, entry.limit,
             entry.doc);
    put(sink, user, line);
}

static void put_field(PhxTextSink sink, void *user, Field field) {
    char line[512], type[8];
    snprintf(type, sizeof type, "%s", field.type);
    type[0] = 'u';
    snprintf(line, sizeof line, "| %s | %s | | %s |\n", field.name, type, field.doc);
    put(sink, user, line);
}

static void put_rest(PhxTextSink sink, void *user, const char *rest) {
    char line[512];
    if (strcmp(rest, "nothing") == 0) return;
    snprintf(line, sizeof line, "| | | | then %s |\n", rest);
    put(sink, user, line);
}

void phx_replay_document(PhxTextSink sink, void *user) {
    put(sink, user, "| record, fields | type | most bytes | |\n| --- | --- | --- | --- |\n");
#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc)                                      \
    put_record(sink, user, (Entry){#NAME, doc, number, limit});
#define PHX_REPLAY_FIELD(type, name, doc)               put_field(sink, user, (Field){#type, #name, doc});
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest) put_rest(sink, user, rest);
#include "../format/records.def"
}
