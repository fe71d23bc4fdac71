/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD_BITS = 64,
};

uint32_t bpf_kernel_mask_words(const char *possible)
{
	const char *last = possible + strlen(possible);
	unsigned long highest;

	/* the list ascends, so that its last number is the highest */
	while (last != possible && strchr(",-", last[-1]) == NULL)
		last--;
	highest = strtoul(last, NULL, 10);
	return highest < UINT32_MAX ? (uint32_t)(highest / WORD_BITS) + 1 : 1;
}

bool bpf_kernel_is_older(const char *release, unsigned int major, unsigned int minor)
{
	unsigned int own_major, own_minor;

	return sscanf(release, "%u.%u", &own_major, &own_minor) == 2 &&
	       (own_major < major || (own_major == major && own_minor < minor));
}
