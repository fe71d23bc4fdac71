/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe_sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/memory.h"
#include "cmd/line/command.h"
#include "report/json_text.h"

#define METRIC_PREFIX "jemalloc_probe"

enum {
	FILE_BYTES_MAX = 256 << 20,
	LOCK_PAUSE_MS = 50,
	LOCK_PATIENCE_MS = 30 * 1000,
};

static bool ends_with(const struct buffer *text, const char *end)
{
	const size_t length = strlen(end);

	return text->length >= length && memcmp(text->data + text->length - length, end, length) == 0;
}

static void append_metric(struct buffer *metrics, const struct buffer *path, const struct json_scalar *number)
{
	const bool is_bytes = ends_with(path, ".allocated_bytes") || ends_with(path, ".deallocated_bytes");

	buffer_append_text(metrics, ends_with(metrics, "[") ? "{\"name\":" : ",{\"name\":");
	json_append_string(metrics, path->data, path->length);
	buffer_append_text(metrics, ",\"value\":");
	buffer_append(metrics, number->text, number->length);
	buffer_append_format(metrics, ",\"unit\":\"%s\",\"polarity\":\"%s\"}", is_bytes ? "bytes" : "",
			     is_bytes ? "LowerBetter" : "Unknown");
}

/* Appends one metric for each number of the value that comes, of our own document. `path` is the value's. */
static void flatten(struct json_reader *reader, struct buffer *path, struct buffer *metrics)
{
	const size_t path_length = path->length;
	struct json_scalar scalar;
	enum json_type type;
	const char *name;
	size_t length;

	json_reader_type(reader, &type);
	if (type != JSON_OBJECT && type != JSON_ARRAY) {
		json_reader_scalar(reader, &scalar);
		if (type == JSON_NUMBER)
			append_metric(metrics, path, &scalar);
		return;
	}
	json_reader_enter(reader);
	while (type == JSON_OBJECT && json_reader_member(reader, JSON_TEXT_MAX, &name, &length) > 0) {
		buffer_append_char(path, '.');
		buffer_append(path, name, length);
		flatten(reader, path, metrics);
		path->length = path_length;
	}
	for (size_t i = 0; type == JSON_ARRAY && json_reader_element(reader) > 0; i++) {
		buffer_append_format(path, ".%zu", i);
		flatten(reader, path, metrics);
		path->length = path_length;
	}
}

/* The place for one more element of the top-level member "metrics". */
struct gap {
	size_t offset; /* of the closing bracket */
	size_t element_count;
	bool found;
};

/* Takes the value of that member; false when it is not the only one, or no array. */
static bool find_gap(struct json_reader *reader, struct gap *gap)
{
	enum json_type type;

	if (gap->found || json_reader_type(reader, &type) < 0 || type != JSON_ARRAY)
		return false;
	json_reader_enter(reader);
	for (; json_reader_element(reader) > 0; gap->element_count++) {
		if (json_reader_skip(reader) < 0)
			return false;
	}
	gap->offset = json_reader_offset(reader) - 1;
	gap->found = reader->result == 0;
	return gap->found;
}

/* Whether the text is one JSON object with one array of metrics. */
static bool find_metrics(struct json_reader *reader, struct gap *gap)
{
	enum json_type type;
	const char *name;
	size_t length;
	bool valid = json_reader_type(reader, &type) == 0 && type == JSON_OBJECT;

	if (valid)
		json_reader_enter(reader);
	while (valid && json_reader_member(reader, sizeof("metrics"), &name, &length) > 0)
		valid = length == strlen("metrics") && memcmp(name, "metrics", length) == 0
				? find_gap(reader, gap)
				: json_reader_skip(reader) == 0;
	return valid && json_reader_finish(reader) == 0 && gap->found;
}

static int insert_record(const char *path, struct buffer *content, const char *json, size_t json_length,
			 int exit_code, struct buffer *ret_content, struct error *error)
{
	struct json_reader reader;
	struct buffer name = {0};
	struct gap gap = {0};
	bool found;

	json_reader_begin(&reader, content->data != NULL ? content->data : "", content->length, NULL, NULL);
	found = find_metrics(&reader, &gap);
	json_reader_release(&reader);
	if (!found)
		return error_set(error, -EINVAL,
				 "%s is not a test result with an array of metrics; run the test again to "
				 "make a new one",
				 path);
	buffer_append(ret_content, content->data, gap.offset);
	buffer_append_format(ret_content, "%s{\"payload_index\":%zu,\"metrics\":[",
			     gap.element_count != 0 ? "," : "", gap.element_count);
	buffer_append_text(&name, METRIC_PREFIX);
	json_reader_begin(&reader, json, json_length, NULL, NULL);
	flatten(&reader, &name, ret_content);
	json_reader_release(&reader);
	buffer_release(&name);
	buffer_append_format(ret_content, "],\"exit_code\":%d}", exit_code);
	buffer_append(ret_content, content->data + gap.offset, content->length - gap.offset);
	return 0;
}

/* Opens the lock file beside `path` and takes its lock. Returns the descriptor or a negative errno. */
static int take_lock(const char *path, const volatile int *stop_flag, struct error *error)
{
	const struct timespec pause = clock_timespec(LOCK_PAUSE_MS * NS_PER_MS);
	char *lock_path = memory_format("%s.lock", path);
	const int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int result = 0;

	if (lock < 0)
		result = error_set(error, -errno, "cannot open %s: %s", lock_path, strerror(errno));
	for (int waited_ms = 0; result == 0; waited_ms += LOCK_PAUSE_MS) {
		if (*stop_flag != 0 && waited_ms == 0)
			result = error_set(error, -EINTR, "nothing is appended to %s: the run was stopped",
					   path);
		else if (*stop_flag != 0)
			result = error_set(error, -EINTR, "stopped while waiting for the lock %s", lock_path);
		else if (flock(lock, LOCK_EX | LOCK_NB) == 0)
			break;
		else if (errno != EWOULDBLOCK && errno != EINTR)
			result = error_set(error, -errno, "cannot lock %s: %s", lock_path, strerror(errno));
		else if (waited_ms >= LOCK_PATIENCE_MS)
			result = error_set(error, -ETIMEDOUT,
					   "%s has been locked by another process for %d s", lock_path,
					   LOCK_PATIENCE_MS / 1000);
		else
			nanosleep(&pause, NULL);
	}
	if (result < 0 && lock >= 0)
		close(lock);
	free(lock_path);
	return result < 0 ? result : lock;
}

static int replace(const char *path, const struct buffer *content, struct error *error)
{
	struct file_replacement replacement;
	struct stat written = {0}, now;
	int result = file_replacement_open(&replacement, path, 0600, true, error);

	if (result < 0)
		return result;
	(void)file_replacement_keep_access(&replacement);
	result = file_write_all(replacement.descriptor, content->data, content->length);
	if (result < 0) {
		file_replacement_abandon(&replacement);
		return error_set(error, result, "cannot write %s: %s", path, strerror(-result));
	}
	fstat(replacement.descriptor, &written);
	result = file_replacement_commit(&replacement, error);
	/* the file is in its place: a directory that could not be synced is no reason to do it again */
	if (result < 0 && stat(path, &now) == 0 && now.st_dev == written.st_dev &&
	    now.st_ino == written.st_ino) {
		command_note("%s", error->text);
		result = 0;
	}
	return result;
}

static int append_at(const char *path, const char *json, size_t json_length, int exit_code,
		     const volatile int *stop_flag, struct error *error)
{
	struct buffer before = {0}, after = {0};
	const int lock = take_lock(path, stop_flag, error);
	int result;

	if (lock < 0)
		return lock;
	result = file_read(AT_FDCWD, path, &before, FILE_BYTES_MAX);
	if (result < 0)
		result = error_set(error, result, "cannot read %s: %s; run the test first", path,
				   strerror(-result));
	if (result >= 0)
		result = insert_record(path, &before, json, json_length, exit_code, &after, error);
	if (result >= 0)
		result = replace(path, &after, error);
	buffer_release(&after);
	buffer_release(&before);
	close(lock); /* the lock goes with it; the file stays for the next */
	return result;
}

int sidecar_append(const char *path, const char *json, size_t json_length, int exit_code,
		   const volatile int *stop_flag, struct error *error)
{
	char *target;
	int result = file_follow_links(path, &target, error);

	/* all names of the file have one lock */
	if (result < 0)
		return result;
	result = append_at(target, json, json_length, exit_code, stop_flag, error);
	free(target);
	return result;
}
