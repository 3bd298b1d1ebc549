/* scenario_parse_formation.c: orders to form: which shape, where to, facing where. See scenario.h, and
 * phalanx/formation.h for what formations are.
 */
#include "content/scenario_parse.h"

#include <phalanx/formation.h>
#include <string.h>

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
    return phx_fields_fail(&parser->reader, at, PHX_ERROR_NOT_FOUND,
                           "shape \"%.16s\": column, line, rectangle, wedge or circle is wanted", draft.shape);
}
