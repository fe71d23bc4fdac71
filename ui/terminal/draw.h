/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DRAW_H
#define CTOP_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "table/screen_format.h"

#include "theme.h"

/*
 * Text on the screen. Whatever is drawn passes one sanitiser here, so no foreign name can reach the terminal
 * another way: control characters, invalid bytes and what the locale cannot print become a mark. All
 * positions and widths are in cells; what lies outside the screen is not drawn.
 */

/* The look of a piece of text; colours only add to it. */
enum style {
#define STYLE(id, ...) STYLE_##id,
#include "styles.def"
#undef STYLE
	STYLE_COUNT,
};

/*
 * To be called after terminal_open(). Of a theme's colours those are taken that the terminal can show: 8, 256
 * or, where its description says that it has the flag RGB, all. NO_COLOR in the environment, and a terminal
 * without colours of its own for text and background, make every theme the one without colours. `ascii`: no
 * characters beyond it in frames and marks.
 */
void draw_initialise(enum theme theme, bool ascii);

/* Frees what drawing kept. */
void draw_release(void);

/* The marks of this terminal, see screen_format.h. */
const struct screen_marks *draw_marks(void);

/* Whether frames and graphs may have characters beyond ASCII. */
bool draw_is_utf8(void);

/* The use of a style, a few words for the help; NULL where that goes without saying. */
const char *draw_legend(enum style style);

int draw_screen_width(void);
int draw_screen_height(void);

/* Starts a frame with an empty screen. */
void draw_begin(void);

/* Sends what changed in it, in one write; the cursor goes to the given cell. */
void draw_end(int y, int x);

/*
 * Draws at most `cells` cells; a longer text is cut at a character and ends with the ellipsis. Returns the
 * cells used.
 */
int draw_text(int y, int x, int cells, enum style style, const char *text, size_t length);

/* The same for a NUL-terminated text. */
int draw_string(int y, int x, int cells, enum style style, const char *text);

/*
 * The same, but a longer text loses its middle: names often differ at their ends. Of a path the last name is
 * kept whole where it fits.
 */
int draw_middle(int y, int x, int cells, enum style style, const char *text, size_t length);

/* Appends what draw_middle() would draw, made printable. */
void draw_append_middle(struct buffer *buffer, int cells, const char *text, size_t length);

/* Draws as many clauses as fit, else words, for texts that stand elsewhere as a whole. No mark shows that
 * more follows. */
void draw_clauses(int y, int x, int cells, enum style style, const char *text);

/* Aligned on the right of `cells` cells. */
void draw_right(int y, int x, int cells, enum style style, const char *text);

/* Fills `cells` cells with blanks of that style. */
void draw_fill(int y, int x, int cells, enum style style);

/* Whether this terminal can lay a colour under text. */
bool draw_has_shade(void);

/*
 * Lays the theme's colour of shares under cells that are drawn already; the text keeps only whether it is
 * bold. Does nothing where there is no shade.
 */
void draw_shade(int y, int x, int cells, enum style style);

/* An empty box with a frame and a title, `height` rows and `width` cells in all. */
void draw_box(int y, int x, int height, int width, const char *title);

/* Appends how many rows are not in sight: "▲ 6 more  ▼ 63 more"; nothing for none. */
void draw_append_others(struct buffer *buffer, size_t above, size_t below);

/* Cells a text takes as drawn. */
int draw_width(const char *text, size_t length);

#endif
