/* SPDX-License-Identifier: GPL-2.0-only */
/* Pictures of terminals: known cells, and a program that is typed to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vterm.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "picture.h"

enum {
	COLUMNS = 20,
	ROWS = 4,
};

/* What a terminal that was sent `bytes` looks like; the caller frees it. */
static char *picture_of(const char *bytes, const char *title)
{
	VTerm *terminal = vterm_new(ROWS, COLUMNS);
	VTermScreen *screen = vterm_obtain_screen(terminal);
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	vterm_set_utf8(terminal, 1);
	vterm_screen_reset(screen, 1);
	vterm_input_write(terminal, bytes, strlen(bytes));
	if (title != NULL)
		picture_write_svg(stream, screen, COLUMNS, ROWS, title);
	else
		picture_write_text(stream, screen, COLUMNS, ROWS);
	assert_int_equal(fclose(stream), 0);
	vterm_free(terminal);
	return text;
}

/* A parser that knows nothing of pictures reads it. */
static void expect_xml(const char *text)
{
	FILE *parser;

	if (system("command -v xmllint >/dev/null") != 0) {
		skip_test("xmllint is not installed");
	}
	parser = popen("xmllint --noout -", "w");
	assert_non_null(parser);
	assert_int_equal(fwrite(text, 1, strlen(text), parser), strlen(text));
	assert_int_equal(pclose(parser), 0);
}

static void expect(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

static void expect_none(const char *text, const char *part)
{
	if (strstr(text, part) != NULL)
		fail_msg("%s in %s", part, text);
}

static void shows_text_in_its_cells(void **state)
{
	char *svg = picture_of("ab c  de\r\n\r\n  last", "a title");

	(void)state;
	expect_xml(svg);
	expect(svg, "<title>a title</title>");
	/* 20 cells of 8.4 pixels and twice 8; 4 lines of 17 and twice 8 */
	expect(svg, "width=\"184\" height=\"84\" viewBox=\"0 0 184.0 84.0\"");
	/* one blank is part of a run, two end it */
	expect(svg, "<text y=\"21\"><tspan x=\"8\" textLength=\"33.6\">ab c</tspan>"
		    "<tspan x=\"58.4\" textLength=\"16.8\">de</tspan></text>\n"
		    "<text y=\"55\"><tspan x=\"24.8\" textLength=\"33.6\">last</tspan></text>\n</svg>\n");
	/* nothing is painted but the ground */
	assert_null(strstr(strstr(svg, "<rect") + 1, "<rect"));
	free(svg);
}

static void shows_colors_and_attributes(void **state)
{
	char *svg = picture_of(
		"\033[1mbold\033[0;4munder\033[0;3mit\r\n"
		"\033[0;31mred\033[0;38;5;245mgrey\033[0;38;5;208mcube\033[0;38;2;1;2;3mrgb\r\n"
		"\033[0;7mbar\033[K\033[0;48;5;4m bg ",
		"colours");

	(void)state;
	expect_xml(svg);
	expect(svg, "<tspan x=\"8\" textLength=\"33.6\" font-weight=\"bold\">bold</tspan>");
	expect(svg, " text-decoration=\"underline\">under</tspan>");
	expect(svg, " font-style=\"italic\">it</tspan>");
	expect(svg, " fill=\"#e06c75\">red</tspan>");
	expect(svg, " fill=\"#8a8a8a\">grey</tspan>");
	expect(svg, " fill=\"#ff8700\">cube</tspan>");
	expect(svg, " fill=\"#010203\">rgb</tspan>");
	/* reverse: the ground's colour on a bar of the text's colour, three cells wide */
	expect(svg, "<rect x=\"8\" y=\"42\" width=\"25.2\" height=\"17\" fill=\"#d4d4d4\"/>");
	expect(svg, "<tspan x=\"8\" textLength=\"25.2\" fill=\"#1c1c1c\">bar</tspan>");
	expect(svg, "<rect x=\"33.2\" y=\"42\" width=\"33.6\" height=\"17\" fill=\"#5f9fdf\"/>");
	expect(svg, ">bg</tspan>");
	free(svg);
}

static void survives_any_character(void **state)
{
	char *svg = picture_of(
		"<a>&\"'\r\n\u65e5\u672cx\U0001f525y\r\ne\u0301 \u2265 \u00b7\r\n\001\002\177]]>",
		"1 < 2 & \u2265");
	char *again = picture_of(
		"<a>&\"'\r\n\u65e5\u672cx\U0001f525y\r\ne\u0301 \u2265 \u00b7\r\n\001\002\177]]>",
		"1 < 2 & \u2265");

	(void)state;
	expect_xml(svg);
	expect(svg, "<title>1 &lt; 2 &amp; \u2265</title>");
	expect(svg, ">&lt;a&gt;&amp;\"'</tspan>");
	/* two cells each, and what is behind them stands where it did */
	expect(svg, "textLength=\"67.2\">\u65e5\u672cx\U0001f525y</tspan>");
	expect(svg, "textLength=\"42\">e\u0301 \u2265 \u00b7</tspan>");
	expect(svg, ">]]&gt;</tspan>");
	assert_string_equal(svg, again);
	free(svg);
	free(again);
}

static void writes_plain_text(void **state)
{
	char *text = picture_of("\033[1mone\033[0m   \r\n\r\n  \u65e5 \033[7mtwo\033[0m", NULL);

	(void)state;
	assert_string_equal(text, "one\n\n  \u65e5 two\n");
	free(text);
}

/* Runs take_picture with that input; its status. */
static int take(const char *directory, const char *input)
{
	FILE *program;
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && " TAKE_PICTURE " 30x5 /bin/sh -c "
		 "'printf \"\\033[32mask\\033[0m \"; read word; printf \"<%%s>\" \"$word\"; read word'",
		 directory);
	program = popen(command, "w");
	assert_non_null(program);
	fputs(input, program);
	return pclose(program);
}

static void takes_a_picture_of_a_program(void **state)
{
	char directory[] = "/tmp/ctop-picture-XXXXXX", path[64], text[4096];
	FILE *file;
	size_t length;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(
		take(directory,
		     "wait ask\ntype good\\r\nwait <good>\nsvg picture.svg a shell\ntext picture.txt\n"),
		0);
	snprintf(path, sizeof(path), "%s/picture.svg", directory);
	file = fopen(path, "re");
	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	remove(path);
	expect_xml(text);
	expect(text, "<title>a shell</title>");
	expect(text, " fill=\"#7fbf5f\">ask</tspan>");
	expect(text, "&lt;good&gt;");
	expect_none(text, "\033");
	snprintf(path, sizeof(path), "%s/picture.txt", directory);
	file = fopen(path, "re");
	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	remove(path);
	assert_string_equal(text, "ask good\n<good>\n");
	/* what it does not understand is an error, not left out */
	assert_int_not_equal(take(directory, "wait ask\nsave picture.svg\n"), 0);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_text_in_its_cells),      cmocka_unit_test(shows_colors_and_attributes),
		cmocka_unit_test(survives_any_character),       cmocka_unit_test(writes_plain_text),
		cmocka_unit_test(takes_a_picture_of_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
