/* yaml_tree.h: a YAML text as a tree of nodes with line and column, for small configuration files.
 *
 * In: bytes of untrusted text. Out: one mapping at the root, or a message "file:line:column: what and
 * remedy". Refused: more than one document, anchors, aliases and tags, keys that aren't plain text, a key
 * twice in a mapping, and whatever exceeds the limits below. Parsing is libyaml's (its events); nothing here
 * touches the file system. Cost: linear in the text, but for the check of double keys, which is quadratic in
 * the keys of one mapping.
 */
#ifndef PHX_TOOLS_YAML_TREE_H
#define PHX_TOOLS_YAML_TREE_H

#include <phalanx/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PHX_YAML_SIZE_LIMIT = 1 << 20, /* bytes of text */
    PHX_YAML_NODE_LIMIT = 100000,  /* nodes of a tree */
    PHX_YAML_DEPTH_LIMIT = 8,      /* nested mappings and sequences */
    PHX_YAML_KEY_LIMIT = 64,       /* keys of a mapping */
    PHX_YAML_MESSAGE_LIMIT = 512
};

typedef enum PhxYamlKind { PHX_YAML_SCALAR, PHX_YAML_SEQUENCE, PHX_YAML_MAPPING } PhxYamlKind;

#define PHX_YAML_NONE UINT32_MAX

typedef struct PhxYamlNode {
    PhxYamlKind kind;
    uint32_t line, column; /* from 1 */
    bool quoted;           /* a scalar in quotes: text, never a number */
    const char *text;      /* of a scalar, zero-terminated, without zeros inside; else "" */
    uint32_t length;       /* bytes of text */
    const char *key;       /* of a value in a mapping; else null */
    uint32_t key_line, key_column;
    uint32_t first, next; /* indices of the first child and of the next of the same parent; PHX_YAML_NONE */
    uint32_t count;       /* children */
} PhxYamlNode;

typedef struct PhxYamlTree {
    char name[256];     /* of the file, for messages; a long one loses its beginning */
    PhxYamlNode *nodes; /* [0] is the root, a mapping */
    uint32_t count, capacity;
    char *text; /* all scalars */
    size_t text_used, text_capacity;
} PhxYamlTree;

/* What is wrong, for a person, with the place in front of it. */
typedef struct PhxYamlError {
    PhxStatus status;
    uint32_t line, column; /* 0: of the file as a whole */
    char text[PHX_YAML_MESSAGE_LIMIT];
} PhxYamlError;

/* `name` is what messages call the file. Errors: PHX_ERROR_FORMAT, PHX_ERROR_LIMIT, PHX_ERROR_MEMORY, each
 * with a message. On failure *out is null. */
PHX_MUST_USE PhxStatus phx_yaml_parse(const char *name, const void *bytes, size_t size, PhxYamlTree **out,
                                      PhxYamlError *error);
void phx_yaml_destroy(PhxYamlTree *tree); /* null is fine */

/* Fills `error` with "name:line:column: " and the words. Returns `status`. Line 0: "name: ". */
PhxStatus phx_yaml_fail(PhxYamlError *error, PhxStatus status, const char *name, uint32_t line,
                        uint32_t column, const char *format, ...) PHX_PRINTF(6, 7);

#endif
