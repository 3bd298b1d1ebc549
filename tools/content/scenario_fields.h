/* scenario_fields.h: a mapping of YAML into a structure, by a table of its keys. Internal to tools/content.
 *
 * Each key is one line: its name, kind, range and place in the structure. Reading refuses unknown keys (and
 * lists the known ones), wrong kinds, values out of range and missing keys, each with line and column.
 */
#ifndef PHX_TOOLS_SCENARIO_FIELDS_H
#define PHX_TOOLS_SCENARIO_FIELDS_H

#include "content/scenario.h"

typedef enum FieldKind {
    FIELD_TEXT, /* char[size]: 1 .. size - 1 bytes without control characters */
    FIELD_U64,  /* decimal or 0x */
    FIELD_U32,  /* decimal, low .. high */
    FIELD_U16,
    FIELD_U8,
    FIELD_I16,       /* decimal with a sign, low .. high */
    FIELD_BOOL,      /* true, false */
    FIELD_CELLS,     /* [a, b] of whole numbers, low .. high, to uint16_t[2] */
    FIELD_TEAMS,     /* list of team numbers, perhaps empty, to a uint16_t of bits */
    FIELD_FIX,       /* fix16_t, low .. high raw */
    FIELD_TURN_RATE, /* degrees a second, to int32_t binary angle */
    FIELD_FACING,    /* degrees, to PhxAngle */
    FIELD_POINT,     /* [x, y], to a PhxPlace */
    FIELD_SCATTER,   /* [low x, low y, high x, high y], to a PhxPlace */
    FIELD_CORNER,    /* a corner's name, to a PhxPlace */
    FIELD_NODE       /* uint32_t: index of the node, read by the caller */
} FieldKind;

typedef struct Field {
    const char *key;
    FieldKind kind;
    bool required;
    size_t offset;
    int64_t low, high;
    size_t size;
} Field;

typedef struct FieldReader {
    const PhxYamlTree *tree;
    PhxYamlError *error;
} FieldReader;

/* Reads `node` into `out`; bit i of *given (may be null) tells that fields[i] was there. `what` is "a group"
 * and the like. At most 64 fields. */
PHX_MUST_USE PhxStatus phx_fields_read(const FieldReader *reader, const PhxYamlNode *node, const char *what,
                                       const Field *fields, uint32_t count, void *out, uint64_t *given);

/* A fault of a node: "file:line:column: key: value: words". */
PhxStatus phx_fields_fail(const FieldReader *reader, const PhxYamlNode *node, PhxStatus status,
                          const char *format, ...) PHX_PRINTF(4, 5);

/* [x, y], with bounds of both. */
PHX_MUST_USE PhxStatus phx_fields_read_point(const FieldReader *reader, const PhxYamlNode *node, int64_t low,
                                             int64_t high, PhxVec2 *out);
/* A list of team numbers, perhaps empty, to bits. */
PHX_MUST_USE PhxStatus phx_fields_read_teams(const FieldReader *reader, const PhxYamlNode *node,
                                             uint16_t *out);

/* A whole decimal number without sign; false for other text or above UINT64_MAX. `hex` allows 0x too. */
bool phx_fields_number(const char *text, uint32_t length, bool hex, uint64_t *out);

#endif
