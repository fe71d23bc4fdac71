/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_pair.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "command.h"
#include "ctprof/ctprof.h"

struct file_reading {
	const char *path;
	uint64_t max_bytes;
	struct snapshot *snapshot;
	struct error error;
	int result;
};

static void *read_one(void *argument)
{
	struct file_reading *reading = argument;

	reading->result = ctprof_read(reading->path, reading->max_bytes, &reading->snapshot, &reading->error);
	return NULL;
}

/* The second file in a thread of its own while this one reads the first. */
static void read_both(struct file_reading readings[2])
{
	pthread_t thread;
	bool is_threaded = pthread_create(&thread, NULL, read_one, &readings[1]) == 0;

	read_one(&readings[0]);
	if (is_threaded)
		pthread_join(thread, NULL);
	else
		read_one(&readings[1]);
}

int snapshot_pair_read(const char *const paths[2], uint64_t max_bytes, struct snapshot *ret_snapshots[2],
		       struct error *error)
{
	struct file_reading readings[2] = {
		{.path = paths[0], .max_bytes = max_bytes},
		{.path = paths[1], .max_bytes = max_bytes},
	};
	const bool same = strcmp(paths[0], paths[1]) == 0;

	if (same && strcmp(paths[0], "-") == 0)
		return error_set(error, -EINVAL, "standard input can be one side of a comparison, not both");
	if (same) {
		read_one(&readings[0]);
		if (readings[0].result == 0)
			readings[1].snapshot = snapshot_reference(readings[0].snapshot);
	} else {
		read_both(readings);
	}
	for (size_t i = 0; i < 2; i++) {
		if (readings[i].result == 0)
			continue;
		snapshot_release(readings[0].snapshot);
		snapshot_release(readings[1].snapshot);
		return error_set(error, readings[i].result, "%s", readings[i].error.text);
	}
	for (size_t i = 0; i < 2; i++) {
		if (readings[i].snapshot->format_notes != NULL)
			command_note("%s: %s", paths[i], readings[i].snapshot->format_notes);
		ret_snapshots[i] = readings[i].snapshot;
	}
	return 0;
}
