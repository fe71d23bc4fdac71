/* SPDX-License-Identifier: GPL-2.0-only */
/* Colours: of each theme, on terminals with 8, 256 and all colours, and on none at all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"
#include "ui/terminal/theme.h"

#include "fake_program.h"

/* --- how well colours can be read --- */

static double linear(int channel)
{
	double value = channel / 255.0;

	return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* Relative luminance as WCAG 2 defines it. */
static double luminance(int color)
{
	return 0.2126 * linear(color >> 16) + 0.7152 * linear(color >> 8 & 0xff) +
	       0.0722 * linear(color & 0xff);
}

static double contrast(int one, int other)
{
	double lighter = fmax(luminance(one), luminance(other));

	return (lighter + 0.05) / (fmin(luminance(one), luminance(other)) + 0.05);
}

/* What a colour of 16 to 255 looks like in xterm and what follows it. */
static int direct_of(int indexed)
{
	static const int levels[] = {0, 95, 135, 175, 215, 255};
	int grey = 8 + 10 * (indexed - 232);

	if (indexed >= 232)
		return grey << 16 | grey << 8 | grey;
	indexed -= 16;
	return levels[indexed / 36] << 16 | levels[indexed / 6 % 6] << 8 | levels[indexed % 6];
}

static void expect_contrast(enum theme theme, int color)
{
	if (theme == THEME_DEFAULT) {
		/* text is read on black, and still found on white */
		assert_true(contrast(color, 0x000000) >= 4.5);
		assert_true(contrast(color, 0xffffff) >= 3.0);
	} else {
		assert_true(contrast(color, 0xffffff) >= 4.5);
	}
}

/* Each theme with colours has every hue, and each can be read where the theme is for. */
static void test_themes_are_whole_and_readable(void **state)
{
	(void)state;
	for (enum theme theme = 0; theme < THEME_MONO; theme++) {
		int text, background;

		for (enum hue hue = 0; hue < HUE_COUNT; hue++) {
			const int indexed = theme_hue(theme, THEME_DEPTH_INDEXED, hue);
			const int basic = theme_hue(theme, THEME_DEPTH_BASIC, hue);

			assert_in_range(indexed, 16, 255);
			expect_contrast(theme, direct_of(indexed));
			expect_contrast(theme, theme_hue(theme, THEME_DEPTH_DIRECT, hue));
			/* below 8, curses takes the number of a colour for one of the palette */
			assert_true(theme_hue(theme, THEME_DEPTH_DIRECT, hue) >= 8);
			/* neither the colour of the background nor that of text; pale ones not on white */
			assert_true(basic == THEME_NO_COLOR || (basic >= 1 && basic <= 6));
			assert_false(theme == THEME_LIGHT && (basic == 2 || basic == 3 || basic == 6));
		}
		assert_true(theme_shade(theme, THEME_DEPTH_INDEXED, &text, &background));
		assert_true(contrast(direct_of(text), direct_of(background)) >= 7.0);
		assert_true(theme_shade(theme, THEME_DEPTH_DIRECT, &text, &background));
		assert_true(contrast(text, background) >= 7.0);
		assert_true(text >= 8 && background >= 8);
		assert_false(theme_shade(theme, THEME_DEPTH_BASIC, &text, &background));
	}
	for (enum hue hue = 0; hue < HUE_COUNT; hue++)
		assert_int_equal(theme_hue(THEME_MONO, THEME_DEPTH_DIRECT, hue), THEME_NO_COLOR);
	assert_string_equal(theme_names[THEME_MONO], "mono");
	assert_null(theme_names[THEME_COUNT]);
}

/* --- what arrives at a terminal --- */

/* Starts a screen on a terminal of that kind, with a row of each mark. */
static void start(struct pty_screen *pty, const char *term, const char *theme)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .term = term};

	fake_start(pty, &options, theme);
	for (int round = 0; round < 2; round++) {
		pty_command(pty, "row . 2 182.4 first");
		pty_command(pty, "row + 2 90 newcomer");
		pty_command(pty, "row x 2 80 departed");
		pty_command(pty, "row ^ 2 70 mover");
		pty_command(pty, "round");
	}
	pty_wait_text(pty, "mover");
}

/* The colours of the text of a column's title. */
static int title_color(struct pty_screen *pty)
{
	int column = -1, row = pty_find(pty, "RUNQ%", &column);

	assert_true(row > 0);
	return pty_foreground(pty, row, column);
}

static int mark_color(struct pty_screen *pty, const char *name)
{
	return pty_foreground(pty, pty_find(pty, name, NULL), 0);
}

static void test_depths(void **state)
{
	static const struct {
		const char *term;
		enum theme_depth depth;
	} terminals[] = {
		{"xterm", THEME_DEPTH_BASIC},
		{"linux", THEME_DEPTH_BASIC},
		{"xterm-256color", THEME_DEPTH_INDEXED},
		{"screen-256color", THEME_DEPTH_INDEXED},
		/* as xterm-direct, in the notation that libvterm reads */
		{"xterm-direct2", THEME_DEPTH_DIRECT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		for (enum theme theme = 0; pty_describes(terminals[i].term) && theme < THEME_MONO; theme++) {
			const enum theme_depth depth = terminals[i].depth;
			const int rgb = depth == THEME_DEPTH_DIRECT ? PTY_COLOR_RGB : 0;
			struct pty_screen pty;
			char option[32];

			snprintf(option, sizeof(option), "--theme=%s", theme_names[theme]);
			start(&pty, terminals[i].term, option);
			assert_int_equal(title_color(&pty), rgb + theme_hue(theme, depth, HUE_TITLE));
			assert_int_equal(mark_color(&pty, "newcomer"),
					 rgb + theme_hue(theme, depth, HUE_NEW));
			assert_int_equal(mark_color(&pty, "mover"), rgb + theme_hue(theme, depth, HUE_WAIT));
			/* the background is the terminal's own */
			assert_int_equal(pty_background(&pty, pty_find(&pty, "newcomer", NULL), 1),
					 PTY_COLOR_DEFAULT);
			assert_int_equal(pty_background(&pty, 0, 0), PTY_COLOR_DEFAULT);
			pty_quit(&pty);
		}
	}
}

static void expect_no_colors(struct pty_screen *pty)
{
	pty_sync(pty);
	for (int row = 0; row < pty->rows; row++) {
		for (int column = 0; column < pty->columns; column++)
			assert_false(pty_is_colored(pty, row, column));
	}
}

/* Without colours every page is there, and what stands out does so by bold and reverse. */
static void test_mono_uses_no_colors(void **state)
{
	static const struct {
		const char *argument, *environment, *term;
	} cases[] = {
		{"--theme=mono", NULL, "xterm-256color"},
		{"--theme=mono", NULL, "xterm-direct2"},
		{"--theme=mono", NULL, "xterm"},
		{"--theme=default", "NO_COLOR=1", "xterm-256color"},
		{"--theme=light", "NO_COLOR=1", "xterm-256color"},
		{"--theme=light", NULL, "vt100"},
	};
	static const char *const pages[] = {"?", "e", "i", "s", "m"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pty_options options = {.rows = 36,
						    .columns = 120,
						    .term = cases[i].term,
						    .environment = {cases[i].environment}};
		struct pty_screen pty;
		int row;

		if (!pty_describes(cases[i].term))
			continue;
		fake_start(&pty, &options, cases[i].argument);
		pty_command(&pty, "row . 2 182.4 first");
		pty_command(&pty, "row + 2 90 newcomer");
		pty_command(&pty, "row x 2 80 departed");
		pty_command(&pty, "round");
		pty_wait_text(&pty, "newcomer");
		expect_no_colors(&pty);
		row = pty_find(&pty, "newcomer", NULL);
		assert_true(pty_is_bold(&pty, row, 0));
		assert_int_equal(pty_selected_row(&pty), pty_find(&pty, "first", NULL));
		for (size_t page = 0; page < sizeof(pages) / sizeof(pages[0]); page++) {
			pty_type(&pty, pages[page]);
			expect_no_colors(&pty);
			pty_show(&pty, "\033", "newcomer");
		}
		pty_quit(&pty);
	}
}

/* The themes differ, and an empty NO_COLOR is as good as none (no-color.org). */
static void test_empty_no_color(void **state)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .environment = {"NO_COLOR="}};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, &options);
	assert_int_equal(title_color(&pty), theme_hue(THEME_DEFAULT, THEME_DEPTH_INDEXED, HUE_TITLE));
	assert_int_not_equal(theme_hue(THEME_DEFAULT, THEME_DEPTH_INDEXED, HUE_TITLE),
			     theme_hue(THEME_LIGHT, THEME_DEPTH_INDEXED, HUE_TITLE));
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_themes_are_whole_and_readable),
		cmocka_unit_test(test_depths),
		cmocka_unit_test(test_mono_uses_no_colors),
		cmocka_unit_test(test_empty_no_color),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
