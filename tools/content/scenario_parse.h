/* scenario_parse.h: what the files that read a scenario's tree share. Internal to tools/content. */
#ifndef PHX_TOOLS_SCENARIO_PARSE_H
#define PHX_TOOLS_SCENARIO_PARSE_H

#include "content/scenario_fields.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define FIX(units)      ((int64_t)(units)*PHX_FIX_ONE)
#define COORDINATE_LOW  (-FIX(8192))
#define COORDINATE_HIGH (FIX(8192) - 1)

typedef struct ScenarioParser {
    FieldReader reader;
    PhxScenario *scenario;
    uint32_t group_list_capacity;
} ScenarioParser;

static inline const PhxYamlNode *phx_scenario_node(const ScenarioParser *parser, uint32_t index) {
    return &parser->reader.tree->nodes[index];
}

/* The list behind a key of the root, with a bound on its length. */
PHX_MUST_USE PhxStatus phx_scenario_check_list(const ScenarioParser *parser, const PhxYamlNode *list,
                                               uint32_t limit);
PhxStatus phx_scenario_fail_twice(const ScenarioParser *parser, const PhxYamlNode *node, const char *name);
PhxStatus phx_scenario_fail_memory(const ScenarioParser *parser);
/* A player by name, or by slot number. */
PHX_MUST_USE PhxStatus phx_scenario_find_player(const ScenarioParser *parser, const PhxYamlNode *node,
                                                const char *name, uint8_t *out);

/* How many of the bits first .. last are set. */
static inline uint32_t phx_scenario_given(uint64_t given, uint32_t first, uint32_t last) {
    uint32_t count = 0;
    for (uint32_t i = first; i <= last; i++) count += (uint32_t)(given >> i & 1);
    return count;
}

/* Nodes of the root that say what ground costs; PHX_YAML_NONE where they are missing. */
typedef struct ScenarioGround {
    uint32_t kinds, profiles, buildings, modifiers;
} ScenarioGround;

/* Kinds of ground and profiles: before the unit types. */
PHX_MUST_USE PhxStatus phx_scenario_parse_profiles(ScenarioParser *parser, const ScenarioGround *ground);
/* The slot of a profile, by name. */
PHX_MUST_USE PhxStatus phx_scenario_find_profile(const ScenarioParser *parser, const PhxYamlNode *node,
                                                 const char *name, uint8_t *out);
/* Buildings and modifiers: after the players. */
PHX_MUST_USE PhxStatus phx_scenario_parse_buildings(ScenarioParser *parser, const ScenarioGround *ground);
/* What a unit type's key `feelings` says, into its definition. */
PHX_MUST_USE PhxStatus phx_scenario_parse_feelings(const ScenarioParser *parser, uint32_t node,
                                                   PhxUnitTypeDef *def);
/* What its key `flocking` says. */
PHX_MUST_USE PhxStatus phx_scenario_parse_flocking(const ScenarioParser *parser, uint32_t node,
                                                   PhxUnitTypeDef *def);
/* Patterns: before the orders. */
PHX_MUST_USE PhxStatus phx_scenario_parse_patterns(ScenarioParser *parser, const PhxYamlNode *list);
/* What an order to form says. */
PHX_MUST_USE PhxStatus phx_scenario_parse_form(const ScenarioParser *parser, uint32_t node,
                                               PhxScenarioOrder *order);
/* How units feel and what they do, in words; "": not said. */
typedef struct ScenarioManners {
    char mood[17], behaviour[17];
} ScenarioManners;
/* The words' values; what isn't said is let be. */
PHX_MUST_USE PhxStatus phx_scenario_find_manners(const ScenarioParser *parser, const PhxYamlNode *node,
                                                 const ScenarioManners *manners, uint8_t *mood,
                                                 uint8_t *behaviour);
/* What an order's key `behave` says. */
PHX_MUST_USE PhxStatus phx_scenario_parse_behave(const ScenarioParser *parser, uint32_t index,
                                                 PhxScenarioOrder *order);
/* The orders: after all else. */
PHX_MUST_USE PhxStatus phx_scenario_parse_orders(ScenarioParser *parser, const PhxYamlNode *list);

#endif
