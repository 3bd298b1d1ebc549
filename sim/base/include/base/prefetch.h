/* prefetch.h: says that a line of memory will be wanted soon. It changes no result, and the address may be
 * any. */
#ifndef PHX_BASE_PREFETCH_H
#define PHX_BASE_PREFETCH_H

#if defined(__GNUC__)
#define PHX_PREFETCH(address) __builtin_prefetch(address)
#else
#define PHX_PREFETCH(address) ((void)(address))
#endif

#endif
