/* scenario_parse_ground.c: the part of a scenario that says what ground costs: kinds, profiles, buildings,
 * modifiers. See scenario.h, and phalanx/cost.h for what the numbers do. */
#include "content/scenario_parse.h"

#include <stdlib.h>
#include <string.h>

typedef struct KindDraft {
    char name[17], letters[sizeof PHX_SCENARIO_LETTERS];
} KindDraft;

static const Field kind_fields[] = {
    {"name", FIELD_TEXT, true, offsetof(KindDraft, name), 0, 0, 17},
    {"letters", FIELD_TEXT, false, offsetof(KindDraft, letters), 0, 0, sizeof PHX_SCENARIO_LETTERS},
};

typedef struct ProfileDraft {
    PhxScenarioProfile profile;
    char smoothing[9];
    uint32_t cost, speed; /* nodes */
} ProfileDraft;

static const Field profile_fields[] = {
    {"name", FIELD_TEXT, true, offsetof(ProfileDraft, profile.name), 0, 0, 17},
    {"cost", FIELD_NODE, false, offsetof(ProfileDraft, cost), 0, 0, 0},
    {"speed", FIELD_NODE, false, offsetof(ProfileDraft, speed), 0, 0, 0},
    {"slope_cost", FIELD_U8, false, offsetof(ProfileDraft, profile.def.slope_cost), 0, 255, 0},
    {"slope_limit", FIELD_U8, false, offsetof(ProfileDraft, profile.def.slope_limit), 0, 255, 0},
    {"margin_cost", FIELD_U8, false, offsetof(ProfileDraft, profile.def.margin_cost), 0, 255, 0},
    {"margin_width", FIELD_U8, false, offsetof(ProfileDraft, profile.def.margin_width), 0, 4, 0},
    {"density_cost", FIELD_U8, false, offsetof(ProfileDraft, profile.def.density_cost), 0, 255, 0},
    {"smoothing", FIELD_TEXT, false, offsetof(ProfileDraft, smoothing), 0, 0, 9},
};

typedef struct BuildingDraft {
    char player[17];
    uint16_t at[2], size[2], open_teams;
    bool gate;
} BuildingDraft;

enum { BUILDING_PLAYER, BUILDING_AT, BUILDING_SIZE, BUILDING_GATE, BUILDING_OPEN };
static const Field building_fields[] = {
    {"player", FIELD_TEXT, true, offsetof(BuildingDraft, player), 0, 0, 17},
    {"at", FIELD_CELLS, true, offsetof(BuildingDraft, at), 0, 4095, 0},
    {"size", FIELD_CELLS, false, offsetof(BuildingDraft, size), 1, 64, 0},
    {"gate", FIELD_BOOL, false, offsetof(BuildingDraft, gate), 0, 0, 0},
    {"open_teams", FIELD_TEAMS, false, offsetof(BuildingDraft, open_teams), 0, 0, 0},
};

typedef struct ModifierDraft {
    PhxPlace at;
    PhxCostModifier def;
} ModifierDraft;

static const Field modifier_fields[] = {
    {"at", FIELD_POINT, true, offsetof(ModifierDraft, at), COORDINATE_LOW, COORDINATE_HIGH, 0},
    {"radius", FIELD_FIX, true, offsetof(ModifierDraft, def.radius), 0, PHX_COST_RADIUS_LIMIT, 0},
    {"strength", FIELD_I16, true, offsetof(ModifierDraft, def.strength), -PHX_COST_STRENGTH_LIMIT,
     PHX_COST_STRENGTH_LIMIT, 0},
    {"teams", FIELD_TEAMS, false, offsetof(ModifierDraft, def.teams), 0, 0, 0},
};

/* Gives the kind of the letters; `taken` has a bit for each letter that is some kind's already. */
static PhxStatus take_letters(ScenarioParser *parser, const PhxYamlNode *node, const KindDraft *draft,
                              uint32_t *taken) {
    PhxScenario *scenario = parser->scenario;
    for (const char *c = draft->letters; *c; c++) {
        const char *at = strchr(PHX_SCENARIO_LETTERS, *c);
        if (at == NULL)
            return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                                   "letters: %s: letters of a map are wanted that units may pass: %s",
                                   draft->letters, PHX_SCENARIO_LETTERS);
        const uint32_t letter = (uint32_t)(at - PHX_SCENARIO_LETTERS);
        if (*taken >> letter & 1)
            return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                                   "letters: %s: %c has a kind already", draft->letters, *c);
        *taken |= 1u << letter;
        scenario->letter_kinds[letter] = (uint8_t)scenario->kind_count;
    }
    return PHX_OK;
}

static PhxStatus parse_kinds(ScenarioParser *parser, const PhxYamlNode *list) {
    PhxScenario *scenario = parser->scenario;
    uint32_t taken = 0;
    PhxStatus status = phx_scenario_check_list(parser, list, PHX_COST_KINDS);
    scenario->kind_count = 0;
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        const PhxYamlNode *node = phx_scenario_node(parser, i);
        KindDraft draft = {0};
        status = phx_fields_read(&parser->reader, node, "a kind of ground", kind_fields,
                                 COUNT_OF(kind_fields), &draft, NULL);
        for (uint32_t other = 0; other < scenario->kind_count && status == PHX_OK; other++)
            if (strcmp(scenario->kind_names[other], draft.name) == 0)
                status = phx_scenario_fail_twice(parser, node, draft.name);
        if (status == PHX_OK) status = take_letters(parser, node, &draft, &taken);
        memcpy(scenario->kind_names[scenario->kind_count++], draft.name, sizeof draft.name);
    }
    return status;
}

/* A mapping from names of kinds to percents. */
static PhxStatus parse_percents(const ScenarioParser *parser, uint32_t node, const char *what, uint8_t *out) {
    const PhxScenario *scenario = parser->scenario;
    Field fields[PHX_COST_KINDS];
    if (node == PHX_YAML_NONE) return PHX_OK;
    for (uint32_t i = 0; i < scenario->kind_count; i++)
        fields[i] = (Field){scenario->kind_names[i], FIELD_U8, false, i, 1, 255, 0};
    return phx_fields_read(&parser->reader, phx_scenario_node(parser, node), what, fields,
                           scenario->kind_count, out, NULL);
}

static PhxStatus finish_profile(ScenarioParser *parser, const PhxYamlNode *node, ProfileDraft *draft) {
    PhxScenario *scenario = parser->scenario;
    static const char *const smoothings[] = {"none", "mean", "gauss"};
    uint8_t smoothing = 0;
    while (smoothing < 3 && strcmp(smoothings[smoothing], draft->smoothing) != 0) smoothing++;
    if (smoothing == 3)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "smoothing: %s: none, mean or gauss is wanted", draft->smoothing);
    draft->profile.def.smoothing = smoothing;
    if (strcmp(draft->profile.name, "plain") == 0)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "\"plain\" is the profile that is always there: take another name");
    for (uint32_t other = 0; other < scenario->profile_count; other++)
        if (strcmp(scenario->profiles[other].name, draft->profile.name) == 0)
            return phx_scenario_fail_twice(parser, node, draft->profile.name);
    PhxStatus status = parse_percents(parser, draft->cost, "cost", draft->profile.def.kind_percent);
    if (status == PHX_OK)
        status = parse_percents(parser, draft->speed, "speed", draft->profile.def.speed_percent);
    scenario->profiles[scenario->profile_count++] = draft->profile;
    return status;
}

PhxStatus phx_scenario_parse_profiles(ScenarioParser *parser, const ScenarioGround *ground) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = PHX_OK;
    memcpy(scenario->kind_names[0], "ground", sizeof "ground");
    scenario->kind_count = 1;
    if (ground->kinds != PHX_YAML_NONE)
        status = parse_kinds(parser, phx_scenario_node(parser, ground->kinds));
    if (status != PHX_OK || ground->profiles == PHX_YAML_NONE) return status;
    const PhxYamlNode *list = phx_scenario_node(parser, ground->profiles);
    status = phx_scenario_check_list(parser, list, PHX_SCENARIO_PROFILE_LIMIT);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next) {
        ProfileDraft draft = {.smoothing = "none", .cost = PHX_YAML_NONE, .speed = PHX_YAML_NONE};
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, i), "a profile", profile_fields,
                                 COUNT_OF(profile_fields), &draft, NULL);
        if (status == PHX_OK) status = finish_profile(parser, phx_scenario_node(parser, i), &draft);
    }
    return status;
}

PhxStatus phx_scenario_find_profile(const ScenarioParser *parser, const PhxYamlNode *node, const char *name,
                                    uint8_t *out) {
    const PhxScenario *scenario = parser->scenario;
    *out = 0;
    if (strcmp(name, "plain") == 0) return PHX_OK;
    for (uint32_t i = 0; i < scenario->profile_count; i++)
        if (strcmp(scenario->profiles[i].name, name) == 0) return *out = (uint8_t)(i + 1), PHX_OK;
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND,
                           "profile \"%s\": no profile has this name", name);
}

static PhxStatus parse_building(ScenarioParser *parser, const PhxYamlNode *node) {
    PhxScenario *scenario = parser->scenario;
    PhxScenarioBuilding *building = &scenario->buildings[scenario->building_count++];
    BuildingDraft draft = {.size = {1, 1}};
    uint64_t given = 0;
    PhxStatus status = phx_fields_read(&parser->reader, node, "a building", building_fields,
                                       COUNT_OF(building_fields), &draft, &given);
    if (status != PHX_OK) return status;
    *building = (PhxScenarioBuilding){.def = {.x = draft.at[0],
                                              .y = draft.at[1],
                                              .width = draft.size[0],
                                              .height = draft.size[1],
                                              .gate = draft.gate,
                                              .open_teams = draft.open_teams},
                                      .line = node->line,
                                      .column = node->column};
    status = phx_scenario_find_player(parser, node, draft.player, &building->def.player);
    if (status != PHX_OK) return status;
    const bool open_given = given >> BUILDING_OPEN & 1;
    if (open_given && !draft.gate)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "open_teams: only a gate opens: add gate: true, or leave the key out");
    if (draft.gate && !open_given)
        building->def.open_teams = (uint16_t)(1u << scenario->players[building->def.player].team);
    return PHX_OK;
}

static PhxStatus parse_modifier(ScenarioParser *parser, const PhxYamlNode *node) {
    PhxScenario *scenario = parser->scenario;
    PhxScenarioModifier *modifier = &scenario->modifiers[scenario->modifier_count++];
    ModifierDraft draft = {.def = {.teams = UINT16_MAX}};
    const PhxStatus status = phx_fields_read(&parser->reader, node, "a modifier", modifier_fields,
                                             COUNT_OF(modifier_fields), &draft, NULL);
    draft.def.x = draft.at.x;
    draft.def.y = draft.at.y;
    *modifier = (PhxScenarioModifier){.def = draft.def, .line = node->line, .column = node->column};
    return status;
}

PhxStatus phx_scenario_parse_buildings(ScenarioParser *parser, const ScenarioGround *ground) {
    PhxScenario *scenario = parser->scenario;
    PhxStatus status = PHX_OK;
    if (ground->buildings != PHX_YAML_NONE) {
        const PhxYamlNode *list = phx_scenario_node(parser, ground->buildings);
        status = phx_scenario_check_list(parser, list, PHX_SCENARIO_BUILDING_LIMIT);
        if (status != PHX_OK) return status;
        scenario->buildings = calloc(list->count, sizeof *scenario->buildings);
        if (scenario->buildings == NULL) return phx_scenario_fail_memory(parser);
        for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
             i = phx_scenario_node(parser, i)->next)
            status = parse_building(parser, phx_scenario_node(parser, i));
    }
    if (status != PHX_OK || ground->modifiers == PHX_YAML_NONE) return status;
    const PhxYamlNode *list = phx_scenario_node(parser, ground->modifiers);
    status = phx_scenario_check_list(parser, list, PHX_SCENARIO_MODIFIER_LIMIT);
    if (status != PHX_OK) return status;
    scenario->modifiers = calloc(list->count, sizeof *scenario->modifiers);
    if (scenario->modifiers == NULL) return phx_scenario_fail_memory(parser);
    for (uint32_t i = list->first; i != PHX_YAML_NONE && status == PHX_OK;
         i = phx_scenario_node(parser, i)->next)
        status = parse_modifier(parser, phx_scenario_node(parser, i));
    return status;
}
