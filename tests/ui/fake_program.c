/* SPDX-License-Identifier: GPL-2.0-only */
#include "fake_program.h"

#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

void fake_start(struct pty_screen *pty, const struct pty_options *options, const char *argument)
{
	const char *const arguments[] = {FAKE_SCREEN, argument, NULL};
	struct pty_options chosen = {.rows = 24, .columns = 80};

	if (options != NULL)
		chosen = *options;
	chosen.pipes = true;
	pty_start(pty, &chosen, arguments);
}

void fake_round(struct pty_screen *pty, const char *rows)
{
	while (*rows != '\0') {
		size_t length = strcspn(rows, ",");
		char name[64], command[128];
		double cpu;

		assert_int_equal(sscanf(rows, "%63s %lf", name, &cpu), 2);
		snprintf(command, sizeof(command), "row . 2 %g %s", cpu, name);
		pty_command(pty, command);
		rows += length + (rows[length] == ',');
	}
	pty_command(pty, "round");
}

void fake_start_with_rows(struct pty_screen *pty, const struct pty_options *options)
{
	static const char rows[] =
		"postgres-{N} 182.4,worker-{N} 141,nginx 12.1,batch-{N} 9.9,kworker 0.8,solo 0.4";

	fake_start(pty, options, NULL);
	fake_round(pty, rows);
	fake_round(pty, rows);
	pty_wait_text(pty, "182.4");
}
