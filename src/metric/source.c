/* SPDX-License-Identifier: GPL-2.0-only */
#include "source.h"

#include "name.h"

const struct source_entry sources[SOURCE_COUNT] = {
#define SOURCE(id, name, part_of, file, flags, needs, rights, description)                                   \
	[SOURCE_##id] = {name, SOURCE_##part_of, file, flags, FEATURE_##needs, FEATURE_##rights, description},
#include "source.def"
#undef SOURCE
};

source_set source_with_flags(unsigned int flags)
{
	source_set set = 0;

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((sources[i].flags & flags) == flags)
			set |= source_bit((enum source)i);
	}
	return set;
}

enum source source_find(const char *name, size_t length)
{
	return (enum source)name_find(sources, SOURCE_COUNT, sizeof(sources[0]), name, length);
}
