/* SPDX-License-Identifier: GPL-2.0-only */
#include "heap_tag.h"

#include <stddef.h>
#include <string.h>

const struct heap_tag_entry heap_tags[HEAP_TAG_COUNT] = {
#define HEAP_TAG(id, name, stage, flags, words, remedy)                                                      \
	[HEAP_TAG_##id] = {name, HEAP_TAG_STAGE_##stage, flags, words, remedy},
#include "heap_tag.def"
#undef HEAP_TAG
};

enum heap_tag heap_tag_find(const char *name)
{
	size_t tag = 0;

	while (tag < HEAP_TAG_COUNT && strcmp(heap_tags[tag].name, name) != 0)
		tag++;
	return (enum heap_tag)tag;
}
