/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "config_file.h"

static char *chosen, *found;
static bool settled;

static int choose(const char *value, void *member, struct error *error)
{
	char *before = chosen;

	(void)member;
	if (value[0] == '\0')
		return error_set(error, -EINVAL, "--history needs the name of a directory");
	chosen = memory_duplicate(value);
	free(before);
	return 0;
}

static void print(const void *member, struct buffer *buffer)
{
	(void)member;
	if (chosen != NULL)
		buffer_append_text(buffer, chosen);
}

static const struct option options[] = {
	{
		.name = "history",
		.kind = OPTION_PARSED,
		.value_name = "DIR",
		.in_file = true,
		.is_kept_elsewhere = true,
		.parse = choose,
		.print = print,
		.description = "directory of the history; default /var/lib/ctop for root, "
			       "$XDG_STATE_HOME/ctop or ~/.local/state/ctop for others",
	},
};

const struct option_table history_option_table = {"History", options, ARRAY_COUNT(options)};

void history_place_settle(void)
{
	settled = true;
}

static void read_configuration(void)
{
	struct config_file file = {0};

	settled = true;
	if (config_file_read(NULL, &file, NULL) == 0) {
		for (size_t i = 0; i < file.config.count; i++) {
			const struct config_line *line = &file.config.lines[i];

			if (line->kind == CONFIG_SECTION)
				break;
			if (line->kind == CONFIG_SETTING && strcmp(line->name, "history") == 0 &&
			    line->value[0] != '\0')
				choose(line->value, NULL, NULL);
		}
	}
	config_file_release(&file);
}

static char *find_default(void)
{
	const char *state = getenv("STATE_DIRECTORY");
	char *path;

	/* several are separated by colons (systemd.exec(5)) */
	if (state != NULL && state[0] == '/')
		return memory_duplicate_bytes(state, strcspn(state, ":"));
	if (geteuid() == 0)
		return memory_duplicate("/var/lib/ctop");
	path = config_file_user_path("XDG_STATE_HOME", ".local/state", "ctop");
	return path != NULL ? path : memory_duplicate("ctop-history");
}

const char *history_place(void)
{
	if (chosen == NULL && !settled)
		read_configuration();
	if (chosen != NULL)
		return chosen;
	if (found == NULL)
		found = find_default();
	return found;
}

void history_place_make(void)
{
	if (chosen == NULL)
		config_file_make_directories(history_place());
}
