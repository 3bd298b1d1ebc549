/* scenario_parse.c: the tree of a scenario's YAML to a PhxScenario: every key, its range and its default in
 * tables, then the names that refer to each other. See scenario.h. */
#include "content/scenario_parse.h"

#include <stdlib.h>
#include <string.h>

/* A file's root: what is no plain value is read by its own function. */
typedef struct Root {
    PhxScenario scenario;
    uint32_t terrain, players, types, groups, orders, patterns; /* nodes */
    ScenarioGround ground;
} Root;

static const Field root_fields[] = {
    {"name", FIELD_TEXT, false, offsetof(Root, scenario.name), 0, 0, PHX_SCENARIO_NAME},
    {"map", FIELD_TEXT, true, offsetof(Root, scenario.map), 0, 0, sizeof((PhxScenario *)0)->map},
    {"seed", FIELD_U64, false, offsetof(Root, scenario.settings.match_key), 0, 0, 0},
    {"tick_rate", FIELD_U16, false, offsetof(Root, scenario.settings.tick_rate), 1, 1000, 0},
    {"ticks", FIELD_U32, false, offsetof(Root, scenario.ticks), 1, 100000000, 0},
    {"ticks_per_turn", FIELD_U16, false, offsetof(Root, scenario.settings.ticks_per_turn), 1, 16, 0},
    {"input_delay", FIELD_U16, false, offsetof(Root, scenario.settings.input_delay), 1, 64, 0},
    {"unit_capacity", FIELD_U32, false, offsetof(Root, scenario.unit_capacity), 1, PHX_SCENARIO_UNIT_LIMIT,
     0},
    {"order_capacity", FIELD_U32, false, offsetof(Root, scenario.order_capacity), 1, PHX_SCENARIO_UNIT_LIMIT,
     0},
    {"field_cache", FIELD_U32, false, offsetof(Root, scenario.field_cache), 1, 4096, 0},
    {"height_map", FIELD_TEXT, false, offsetof(Root, scenario.height_map), 0, 0,
     sizeof((PhxScenario *)0)->height_map},
    {"density_period", FIELD_U32, false, offsetof(Root, scenario.density_period), 0, 1000, 0},
    {"kinds", FIELD_NODE, false, offsetof(Root, ground.kinds), 0, 0, 0},
    {"profiles", FIELD_NODE, false, offsetof(Root, ground.profiles), 0, 0, 0},
    {"buildings", FIELD_NODE, false, offsetof(Root, ground.buildings), 0, 0, 0},
    {"modifiers", FIELD_NODE, false, offsetof(Root, ground.modifiers), 0, 0, 0},
    {"terrain", FIELD_NODE, false, offsetof(Root, terrain), 0, 0, 0},
    {"players", FIELD_NODE, true, offsetof(Root, players), 0, 0, 0},
    {"unit_types", FIELD_NODE, true, offsetof(Root, types), 0, 0, 0},
    {"groups", FIELD_NODE, true, offsetof(Root, groups), 0, 0, 0},
    {"patterns", FIELD_NODE, false, offsetof(Root, patterns), 0, 0, 0},
    {"orders", FIELD_NODE, false, offsetof(Root, orders), 0, 0, 0},
};

static const Field terrain_fields[] = {
    {"ground", FIELD_U8, false, offsetof(PhxMovingAiCosts, ground), 1, 255, 0},
    {"swamp", FIELD_U8, false, offsetof(PhxMovingAiCosts, swamp), 1, 255, 0},
    {"water", FIELD_U8, false, offsetof(PhxMovingAiCosts, water), 1, 255, 0},
    {"trees", FIELD_U8, false, offsetof(PhxMovingAiCosts, trees), 1, 255, 0},
};

static const Field player_fields[] = {
    {"name", FIELD_TEXT, true, offsetof(PhxScenarioPlayer, name), 0, 0, 17},
    {"team", FIELD_U8, false, offsetof(PhxScenarioPlayer, team), 0, 15, 0},
    {"bot", FIELD_TEXT, false, offsetof(PhxScenarioPlayer, bot), 0, 0, 17},
};

typedef struct TypeDraft {
    char name[17], profile[17];
    PhxUnitTypeDef def;
    uint32_t feelings, flocking; /* nodes */
} TypeDraft;

/* The ranges are those of the columns in sim/state/tables/unit_type.def. */
static const Field type_fields[] = {
    {"name", FIELD_TEXT, true, offsetof(TypeDraft, name), 0, 0, 17},
    {"profile", FIELD_TEXT, false, offsetof(TypeDraft, profile), 0, 0, 17},
    {"sample_period", FIELD_U8, false, offsetof(TypeDraft, def.sample_period), 1, 255, 0},
    {"radius", FIELD_FIX, false, offsetof(TypeDraft, def.radius), 4096, FIX(16), 0},
    {"speed", FIELD_FIX, false, offsetof(TypeDraft, def.speed), 656, FIX(64), 0},
    {"acceleration", FIELD_FIX, false, offsetof(TypeDraft, def.acceleration), 656, FIX(4096), 0},
    {"turn_rate", FIELD_TURN_RATE, false, offsetof(TypeDraft, def.turn_rate), FIX(1), FIX(5760), 0},
    {"neighbours", FIELD_U8, false, offsetof(TypeDraft, def.neighbours), 0, 16, 0},
    {"neighbour_range", FIELD_FIX, false, offsetof(TypeDraft, def.neighbour_range), 4096, FIX(64), 0},
    {"horizon", FIELD_FIX, false, offsetof(TypeDraft, def.horizon), 4096, FIX(60), 0},
    {"wall_horizon", FIELD_FIX, false, offsetof(TypeDraft, def.wall_horizon), 4096, FIX(60), 0},
    {"avoid_ratio", FIELD_FIX, false, offsetof(TypeDraft, def.avoid_ratio), FIX(1), FIX(4), 0},
    {"weight", FIELD_U8, false, offsetof(TypeDraft, def.weight), 0, 15, 0},
    {"rank", FIELD_U8, false, offsetof(TypeDraft, def.rank), 0, 15, 0},
    {"feelings", FIELD_NODE, false, offsetof(TypeDraft, feelings), 0, 0, 0},
    {"flocking", FIELD_NODE, false, offsetof(TypeDraft, flocking), 0, 0, 0},
};

typedef struct GroupDraft {
    PhxScenarioGroup group;
    char player[17], type[17];
    ScenarioManners manners;
} GroupDraft;

enum { GROUP_NAME, GROUP_PLAYER, GROUP_TYPE, GROUP_COUNT, GROUP_AT, GROUP_CORNER, GROUP_SCATTER };
static const Field group_fields[] = {
    {"name", FIELD_TEXT, false, offsetof(GroupDraft, group.name), 0, 0, PHX_SCENARIO_NAME},
    {"player", FIELD_TEXT, true, offsetof(GroupDraft, player), 0, 0, 17},
    {"type", FIELD_TEXT, false, offsetof(GroupDraft, type), 0, 0, 17},
    {"count", FIELD_U32, true, offsetof(GroupDraft, group.count), 1, PHX_SCENARIO_UNIT_LIMIT, 0},
    {"at", FIELD_POINT, false, offsetof(GroupDraft, group.place), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"corner", FIELD_CORNER, false, offsetof(GroupDraft, group.place), 0, 0, 0},
    {"scatter", FIELD_SCATTER, false, offsetof(GroupDraft, group.place), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"columns", FIELD_U32, false, offsetof(GroupDraft, group.columns), 1, PHX_SCENARIO_UNIT_LIMIT, 0},
    {"spacing", FIELD_FIX, false, offsetof(GroupDraft, group.spacing), 0, FIX(1024), 0},
    {"facing", FIELD_FACING, false, offsetof(GroupDraft, group.facing), FIX(-360), FIX(360), 0},
    {"mood", FIELD_TEXT, false, offsetof(GroupDraft, manners.mood), 0, 0, 17},
    {"behaviour", FIELD_TEXT, false, offsetof(GroupDraft, manners.behaviour), 0, 0, 17},
    {"flock", FIELD_U16, false, offsetof(GroupDraft, group.flock), 0, 65535, 0},
};

PhxStatus phx_scenario_fail_memory(const ScenarioParser *parser) {
    return phx_yaml_fail(parser->reader.error, PHX_ERROR_MEMORY, parser->scenario->file, 0, 0,
                         "out of memory");
}

PhxStatus phx_scenario_check_list(const ScenarioParser *parser, const PhxYamlNode *list, uint32_t limit) {
    if (list->kind != PHX_YAML_SEQUENCE || list->count == 0)
        return phx_fields_fail(&parser->reader, list, PHX_ERROR_FORMAT,
                               "a list with at least one entry is wanted");
    if (list->count > limit)
        return phx_fields_fail(&parser->reader, list, PHX_ERROR_LIMIT, "%u entries are too many: at most %u",
                               list->count, limit);
    return PHX_OK;
}

PhxStatus phx_scenario_fail_twice(const ScenarioParser *parser, const PhxYamlNode *node, const char *name) {
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT, "two entries have the name \"%.40s\"",
                           name);
}

static PhxStatus parse_players(ScenarioParser *parser, const PhxYamlNode *list) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_PLAYER_LIMIT);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        PhxScenarioPlayer *player = &scenario->players[scenario->player_count];
        *player = (PhxScenarioPlayer){.team = (uint8_t)scenario->player_count, .bot = "idle"};
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "a player", player_fields,
                                 COUNT_OF(player_fields), player, NULL);
        for (uint32_t other = 0; other < scenario->player_count && status == PHX_OK; other++)
            if (strcmp(scenario->players[other].name, player->name) == 0)
                status = phx_scenario_fail_twice(parser, phx_scenario_node(parser, i), player->name);
        scenario->player_count++;
    }
    return status;
}

static PhxStatus parse_types(ScenarioParser *parser, const PhxYamlNode *list) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_SCENARIO_TYPE_LIMIT);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        TypeDraft draft = {.profile = "plain",
                           .def = phx_content_unit_type_default(),
                           .feelings = PHX_YAML_NONE,
                           .flocking = PHX_YAML_NONE};
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "a unit type", type_fields,
                                 COUNT_OF(type_fields), &draft, NULL);
        for (uint32_t other = 0; other < scenario->type_count && status == PHX_OK; other++)
            if (strcmp(scenario->type_names[other], draft.name) == 0)
                status = phx_scenario_fail_twice(parser, phx_scenario_node(parser, i), draft.name);
        if (status == PHX_OK)
            status = phx_scenario_find_profile(parser, phx_scenario_node(parser, i), draft.profile,
                                               &draft.def.profile);
        if (status == PHX_OK && draft.feelings != PHX_YAML_NONE)
            status = phx_scenario_parse_feelings(parser, draft.feelings, &draft.def);
        if (status == PHX_OK && draft.flocking != PHX_YAML_NONE)
            status = phx_scenario_parse_flocking(parser, draft.flocking, &draft.def);
        const uint32_t index = scenario->type_count++;
        memcpy(scenario->type_names[index], draft.name, sizeof draft.name);
        scenario->types[index] = draft.def;
        scenario->types[index].name = scenario->type_names[index];
    }
    return status;
}

PhxStatus phx_scenario_find_player(const ScenarioParser *parser, const PhxYamlNode *node, const char *name,
                                   uint8_t *out) {
    const PhxScenario *scenario = parser->scenario;
    for (uint32_t i = 0; i < scenario->player_count; i++)
        if (strcmp(scenario->players[i].name, name) == 0) return *out = (uint8_t)i, PHX_OK;
    uint64_t slot;
    if (phx_fields_number(name, (uint32_t)strlen(name), false, &slot) && slot < scenario->player_count)
        return *out = (uint8_t)slot, PHX_OK;
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND,
                           "player \"%s\": no player has this name or slot", name);
}

static PhxStatus find_type(const ScenarioParser *parser, const PhxYamlNode *node, const char *name,
                           uint16_t *out) {
    const PhxScenario *scenario = parser->scenario;
    if (name[0] == 0 && scenario->type_count == 1) return *out = 0, PHX_OK;
    if (name[0] == 0)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "type: missing: a group needs this key where there are several unit types");
    for (uint32_t i = 0; i < scenario->type_count; i++)
        if (strcmp(scenario->type_names[i], name) == 0) return *out = (uint16_t)i, PHX_OK;
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND,
                           "type \"%s\": no unit type has this name", name);
}

static PhxStatus finish_group(ScenarioParser *parser, const PhxYamlNode *node, GroupDraft *draft,
                              uint64_t given) {
    PhxScenario *scenario = parser->scenario;
    PhxScenarioGroup *group = &draft->group;
    group->line = node->line;
    group->column = node->column;
    if (phx_scenario_given(given, GROUP_AT, GROUP_SCATTER) != 1)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "a group needs one of the keys at, corner, scatter, and one only");
    for (uint32_t i = 0; i < scenario->group_count && group->name[0] != 0; i++)
        if (strcmp(scenario->groups[i].name, group->name) == 0)
            return phx_scenario_fail_twice(parser, node, group->name);
    if (group->count > PHX_SCENARIO_UNIT_LIMIT - scenario->unit_count)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_LIMIT, "more than %d units in all",
                               PHX_SCENARIO_UNIT_LIMIT);
    scenario->unit_count += group->count;
    PhxStatus status = phx_scenario_find_player(parser, node, draft->player, &group->player);
    if (status == PHX_OK) status = find_type(parser, node, draft->type, &group->type);
    if (status == PHX_OK)
        status = phx_scenario_find_manners(parser, node, &draft->manners, &group->mood, &group->behaviour);
    return status;
}

static PhxStatus parse_groups(ScenarioParser *parser, const PhxYamlNode *list) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_SCENARIO_GROUP_LIMIT);
    if (status != PHX_OK) return status;
    scenario->groups = calloc(list->count, sizeof *scenario->groups);
    if (scenario->groups == NULL) return phx_scenario_fail_memory(parser);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        GroupDraft draft = {.group = {.spacing = -1}};
        uint64_t given = 0;
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "a group", group_fields,
                                 COUNT_OF(group_fields), &draft, &given);
        if (status == PHX_OK) status = finish_group(parser, phx_scenario_node(parser, i), &draft, given);
        if (status == PHX_OK) scenario->groups[scenario->group_count++] = draft.group;
    }
    return status;
}

static PhxStatus parse_root(ScenarioParser *parser) {
    Root root = {
        .scenario = {.name = "scenario",
                     .settings = {.match_key = 1, .tick_rate = 20, .ticks_per_turn = 2, .input_delay = 2},
                     .ticks = 1000,
                     .terrain = PHX_MOVING_AI_COSTS_DEFAULT},
        .terrain = PHX_YAML_NONE,
        .orders = PHX_YAML_NONE,
        .patterns = PHX_YAML_NONE,
        .ground = {PHX_YAML_NONE, PHX_YAML_NONE, PHX_YAML_NONE, PHX_YAML_NONE}};
    memcpy(root.scenario.file, parser->reader.tree->name, sizeof root.scenario.file);
    PhxStatus status = phx_fields_read(&parser->reader, phx_scenario_node(parser, 0), "a scenario",
                                       root_fields, COUNT_OF(root_fields), &root, NULL);
    *parser->scenario = root.scenario;
    if (status == PHX_OK && root.terrain != PHX_YAML_NONE)
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, root.terrain), "terrain",
                                 terrain_fields, COUNT_OF(terrain_fields), &parser->scenario->terrain, NULL);
    if (status == PHX_OK) status = parse_players(parser, phx_scenario_node(parser, root.players));
    if (status == PHX_OK) status = phx_scenario_parse_buildings(parser, &root.ground);
    if (status == PHX_OK) status = phx_scenario_parse_profiles(parser, &root.ground);
    if (status == PHX_OK) status = parse_types(parser, phx_scenario_node(parser, root.types));
    if (status == PHX_OK) status = parse_groups(parser, phx_scenario_node(parser, root.groups));
    if (status == PHX_OK && root.patterns != PHX_YAML_NONE)
        status = phx_scenario_parse_patterns(parser, phx_scenario_node(parser, root.patterns));
    if (status == PHX_OK && root.orders != PHX_YAML_NONE)
        status = phx_scenario_parse_orders(parser, phx_scenario_node(parser, root.orders));
    return status;
}

PhxStatus phx_scenario_parse(const char *name, const void *bytes, size_t size, PhxScenario **out,
                             PhxYamlError *error) {
    *out = NULL;
    PhxYamlTree *tree;
    PhxStatus status = phx_yaml_parse(name, bytes, size, &tree, error);
    if (status != PHX_OK) return status;
    PhxScenario *scenario = calloc(1, sizeof *scenario);
    ScenarioParser parser = {.reader = {.tree = tree, .error = error}, .scenario = scenario};
    if (scenario == NULL)
        status = phx_yaml_fail(error, PHX_ERROR_MEMORY, name, 0, 0, "out of memory");
    else
        status = parse_root(&parser);
    phx_yaml_destroy(tree);
    if (status != PHX_OK)
        phx_scenario_destroy(scenario);
    else
        *out = scenario;
    return status;
}

void phx_scenario_destroy(PhxScenario *scenario) {
    if (scenario == NULL) return;
    free(scenario->buildings);
    free(scenario->modifiers);
    free(scenario->patterns);
    free(scenario->kind_grid);
    free(scenario->height_grid);
    free(scenario->groups);
    free(scenario->orders);
    free(scenario->group_list);
    free(scenario->goals);
    free(scenario);
}
