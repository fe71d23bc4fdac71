/* SPDX-License-Identifier: GPL-2.0-only */
#include "hosts_moment.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "command.h"
#include "snapshot_files.h"

enum {
	HOSTS_TOGETHER =
		4 /* hosts to read at the same time: each takes one CPU, and the memory for its rounds */
};

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
	/* @WHEN means the default directory */
	ret_moment->when_at = names[0][0] == '@' ? 0 : strlen(ret_moment->directory);
	/* not a directory of histories: if it is no history either, reading it as one fails */
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

/* The reading of one host, in a thread if one can be started. */
struct host_reading {
	const struct hosts_moment *moment;
	const char *host;
	bool nearest, is_threaded;
	pthread_t thread;
	struct history_moment files[HOSTS_MOMENTS_MAX];
	struct error error;
	int result;
};

/* Thread function: reads DIR/HOST@WHEN for each name DIR@WHEN. `argument` is a struct host_reading. */
static void *read_host(void *argument)
{
	struct host_reading *reading = argument;
	const struct hosts_moment *moment = reading->moment;

	for (size_t i = 0; i < moment->count && reading->result == 0; i++) {
		char *name = memory_format("%s/%s%s", moment->directory, reading->host,
					   moment->names[i] + moment->when_at);

		reading->result = history_moment_read(name, moment->now_unix_ns, moment->count > 1,
						      reading->nearest, &reading->files[i], &reading->error);
		free(name);
	}
	return NULL;
}

static void start_reading(struct host_reading *reading)
{
	reading->is_threaded = worker_start(&reading->thread, read_host, reading) == 0;
	if (!reading->is_threaded)
		read_host(reading);
}

/* Waits for a host and passes it to `visit`, or prints why it is left out. Returns whether it was read. */
static bool finish_reading(struct host_reading *reading, hosts_moment_visit *visit, void *context)
{
	if (reading->is_threaded)
		pthread_join(reading->thread, NULL);
	if (reading->result < 0)
		command_note("%s is left out: %s", reading->host, reading->error.text);
	else
		visit(context, reading->host, reading->files);
	for (size_t i = 0; i < reading->moment->count; i++) {
		if (reading->result == 0 && reading->files[i].note != NULL)
			command_note("%s: %s", reading->host, reading->files[i].note);
		snapshot_file_release(&reading->files[i]);
	}
	return reading->result == 0;
}

/* Refuses to write the output over a file of one of the histories. */
static int check_output(const struct hosts_moment *moment, const char *output, struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < moment->hosts.count && result == 0; i++) {
		char *path = history_files_path(moment->directory, moment->hosts.entries[i]->d_name);

		result = snapshot_files_check_history(path, output, error);
		free(path);
	}
	return result;
}

int hosts_moment_read(const struct hosts_moment *moment, const struct report_options *options,
		      hosts_moment_visit *visit, void *context, struct error *error)
{
	const size_t count = moment->hosts.count;
	struct host_reading *readings;
	size_t read = 0, started = 0;

	if (check_output(moment, options->output, error) < 0)
		return -EINVAL;
	readings = memory_allocate_zero(count + 1, sizeof(*readings));
	for (size_t i = 0; i < count; i++) {
		for (; started < count && started < i + HOSTS_TOGETHER; started++) {
			readings[started].moment = moment;
			readings[started].host = moment->hosts.entries[started]->d_name;
			readings[started].nearest = options->nearest;
			start_reading(&readings[started]);
		}
		read += finish_reading(&readings[i], visit, context);
	}
	free(readings);
	return read != 0 ? 0
			 : error_set(error, -ENODATA, "%s: no host has anything at that time",
				     moment->directory);
}
