/* SPDX-License-Identifier: GPL-2.0-only */
#include "theme.h"

#include <stddef.h>

const char *const theme_names[THEME_COUNT + 1] = {
	[THEME_DEFAULT] = "default",
	[THEME_LIGHT] = "light",
	[THEME_MONO] = "mono",
	[THEME_COUNT] = NULL,
};

/* The eight colours of ECMA-48 (SGR 30 to 37), as curses numbers them too. */
enum {
	BASIC_NONE = THEME_NO_COLOR,
	BASIC_RED = 1,
	BASIC_GREEN = 2,
	BASIC_YELLOW = 3,
	BASIC_BLUE = 4,
	BASIC_MAGENTA = 5,
	BASIC_CYAN = 6,
};

static const int hues[HUE_COUNT][THEME_MONO][THEME_DEPTH_COUNT] = {
#define COLORS(basic_name, indexed_color, direct_color)                                                      \
	{                                                                                                    \
		THEME_NO_COLOR, BASIC_##basic_name, indexed_color, direct_color                              \
	}
#define HUE(id, of_default, of_light, meaning) [HUE_##id] = {of_default, of_light},
#include "hues.def"
#undef HUE
#undef COLORS
};

/* of text, and of the background */
static const int shades[THEME_MONO][2][THEME_DEPTH_COUNT] = {
	[THEME_DEFAULT] = {{[THEME_DEPTH_INDEXED] = 231, 0xffffff}, {[THEME_DEPTH_INDEXED] = 239, 0x3f5063}},
	[THEME_LIGHT] = {{[THEME_DEPTH_INDEXED] = 16, 0x101010}, {[THEME_DEPTH_INDEXED] = 189, 0xcfdff2}},
};

int theme_hue(enum theme theme, enum theme_depth depth, enum hue hue)
{
	return theme < THEME_MONO && hue < HUE_COUNT ? hues[hue][theme][depth] : THEME_NO_COLOR;
}

bool theme_shade(enum theme theme, enum theme_depth depth, int *ret_text, int *ret_background)
{
	if (theme >= THEME_MONO || depth < THEME_DEPTH_INDEXED)
		return false;
	*ret_text = shades[theme][0][depth];
	*ret_background = shades[theme][1][depth];
	return true;
}
