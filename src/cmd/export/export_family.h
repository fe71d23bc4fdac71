/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORT_FAMILY_H
#define CTOP_EXPORT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "report/exposition.h"
#include "window/column.h"

/* The families of series that groups have; the table is export_family.def. */
enum export_family {
#define EXPORT_FAMILY(column, ...) EXPORT_FAMILY_##column,
#include "export_family.def"
#undef EXPORT_FAMILY
	EXPORT_FAMILY_COUNT,
	/* The one of pairs of groups, a part of what groups waited, which no list of columns chooses. */
	EXPORT_FAMILY_DELAYED = EXPORT_FAMILY_COUNT,
};

struct export_family_entry {
	enum column column;
	enum exposition_kind kind;
	bool is_largest;  /* of several groups the largest counts, not the sum */
	bool by_class;    /* a group has a number for each enum wait_class */
	const char *name; /* as exposition_begin() takes it: "ctop_group_run" */
	bool by_default;
};

extern const struct export_family_entry export_families[EXPORT_FAMILY_COUNT + 1];

/* Some of them, in the order of the table. */
struct export_family_choice {
	enum export_family items[EXPORT_FAMILY_COUNT];
	enum column columns[EXPORT_FAMILY_COUNT]; /* of `items` */
	size_t count;
	/* index of each item's first number among the numbers of a group, then how many these are */
	size_t first[EXPORT_FAMILY_COUNT + 1];
};

/* Numbers that a group has in all families of a choice. */
static inline size_t export_family_numbers(const struct export_family_choice *choice)
{
	return choice->first[choice->count];
}

/*
 * Those that are exported by default where `list` is NULL, else those of the columns that it names (titles or
 * names, a comma between; +NAME adds to the default, which is then kept). With `for_all`, those that all
 * users of the host may read: not what /proc tells the owner of a process alone, which is left out of the
 * default and refused in the list. Returns 0, or -EINVAL with a sentence.
 */
int export_family_choose(const char *list, bool for_all, struct export_family_choice *ret_choice,
			 struct error *error);

/* The name of its series, "ctop_group_run_seconds_total", and a sentence about what they count. The caller
 * frees them. */
char *export_family_name(enum export_family family);
char *export_family_help(enum export_family family);

/* Begins one in an exposition: its unit is that of the column, and what it counts is said as everywhere. */
void export_family_begin(struct exposition *exposition, enum export_family family);

#endif
