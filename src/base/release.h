/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RELEASE_H
#define CTOP_RELEASE_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a release of the kernel ("5.15.0-91-generic", uname(2)) is older than a version. False for what is
 * no release. */
static inline bool release_is_older(const char *release, unsigned int major, unsigned int minor)
{
	unsigned int own_major, own_minor;

	return sscanf(release, "%u.%u", &own_major, &own_minor) == 2 &&
	       (own_major < major || (own_major == major && own_minor < minor));
}

#endif
