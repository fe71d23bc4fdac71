/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CAPTURE_FACTS_H
#define CTOP_CAPTURE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "snapshot.h"

/* Facts about how and on what host captures were made, which reports print side by side. */

enum {
	CAPTURE_FACTS_SIDES = 2
};

enum capture_fact_flags {
	CAPTURE_FACT_MAIN = 1 << 0,    /* belongs into a short heading */
	CAPTURE_FACT_HOST = 1 << 1,    /* is of the host and does not change by itself */
	CAPTURE_FACT_SETTING = 1 << 2, /* is of how the host was captured, or of its scheduler */
};

struct capture_fact {
	const char *name;                       /* "kernel" */
	const char *value[CAPTURE_FACTS_SIDES]; /* as read, not sanitised; NULL: not known */
	unsigned int flags;                     /* enum capture_fact_flags */
	bool differs;                           /* of two captures, one of which may not know it */
};

struct capture_facts {
	struct arena arena; /* owns names and values */
	struct capture_fact *items;
	size_t count;
	size_t capacity;
	size_t sides; /* 1 or 2 */
};

/*
 * The facts of a capture, or of two side by side (`after` NULL: of `before` alone), in a fixed order; those
 * that neither knows are left out. Nothing of the snapshots is kept. The caller releases the result.
 */
struct capture_facts *capture_facts_create(const struct snapshot *before, const struct snapshot *after);

/* Frees the facts; NULL is allowed. */
void capture_facts_release(struct capture_facts *facts);

/* The fact of that name, or NULL. */
const struct capture_fact *capture_facts_find(const struct capture_facts *facts, const char *name);

#endif
