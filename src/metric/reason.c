/* SPDX-License-Identifier: GPL-2.0-only */
#include "reason.h"

#include <string.h>

const struct reason_entry reasons[REASON_COUNT] = {
	[REASON_READ] = {"read", "read"},
#define REASON(id, name, words) [REASON_##id] = {name, words},
#include "reason.def"
#undef REASON
};

enum reason reason_find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < REASON_COUNT; i++) {
		if (strlen(reasons[i].name) == length && memcmp(reasons[i].name, name, length) == 0)
			break;
	}
	return (enum reason)i;
}
