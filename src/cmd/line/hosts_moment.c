/* SPDX-License-Identifier: GPL-2.0-only */
#include "hosts_moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "command.h"
#include "snapshot_files.h"

static void set_zone(struct hosts_moment *moment)
{
	const time_t seconds = (time_t)(moment->unix_ns / NS_PER_S);
	struct tm local;

	if (localtime_r(&seconds, &local) == NULL ||
	    strftime(moment->zone, sizeof(moment->zone), "%Z", &local) == 0)
		moment->zone[0] = '\0';
}

int hosts_moment_find(const char *const names[], size_t count, struct hosts_moment *ret_moment,
		      struct error *error)
{
	bool is_same = count <= HOSTS_MOMENTS_MAX;
	int result;

	*ret_moment = (struct hosts_moment){
		.names = names, .count = count, .now_unix_ns = clock_ns(CLOCK_REALTIME)};
	if (!history_moment_is_named(names[0]))
		return 0;
	ret_moment->directory = history_moment_directory(names[0]);
	/* @WHEN is one of the default directory */
	ret_moment->when_at = names[0][0] == '@' ? 0 : strlen(ret_moment->directory);
	/* whatever else the directory is, reading it as one history says so */
	if (!history_hosts_list(ret_moment->directory, &ret_moment->hosts))
		return 0;
	for (size_t i = 1; i < count; i++)
		is_same &= strncmp(names[i], names[0], ret_moment->when_at) == 0 &&
			   names[i][ret_moment->when_at] == '@';
	if (!is_same)
		return error_set(
			error, -EINVAL,
			"%s has the histories of several hosts, each of which is compared with itself: "
			"name two moments of it",
			ret_moment->directory);
	result = history_moment_check(names[count - 1], ret_moment->now_unix_ns, &ret_moment->unix_ns, error);
	set_zone(ret_moment);
	return result < 0 ? result : 1;
}

void hosts_moment_release(struct hosts_moment *moment)
{
	history_hosts_release(&moment->hosts);
	free(moment->directory);
	*moment = (struct hosts_moment){.count = 0};
}

/* --- reading --- */

/* Reads the moments of a host, whose history is at a path: DIR/HOST@WHEN for each DIR@WHEN. */
static int read_host(const struct hosts_moment *moment, const char *path, bool nearest,
		     struct history_moment files[], struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < moment->count && result == 0; i++) {
		char *of_host = memory_format("%s%s", path, moment->names[i] + moment->when_at);

		result = history_moment_read(of_host, moment->now_unix_ns, moment->count > 1, nearest,
					     &files[i], error);
		free(of_host);
	}
	return result;
}

/* Reads a host and hands it over, or notes why not. Returns 1 or 0, or -EINVAL with a sentence. */
static int visit_host(const struct hosts_moment *moment, const char *host,
		      const struct report_options *options, hosts_moment_visit *visit, void *context,
		      struct error *error)
{
	char *path = history_files_path(moment->directory, host);
	struct history_moment files[HOSTS_MOMENTS_MAX] = {{NULL, NULL, NULL}};
	struct error why;
	int result = snapshot_files_check_history(path, options->output, error);

	if (result == 0)
		result = read_host(moment, path, options->nearest, files, &why) == 0;
	if (result == 0)
		command_note("%s is left out: %s", host, why.text);
	else if (result == 1)
		visit(context, host, files);
	for (size_t i = 0; i < moment->count; i++) {
		if (result == 1 && files[i].note != NULL)
			command_note("%s: %s", host, files[i].note);
		snapshot_file_release(&files[i]);
	}
	free(path);
	return result;
}

int hosts_moment_read(const struct hosts_moment *moment, const struct report_options *options,
		      hosts_moment_visit *visit, void *context, struct error *error)
{
	int result = 0, read = 0;

	for (size_t i = 0; i < moment->hosts.count && result >= 0; i++) {
		result = visit_host(moment, moment->hosts.entries[i]->d_name, options, visit, context, error);
		read += result;
	}
	if (result >= 0 && read == 0)
		result = error_set(error, -ENODATA, "%s: no host has anything at that time",
				   moment->directory);
	return result < 0 ? result : 0;
}
