/* scenario_parse_formation.c: patterns, and orders to form: which shape, where to, facing where. See
 * scenario.h, and phalanx/formation.h for what formations are.
 */
#include "content/scenario_parse.h"

#include <phalanx/formation.h>
#include <stdlib.h>
#include <string.h>

typedef struct PatternDraft {
    char name[17];
    uint32_t slots; /* node */
} PatternDraft;

static const Field pattern_fields[] = {
    {"name", FIELD_TEXT, true, offsetof(PatternDraft, name), 0, 0, 17},
    {"slots", FIELD_NODE, true, offsetof(PatternDraft, slots), 0, 0, 0},
};

typedef struct SlotDraft {
    PhxPlace at;
    uint8_t rank;
} SlotDraft;

static const Field slot_fields[] = {
    {"at", FIELD_POINT, true, offsetof(SlotDraft, at), FIX(-4096), FIX(4096), 0},
    {"rank", FIELD_U8, false, offsetof(SlotDraft, rank), 0, 15, 0},
};

static PhxStatus parse_slots(const ScenarioParser *parser, const PhxYamlNode *list,
                             PhxScenarioPattern *pattern) {
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_SCENARIO_PATTERN_SLOTS);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        SlotDraft draft = {.rank = 0};
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "a slot", slot_fields,
                                 COUNT_OF(slot_fields), &draft, NULL);
        pattern->slots[pattern->slot_count++] =
            (PhxFormationSlot){.at = {draft.at.x, draft.at.y}, .rank = draft.rank};
    }
    return status;
}

PhxStatus phx_scenario_parse_patterns(ScenarioParser *parser, const PhxYamlNode *list) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_SCENARIO_PATTERN_LIMIT);
    if (status != PHX_OK) return status;
    scenario->patterns = calloc(list->count, sizeof *scenario->patterns);
    if (scenario->patterns == NULL) return phx_scenario_fail_memory(parser);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        const PhxYamlNode *node = phx_scenario_node(parser, i);
        PhxScenarioPattern *pattern = &scenario->patterns[scenario->pattern_count];
        PatternDraft draft = {.slots = PHX_YAML_NONE};
        status = phx_fields_read(&parser->reader, node, "a pattern", pattern_fields, COUNT_OF(pattern_fields),
                                 &draft, NULL);
        for (uint32_t k = 0; k < scenario->pattern_count && status == PHX_OK; k++)
            if (strcmp(scenario->patterns[k].name, draft.name) == 0)
                status = phx_scenario_fail_twice(parser, node, draft.name);
        if (status == PHX_OK) status = parse_slots(parser, phx_scenario_node(parser, draft.slots), pattern);
        memcpy(pattern->name, draft.name, sizeof draft.name);
        pattern->line = node->line;
        pattern->column = node->column;
        scenario->pattern_count++;
    }
    return status;
}

typedef struct FormDraft {
    char shape[17];
    PhxPlace at;
    PhxAngle facing;
    fix16_t width, gap;
} FormDraft;

enum { FORM_SHAPE, FORM_AT, FORM_FACING, FORM_WIDTH, FORM_GAP };
static const Field form_fields[] = {
    {"shape", FIELD_TEXT, true, offsetof(FormDraft, shape), 0, 0, 17},
    {"at", FIELD_POINT, true, offsetof(FormDraft, at), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"facing", FIELD_FACING, false, offsetof(FormDraft, facing), FIX(-360), FIX(360), 0},
    {"width", FIELD_FIX, false, offsetof(FormDraft, width), 0, FIX(1024), 0},
    {"gap", FIELD_FIX, false, offsetof(FormDraft, gap), 0, FIX(16), 0},
};

PhxStatus phx_scenario_parse_form(const ScenarioParser *parser, uint32_t node, PhxScenarioOrder *order) {
    const PhxYamlNode *at = phx_scenario_node(parser, node);
    FormDraft draft = {.gap = PHX_FORMATION_GAP};
    uint64_t given = 0;
    const PhxStatus status = phx_fields_read(&parser->reader, at, "a form order", form_fields,
                                             COUNT_OF(form_fields), &draft, &given);
    if (status != PHX_OK) return status;
    order->goal = draft.at;
    order->turns = given >> FORM_FACING & 1;
    order->facing = draft.facing;
    order->form_width = draft.width;
    order->gap = draft.gap;
    for (uint8_t shape = 0; shape < PHX_FORMATION_PATTERN; shape++)
        if (strcmp(phx_formation_shape_name((PhxFormationShape)shape), draft.shape) == 0)
            return order->shape = shape, PHX_OK;
    for (uint32_t i = 0; i < parser->scenario->pattern_count; i++) {
        if (strcmp(parser->scenario->patterns[i].name, draft.shape) != 0) continue;
        order->shape = PHX_FORMATION_PATTERN;
        order->pattern = (uint8_t)i;
        return PHX_OK;
    }
    return phx_fields_fail(
        &parser->reader, at, PHX_ERROR_NOT_FOUND,
        "shape \"%.16s\": column, line, rectangle, wedge or circle is wanted, or a pattern's "
        "name",
        draft.shape);
}
