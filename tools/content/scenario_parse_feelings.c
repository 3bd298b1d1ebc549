/* scenario_parse_feelings.c: what units of a type feel and do in a flock, the names of moods and behaviours,
 * and orders to behave. See scenario.h, and phalanx/feelings.h and phalanx/flock.h for what it all does.
 */
#include "content/scenario_parse.h"

#include <phalanx/flock.h>
#include <string.h>

typedef struct FeelingsDraft {
    PhxUnitTypeDef def;
    uint32_t moods[PHX_MOOD_COUNT]; /* nodes */
} FeelingsDraft;

/* The ranges are those of the columns in sim/state/tables/unit_type.def. */
static const Field feelings_fields[] = {
    {"mood_rate", FIELD_FIX, false, offsetof(FeelingsDraft, def.mood_rate), 4096, FIX(64), 0},
    {"range", FIELD_FIX, false, offsetof(FeelingsDraft, def.feel_range), 0, FIX(64), 0},
    {"neighbours", FIELD_U8, false, offsetof(FeelingsDraft, def.feel_neighbours), 0, 16, 0},
    {"cohesion", FIELD_FIX, false, offsetof(FeelingsDraft, def.cohesion), 0, FIX(64), 0},
    {"berth", FIELD_FIX, false, offsetof(FeelingsDraft, def.berth), 0, FIX(64), 0},
    {"spread", FIELD_FIX, false, offsetof(FeelingsDraft, def.spread), 0, FIX(64), 0},
    {"clip", FIELD_FIX, false, offsetof(FeelingsDraft, def.force_clip), 0, FIX(64), 0},
    {"guard_spacing", FIELD_FIX, false, offsetof(FeelingsDraft, def.guard_spacing), 0, FIX(16), 0},
    {"patrol_spacing", FIELD_FIX, false, offsetof(FeelingsDraft, def.patrol_spacing), 0, FIX(16), 0},
    {"calm", FIELD_NODE, false, offsetof(FeelingsDraft, moods[PHX_MOOD_CALM]), 0, 0, 0},
    {"alert", FIELD_NODE, false, offsetof(FeelingsDraft, moods[PHX_MOOD_ALERT]), 0, 0, 0},
    {"panicked", FIELD_NODE, false, offsetof(FeelingsDraft, moods[PHX_MOOD_PANICKED]), 0, 0, 0},
};

typedef struct MoodDraft {
    fix16_t path_bias, radius, speed;
} MoodDraft;

static const Field mood_fields[] = {
    {"path_bias", FIELD_FIX, false, offsetof(MoodDraft, path_bias), 0, FIX(1), 0},
    {"radius", FIELD_FIX, false, offsetof(MoodDraft, radius), FIX(1), FIX(4), 0},
    {"speed", FIELD_FIX, false, offsetof(MoodDraft, speed), 0, FIX(4), 0},
};

PhxStatus phx_scenario_parse_feelings(const ScenarioParser *parser, uint32_t node, PhxUnitTypeDef *def) {
    FeelingsDraft draft = {.def = *def, .moods = {PHX_YAML_NONE, PHX_YAML_NONE, PHX_YAML_NONE}};
    PhxStatus status = phx_fields_read(&parser->reader, phx_scenario_node(parser, node), "feelings",
                                       feelings_fields, COUNT_OF(feelings_fields), &draft, NULL);
    for (uint32_t m = 0; m < PHX_MOOD_COUNT && status == PHX_OK; m++) {
        if (draft.moods[m] == PHX_YAML_NONE) continue;
        MoodDraft mood = {draft.def.path_bias[m], draft.def.radius_factor[m], draft.def.speed_factor[m]};
        status = phx_fields_read(&parser->reader, phx_scenario_node(parser, draft.moods[m]), "a mood",
                                 mood_fields, COUNT_OF(mood_fields), &mood, NULL);
        draft.def.path_bias[m] = mood.path_bias;
        draft.def.radius_factor[m] = mood.radius;
        draft.def.speed_factor[m] = mood.speed;
    }
    if (status == PHX_OK) *def = draft.def;
    return status;
}

static const Field flocking_fields[] = {
    {"separation", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_weight[PHX_FLOCK_SEPARATION]), 0, FIX(64),
     0},
    {"alignment", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_weight[PHX_FLOCK_ALIGNMENT]), 0, FIX(64),
     0},
    {"cohesion", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_weight[PHX_FLOCK_COHESION]), 0, FIX(64), 0},
    {"seek", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_weight[PHX_FLOCK_SEEK]), 0, FIX(64), 0},
    {"near", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_near), 0, FIX(64), 0},
    {"far", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_far), 0, FIX(64), 0},
    {"force", FIELD_FIX, false, offsetof(PhxUnitTypeDef, flock_force), 0, FIX(64), 0},
};

PhxStatus phx_scenario_parse_flocking(const ScenarioParser *parser, uint32_t node, PhxUnitTypeDef *def) {
    return phx_fields_read(&parser->reader, phx_scenario_node(parser, node), "flocking", flocking_fields,
                           COUNT_OF(flocking_fields), def, NULL);
}

static PhxStatus find_word(const ScenarioParser *parser, const PhxYamlNode *node, const char *key,
                           const char *const *words, const char *word, uint8_t *out) {
    if (word[0] == 0) return PHX_OK;
    for (uint8_t i = 0; i < 3; i++)
        if (strcmp(words[i], word) == 0) return *out = i, PHX_OK;
    return phx_fields_fail(&parser->reader, node, PHX_ERROR_NOT_FOUND, "%s \"%s\": %s, %s or %s is wanted",
                           key, word, words[0], words[1], words[2]);
}

PhxStatus phx_scenario_find_manners(const ScenarioParser *parser, const PhxYamlNode *node,
                                    const ScenarioManners *manners, uint8_t *mood, uint8_t *behaviour) {
    static const char *const moods[] = {"calm", "alert", "panicked"};
    static const char *const behaviours[] = {"none", "guard", "patrol"};
    const PhxStatus status = find_word(parser, node, "mood", moods, manners->mood, mood);
    return status == PHX_OK ? find_word(parser, node, "behaviour", behaviours, manners->behaviour, behaviour)
                            : status;
}

static const Field manners_fields[] = {
    {"mood", FIELD_TEXT, false, offsetof(ScenarioManners, mood), 0, 0, 17},
    {"behaviour", FIELD_TEXT, false, offsetof(ScenarioManners, behaviour), 0, 0, 17},
};

PhxStatus phx_scenario_parse_behave(const ScenarioParser *parser, uint32_t index, PhxScenarioOrder *order) {
    const PhxYamlNode *node = phx_scenario_node(parser, index);
    ScenarioManners manners = {{0}, {0}};
    uint64_t given = 0;
    const PhxStatus status = phx_fields_read(&parser->reader, node, "a behave order", manners_fields,
                                             COUNT_OF(manners_fields), &manners, &given);
    if (status != PHX_OK) return status;
    if (given == 0)
        return phx_fields_fail(&parser->reader, node, PHX_ERROR_FORMAT,
                               "a behave order needs mood or behaviour, or both");
    order->mood = order->behaviour = PHX_BEHAVE_KEEP;
    return phx_scenario_find_manners(parser, node, &manners, &order->mood, &order->behaviour);
}
