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

static const struct theme_color hues[HUE_COUNT][THEME_MONO] = {
#define COLORS(basic_name, indexed_color, direct_color)                                                      \
	{                                                                                                    \
		BASIC_##basic_name, indexed_color, direct_color                                              \
	}
#define HUE(id, of_default, of_light, meaning) [HUE_##id] = {of_default, of_light},
#include "hues.def"
#undef HUE
#undef COLORS
};

static const struct {
	struct theme_color text, background;
} shades[THEME_MONO] = {
	[THEME_DEFAULT] = {{THEME_NO_COLOR, 231, 0xffffff}, {THEME_NO_COLOR, 239, 0x3f5063}},
	[THEME_LIGHT] = {{THEME_NO_COLOR, 16, 0x101010}, {THEME_NO_COLOR, 189, 0xcfdff2}},
};

static int color_at(const struct theme_color *color, enum theme_depth depth)
{
	switch (depth) {
	case THEME_DEPTH_BASIC:
		return color->basic;
	case THEME_DEPTH_INDEXED:
		return color->indexed;
	case THEME_DEPTH_DIRECT:
		return color->direct;
	default:
		return THEME_NO_COLOR;
	}
}

int theme_hue(enum theme theme, enum theme_depth depth, enum hue hue)
{
	if (theme >= THEME_MONO || hue >= HUE_COUNT)
		return THEME_NO_COLOR;
	return color_at(&hues[hue][theme], depth);
}

bool theme_shade(enum theme theme, enum theme_depth depth, int *ret_text, int *ret_background)
{
	if (theme >= THEME_MONO || depth < THEME_DEPTH_INDEXED)
		return false;
	*ret_text = color_at(&shades[theme].text, depth);
	*ret_background = color_at(&shades[theme].background, depth);
	return true;
}
