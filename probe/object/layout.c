/* SPDX-License-Identifier: GPL-2.0-only */
#include "layout.h"

const char *const layout_origin_names[LAYOUT_ORIGIN_COUNT] = {
	[LAYOUT_ORIGIN_DWARF] = "dwarf",
	[LAYOUT_ORIGIN_KNOWN_BUILD] = "known-build",
};
