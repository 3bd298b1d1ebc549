/* peer.h: a peer's inside, shared by peer.c (interface) and peer_messages.c (what the host says). */
#ifndef PHX_SESSION_PEER_H
#define PHX_SESSION_PEER_H

#include <phalanx/net.h>

#include "events.h"
#include "lockstep/follower.h"
#include "lockstep/link.h"

enum {
    PHX_PEER_TX = 128 * 1024,  /* send ring: the longest INPUT, many times */
    PHX_PEER_RX = 192 * 1024,  /* receive window: the longest TURN and more */
    PHX_PEER_ROOM = 16 * 1024, /* bytes kept free in the send ring for one INPUT and the small messages */
    PHX_PEER_LINGER_US = 1000 * 1000, /* how long the last words may take to arrive */
};
_Static_assert((int)PHX_PEER_RX > (int)PHX_WIRE_MESSAGE_MAX + PHX_WIRE_LENGTH_MAX, "a TURN fits the window");
_Static_assert((int)PHX_PEER_ROOM > (int)PHX_WIRE_INPUT_MAX + 2048, "an INPUT fits the room that is kept");

struct PhxPeer {
    PhxArena arena;
    PhxTransport transport;
    PhxPeerConfig config;
    PhxLimits limits;
    PhxNetStage stage;
    bool clock_set;
    uint64_t now, begun;

    bool link_up, started, ready;
    bool leaving;  /* LEAVE was said */
    bool finished; /* ENDED was given; only last words are exchanged */
    uint64_t leave_deadline, linger_until;
    uint8_t *link_memory;
    PhxLink link;
    PhxMatchInfo match;
    char names[PHX_NET_PLAYERS_MAX][PHX_NET_NAME_MAX + 1];
    PhxFollower follower;
    PhxEventQueue events;
    uint32_t final_ticks; /* 0: open end */
    uint32_t agreed_ticks;
    uint64_t agreed_root;
    PhxNetEvent desync;          /* the report, once it has come */
    PhxNetTreeQuestion question; /* about the hash tree; the host asks one at a time */
    uint8_t question_round;
    uint32_t answer_total, answer_at; /* values of its answer, and how many were given */
    bool answering;
    uint32_t state_total, state_at; /* of the state that is being sent here, and how much has come */
};

void phx_peer_tell(PhxPeer *peer, const PhxMessage *message);
/* Gives ENDED, once; the connection goes down when the last words are through. */
void phx_peer_finish(PhxPeer *peer, PhxNetReason reason, const char *text);
/* Gives as much of an answer about the hash tree as the link has room for. */
void phx_peer_answer(PhxPeer *peer);
/* Takes in the messages that are there. */
void phx_peer_read(PhxPeer *peer);

#endif
