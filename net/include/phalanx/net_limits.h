/* net_limits.h: every size that the lockstep library bounds, in one place.
 *
 * A decoder refuses what is above a limit before it loops or copies; a sender is refused the same way, so
 * that a limit never shows only at the other side. Raising one changes the protocol: raise PHX_NET_PROTOCOL
 * with it.
 */
#ifndef PHALANX_NET_LIMITS_H
#define PHALANX_NET_LIMITS_H

enum {
    PHX_NET_PROTOCOL = 2,            /* version of the wire format; the handshake compares it */
    PHX_NET_DATAGRAM_MAX = 1000,     /* bytes; fits any usual MTU (IPv6 1280) with room for a tunnel */
    PHX_NET_PLAYERS_MAX = 16,        /* player slots 0..15 */
    PHX_NET_HOST_SLOT = 255,         /* the host's own command slot: last in a tick's order */
    PHX_NET_NO_SLOT = 254,           /* "none", or "any" where a slot is asked for */
    PHX_NET_NAME_MAX = 32,           /* bytes of a player's name */
    PHX_NET_TEXT_MAX = 160,          /* bytes of a text for a person */
    PHX_NET_COMMAND_MAX = 4096,      /* bytes of one command */
    PHX_NET_LEAVE_MAX = 256,         /* bytes of a leave command */
    PHX_NET_TURN_COMMANDS_MAX = 64,  /* commands of one player in one turn */
    PHX_NET_TURN_BYTES_MAX = 8192,   /* command bytes of one player in one turn */
    PHX_NET_TICKS_PER_TURN_MAX = 16, /* ticks */
    PHX_NET_DELAY_MAX = 64,          /* turns of input delay */
    PHX_NET_TABLES_MAX = 64,         /* table hashes of one tick */
    PHX_NET_HASH_BATCH = 64,         /* 64-bit values in one message */
    PHX_NET_HASH_HISTORY = 2048,     /* ticks whose hashes each side keeps: how far one may lag */
    PHX_NET_TREE_VALUES_MAX = 4096,  /* values in one answer about the hash tree */
    PHX_NET_STATE_PIECE_MAX = 1024,  /* bytes of a state in one message */
    PHX_NET_STATE_MAX = 1 << 30,     /* bytes of a state that is sent */
    PHX_NET_EVENTS_MAX = 64,         /* events that wait to be polled; more are dropped and counted */
};

#endif
