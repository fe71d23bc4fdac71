/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STARTED_BY_H
#define CTOP_STARTED_BY_H

#include <stdint.h>

#include "base/string_pool.h"

/* The process that started most of a group's processes. */
struct started_by {
	uint32_t name;      /* its process name; 0 without one */
	uint64_t processes; /* among which most are its; 0: not known */
};

/* Adds another group's: the one that started more stays. */
void started_by_add(struct started_by *sum, struct started_by more);

/* The same by a name of other strings. */
struct started_by started_by_copy(struct string_pool *to, const struct string_pool *from,
				  struct started_by by);

#endif
