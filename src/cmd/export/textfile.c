/* SPDX-License-Identifier: GPL-2.0-only */
#include "textfile.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/worker.h"
#include "cmd/line/command.h"

#define END_PATIENCE_NS (2 * NS_PER_S)

struct textfile {
	struct exporter *exporter;
	const char *path;
	pthread_t thread;
	bool is_failing; /* used by its thread: the failure was reported */
};

static int write_page(const char *path, const struct buffer *page, struct error *error)
{
	struct file_replacement replacement;
	int result = file_replacement_open(&replacement, path, 0644, true, error);

	if (result < 0)
		return result;
	result = file_write_all(replacement.descriptor, page->data, page->length);
	if (result == 0)
		return file_replacement_commit(&replacement, error);
	file_replacement_abandon(&replacement);
	return error_set(error, result, "cannot write %s: %s", path, strerror(-result));
}

/* Says once that it fails, and once that it works again. */
static void note_result(struct textfile *textfile, int result, const struct error *error)
{
	if (result < 0) {
		exporter_count_file_failure(textfile->exporter);
		if (!textfile->is_failing)
			command_note("%s; trying again each round", error->text);
	} else if (textfile->is_failing) {
		command_note("%s is written again", textfile->path);
	}
	textfile->is_failing = result < 0;
}

static void *run(void *argument)
{
	struct textfile *textfile = argument;
	uint64_t round = 0;

	while (exporter_wait(textfile->exporter, &round)) {
		struct export_health health = {.own_names = true};
		struct buffer page = {0};
		struct error error;
		int result;

		exporter_write(textfile->exporter, EXPOSITION_TEXT, &health, &page);
		result = write_page(textfile->path, &page, &error);
		note_result(textfile, result, &error);
		buffer_release(&page);
	}
	return NULL;
}

/* Reports an unfit place before the first round is there. */
static int check(const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash == NULL   ? memory_duplicate(".")
			  : slash == path ? memory_duplicate("/")
					  : memory_duplicate_bytes(path, (size_t)(slash - path));
	struct stat status;
	int result = 0;

	if (access(directory, W_OK | X_OK) < 0)
		result = error_set(error, -errno, "cannot write %s: the directory %s: %s", path, directory,
				   strerror(errno));
	else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		result = error_set(error, -EINVAL, "cannot write %s: it is no ordinary file", path);
	free(directory);
	return result;
}

int textfile_start(struct exporter *exporter, const char *path, struct textfile **ret_textfile,
		   struct error *error)
{
	const size_t length = strlen(path);
	struct textfile *textfile;
	int result = check(path, error);

	if (result < 0)
		return result;
	if (length < 5 || strcmp(path + length - 5, ".prom") != 0)
		command_note("%s does not end in .prom, and node_exporter reads no other files", path);
	textfile = memory_allocate_zero(1, sizeof(*textfile));
	textfile->exporter = exporter;
	textfile->path = path;
	result = worker_start(&textfile->thread, run, textfile);
	if (result < 0) {
		free(textfile);
		return error_set(error, result, "cannot start a thread: %s", strerror(-result));
	}
	*ret_textfile = textfile;
	return 0;
}

bool textfile_stop(struct textfile *textfile, bool remove)
{
	if (!worker_join(textfile->thread, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS))
		return false;
	if (remove)
		unlink(textfile->path);
	free(textfile);
	return true;
}
