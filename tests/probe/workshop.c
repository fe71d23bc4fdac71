/* SPDX-License-Identifier: GPL-2.0-only */
#include "workshop.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../cmocka_include.h"

static char directory[] = "/tmp/ctop-probe-XXXXXX";

void workshop_open(void)
{
	if (mkdtemp(directory) == NULL || chdir(directory) != 0)
		fail_msg("cannot make %s", directory);
}

void workshop_close(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (chdir("/") != 0 || system(command) != 0)
		fail_msg("cannot remove %s", directory);
}

static bool run(const char *format, va_list arguments)
{
	char command[2048], line[2304];

	vsnprintf(command, sizeof(command), format, arguments);
	/* the tools must not inherit a sanitizer or other options of this test */
	snprintf(line, sizeof(line), "unset LD_PRELOAD; { %s; } >log 2>&1", command);
	return system(line) == 0;
}

bool workshop_run(const char *format, ...)
{
	va_list arguments;
	bool worked;

	va_start(arguments, format);
	worked = run(format, arguments);
	va_end(arguments);
	return worked;
}

void workshop_make(const char *format, ...)
{
	va_list arguments;
	bool worked;

	va_start(arguments, format);
	worked = run(format, arguments);
	va_end(arguments);
	if (worked)
		return;
	if (system("cat log >&2") != 0)
		fprintf(stderr, "no log\n");
	fail_msg("a command failed: %s", format);
}

bool workshop_has(const char *tool)
{
	if (workshop_run("command -v %s", tool))
		return true;
	print_message("SKIP: no %s\n", tool);
	return false;
}
