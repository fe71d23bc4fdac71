/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "config_file.h"

/* The directory into which root and the service record (data/systemd/ctop-record.service.in). */
#define SERVICE_DIRECTORY "/var/lib/ctop"

static char *chosen, *found;
static bool settled;
static bool is_users_own; /* whether `found` is an ordinary user's own directory */

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
		.description = "directory of the history; default " SERVICE_DIRECTORY " for root, "
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
		return memory_duplicate(SERVICE_DIRECTORY);
	path = config_file_user_path("XDG_STATE_HOME", ".local/state", "ctop");
	is_users_own = path != NULL;
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

/* Whether the service has recorded on this host. Uses lstat(2): for a DynamicUser the directory is a link
 * that only root may follow (systemd.exec(5)). */
static bool is_service_there(void)
{
	struct stat status;

	return lstat(SERVICE_DIRECTORY, &status) == 0;
}

/* Returns the part of a path below the home directory, from its slash on; NULL if the path is elsewhere. */
static const char *below_home(const char *path)
{
	const char *home = getenv("HOME");
	const size_t length = home != NULL ? strlen(home) : 0;

	return length > 1 && strncmp(path, home, length) == 0 && path[length] == '/' ? path + length : NULL;
}

int history_place_open(const char *directory, struct history **ret_history, struct error *error)
{
	const int result = history_open(directory, ret_history, error);
	const char *below = below_home(directory);

	if ((result != -ENOENT && result != -ENODATA) || !is_users_own || strcmp(directory, found) != 0 ||
	    !is_service_there())
		return result;
	return error_set(error, result,
			 "No history in %s%s. The ctop-record service writes to " SERVICE_DIRECTORY
			 ": use sudo, or --history DIR",
			 below != NULL ? "~" : "", below != NULL ? below : directory);
}

size_t history_place_list(const char *places[static HISTORY_PLACES_MAX])
{
	places[0] = history_place();
	if (chosen != NULL || strcmp(places[0], SERVICE_DIRECTORY) == 0)
		return 1;
	places[1] = SERVICE_DIRECTORY;
	return 2;
}

void history_place_make(void)
{
	if (chosen == NULL)
		config_file_make_directories(history_place());
}
