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
	const char *path; /* as the user calls it */
	char *target;     /* where links lead from there: what is written is what is removed */
	uint64_t rounds;  /* the last of them; 0: there is none */
	pthread_t thread;
	bool is_failing; /* used by its thread: the failure was reported */
};

static int write_page(const struct textfile *textfile, const struct buffer *page, struct error *error)
{
	struct file_replacement replacement;
	int result = file_replacement_open(&replacement, textfile->target, 0644, true, error);

	if (result < 0)
		return result;
	/* node_exporter is another user, whatever the umask is; some file systems give all files one mode */
	(void)!fchmod(replacement.descriptor, 0644);
	result = file_write_all(replacement.descriptor, page->data, page->length);
	if (result == 0)
		return file_replacement_commit(&replacement, error);
	file_replacement_abandon(&replacement);
	return error_set(error, result, "cannot write %s: %s", textfile->path, strerror(-result));
}

/* Says once that it fails, and once that it works again. */
static void note_result(struct textfile *textfile, uint64_t round, int result, const struct error *error)
{
	if (result < 0) {
		exporter_count_file_failure(textfile->exporter);
		if (!textfile->is_failing)
			command_note("%s%s", error->text,
				     round == textfile->rounds ? "" : "; trying again each round");
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
		result = write_page(textfile, &page, &error);
		note_result(textfile, round, result, &error);
		buffer_release(&page);
	}
	return NULL;
}

static void release(struct textfile *textfile)
{
	free(textfile->target);
	free(textfile);
}

int textfile_start(struct exporter *exporter, const char *path, uint64_t rounds,
		   struct textfile **ret_textfile, struct error *error)
{
	const size_t length = strlen(path);
	struct file_replacement trial;
	struct textfile *textfile = memory_allocate_zero(1, sizeof(*textfile));
	int result = file_follow_links(path, &textfile->target, error);

	if (result == 0)
		result = file_replacement_open(&trial, textfile->target, 0644, true, error);
	if (result < 0) {
		release(textfile);
		return result;
	}
	file_replacement_abandon(&trial);
	if (length < 5 || strcmp(path + length - 5, ".prom") != 0)
		command_note("%s does not end in .prom, and node_exporter reads no other files", path);
	textfile->exporter = exporter;
	textfile->path = path;
	textfile->rounds = rounds;
	result = worker_start(&textfile->thread, run, textfile);
	if (result < 0) {
		release(textfile);
		return error_set(error, result, "cannot start a thread: %s", strerror(-result));
	}
	*ret_textfile = textfile;
	return 0;
}

bool textfile_stop(struct textfile *textfile, bool remove, bool *ret_is_failing)
{
	if (!worker_join(textfile->thread, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS))
		return false;
	*ret_is_failing = textfile->is_failing;
	if (remove)
		unlink(textfile->target);
	release(textfile);
	return true;
}
