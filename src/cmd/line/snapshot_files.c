/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "command.h"
#include "history_place.h"
#include "snapshot/snapshot_window.h"
#include "snapshot/user_names.h"
#include "store/ctprof.h"
#include "store/history_files.h"

enum {
	FILES_TOGETHER = 4 /* are read at the same time: each needs a processor and the memory of its JSON */
};

struct file_reading {
	const char *path;
	uint64_t max_bytes;
	bool nearest, to_compare;
	size_t first; /* index of the first file with this name, which is read once */
	struct history_moment file;
	struct error error;
	int result;
};

/* Joins the notes of a file; the caller owns the text. NULL if it has none. */
static char *make_note(const struct snapshot *snapshot)
{
	const char *format = snapshot->format_notes;
	const char *window = snapshot->window != NULL ? snapshot->window->from->window_note : NULL;

	if (format == NULL && window == NULL)
		return NULL;
	return memory_format("%s%s%s", window != NULL ? window : "",
			     format != NULL && window != NULL ? "; " : "", format != NULL ? format : "");
}

int snapshot_file_read(const char *path, uint64_t max_bytes, bool nearest, bool to_compare,
		       struct history_moment *ret_file, struct error *error)
{
	struct snapshot *snapshot;
	int result;

	if (history_moment_is_named(path))
		return history_moment_read(path, clock_ns(CLOCK_REALTIME), to_compare, nearest, ret_file,
					   error);
	result = ctprof_read(path, max_bytes, &snapshot, error);
	if (result == -EISDIR && history_files_has_days(path))
		return error_set(error, result, "%s is a history: name a moment: %s@-1h", path, path);
	if (result < 0)
		return result;
	*ret_file = (struct history_moment){
		.snapshot = snapshot, .name = memory_duplicate(path), .note = make_note(snapshot)};
	return 0;
}

void snapshot_file_release(struct history_moment *file)
{
	snapshot_release(file->snapshot);
	free(file->name);
	free(file->note);
	*file = (struct history_moment){NULL, NULL, NULL};
}

/* Notes of files are told with their names where there are several. */
static void tell_notes(const char *const paths[], const struct file_reading readings[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (readings[i].file.note != NULL)
			command_note("%s%s%s", count > 1 ? paths[i] : "", count > 1 ? ": " : "",
				     readings[i].file.note);
	}
}

int snapshot_files_check(const char *const paths[], size_t count, struct error *error)
{
	size_t inputs = 0;

	for (size_t i = 0; i < count; i++)
		inputs += strcmp(paths[i], "-") == 0;
	if (inputs > 1)
		return error_set(error, -EINVAL,
				 count == 2 ? "standard input can be one side of a comparison, not both"
					    : "standard input can be one run, not several");
	for (size_t i = 0; i < count; i++) {
		uint64_t unix_ns;

		if (history_moment_is_named(paths[i]) &&
		    history_moment_check(paths[i], clock_ns(CLOCK_REALTIME), &unix_ns, error) < 0)
			return -EINVAL;
	}
	return 0;
}

/* Finds the regular file of a name; "-" is the one open as `descriptor`. Returns false for other kinds. */
static bool find_file(const char *path, int descriptor, struct stat *ret_status)
{
	return (strcmp(path, "-") == 0 ? fstat(descriptor, ret_status) : stat(path, ret_status)) == 0 &&
	       S_ISREG(ret_status->st_mode);
}

static int refuse_output(const char *output, const char *input, struct error *error)
{
	return error_set(error, -EINVAL,
			 "%s is read as %s and would be overwritten: name another file with -o",
			 strcmp(output, "-") == 0 ? "standard output" : output, input);
}

int snapshot_files_check_history(const char *directory, const char *output, struct error *error)
{
	struct stat status;

	output = output != NULL ? output : "-";
	return find_file(output, STDOUT_FILENO, &status) &&
			       history_files_include(directory, status.st_dev, status.st_ino)
		       ? refuse_output(output, directory, error)
		       : 0;
}

int snapshot_files_check_output(const char *const paths[], size_t count, const char *output,
				struct error *error)
{
	struct stat written, read;
	int result = 0;

	output = output != NULL ? output : "-";
	if (!find_file(output, STDOUT_FILENO, &written))
		return 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (history_moment_is_named(paths[i])) {
			char *directory = history_moment_directory(paths[i]);

			result = snapshot_files_check_history(directory, output, error);
			free(directory);
		} else if (find_file(paths[i], STDIN_FILENO, &read) && read.st_dev == written.st_dev &&
			   read.st_ino == written.st_ino) {
			result = refuse_output(output, paths[i], error);
		}
	}
	return result;
}

/* Files to read, of which each thread takes the next one. */
struct file_queue {
	struct file_reading *readings;
	size_t count;
	atomic_size_t next;
};

static void *read_queued(void *argument)
{
	struct file_queue *queue = argument;
	size_t i;

	while ((i = atomic_fetch_add(&queue->next, 1)) < queue->count) {
		struct file_reading *reading = &queue->readings[i];

		if (reading->first == i)
			reading->result = snapshot_file_read(reading->path, reading->max_bytes,
							     reading->nearest, reading->to_compare,
							     &reading->file, &reading->error);
	}
	return NULL;
}

/* Reads each file once, a few at a time. */
static void read_all(struct file_reading readings[], size_t count)
{
	struct file_queue queue = {.readings = readings, .count = count};
	pthread_t threads[FILES_TOGETHER - 1];
	size_t thread_count = 0;

	while (thread_count < ARRAY_COUNT(threads) && thread_count + 1 < count &&
	       pthread_create(&threads[thread_count], NULL, read_queued, &queue) == 0)
		thread_count++;
	read_queued(&queue);
	for (size_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < count; i++) {
		const struct file_reading *first = &readings[readings[i].first];

		if (first != &readings[i] && first->result == 0)
			readings[i].file = (struct history_moment){snapshot_reference(first->file.snapshot),
								   memory_duplicate(first->file.name), NULL};
	}
}

/* The failure of the first file that could not be read: 0 for none, else everything is released. */
static int check_readings(struct file_reading readings[], size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (readings[i].result == 0)
			continue;
		for (size_t k = 0; k < count; k++)
			snapshot_file_release(&readings[k].file);
		return error_set(error, readings[i].result, "%s", readings[i].error.text);
	}
	return 0;
}

int snapshot_files_read(const char *const paths[], size_t count, uint64_t max_bytes, bool nearest,
			struct history_moment ret_files[], struct error *error)
{
	struct file_reading *readings;
	int result;

	if (snapshot_files_check(paths, count, error) < 0)
		return -EINVAL;
	/* the choice is made before there are threads */
	for (size_t i = 0; i < count; i++) {
		if (paths[i][0] == '@')
			history_place();
	}
	readings = memory_allocate_zero(count, sizeof(*readings));
	for (size_t i = 0; i < count; i++) {
		readings[i].path = paths[i];
		readings[i].max_bytes = max_bytes;
		readings[i].nearest = nearest;
		readings[i].to_compare = count > 1;
		while (strcmp(paths[readings[i].first], paths[i]) != 0)
			readings[i].first++;
	}
	read_all(readings, count);
	result = check_readings(readings, count, error);
	if (result == 0)
		tell_notes(paths, readings, count);
	for (size_t i = 0; result == 0 && i < count; i++)
		ret_files[i] = readings[i].file;
	free(readings);
	return result;
}

void snapshot_files_wait_for_users(const struct snapshot *snapshot, uint64_t patience_ns)
{
	if (snapshot == NULL || !user_names_hold(snapshot->provenance.hostname))
		return;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (i == 0 || snapshot->uid[i] != snapshot->uid[i - 1])
			user_name(snapshot->uid[i]);
	}
	user_names_wait(patience_ns);
}
