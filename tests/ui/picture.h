/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_PICTURE_H
#define CTOP_TESTS_UI_PICTURE_H

#include <stdio.h>
#include <vterm.h>

/*
 * Writes what a terminal shows as a picture: an SVG document with the text as text, so that it can be
 * searched and copied. `columns` and `rows` are those of the terminal; `title` is what a screen reader says
 * of the picture. The same cells always give the same bytes. Errors stay in `stream` (ferror(3)).
 */
void picture_write_svg(FILE *stream, VTermScreen *screen, int columns, int rows, const char *title);

/* The same as plain text: a line for each row, without blanks at its end and without empty rows at the end.
 */
void picture_write_text(FILE *stream, VTermScreen *screen, int columns, int rows);

#endif
