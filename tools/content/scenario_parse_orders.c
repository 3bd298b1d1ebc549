/* scenario_parse_orders.c: the scripted orders of a scenario: whom they are for, and what they say. See
 * scenario.h, and command.h and building.h for what the commands do that they become.
 */
#include "content/scenario_parse.h"

#include <stdlib.h>
#include <string.h>

typedef struct OrderDraft {
    PhxScenarioOrder order;
    char player[17], group[PHX_SCENARIO_NAME];
    uint32_t groups, area, nearest, blend, chase, behave, form, march, place, raze, gate, ground; /* nodes */
    bool all, stop;
} OrderDraft;

/* The keys that say what is ordered come last, from AREA on in the order of PhxScenarioOrderKind. */
enum {
    ORDER_TICK,
    ORDER_PLAYER,
    ORDER_GROUP,
    ORDER_GROUPS,
    ORDER_ALL,
    ORDER_QUEUED,
    ORDER_MOVE,
    ORDER_CORNER,
    ORDER_SCATTER,
    ORDER_AREA,
    ORDER_NEAREST,
    ORDER_BLEND,
    ORDER_CHASE,
    ORDER_STOP,
    ORDER_BEHAVE,
    ORDER_FLOCK,
    ORDER_FORM,
    ORDER_MARCH,
    ORDER_PLACE,
    ORDER_RAZE,
    ORDER_GATE,
    ORDER_GROUND
};
static const Field order_fields[] = {
    {"tick", FIELD_U32, true, offsetof(OrderDraft, order.tick), 0, UINT32_MAX - 1, 0},
    {"player", FIELD_TEXT, false, offsetof(OrderDraft, player), 0, 0, 17},
    {"group", FIELD_TEXT, false, offsetof(OrderDraft, group), 0, 0, PHX_SCENARIO_NAME},
    {"groups", FIELD_NODE, false, offsetof(OrderDraft, groups), 0, 0, 0},
    {"all", FIELD_BOOL, false, offsetof(OrderDraft, all), 0, 0, 0},
    {"queued", FIELD_BOOL, false, offsetof(OrderDraft, order.queued), 0, 0, 0},
    {"move", FIELD_POINT, false, offsetof(OrderDraft, order.goal), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"corner", FIELD_CORNER, false, offsetof(OrderDraft, order.goal), 0, 0, 0},
    {"scatter", FIELD_SCATTER, false, offsetof(OrderDraft, order.goal), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"area", FIELD_NODE, false, offsetof(OrderDraft, area), 0, 0, 0},
    {"nearest", FIELD_NODE, false, offsetof(OrderDraft, nearest), 0, 0, 0},
    {"blend", FIELD_NODE, false, offsetof(OrderDraft, blend), 0, 0, 0},
    {"chase", FIELD_NODE, false, offsetof(OrderDraft, chase), 0, 0, 0},
    {"stop", FIELD_BOOL, false, offsetof(OrderDraft, stop), 0, 0, 0},
    {"behave", FIELD_NODE, false, offsetof(OrderDraft, behave), 0, 0, 0},
    {"flock", FIELD_U16, false, offsetof(OrderDraft, order.flock), 0, 65535, 0},
    {"form", FIELD_NODE, false, offsetof(OrderDraft, form), 0, 0, 0},
    {"march", FIELD_NODE, false, offsetof(OrderDraft, march), 0, 0, 0},
    {"place", FIELD_NODE, false, offsetof(OrderDraft, place), 0, 0, 0},
    {"raze", FIELD_NODE, false, offsetof(OrderDraft, raze), 0, 0, 0},
    {"gate", FIELD_NODE, false, offsetof(OrderDraft, gate), 0, 0, 0},
    {"ground", FIELD_NODE, false, offsetof(OrderDraft, ground), 0, 0, 0},
};

static const Field area_fields[] = {
    {"at", FIELD_POINT, true, offsetof(PhxScenarioOrder, goal), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"radius", FIELD_FIX, true, offsetof(PhxScenarioOrder, radius), 0, FIX(32), 0},
};

static const Field march_fields[] = {
    {"at", FIELD_POINT, true, offsetof(PhxScenarioOrder, goal), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"spread", FIELD_U8, false, offsetof(PhxScenarioOrder, lane_spread), 0, 100, 0},
};

typedef struct PointDraft {
    PhxPlace at;
    uint8_t weight;
} PointDraft;

static const Field point_fields[] = {
    {"at", FIELD_POINT, true, offsetof(PointDraft, at), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"weight", FIELD_U8, true, offsetof(PointDraft, weight), 0, 255, 0},
};

typedef struct ChaseDraft {
    char group[PHX_SCENARIO_NAME];
    uint32_t unit;
    fix16_t threshold;
} ChaseDraft;

static const Field chase_fields[] = {
    {"group", FIELD_TEXT, true, offsetof(ChaseDraft, group), 0, 0, PHX_SCENARIO_NAME},
    {"unit", FIELD_U32, false, offsetof(ChaseDraft, unit), 0, PHX_SCENARIO_UNIT_LIMIT - 1, 0},
    {"threshold", FIELD_FIX, false, offsetof(ChaseDraft, threshold), 0, FIX(64), 0},
};

/* Cells of an order, and what happens there. */
typedef struct CellsDraft {
    uint16_t at[2], size[2];
    uint32_t open; /* node */
    uint8_t cost;
    bool gate;
    char kind[17];
} CellsDraft;

static const Field place_fields[] = {
    {"at", FIELD_CELLS, true, offsetof(CellsDraft, at), 0, 4095, 0},
    {"size", FIELD_CELLS, false, offsetof(CellsDraft, size), 1, 64, 0},
    {"gate", FIELD_BOOL, false, offsetof(CellsDraft, gate), 0, 0, 0},
};
static const Field raze_fields[] = {
    {"at", FIELD_CELLS, true, offsetof(CellsDraft, at), 0, 4095, 0},
};
static const Field gate_fields[] = {
    {"at", FIELD_CELLS, true, offsetof(CellsDraft, at), 0, 4095, 0},
    {"open", FIELD_NODE, true, offsetof(CellsDraft, open), 0, 0, 0},
};
static const Field ground_fields[] = {
    {"at", FIELD_CELLS, true, offsetof(CellsDraft, at), 0, 4095, 0},
    {"size", FIELD_CELLS, false, offsetof(CellsDraft, size), 1, 4096, 0},
    {"cost", FIELD_U8, true, offsetof(CellsDraft, cost), 1, 255, 0},
    {"kind", FIELD_TEXT, false, offsetof(CellsDraft, kind), 0, 0, 17},
};

static PhxStatus list_group(ScenarioParser *parser, uint32_t group) {
    PhxScenario *scenario = parser->scenario;
    if (scenario->group_list_count == parser->group_list_capacity) {
        const uint32_t capacity = 2 * parser->group_list_capacity + 64;
        uint32_t *larger = realloc(scenario->group_list, capacity * sizeof *larger);
        if (larger == NULL) return phx_scenario_fail_memory(parser);
        scenario->group_list = larger;
        parser->group_list_capacity = capacity;
    }
    scenario->group_list[scenario->group_list_count++] = group;
    return PHX_OK;
}

/* Adds the group of a name to the order; the first decides the player where the order names none. */
static PhxStatus list_group_named(ScenarioParser *parser, const PhxYamlNode *node, const char *name,
                                  OrderDraft *draft) {
    const PhxScenario *scenario = parser->scenario;
    for (uint32_t i = 0; i < scenario->group_count; i++) {
        const PhxScenarioGroup *group = &scenario->groups[i];
        if (strcmp(group->name, name) != 0) continue;
        if (draft->player[0] == 0 && draft->order.group_count == 0) draft->order.player = group->player;
        if (group->player != draft->order.player)
            return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                                   "group \"%.40s\" isn't of player \"%s\": an order is one player's", name,
                                   scenario->players[draft->order.player].name);
        draft->order.group_count++;
        return list_group(parser, i);
    }
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND,
                           "group \"%.40s\": no group has this name", name);
}

static PhxStatus list_order_groups(ScenarioParser *parser, const PhxYamlNode *node, OrderDraft *draft,
                                   uint64_t given) {
    if (given >> ORDER_GROUP & 1) return list_group_named(parser, node, draft->group, draft);
    PhxStatus status = PHX_OK;
    if (given >> ORDER_GROUPS & 1) {
        const PhxYamlNode *list = phx_scenario_node(parser, draft->groups);
        status = phx_scenario_check_list(parser, list, PHX_SCENARIO_GROUP_LIMIT);
        for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
             i = phx_scenario_node(parser, i)->next)
            status = list_group_named(parser, phx_scenario_node(parser, i),
                                      phx_scenario_node(parser, i)->text, draft);
        return status;
    }
    for (uint32_t i = 0; i < parser->scenario->group_count && status == PHX_OK; i++) {
        if (parser->scenario->groups[i].player != draft->order.player) continue;
        draft->order.group_count++;
        status = list_group(parser, i);
    }
    return status;
}

/* The kind of ground of a name; without a name the first one. */
static PhxStatus find_kind(const ScenarioParser *parser, const PhxYamlNode *node, const char *name,
                           uint8_t *out) {
    const PhxScenario *scenario = parser->scenario;
    for (uint32_t i = 0; i < scenario->kind_count; i++)
        if (name[0] == 0 || strcmp(scenario->kind_names[i], name) == 0) return *out = (uint8_t)i, PHX_OK;
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND,
                           "kind \"%s\": no kind of ground has this name", name);
}

/* The teams that a gate lets through: a list, or a word for one. */
static PhxStatus read_open(const ScenarioParser *parser, const PhxYamlNode *node, uint8_t player,
                           uint16_t *out) {
    if (node->kind == PHX_YAML_SEQUENCE) return phx_fields_read_teams(&parser->reader, node, out);
    if (strcmp(node->text, "own") == 0)
        *out = (uint16_t)(1u << parser->scenario->players[player].team);
    else if (strcmp(node->text, "all") == 0)
        *out = UINT16_MAX;
    else if (strcmp(node->text, "none") == 0)
        *out = 0;
    else
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "own, all or none is wanted, or a list of teams, as in [0, 2]");
    return PHX_OK;
}

/* An order on buildings or ground: which cells, and what is to become of them. */
static PhxStatus read_cells_order(const ScenarioParser *parser, OrderDraft *draft) {
    PhxScenarioOrder *order = &draft->order;
    CellsDraft cells = {.size = {1, 1}, .open = PHX_YAML_NONE};
    const struct {
        const char *what;
        const Field *fields;
        uint32_t count, node;
    } forms[] = {{"a place order", place_fields, COUNT_OF(place_fields), draft->place},
                 {"a raze order", raze_fields, COUNT_OF(raze_fields), draft->raze},
                 {"a gate order", gate_fields, COUNT_OF(gate_fields), draft->gate},
                 {"a ground order", ground_fields, COUNT_OF(ground_fields), draft->ground}};
    const uint32_t form = (uint32_t)order->kind - PHX_SCENARIO_PLACE;
    const PhxYamlNode *node = phx_scenario_node(parser, forms[form].node);
    PhxStatus status = phx_fields_read(&parser->reader, node, forms[form].what, forms[form].fields,
                                       forms[form].count, &cells, NULL);
    if (status == PHX_OK && order->kind == PHX_SCENARIO_GATE)
        status = read_open(parser, phx_scenario_node(parser, cells.open), order->player, &order->open_teams);
    if (status == PHX_OK && order->kind == PHX_SCENARIO_GROUND)
        status = find_kind(parser, node, cells.kind, &order->ground_kind);
    order->cell_x = cells.at[0];
    order->cell_y = cells.at[1];
    order->width = cells.size[0];
    order->height = cells.size[1];
    order->gate = cells.gate;
    order->ground_cost = cells.cost;
    return status;
}

/* What is ordered: the one key of them that is there. */
static PhxStatus choose_kind(const ScenarioParser *parser, const PhxYamlNode *node, OrderDraft *draft,
                             uint64_t given) {
    if (!draft->stop) given &= ~(UINT64_C(1) << ORDER_STOP);
    if (phx_scenario_given(given, ORDER_MOVE, ORDER_GROUND) != 1)
        return phx_fields_fail(
            &parser->reader, node, PHX_ERROR_FORMAT,
            "an order needs one of the keys move, corner, scatter, area, nearest, blend, chase, "
            "stop: true, behave, flock, form, march, place, raze, gate, ground, and one only");
    for (uint32_t i = ORDER_MOVE; i <= ORDER_GROUND; i++)
        if (given >> i & 1)
            draft->order.kind = i <= ORDER_SCATTER
                                    ? PHX_SCENARIO_MOVE
                                    : (PhxScenarioOrderKind)(PHX_SCENARIO_AREA + (i - ORDER_AREA));
    return PHX_OK;
}

/* The points of nearest, [x, y] each, or of blend, with their weights. */
static PhxStatus read_points(const ScenarioParser *parser, uint32_t index, PhxScenarioOrder *order) {
    const PhxYamlNode *list = phx_scenario_node(parser, index);
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_COMMAND_POINT_LIMIT);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        PhxVec2 at = {0, 0};
        PointDraft draft = {.weight = 0};
        if (order->kind == PHX_SCENARIO_NEAREST) {
            PhxYamlNode item = *phx_scenario_node(parser, i);
            item.key = list->key; /* so that the message names it */
            status = phx_fields_read_point(&parser->reader, &item, COORDINATE_LOW, COORDINATE_HIGH, &at);
        } else {
            status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "a point of a blend",
                                     point_fields, COUNT_OF(point_fields), &draft, NULL);
            at = (PhxVec2){draft.at.x, draft.at.y};
        }
        order->points[order->point_count++] = (PhxCommandPoint){at.x, at.y, draft.weight};
    }
    return status;
}

/* Whom the units follow: one unit of a group, anyone's. */
static PhxStatus read_chase(const ScenarioParser *parser, const PhxYamlNode *node, PhxScenarioOrder *order) {
    const PhxScenario *scenario = parser->scenario;
    ChaseDraft draft = {.threshold = (fix16_t)FIX(4)};
    const PhxStatus status = phx_fields_read(&parser->reader, node, "a chase order", chase_fields,
                                             COUNT_OF(chase_fields), &draft, NULL);
    if (status != PHX_OK) return status;
    uint32_t group = 0;
    while (group < scenario->group_count && strcmp(scenario->groups[group].name, draft.group) != 0) group++;
    if (group == scenario->group_count)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND,
                               "group \"%.40s\": no group has this name", draft.group);
    if (draft.unit >= scenario->groups[group].count)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_RANGE,
                               "unit: %u: group \"%.40s\" has the units 0 to %u", draft.unit, draft.group,
                               scenario->groups[group].count - 1);
    order->target_group = group;
    order->target_unit = draft.unit;
    order->threshold = draft.threshold;
    return PHX_OK;
}

/* Goals that aren't one point, and what is no goal. */
static PhxStatus read_goals(const ScenarioParser *parser, OrderDraft *draft) {
    PhxScenarioOrder *order = &draft->order;
    switch (order->kind) {
    case PHX_SCENARIO_AREA:
        return phx_fields_read(&parser->reader, phx_scenario_node(parser, draft->area), "an area order",
                               area_fields, COUNT_OF(area_fields), order, NULL);
    case PHX_SCENARIO_NEAREST:
        return read_points(parser, draft->nearest, order);
    case PHX_SCENARIO_BLEND:
        return read_points(parser, draft->blend, order);
    case PHX_SCENARIO_CHASE:
        return read_chase(parser, phx_scenario_node(parser, draft->chase), order);
    case PHX_SCENARIO_BEHAVE:
        return phx_scenario_parse_behave(parser, draft->behave, order);
    case PHX_SCENARIO_FORM:
        return phx_scenario_parse_form(parser, draft->form, order);
    case PHX_SCENARIO_MARCH:
        order->lane_spread = PHX_LANE_SPREAD;
        return phx_fields_read(&parser->reader, phx_scenario_node(parser, draft->march), "a march order",
                               march_fields, COUNT_OF(march_fields), order, NULL);
    default:
        return PHX_OK;
    }
}

static PhxStatus finish_cells(const ScenarioParser *parser, const PhxYamlNode *node, OrderDraft *draft,
                              uint64_t given) {
    const bool host = draft->order.kind == PHX_SCENARIO_GROUND, named = draft->player[0] != 0;
    if (phx_scenario_given(given, ORDER_GROUP, ORDER_QUEUED) != 0)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "group, groups, all and queued are for orders to units: leave them out");
    if (host && named)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "ground is changed by the host: leave the key player out");
    if (!host && !named)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "place, raze and gate need the key player besides");
    draft->order.player = PHX_SLOT_HOST;
    PhxStatus status = PHX_OK;
    if (!host) status = phx_scenario_find_player(parser, node, draft->player, &draft->order.player);
    return status == PHX_OK ? read_cells_order(parser, draft) : status;
}

static PhxStatus finish_units(ScenarioParser *parser, const PhxYamlNode *node, OrderDraft *draft,
                              uint64_t given) {
    const PhxScenario *scenario = parser->scenario;
    if (phx_scenario_given(given, ORDER_GROUP, ORDER_GROUPS) + draft->all != 1)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "an order needs one of the keys group, groups, all: true, and one only");
    if (draft->order.kind == PHX_SCENARIO_STOP && draft->order.queued)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "stop drops all orders: it can't be queued");
    if (draft->order.kind == PHX_SCENARIO_BEHAVE && draft->order.queued)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "moods and behaviours change at once: behave can't be queued");
    if (draft->order.kind == PHX_SCENARIO_FLOCK && draft->order.queued)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "flocks change at once: flock can't be queued");
    if (draft->order.kind == PHX_SCENARIO_FORM && draft->order.queued)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "a formation begins where its units are: form can't be queued");
    if (draft->all && draft->player[0] == 0)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "all: true needs the key player besides");
    PhxStatus status = PHX_OK;
    if (draft->player[0] != 0)
        status = phx_scenario_find_player(parser, node, draft->player, &draft->order.player);
    if (status == PHX_OK) status = read_goals(parser, draft);
    if (status == PHX_OK) status = list_order_groups(parser, node, draft, given);
    if (status == PHX_OK && scenario->group_list_count > 1000000)
        status = phx_fields_fail(&parser->reader, node, PHX_ERROR_LIMIT, "the orders name too many groups");
    return status;
}

static PhxStatus finish_order(ScenarioParser *parser, const PhxYamlNode *node, OrderDraft *draft,
                              uint64_t given) {
    draft->order.line = node->line;
    draft->order.column = node->column;
    draft->order.first_group = parser->scenario->group_list_count;
    const PhxStatus status = choose_kind(parser, node, draft, given);
    if (status != PHX_OK) return status;
    return draft->order.kind >= PHX_SCENARIO_PLACE ? finish_cells(parser, node, draft, given)
                                                   : finish_units(parser, node, draft, given);
}

/* By tick, and as written within one: a merge from the end, for lists that mostly are in order. */
static void insert_order(PhxScenario *scenario, const PhxScenarioOrder *order) {
    uint32_t at = scenario->order_count++;
    for (; at > 0 && scenario->orders[at - 1].tick > order->tick; at--)
        scenario->orders[at] = scenario->orders[at - 1];
    scenario->orders[at] = *order;
}

PhxStatus phx_scenario_parse_orders(ScenarioParser *parser, const PhxYamlNode *list) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_SCENARIO_ORDER_LIMIT);
    if (status != PHX_OK) return status;
    scenario->orders = calloc(list->count, sizeof *scenario->orders);
    if (scenario->orders == NULL) return phx_scenario_fail_memory(parser);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        OrderDraft draft = {0};
        uint64_t given = 0;
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "an order", order_fields,
                                 COUNT_OF(order_fields), &draft, &given);
        if (status == PHX_OK) status = finish_order(parser, phx_scenario_node(parser, i), &draft, given);
        if (status == PHX_OK) insert_order(scenario, &draft.order);
    }
    return status;
}
