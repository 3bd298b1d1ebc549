/* host.h: the host's inside, shared by host.c (interface), host_links.c (connections, handshake, lobby) and
 * host_match.c (turns, waiting, hashes, end) host_desync.c (what differs) and host_mend.c (how it goes on).
 */
#ifndef PHX_SESSION_HOST_H
#define PHX_SESSION_HOST_H

#include <phalanx/net.h>

#include "events.h"
#include "lockstep/agreement.h"
#include "lockstep/descent.h"
#include "lockstep/follower.h"
#include "lockstep/link.h"
#include "lockstep/sequencer.h"

enum {
    PHX_HOST_TX = 512 * 1024, /* send ring of a link: several of the longest turns */
    PHX_HOST_RX = 32 * 1024,  /* receive window: the longest INPUT, several times */
    PHX_HOST_SPARE_LINKS = 4, /* connections beyond the players', so that they can be refused in words */
};

typedef enum PhxHostLinkState {
    PHX_HOST_LINK_FREE,
    PHX_HOST_LINK_GREETING, /* up; HELLO didn't come yet */
    PHX_HOST_LINK_JOINED,   /* has a slot */
    PHX_HOST_LINK_CLOSING   /* was told goodbye; waits until it has that */
} PhxHostLinkState;

typedef struct PhxHostLink {
    PhxHostLinkState state;
    uint8_t slot;
    bool ready;
    bool broken;       /* its stream is beyond repair, or its send ring is full */
    uint64_t deadline; /* GREETING, CLOSING */
    uint8_t *memory;
    PhxLink link;
} PhxHostLink;

struct PhxHost {
    PhxArena arena;
    PhxTransport transport;
    PhxHostConfig config;
    PhxLimits limits;
    PhxNetStage stage;
    bool clock_set;
    uint64_t now, stage_since;

    PhxHostLink *links;
    uint32_t link_count;
    uint32_t present; /* slots that are taken */
    char names[PHX_NET_PLAYERS_MAX][PHX_NET_NAME_MAX + 1];

    PhxSequencer sequencer;
    PhxFollower follower; /* the referee's turns and hashes */
    bool referee;         /* still counts */
    PhxAgreement agreement;
    PhxDesync desync; /* REPORTED: what was */
    PhxNetEvent desync_event;
    PhxDescent descent;
    uint32_t mending, mended;       /* players that are being sent the referee's state; that took it */
    bool mend_used;                 /* once a match */
    uint32_t mend_total, mend_from; /* bytes of the state; the tick from which the mended are right */
    uint32_t mend_at[PHX_NET_PLAYERS_MAX];
    uint64_t mend_deadline;
    PhxEventQueue events;

    uint8_t *scratch;  /* PHX_WIRE_MESSAGE_MAX: messages under construction */
    bool waiting_told; /* the last word about waiting was that somebody is missing */
    uint64_t next_notice;
    uint64_t referee_since; /* since when sealing waits for the referee; 0: it doesn't */
    uint32_t agreed_told;
    uint64_t agreed_told_at;
    uint64_t desync_deadline;
    bool hashing;         /* somebody has reported a hash */
    uint64_t taken_since; /* ENDING: since when everybody has taken the last turn; 0: not yet */
    bool goodbye;         /* ENDING: all were told goodbye */
    bool all_left;
    PhxNetReason end_reason;
    PhxNetStatistics closed; /* of links that are no more */
};

/* host_links.c */
void phx_host_receive(PhxHost *host);
void phx_host_check_links(PhxHost *host);
void phx_host_transmit(PhxHost *host);
void phx_host_tell(PhxHostLink *link, const PhxMessage *message);
void phx_host_tell_all(PhxHost *host, const PhxMessage *message); /* all that have a slot */
void phx_host_tell_bytes(PhxHostLink *link, const uint8_t *message, size_t size);
/* Says goodbye and lets the link go when it has that. */
void phx_host_dismiss(PhxHost *host, PhxHostLink *link, PhxNetReason reason, const char *text);
PhxHostLink *phx_host_link_of(PhxHost *host, uint8_t slot);
/* A player goes: frees the slot in the lobby, leaves the match later. */
void phx_host_player_gone(PhxHost *host, uint8_t slot, PhxNetReason reason);
void phx_host_set_stage(PhxHost *host, PhxNetStage stage);
void phx_host_add_statistics(PhxNetStatistics *sum, const PhxLink *link);

/* host_match.c */
void phx_host_step(PhxHost *host);
/* A message of a player in the match. False: it isn't one for this stage, or breaks the rules. */
PHX_MUST_USE bool phx_host_match_message(PhxHost *host, PhxHostLink *link, const PhxMessage *message);
void phx_host_begin_end(PhxHost *host, PhxNetReason reason);

/* host_desync.c */
void phx_host_ask_tables(PhxHost *host); /* the agreement has begun to ask */
void phx_host_step_desync(PhxHost *host);
PHX_MUST_USE bool phx_host_take_tree_answer(PhxHost *host, uint8_t slot, const PhxMessage *message);

/* host_mend.c */
void phx_host_begin_mending(PhxHost *host); /* the walk has ended; does nothing where it isn't allowed */
void phx_host_step_mending(PhxHost *host);
PHX_MUST_USE bool phx_host_take_mended(PhxHost *host, uint8_t slot, const PhxMessage *message);

#endif
