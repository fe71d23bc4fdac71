/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HEAP_TAG_H
#define CTOP_HEAP_TAG_H

#include <stdbool.h>

/*
 * Failure tags of the allocator probe; the table is heap_tag.def. They are in this room because the probe
 * sets them, while files and screens, which do not know the probe, explain them.
 */

enum heap_tag {
#define HEAP_TAG(id, ...) HEAP_TAG_##id,
#include "heap_tag.def"
#undef HEAP_TAG
	HEAP_TAG_COUNT,
	HEAP_TAG_NONE = HEAP_TAG_COUNT, /* no failure */
};

enum heap_tag_stage {
	HEAP_TAG_STAGE_ATTACH,
	HEAP_TAG_STAGE_THREAD,
	HEAP_TAG_STAGE_CAPTURE,
	HEAP_TAG_STAGE_COMMAND,
};

enum {
	HEAP_TAG_QUIET = 1 << 0,
	HEAP_TAG_PRIVILEGE = 1 << 1,
};

struct heap_tag_entry {
	const char *name;
	enum heap_tag_stage stage;
	unsigned int flags;
	const char *words;  /* for the screen */
	const char *remedy; /* what the user can do, or NULL */
};

extern const struct heap_tag_entry heap_tags[HEAP_TAG_COUNT];

/* Whether the process that reads debug data failed; a retry may succeed. */
static inline bool heap_tag_is_of_worker(enum heap_tag tag)
{
	return tag == HEAP_TAG_WORKER_PANIC || tag == HEAP_TAG_CALL_REFUSED || tag == HEAP_TAG_NO_RESOURCES;
}

/* The tag of that name, or HEAP_TAG_COUNT. */
enum heap_tag heap_tag_find(const char *name);

#endif
