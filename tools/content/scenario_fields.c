/* scenario_fields.c: one YAML mapping into one structure, by a table. See scenario_fields.h. */
#include "content/scenario_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_FAULT = 360 };

PhxStatus phx_fields_fail(const FieldReader *reader, const PhxYamlNode *node, PhxStatus status,
                          const char *format, ...) {
    char words[FIELD_FAULT];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    const bool scalar = node->kind == PHX_YAML_SCALAR;
    return phx_yaml_fail(reader->error, status, reader->tree->name, node->line, node->column,
                         "%.40s%s%.40s%s%s", node->key ? node->key : "", node->key ? ": " : "",
                         scalar ? node->text : "", scalar ? ": " : "", words);
}

bool phx_fields_number(const char *text, uint32_t length, bool hex, uint64_t *out) {
    uint64_t base = 10, value = 0;
    if (hex && length > 2 && text[0] == '0' && text[1] == 'x') {
        base = 16;
        text += 2;
        length -= 2;
    }
    if (length == 0) return false;
    for (uint32_t i = 0; i < length; i++) {
        const char c = text[i];
        uint64_t digit = base;
        if (c >= '0' && c <= '9')
            digit = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint64_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (uint64_t)(c - 'A') + 10;
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

static PhxStatus read_text(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                           char *out) {
    if (node->length < 1 || node->length >= field->size)
        return phx_fields_fail(reader, node, PHX_ERROR_RANGE, "text of 1 to %zu bytes is wanted",
                               field->size - 1);
    for (uint32_t i = 0; i < node->length; i++)
        if ((unsigned char)node->text[i] < 32 || node->text[i] == 127)
            return phx_fields_fail(reader, node, PHX_ERROR_FORMAT,
                                   "text without control characters is wanted");
    memcpy(out, node->text, node->length + 1);
    return PHX_OK;
}

static PhxStatus read_whole(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                            void *out) {
    const bool wide = field->kind == FIELD_U64;
    uint64_t value;
    const bool number = !node->quoted && phx_fields_number(node->text, node->length, wide, &value);
    if (wide && !number)
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT,
                               "a whole number from 0 to 18446744073709551615 is wanted, decimal or 0x");
    if (!number || (!wide && (value < (uint64_t)field->low || value > (uint64_t)field->high)))
        return phx_fields_fail(reader, node, number ? PHX_ERROR_RANGE : PHX_ERROR_FORMAT,
                               "a whole number from %lld to %lld is wanted", (long long)field->low,
                               (long long)field->high);
    switch (field->kind) {
    case FIELD_U8:
        *(uint8_t *)out = (uint8_t)value;
        break;
    case FIELD_U16:
        *(uint16_t *)out = (uint16_t)value;
        break;
    case FIELD_U32:
        *(uint32_t *)out = (uint32_t)value;
        break;
    default:
        *(uint64_t *)out = value;
        break;
    }
    return PHX_OK;
}

static PhxStatus read_signed(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                             int16_t *out) {
    const bool minus = node->text[0] == '-';
    uint64_t size;
    if (node->quoted || !phx_fields_number(node->text + minus, node->length - minus, false, &size))
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT, "a whole number from %lld to %lld is wanted",
                               (long long)field->low, (long long)field->high);
    const int64_t most = minus ? -field->low : field->high;
    if (size > (uint64_t)most || (minus ? -(int64_t)size > field->high : (int64_t)size < field->low))
        return phx_fields_fail(reader, node, PHX_ERROR_RANGE, "a whole number from %lld to %lld is wanted",
                               (long long)field->low, (long long)field->high);
    *out = (int16_t)(minus ? -(int64_t)size : (int64_t)size);
    return PHX_OK;
}

static PhxStatus read_item(const FieldReader *reader, const PhxYamlNode *list, uint32_t index,
                           const Field *field, void *out) {
    PhxYamlNode item = reader->tree->nodes[index];
    item.key = list->key; /* so that the message names it */
    if (item.kind != PHX_YAML_SCALAR)
        return phx_fields_fail(reader, &item, PHX_ERROR_FORMAT, "a whole number is wanted");
    return read_whole(reader, &item, field, out);
}

static PhxStatus read_cells(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                            uint16_t *out) {
    const Field item = {.kind = FIELD_U16, .low = field->low, .high = field->high};
    if (node->kind != PHX_YAML_SEQUENCE || node->count != 2)
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT, "[x, y] is wanted, whole numbers of cells");
    PhxStatus status = read_item(reader, node, node->first, &item, &out[0]);
    if (status == PHX_OK)
        status = read_item(reader, node, reader->tree->nodes[node->first].next, &item, &out[1]);
    return status;
}

PhxStatus phx_fields_read_teams(const FieldReader *reader, const PhxYamlNode *node, uint16_t *out) {
    const Field item = {.kind = FIELD_U8, .low = 0, .high = 15};
    if (node->kind != PHX_YAML_SEQUENCE)
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT, "a list of teams is wanted, as in [0, 2]");
    *out = 0;
    PhxStatus status = PHX_OK;
    for (uint32_t i = node->first; i != PHX_YAML_NONE && status == PHX_OK; i = reader->tree->nodes[i].next) {
        uint8_t team = 0;
        status = read_item(reader, node, i, &item, &team);
        *out = (uint16_t)(*out | 1u << (team & 15));
    }
    return status;
}

static PhxStatus read_fix(const FieldReader *reader, const PhxYamlNode *node, int64_t low, int64_t high,
                          fix16_t *out) {
    char low_text[PHX_FIX_TEXT], high_text[PHX_FIX_TEXT];
    PhxStatus status = PHX_ERROR_FORMAT;
    if (node->kind == PHX_YAML_SCALAR && !node->quoted) status = phx_fix_parse(node->text, node->length, out);
    if (status == PHX_OK && (*out < low || *out > high)) status = PHX_ERROR_RANGE;
    if (status == PHX_OK) return PHX_OK;
    phx_fix_format((fix16_t)low, low_text, sizeof low_text);
    phx_fix_format((fix16_t)high, high_text, sizeof high_text);
    return phx_fields_fail(reader, node, status, "a number from %s to %s is wanted", low_text, high_text);
}

/* Degrees in Q16.16 to a binary angle: 65536 / 360, rounded. */
static PhxStatus read_degrees(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                              void *out) {
    fix16_t degrees = 0;
    const PhxStatus status = read_fix(reader, node, field->low, field->high, &degrees);
    if (status != PHX_OK) return status;
    const int64_t angle = phx_div_round(degrees, 360);
    if (field->kind == FIELD_FACING)
        *(PhxAngle *)out = (PhxAngle)((uint64_t)angle & 0xffff);
    else
        *(int32_t *)out = (int32_t)angle;
    return PHX_OK;
}

static PhxStatus read_numbers(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                              uint32_t count, fix16_t *out) {
    const char *shape = count == 2 ? "[x, y]" : "[low x, low y, high x, high y]";
    if (node->kind != PHX_YAML_SEQUENCE || node->count != count)
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT, "%s is wanted", shape);
    PhxStatus status = PHX_OK;
    for (uint32_t i = node->first; i != PHX_YAML_NONE && status == PHX_OK; i = reader->tree->nodes[i].next) {
        PhxYamlNode item = reader->tree->nodes[i];
        item.key = node->key; /* so that the message names it */
        status = read_fix(reader, &item, field->low, field->high, out++);
    }
    return status;
}

static PhxStatus read_place(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                            PhxPlace *out) {
    fix16_t at[4];
    PhxStatus status;
    switch (field->kind) {
    case FIELD_POINT:
        status = read_numbers(reader, node, field, 2, at);
        if (status == PHX_OK) *out = (PhxPlace){.kind = PHX_PLACE_POINT, .x = at[0], .y = at[1]};
        return status;
    case FIELD_SCATTER:
        status = read_numbers(reader, node, field, 4, at);
        if (status == PHX_OK && (at[0] >= at[2] || at[1] >= at[3]))
            return phx_fields_fail(reader, node, PHX_ERROR_RANGE, "the low end has to be below the high end");
        if (status == PHX_OK)
            *out = (PhxPlace){
                .kind = PHX_PLACE_SCATTER, .x = at[0], .y = at[1], .high_x = at[2], .high_y = at[3]};
        return status;
    default:
        for (PhxCorner corner = 0; corner < PHX_CORNER_COUNT; corner++) {
            if (node->kind != PHX_YAML_SCALAR || strcmp(node->text, phx_corner_name(corner)) != 0) continue;
            *out = (PhxPlace){.kind = PHX_PLACE_CORNER, .corner = corner};
            return PHX_OK;
        }
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT,
                               "one of north_west, north_east, south_west, south_east is wanted");
    }
}

PhxStatus phx_fields_read_point(const FieldReader *reader, const PhxYamlNode *node, int64_t low, int64_t high,
                                PhxVec2 *out) {
    const Field field = {.kind = FIELD_POINT, .low = low, .high = high};
    fix16_t at[2] = {0, 0};
    const PhxStatus status = read_numbers(reader, node, &field, 2, at);
    *out = (PhxVec2){at[0], at[1]};
    return status;
}

static PhxStatus read_bool(const FieldReader *reader, const PhxYamlNode *node, bool *out) {
    const bool yes = strcmp(node->text, "true") == 0;
    if (node->quoted || (!yes && strcmp(node->text, "false") != 0))
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT, "true or false is wanted");
    *out = yes;
    return PHX_OK;
}

static PhxStatus read_field(const FieldReader *reader, const PhxYamlNode *node, const Field *field,
                            void *out) {
    const bool scalar = node->kind == PHX_YAML_SCALAR;
    switch (field->kind) {
    case FIELD_NODE:
        *(uint32_t *)out = (uint32_t)(node - reader->tree->nodes);
        return PHX_OK;
    case FIELD_POINT:
    case FIELD_SCATTER:
    case FIELD_CORNER:
        return read_place(reader, node, field, out);
    case FIELD_CELLS:
        return read_cells(reader, node, field, out);
    case FIELD_TEAMS:
        return phx_fields_read_teams(reader, node, out);
    default:
        break;
    }
    if (!scalar)
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT,
                               "a single value is wanted, not a list or mapping");
    switch (field->kind) {
    case FIELD_TEXT:
        return read_text(reader, node, field, out);
    case FIELD_BOOL:
        return read_bool(reader, node, out);
    case FIELD_I16:
        return read_signed(reader, node, field, out);
    case FIELD_FIX:
        return read_fix(reader, node, field->low, field->high, out);
    case FIELD_TURN_RATE:
    case FIELD_FACING:
        return read_degrees(reader, node, field, out);
    default:
        return read_whole(reader, node, field, out);
    }
}

static PhxStatus fail_unknown(const FieldReader *reader, const PhxYamlNode *node, const char *what,
                              const Field *fields, uint32_t count) {
    char known[FIELD_FAULT] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < count && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", fields[i].key);
    return phx_yaml_fail(reader->error, PHX_ERROR_FORMAT, reader->tree->name, node->key_line,
                         node->key_column, "%.40s: no such key in %s; there are: %s", node->key, what, known);
}

PhxStatus phx_fields_read(const FieldReader *reader, const PhxYamlNode *node, const char *what,
                          const Field *fields, uint32_t count, void *out, uint64_t *given) {
    if (node->kind != PHX_YAML_MAPPING)
        return phx_fields_fail(reader, node, PHX_ERROR_FORMAT, "%s is wanted: a mapping of \"key: value\"",
                               what);
    uint64_t found = 0;
    for (uint32_t child = node->first; child != PHX_YAML_NONE; child = reader->tree->nodes[child].next) {
        const PhxYamlNode *value = &reader->tree->nodes[child];
        uint32_t i = 0;
        while (i < count && strcmp(fields[i].key, value->key) != 0) i++;
        if (i == count) return fail_unknown(reader, value, what, fields, count);
        const PhxStatus status = read_field(reader, value, &fields[i], (char *)out + fields[i].offset);
        if (status != PHX_OK) return status;
        found |= UINT64_C(1) << i;
    }
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].required && !(found >> i & 1))
            return phx_yaml_fail(reader->error, PHX_ERROR_FORMAT, reader->tree->name, node->line,
                                 node->column, "%s: missing: %s needs this key", fields[i].key, what);
    if (given != NULL) *given = found;
    return PHX_OK;
}
