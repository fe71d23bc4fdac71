/* SPDX-License-Identifier: GPL-2.0-only */
#include "known_build.h"

#include <elf.h>
#include <string.h>

static const struct known_build builds[] = {
#define KNOWN_BUILD(machine, version, size, allocated, deallocated)                                          \
	{machine, version, size, allocated, deallocated},
#include "known_build.def"
#undef KNOWN_BUILD
};

const struct known_build *known_build_find(uint16_t machine, const char *version, uint64_t size)
{
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		if (builds[i].machine == machine && builds[i].size == size &&
		    strcmp(builds[i].version, version) == 0)
			return &builds[i];
	}
	return NULL;
}
