/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REMEDY_H
#define CTOP_REMEDY_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/*
 * Commands and advice for a user who was refused something, for `ctop doctor`, the page `e` and hints. All
 * come from here, so that root is never advised to become root, nor a user in a container to change the host.
 */

/*
 * Whether this process cannot change the host's settings: it is in a container's pid or user namespace, or
 * its bounding set lacks CAP_SYS_ADMIN (capabilities(7)).
 */
bool remedy_is_confined(void);

/*
 * Advises how this user can get the `capabilities` (a set of RIGHTS_BIT(), rights.h) that the calling
 * thread's effective set lacks, and the host's pid namespace if `host_pids` is set. Ordinary users are
 * advised to use file capabilities if these are enough, otherwise root. Root, and users whose bounding set
 * lacks the capabilities, get container options. NULL if nothing is missing. `arena` owns the text.
 */
const char *remedy_for_rights(struct arena *arena, uint64_t capabilities, bool host_pids);

/* A command for root; in a container the text says to run it on the host. */
const char *remedy_on_host(struct arena *arena, const char *command);

/* Advice to boot with a kernel parameter; NULL in a container, which cannot change it. */
const char *remedy_at_boot(struct arena *arena, const char *parameter);

#endif
