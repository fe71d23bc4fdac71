/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a program in a pseudo terminal, types keys and writes what the terminal shows, as standard input says:
 *
 *   wait TEXT        until the screen shows it
 *   gone TEXT        until it no longer does
 *   type KEYS        \e is Escape, \r Enter, \t Tab, \\ a backslash
 *   pause MS         goes on reading for so long
 *   svg FILE TITLE   a picture of the screen once it is quiet
 *   text FILE        the same as plain text
 *
 * Ends with 1 when a text does not come in time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "picture.h"
#include "pty_screen.h"

enum {
	KEYS_MAX = 256,
	LARGEST = 500, /* columns, rows */
	QUIET_MS = 300,
};

static void type(struct pty_screen *pty, const char *keys)
{
	char bytes[KEYS_MAX];
	size_t length = 0;

	for (; *keys != '\0' && length + 1 < sizeof(bytes); keys++) {
		static const char letters[] = "ert\\", meanings[] = "\033\r\t\\";
		const char *letter = *keys == '\\' && keys[1] != '\0' ? strchr(letters, keys[1]) : NULL;

		bytes[length++] = letter != NULL ? meanings[letter - letters] : *keys;
		keys += letter != NULL;
	}
	bytes[length] = '\0';
	pty_type(pty, bytes);
}

static bool sends_nothing(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty_drain(pty, QUIET_MS) == 0;
}

/* Splits a line at its first blank: what is behind it, or its end. */
static char *split(char *line)
{
	char *blank = strchr(line, ' ');

	if (blank == NULL)
		return line + strlen(line);
	*blank = '\0';
	return blank + 1;
}

static bool save(struct pty_screen *pty, const char *path, const char *title)
{
	FILE *file;
	bool good;

	pty_wait(pty, sends_nothing, NULL, "a quiet program");
	file = fopen(path, "we");
	if (file == NULL) {
		perror(path);
		return false;
	}
	if (title != NULL)
		picture_write_svg(file, pty->screen, pty->columns, pty->rows, title);
	else
		picture_write_text(file, pty->screen, pty->columns, pty->rows);
	good = ferror(file) == 0;
	return fclose(file) == 0 && good;
}

static bool obey(struct pty_screen *pty, char *line)
{
	char *rest = split(line);

	if (strcmp(line, "wait") == 0) {
		pty_wait_text(pty, rest);
	} else if (strcmp(line, "gone") == 0) {
		pty_wait_no_text(pty, rest);
	} else if (strcmp(line, "type") == 0) {
		type(pty, rest);
	} else if (strcmp(line, "pause") == 0) {
		pty_drain(pty, (int)strtol(rest, NULL, 10));
	} else if (strcmp(line, "svg") == 0) {
		const char *title = split(rest);

		return save(pty, rest, title);
	} else if (strcmp(line, "text") == 0) {
		return save(pty, rest, NULL);
	} else {
		fprintf(stderr, "take_picture: '%s' is no instruction\n", line);
		return false;
	}
	return true;
}

int main(int count, char **arguments)
{
	struct pty_options options = {0};
	struct pty_screen pty;
	char line[1024];
	bool good = true;

	if (count < 3 || sscanf(arguments[1], "%dx%d", &options.columns, &options.rows) != 2 ||
	    options.columns < 1 || options.rows < 1 || options.columns > LARGEST || options.rows > LARGEST) {
		fprintf(stderr, "usage: take_picture COLUMNSxROWS PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	pty_start(&pty, &options, (const char *const *)(arguments + 2));
	while (good && fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		good = line[0] == '\0' || line[0] == '#' || obey(&pty, line);
	}
	pty_release(&pty);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
