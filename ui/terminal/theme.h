/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THEME_H
#define CTOP_THEME_H

#include <stdbool.h>

/*
 * How the screen looks. Colours only add to what is there without them, and the background stays the
 * terminal's own, except under a share (draw_shade()).
 */
enum theme {
	THEME_DEFAULT, /* for dark backgrounds, readable on light ones */
	THEME_LIGHT,   /* for light backgrounds */
	THEME_MONO,    /* no colours */
	THEME_COUNT,
};

/* Names of options, ended by NULL: "default" "light" "mono". */
extern const char *const theme_names[THEME_COUNT + 1];

/* A kind of meaning that has a colour; the table is hues.def. */
enum hue {
#define HUE(id, ...) HUE_##id,
#include "hues.def"
#undef HUE
	HUE_COUNT,
	HUE_NONE = HUE_COUNT,
};

enum {
	THEME_NO_COLOR = -1,
};

/* The number of colours of a terminal, and what stands for one there. */
enum theme_depth {
	THEME_DEPTH_NONE,
	THEME_DEPTH_BASIC,   /* 0 to 7 in the order of ECMA-48, black first; THEME_NO_COLOR */
	THEME_DEPTH_INDEXED, /* 16 to 255, which look the same in every terminal */
	THEME_DEPTH_DIRECT,  /* 0xRRGGBB */
	THEME_DEPTH_COUNT,
};

/* The colour of a hue as curses counts them, or THEME_NO_COLOR. */
int theme_hue(enum theme theme, enum theme_depth depth, enum hue hue);

/*
 * What a share is drawn on and with: both colours are set, so that its text can be read on any background.
 * Returns false, and sets nothing, where there are only the basic colours or none.
 */
bool theme_shade(enum theme theme, enum theme_depth depth, int *ret_text, int *ret_background);

#endif
