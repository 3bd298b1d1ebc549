/* mood.h: the names of what units feel and what they do, for commands, content and motion alike. */
#ifndef PHALANX_MOOD_H
#define PHALANX_MOOD_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PhxMood { PHX_MOOD_CALM, PHX_MOOD_ALERT, PHX_MOOD_PANICKED, PHX_MOOD_COUNT } PhxMood;

/* A guard doesn't step aside while it stands, and stands close to other guards; a patrol walks further apart.
 */
typedef enum PhxBehaviour {
    PHX_BEHAVIOUR_NONE,
    PHX_BEHAVIOUR_GUARD,
    PHX_BEHAVIOUR_PATROL,
    PHX_BEHAVIOUR_COUNT
} PhxBehaviour;

enum { PHX_BEHAVE_KEEP = 3 }; /* in a command: the mood, or the behaviour, stays what it is */

#ifdef __cplusplus
}
#endif
#endif
