/* SPDX-License-Identifier: GPL-2.0-only */
#include "reason.h"

#include "name.h"

const struct reason_entry reasons[REASON_COUNT] = {
	[REASON_READ] = {"read", "read"},
#define REASON(id, name, words) [REASON_##id] = {name, words},
#include "reason.def"
#undef REASON
};

enum reason reason_find(const char *name, size_t length)
{
	return (enum reason)name_find(reasons, REASON_COUNT, sizeof(reasons[0]), name, length);
}
