/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "cmd/line/command.h"
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

int snapshot_files_read(const char *const paths[], size_t count, uint64_t max_bytes,
			struct snapshot *ret_snapshots[], struct error *error)
{
	struct file_reading readings[2] = {{.path = paths[0], .max_bytes = max_bytes}};
	const bool same = count == 2 && strcmp(paths[0], paths[1]) == 0;
	bool is_threaded = false;
	pthread_t thread;

	if (same && strcmp(paths[0], "-") == 0)
		return error_set(error, -EINVAL, "standard input can be one side of a comparison, not both");
	if (count == 2 && !same) {
		readings[1] = (struct file_reading){.path = paths[1], .max_bytes = max_bytes};
		is_threaded = pthread_create(&thread, NULL, read_one, &readings[1]) == 0;
	}
	read_one(&readings[0]);
	if (is_threaded)
		pthread_join(thread, NULL);
	else if (same && readings[0].result == 0)
		readings[1].snapshot = snapshot_reference(readings[0].snapshot);
	else if (count == 2 && !same)
		read_one(&readings[1]);
	for (size_t i = 0; i < count; i++) {
		if (readings[i].result == 0)
			continue;
		snapshot_release(readings[0].snapshot);
		snapshot_release(readings[1].snapshot);
		return error_set(error, readings[i].result, "%s", readings[i].error.text);
	}
	for (size_t i = 0; i < count; i++) {
		ret_snapshots[i] = readings[i].snapshot;
		if (ret_snapshots[i]->format_notes != NULL)
			command_note("%s%s%s", count == 2 ? paths[i] : "", count == 2 ? ": " : "",
				     ret_snapshots[i]->format_notes);
	}
	return 0;
}
