/* SPDX-License-Identifier: GPL-2.0-only */
#include "heap_options.h"

#include "base/memory.h"

static const struct option list[] = {
	{OPTION('\0', "no-heap", NULL, struct heap_options, no_heap), .in_file = true,
	 .description = "do not read what jemalloc programs allocate (nothing is stopped to read it)"},
	{OPTION('\0', "allow-stop", NULL, struct heap_options, allow_stop),
	 .description = "stop a thread for up to 250 ms where its allocation counters cannot be found "
			"otherwise (as with musl)"},
};

const struct option_table heap_option_table = {"Allocation counters", list, ARRAY_COUNT(list)};
