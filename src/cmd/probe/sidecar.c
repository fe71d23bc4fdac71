/* SPDX-License-Identifier: GPL-2.0-only */
#include "sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/json_text.h"
#include "base/memory.h"
#include "cmd/line/command.h"

#define METRIC_PREFIX "jemalloc_probe"

enum {
	DEPTH_MAX = 64,
	FILE_BYTES_MAX = 256 << 20,
	LOCK_PAUSE_MS = 50,
	LOCK_PATIENCE_MS = 30 * 1000,
};

/* One walk through a JSON document; each use fills what it needs. */
struct walk {
	yajl_handle parser;
	size_t depth;
	/* Numbers by path. */
	struct {
		bool is_array;
		size_t index;       /* of the element under way */
		size_t path_length; /* of the path to the value itself */
	} levels[DEPTH_MAX];
	struct buffer path;
	struct buffer *metrics;
	size_t metric_count;
	/* The place for another element of the top-level member "metrics". */
	bool is_object, next_is_metrics, in_metrics;
	size_t found; /* members of that name */
	size_t element_count;
	size_t insert_offset; /* bytes in front of its closing bracket */
};

static bool ends_with(const struct buffer *text, const char *end)
{
	const size_t length = strlen(end);

	return text->length >= length && memcmp(text->data + text->length - length, end, length) == 0;
}

/* Sets the path to that of the next value: an array's elements are counted, members have named themselves. */
static void enter_value(struct walk *walk)
{
	if (walk->depth == 0 || !walk->levels[walk->depth - 1].is_array)
		return;
	walk->path.length = walk->levels[walk->depth - 1].path_length;
	buffer_append_format(&walk->path, ".%zu", walk->levels[walk->depth - 1].index++);
}

static int flatten_number(void *context, const char *number, size_t length)
{
	struct walk *walk = context;
	bool is_bytes;

	enter_value(walk);
	is_bytes = ends_with(&walk->path, ".allocated_bytes") || ends_with(&walk->path, ".deallocated_bytes");
	buffer_append_text(walk->metrics, walk->metric_count++ == 0 ? "{\"name\":" : ",{\"name\":");
	json_append_string(walk->metrics, walk->path.data, walk->path.length);
	buffer_append_text(walk->metrics, ",\"value\":");
	buffer_append(walk->metrics, number, length);
	buffer_append_format(walk->metrics, ",\"unit\":\"%s\",\"polarity\":\"%s\"}", is_bytes ? "bytes" : "",
			     is_bytes ? "LowerBetter" : "Unknown");
	return 1;
}

static int flatten_other(void *context)
{
	enter_value(context);
	return 1;
}

static int flatten_boolean(void *context, int value)
{
	(void)value;
	return flatten_other(context);
}

static int flatten_string(void *context, const unsigned char *text, size_t length)
{
	(void)text;
	(void)length;
	return flatten_other(context);
}

static int flatten_start(struct walk *walk, bool is_array)
{
	if (walk->depth == DEPTH_MAX)
		return 0;
	enter_value(walk);
	walk->levels[walk->depth].is_array = is_array;
	walk->levels[walk->depth].index = 0;
	walk->levels[walk->depth++].path_length = walk->path.length;
	return 1;
}

static int flatten_start_map(void *context)
{
	return flatten_start(context, false);
}

static int flatten_start_array(void *context)
{
	return flatten_start(context, true);
}

static int flatten_key(void *context, const unsigned char *key, size_t length)
{
	struct walk *walk = context;

	walk->path.length = walk->levels[walk->depth - 1].path_length;
	buffer_append_char(&walk->path, '.');
	buffer_append(&walk->path, key, length);
	return 1;
}

static int flatten_end(void *context)
{
	((struct walk *)context)->depth--;
	return 1;
}

static const yajl_callbacks flatten_callbacks = {
	.yajl_null = flatten_other,
	.yajl_boolean = flatten_boolean,
	.yajl_number = flatten_number,
	.yajl_string = flatten_string,
	.yajl_start_map = flatten_start_map,
	.yajl_map_key = flatten_key,
	.yajl_end_map = flatten_end,
	.yajl_start_array = flatten_start_array,
	.yajl_end_array = flatten_end,
};

/* A value begins: counts it when it is an element, and sees whether it is the array that is looked for. */
static void locate_value(struct walk *walk, bool is_array)
{
	if (walk->depth == 1 && walk->next_is_metrics) {
		walk->in_metrics = is_array;
		walk->found += is_array ? 1 : 2; /* something else of that name counts as wrong */
		walk->next_is_metrics = false;
	} else if (walk->depth == 2 && walk->in_metrics) {
		walk->element_count++;
	}
}

static int locate_other(void *context)
{
	locate_value(context, false);
	return 1;
}

static int locate_boolean(void *context, int value)
{
	(void)value;
	return locate_other(context);
}

static int locate_text(void *context, const char *text, size_t length)
{
	(void)text;
	(void)length;
	return locate_other(context);
}

static int locate_string(void *context, const unsigned char *text, size_t length)
{
	(void)text;
	(void)length;
	return locate_other(context);
}

static int locate_start(struct walk *walk, bool is_array)
{
	if (walk->depth == DEPTH_MAX)
		return 0;
	if (walk->depth == 0)
		walk->is_object = !is_array;
	locate_value(walk, is_array);
	walk->depth++;
	return 1;
}

static int locate_start_map(void *context)
{
	return locate_start(context, false);
}

static int locate_start_array(void *context)
{
	return locate_start(context, true);
}

static int locate_key(void *context, const unsigned char *key, size_t length)
{
	struct walk *walk = context;

	if (walk->depth == 1)
		walk->next_is_metrics = length == strlen("metrics") && memcmp(key, "metrics", length) == 0;
	return 1;
}

static int locate_end_map(void *context)
{
	((struct walk *)context)->depth--;
	return 1;
}

static int locate_end_array(void *context)
{
	struct walk *walk = context;

	walk->depth--;
	if (walk->depth == 1 && walk->in_metrics) {
		/* yajl has just taken the bracket */
		walk->insert_offset = yajl_get_bytes_consumed(walk->parser) - 1;
		walk->in_metrics = false;
	}
	return 1;
}

static const yajl_callbacks locate_callbacks = {
	.yajl_null = locate_other,
	.yajl_boolean = locate_boolean,
	.yajl_number = locate_text,
	.yajl_string = locate_string,
	.yajl_start_map = locate_start_map,
	.yajl_map_key = locate_key,
	.yajl_end_map = locate_end_map,
	.yajl_start_array = locate_start_array,
	.yajl_end_array = locate_end_array,
};

/* Returns whether the whole text is one JSON document. */
static bool walk_document(struct walk *walk, const yajl_callbacks *callbacks, const char *text, size_t length)
{
	bool complete;

	walk->parser = yajl_alloc(callbacks, NULL, walk);
	complete = yajl_parse(walk->parser, (const unsigned char *)text, length) == yajl_status_ok &&
		   yajl_complete_parse(walk->parser) == yajl_status_ok;
	yajl_free(walk->parser);
	walk->parser = NULL;
	return complete;
}

/* Appends one metric for each number of the document, between commas. */
static void flatten(const char *json, size_t length, struct buffer *metrics)
{
	struct walk walk = {.metrics = metrics};

	buffer_append_text(&walk.path, METRIC_PREFIX);
	/* the document is our own */
	(void)walk_document(&walk, &flatten_callbacks, json, length);
	buffer_release(&walk.path);
}

static int insert_record(const char *path, struct buffer *content, const char *json, size_t json_length,
			 int exit_code, struct buffer *ret_content, struct error *error)
{
	struct walk walk = {0};

	if (!walk_document(&walk, &locate_callbacks, content->data != NULL ? content->data : "",
			   content->length) ||
	    !walk.is_object || walk.found != 1)
		return error_set(error, -EINVAL,
				 "%s is not a test result with an array of metrics; run the test again to "
				 "make a new one",
				 path);
	buffer_append(ret_content, content->data, walk.insert_offset);
	buffer_append_format(ret_content, "%s{\"payload_index\":%zu,\"metrics\":[",
			     walk.element_count != 0 ? "," : "", walk.element_count);
	flatten(json, json_length, ret_content);
	buffer_append_format(ret_content, "],\"exit_code\":%d}", exit_code);
	buffer_append(ret_content, content->data + walk.insert_offset, content->length - walk.insert_offset);
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
		if (*stop_flag != 0)
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

/* Owner and permissions stay, as far as this user may set them. */
static void keep_owner(int descriptor, const struct stat *before)
{
	(void)!fchown(descriptor, before->st_uid, before->st_gid);
	fchmod(descriptor, before->st_mode & 07777);
}

static int replace(const char *path, const struct stat *before, const struct buffer *content,
		   struct error *error)
{
	struct file_replacement replacement;
	struct stat written = {0}, now;
	int result = file_replacement_open(&replacement, path, 0600, true, error);

	if (result < 0)
		return result;
	result = file_write_all(replacement.descriptor, content->data, content->length);
	if (result < 0) {
		file_replacement_abandon(&replacement);
		return error_set(error, result, "cannot write %s: %s", path, strerror(-result));
	}
	keep_owner(replacement.descriptor, before);
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
	struct stat status;
	int result;

	if (lock < 0)
		return lock;
	result = file_read(AT_FDCWD, path, &before, FILE_BYTES_MAX);
	if (result >= 0 && stat(path, &status) < 0)
		result = -errno;
	if (result < 0)
		result = error_set(error, result, "cannot read %s: %s; run the test first", path,
				   strerror(-result));
	if (result >= 0)
		result = insert_record(path, &before, json, json_length, exit_code, &after, error);
	if (result >= 0)
		result = replace(path, &status, &after, error);
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
