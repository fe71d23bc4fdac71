/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REMEDY_H
#define CTOP_REMEDY_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/*
 * What the user can do where something is refused: commands and advice for `ctop doctor`, the page `e` and
 * hints. They are made here alone, so that nobody is told to become what he is, or to change a host that he
 * does not reach.
 */

/*
 * Whether settings of the host are out of reach: in a pid or user namespace of a container, or without
 * CAP_SYS_ADMIN in the bounding set (capabilities(7)).
 */
bool remedy_is_confined(void);

/* The bit of a capability (CAP_…) for the next function. */
#define REMEDY_BIT(capability) ((uint64_t)1 << (capability))

/*
 * How this user gets those capabilities (bits, CAP_… of linux/capability.h) that the calling thread lacks in
 * its effective set, and the host's pid namespace where `host_pids` is set. Ordinary users get file
 * capabilities where these are enough, and root where not; root, and who has a bounding set without them, get
 * the options of their container. NULL where nothing is lacking. `arena` owns the text.
 */
const char *remedy_for_rights(struct arena *arena, uint64_t capabilities, bool host_pids);

/* A command for root on the host, which says so in a container. */
const char *remedy_on_host(struct arena *arena, const char *command);

/* A parameter for the kernel command line; NULL where the host is out of reach. */
const char *remedy_at_boot(struct arena *arena, const char *parameter);

#endif
