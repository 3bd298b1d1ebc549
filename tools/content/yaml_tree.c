/* yaml_tree.c: libyaml's events to a bounded tree. See yaml_tree.h. While the tree grows, text is held as
 * offsets into one block, since the block moves; they become pointers at the end. */
#include "content/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define OFFSET_NONE SIZE_MAX

typedef struct Open {
    uint32_t node, last; /* the container, and its last child so far */
    size_t key;          /* offset of the key that waits for its value, or OFFSET_NONE */
    uint32_t key_line, key_column;
} Open;

typedef struct Builder {
    PhxYamlTree *tree;
    size_t *offsets; /* two a node: text, key */
    Open open[PHX_YAML_DEPTH_LIMIT];
    uint32_t depth;
    PhxYamlError *error;
} Builder;

PhxStatus phx_yaml_fail(PhxYamlError *error, PhxStatus status, const char *name, uint32_t line,
                        uint32_t column, const char *format, ...) {
    if (error == NULL) return status;
    *error = (PhxYamlError){.status = status, .line = line, .column = column};
    int at = line == 0 ? snprintf(error->text, sizeof error->text, "%s: ", name)
                       : snprintf(error->text, sizeof error->text, "%s:%u:%u: ", name, line, column);
    if (at < 0 || (size_t)at >= sizeof error->text) return status;
    va_list list;
    va_start(list, format);
    vsnprintf(error->text + at, sizeof error->text - (size_t)at, format, list);
    va_end(list);
    return status;
}

static PhxStatus fail_at(const Builder *builder, PhxStatus status, yaml_mark_t mark, const char *words) {
    return phx_yaml_fail(builder->error, status, builder->tree->name, (uint32_t)mark.line + 1,
                         (uint32_t)mark.column + 1, "%s", words);
}

static PhxStatus fail_memory(const Builder *builder) {
    return phx_yaml_fail(builder->error, PHX_ERROR_MEMORY, builder->tree->name, 0, 0, "out of memory");
}

/* Copies text into the block; OFFSET_NONE when memory ends. */
static size_t keep_text(PhxYamlTree *tree, const void *text, size_t length) {
    if (tree->text_used + length + 1 > tree->text_capacity) {
        const size_t capacity = 2 * (tree->text_used + length + 1) + 1024;
        char *larger = realloc(tree->text, capacity);
        if (larger == NULL) return OFFSET_NONE;
        tree->text = larger;
        tree->text_capacity = capacity;
    }
    const size_t offset = tree->text_used;
    memcpy(tree->text + offset, text, length);
    tree->text[offset + length] = 0;
    tree->text_used += length + 1;
    return offset;
}

static PhxStatus grow_nodes(Builder *builder, yaml_mark_t mark) {
    PhxYamlTree *tree = builder->tree;
    if (tree->count == PHX_YAML_NODE_LIMIT)
        return fail_at(builder, PHX_ERROR_LIMIT, mark, "too many values for one file (at most 100000)");
    if (tree->count < tree->capacity) return PHX_OK;
    const uint32_t capacity = tree->capacity * 2 + 64;
    PhxYamlNode *nodes = realloc(tree->nodes, capacity * sizeof *nodes);
    if (nodes != NULL) tree->nodes = nodes;
    size_t *offsets = realloc(builder->offsets, capacity * 2 * sizeof *offsets);
    if (offsets != NULL) builder->offsets = offsets;
    if (nodes == NULL || offsets == NULL) return fail_memory(builder);
    tree->capacity = capacity;
    return PHX_OK;
}

/* A new node as the child of the innermost open container, under the key that waits there. */
static PhxStatus add_node(Builder *builder, PhxYamlKind kind, yaml_mark_t mark, size_t text, size_t length) {
    PhxYamlTree *tree = builder->tree;
    if (builder->depth == 0 && kind != PHX_YAML_MAPPING)
        return fail_at(builder, PHX_ERROR_FORMAT, mark,
                       "the file has to be a mapping: lines of \"key: value\"");
    const PhxStatus status = grow_nodes(builder, mark);
    if (status != PHX_OK) return status;
    const uint32_t index = tree->count++;
    PhxYamlNode *node = &tree->nodes[index];
    *node = (PhxYamlNode){.kind = kind,
                          .line = (uint32_t)mark.line + 1,
                          .column = (uint32_t)mark.column + 1,
                          .length = (uint32_t)length,
                          .first = PHX_YAML_NONE,
                          .next = PHX_YAML_NONE};
    builder->offsets[2 * index] = text;
    builder->offsets[2 * index + 1] = OFFSET_NONE;
    if (builder->depth == 0) return PHX_OK;
    Open *open = &builder->open[builder->depth - 1];
    if (open->key != OFFSET_NONE) {
        builder->offsets[2 * index + 1] = open->key;
        node->key_line = open->key_line;
        node->key_column = open->key_column;
        open->key = OFFSET_NONE;
    }
    PhxYamlNode *parent = &tree->nodes[open->node];
    parent->count++;
    if (open->last == PHX_YAML_NONE)
        parent->first = index;
    else
        tree->nodes[open->last].next = index;
    open->last = index;
    return PHX_OK;
}

static PhxStatus open_container(Builder *builder, PhxYamlKind kind, const yaml_event_t *event) {
    if (builder->depth == PHX_YAML_DEPTH_LIMIT)
        return fail_at(builder, PHX_ERROR_LIMIT, event->start_mark, "nested too deeply (at most 8 levels)");
    if (builder->depth > 0) {
        const Open *open = &builder->open[builder->depth - 1];
        if (builder->tree->nodes[open->node].kind == PHX_YAML_MAPPING && open->key == OFFSET_NONE)
            return fail_at(builder, PHX_ERROR_FORMAT, event->start_mark, "a key has to be plain text");
    }
    const uint32_t index = builder->tree->count;
    const PhxStatus status = add_node(builder, kind, event->start_mark, OFFSET_NONE, 0);
    if (status != PHX_OK) return status;
    builder->open[builder->depth++] = (Open){.node = index, .last = PHX_YAML_NONE, .key = OFFSET_NONE};
    return PHX_OK;
}

static PhxStatus take_key(Builder *builder, Open *open, const yaml_event_t *event, const char *text) {
    const PhxYamlTree *tree = builder->tree;
    uint32_t keys = 0;
    for (uint32_t i = tree->nodes[open->node].first; i != PHX_YAML_NONE; i = tree->nodes[i].next, keys++) {
        if (strcmp(tree->text + builder->offsets[2 * i + 1], text) != 0) continue;
        return phx_yaml_fail(builder->error, PHX_ERROR_FORMAT, tree->name,
                             (uint32_t)event->start_mark.line + 1, (uint32_t)event->start_mark.column + 1,
                             "%.40s: the key is there already, on line %u", text, tree->nodes[i].key_line);
    }
    if (keys == PHX_YAML_KEY_LIMIT)
        return fail_at(builder, PHX_ERROR_LIMIT, event->start_mark,
                       "too many keys in one mapping (at most 64)");
    open->key = keep_text(builder->tree, text, strlen(text));
    open->key_line = (uint32_t)event->start_mark.line + 1;
    open->key_column = (uint32_t)event->start_mark.column + 1;
    return open->key == OFFSET_NONE ? fail_memory(builder) : PHX_OK;
}

static PhxStatus take_scalar(Builder *builder, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    if (memchr(text, 0, length) != NULL)
        return fail_at(builder, PHX_ERROR_FORMAT, event->start_mark, "text with a zero character");
    Open *open = builder->depth > 0 ? &builder->open[builder->depth - 1] : NULL;
    if (open != NULL && builder->tree->nodes[open->node].kind == PHX_YAML_MAPPING && open->key == OFFSET_NONE)
        return take_key(builder, open, event, text);
    const size_t offset = keep_text(builder->tree, text, length);
    if (offset == OFFSET_NONE) return fail_memory(builder);
    const PhxStatus status = add_node(builder, PHX_YAML_SCALAR, event->start_mark, offset, length);
    if (status == PHX_OK)
        builder->tree->nodes[builder->tree->count - 1].quoted =
            event->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
            event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return status;
}

/* Anchors, aliases and tags would let a small file mean a large one, or another type than it shows. */
static const char *refused(const yaml_event_t *event) {
    const char *anchors =
        "anchors and aliases (& and *) are not allowed: write the value out, or quote the text";
    const char *tags = "tags (!) are not allowed: write the plain value, or quote the text";
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return anchors;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor ? anchors : event->data.scalar.tag ? tags : NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor ? anchors : event->data.sequence_start.tag ? tags : NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor ? anchors : event->data.mapping_start.tag ? tags : NULL;
    default:
        return NULL;
    }
}

static PhxStatus take_event(Builder *builder, const yaml_event_t *event) {
    const char *words = refused(event);
    if (words != NULL) return fail_at(builder, PHX_ERROR_FORMAT, event->start_mark, words);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->tree->count > 0)
            return fail_at(builder, PHX_ERROR_FORMAT, event->start_mark,
                           "a second document: one file is one scenario");
        return PHX_OK;
    case YAML_SCALAR_EVENT:
        return take_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(builder, PHX_YAML_SEQUENCE, event);
    case YAML_MAPPING_START_EVENT:
        return open_container(builder, PHX_YAML_MAPPING, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder->depth--;
        return PHX_OK;
    default:
        return PHX_OK;
    }
}

static PhxStatus run_parser(Builder *builder, yaml_parser_t *parser) {
    for (bool done = false; !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            const bool memory = parser->error == YAML_MEMORY_ERROR;
            /* A fault of the encoding has an offset, not a mark. */
            if (parser->error == YAML_READER_ERROR)
                return phx_yaml_fail(builder->error, PHX_ERROR_FORMAT, builder->tree->name, 0, 0,
                                     "byte %zu: %s: UTF-8 text is wanted", parser->problem_offset,
                                     parser->problem ? parser->problem : "no text");
            return memory ? fail_memory(builder)
                          : fail_at(builder, PHX_ERROR_FORMAT, parser->problem_mark,
                                    parser->problem ? parser->problem : "this is not YAML");
        }
        const PhxStatus status = take_event(builder, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (status != PHX_OK) return status;
    }
    if (builder->tree->count == 0)
        return phx_yaml_fail(builder->error, PHX_ERROR_FORMAT, builder->tree->name, 0, 0,
                             "the file is empty");
    return PHX_OK;
}

static void offsets_to_pointers(const Builder *builder) {
    PhxYamlTree *tree = builder->tree;
    for (uint32_t i = 0; i < tree->count; i++) {
        const size_t text = builder->offsets[2 * i], key = builder->offsets[2 * i + 1];
        tree->nodes[i].text = text == OFFSET_NONE ? "" : tree->text + text;
        tree->nodes[i].key = key == OFFSET_NONE ? NULL : tree->text + key;
    }
}

PhxStatus phx_yaml_parse(const char *name, const void *bytes, size_t size, PhxYamlTree **out,
                         PhxYamlError *error) {
    *out = NULL;
    if (size > PHX_YAML_SIZE_LIMIT)
        return phx_yaml_fail(error, PHX_ERROR_LIMIT, name, 0, 0, "larger than %d bytes", PHX_YAML_SIZE_LIMIT);
    PhxYamlTree *tree = calloc(1, sizeof *tree);
    yaml_parser_t parser;
    if (tree == NULL || !yaml_parser_initialize(&parser)) {
        free(tree);
        return phx_yaml_fail(error, PHX_ERROR_MEMORY, name, 0, 0, "out of memory");
    }
    const size_t length = strlen(name),
                 skip = length < sizeof tree->name ? 0 : length - sizeof tree->name + 1;
    memcpy(tree->name, name + skip, length - skip + 1);
    yaml_parser_set_input_string(&parser, bytes, size);
    Builder builder = {.tree = tree, .error = error};
    const PhxStatus status = run_parser(&builder, &parser);
    yaml_parser_delete(&parser);
    if (status == PHX_OK) offsets_to_pointers(&builder);
    free(builder.offsets);
    if (status != PHX_OK)
        phx_yaml_destroy(tree);
    else
        *out = tree;
    return status;
}

void phx_yaml_destroy(PhxYamlTree *tree) {
    if (tree == NULL) return;
    free(tree->nodes);
    free(tree->text);
    free(tree);
}
