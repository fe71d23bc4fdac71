/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_loader.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/order.h"
#include "cmd/line/config_file.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/snapshot_report.h"
#include "store/ctprof.h"

/* The rest of a larger directory is ignored. */
#define ENTRIES_MAX 100000

enum {
	NAMING_MAX = 4, /* directories that are read at once, all others may hang */
	NAMES_LISTED = 20,
};

struct file_loader {
	struct tasks *tasks;
	struct queue *queue;
	atomic_uint_fast64_t request; /* number of the last file asked for; results of others are dropped */
	atomic_uint naming;           /* tasks that read directories */
	atomic_uint reports;          /* tasks that write them */
};

struct file_loader *file_loader_create(struct tasks *tasks, struct queue *queue)
{
	struct file_loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->tasks = tasks;
	loader->queue = queue;
	return loader;
}

void file_loader_release(struct file_loader *loader)
{
	free(loader);
}

static void send_message(struct file_loader *loader, enum ui_event_kind kind, char *message, bool is_error)
{
	queue_send(loader->queue, &(struct ui_event){.kind = kind, .message = message, .is_error = is_error});
}

/* A task, for one file; what it does not need is zero. */
struct job {
	struct file_loader *loader;
	char *path;                                         /* as it was given */
	uint64_t request;                                   /* its number, of a snapshot */
	char *section;                                      /* of the configuration */
	struct config_change changes[CONFIG_TAB_KEY_COUNT]; /* values owned */
	struct ui_report report;                            /* of what follows, which is owned */
	struct snapshot *before, *after;
	char *before_name, *after_name;
	struct grouping_options grouping; /* its texts are the screen's, which outlives tasks */
};

static struct job *create_job(struct file_loader *loader, const char *path)
{
	struct job *job = memory_allocate_zero(1, sizeof(*job));

	job->loader = loader;
	job->path = memory_duplicate(path);
	return job;
}

static void release_job(struct job *job)
{
	for (size_t i = 0; i < CONFIG_TAB_KEY_COUNT; i++)
		free((char *)(uintptr_t)job->changes[i].value);
	snapshot_release(job->before);
	snapshot_release(job->after);
	free(job->before_name);
	free(job->after_name);
	free(job->path);
	free(job->section);
	free(job);
}

/* An event of this kind says if no thread can be started (false): "cannot read FILE now". */
static bool start_job(struct job *job, void (*run)(void *job), bool must_finish, enum ui_event_kind kind,
		      const char *what)
{
	const int result = tasks_start(job->loader->tasks, (struct task){run, job, must_finish});

	if (result == 0)
		return true;
	queue_send(job->loader->queue,
		   &(struct ui_event){.kind = kind,
				      .number = job->request,
				      .message = memory_format("cannot %s %s now: %s", what, job->path,
							       strerror(-result)),
				      .is_error = true});
	release_job(job);
	return false;
}

/* --- snapshots --- */

static void load(void *argument)
{
	struct job *job = argument;
	struct file_loader *loader = job->loader;
	struct ui_event event = {.kind = UI_EVENT_FILE, .number = job->request};
	struct history_moment file;
	struct error error;

	if (snapshot_file_read(job->path, CTPROF_DEFAULT_LIMIT, true, &file, &error) < 0) {
		event.is_error = true;
		event.message = memory_duplicate(error.text);
	} else {
		event.snapshot = file.snapshot;
		event.message = file.note;
		/* a moment has the name of its own time */
		if (strcmp(file.name, job->path) != 0)
			event.path = file.name;
		else
			free(file.name);
	}
	if (job->request == atomic_load(&loader->request))
		queue_send(loader->queue, &event);
	else
		ui_event_discard(&event);
	release_job(job);
}

static bool is_file(const void *event)
{
	return ((const struct ui_event *)event)->kind == UI_EVENT_FILE;
}

void file_loader_request(struct file_loader *loader, uint64_t number, const char *path)
{
	struct job *job = create_job(loader, path);
	struct ui_event former;

	job->request = number;
	atomic_store(&loader->request, number);
	if (queue_withdraw(loader->queue, is_file, &former))
		ui_event_discard(&former);
	start_job(job, load, false, UI_EVENT_FILE, "read");
}

/* --- names of files --- */

struct names {
	char **items; /* owned, with a slash behind directories */
	size_t count, capacity;
};

/* Follows links. */
static bool is_directory(DIR *directory, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

/* Other names fit neither into lines nor on the screen. */
static bool is_printable(const char *name)
{
	for (; *name != '\0'; name++) {
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	}
	return true;
}

static void find_names(const char *path, const char *begin, struct names *names)
{
	DIR *directory = opendir(path);
	const size_t length = strlen(begin);
	const struct dirent *entry;

	if (directory == NULL)
		return;
	for (size_t i = 0; i < ENTRIES_MAX && (entry = readdir(directory)) != NULL; i++) {
		const char *name = entry->d_name;

		if (strncmp(name, begin, length) != 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    (name[0] == '.' && begin[0] != '.') || !is_printable(name))
			continue;
		*MEMORY_APPEND(names->items, names->count, names->capacity) = memory_format(
			"%s%s", name, is_directory(directory, entry) ? "/" : "");
	}
	closedir(directory);
}

/* The length of the common beginning of all names, in bytes: whole characters of UTF-8. */
static size_t common_length(const struct names *names)
{
	const char *first = names->items[0], *last = names->items[names->count - 1];
	size_t length = 0;

	/* the names are sorted, so the first and the last differ most */
	while (first[length] != '\0' && first[length] == last[length])
		length++;
	while (length > 0 && ((unsigned char)first[length] & 0xc0) == 0x80)
		length--;
	return length;
}

/*
 * Completes the name of a file while the names in its directory leave no choice. Appends lines: the text that
 * was given, its completion, and, when several names begin so, up to NAMES_LISTED of them in byte order.
 * Directories end in a slash. Hidden names are offered only if the text begins one. Reads a directory, which
 * may take as long as its file system likes.
 */
static void complete(const char *text, struct buffer *lines)
{
	const char *slash = strrchr(text, '/'), *begin = slash != NULL ? slash + 1 : text;
	char *path = slash != NULL ? memory_duplicate_bytes(text, (size_t)(begin - text))
				   : memory_duplicate(".");
	struct names names = {0};

	find_names(path, begin, &names);
	if (names.count != 0)
		qsort(names.items, names.count, sizeof(*names.items), order_by_text);
	buffer_append_format(lines, "%s\n%.*s", text, (int)(begin - text), text);
	if (names.count != 0)
		buffer_append(lines, names.items[0], common_length(&names));
	else
		buffer_append_text(lines, begin);
	buffer_append_char(lines, '\n');
	for (size_t i = 0; i < names.count; i++) {
		if (names.count > 1 && i < NAMES_LISTED)
			buffer_append_format(lines, "%s\n", names.items[i]);
		free(names.items[i]);
	}
	free(names.items);
	free(path);
}

static void finish_naming(struct job *job)
{
	atomic_fetch_sub(&job->loader->naming, 1);
	release_job(job);
}

static void complete_in_task(void *argument)
{
	struct job *job = argument;
	struct buffer lines = {0};

	complete(job->path, &lines);
	send_message(job->loader, UI_EVENT_NAMES, buffer_steal(&lines), false);
	finish_naming(job);
}

void file_loader_request_names(struct file_loader *loader, const char *text)
{
	struct job *job;

	/* only this thread adds to them */
	if (atomic_load(&loader->naming) == NAMING_MAX)
		return;
	atomic_fetch_add(&loader->naming, 1);
	job = create_job(loader, text);
	if (tasks_start(loader->tasks, (struct task){complete_in_task, job, .must_finish = false}) < 0)
		finish_naming(job);
}

/* --- the configuration --- */

static void write_section(void *argument)
{
	struct job *job = argument;
	struct error error;
	const int result = config_file_edit(job->path, job->section, job->changes, CONFIG_TAB_KEY_COUNT,
					    &error);

	send_message(job->loader, UI_EVENT_MESSAGE,
		     result < 0 ? memory_duplicate(error.text)
				: memory_format("wrote [%s] of %s", job->section, job->path),
		     result < 0);
	release_job(job);
}

void file_loader_write_tab(struct file_loader *loader, const char *path, enum tab tab)
{
	struct job *job = create_job(loader, path);

	job->section = memory_format("tab %s", tabs[tab].name);
	for (enum config_tab_key key = 0; key < CONFIG_TAB_KEY_COUNT; key++)
		job->changes[key] = (struct config_change){config_tab_keys[key], config_tabs_value(key, tab)};
	start_job(job, write_section, true, UI_EVENT_MESSAGE, "write");
}

/* --- reports --- */

static int make_report(const struct job *job, struct error *error)
{
	const bool is_pair = job->report.before != NULL;
	const struct view_options view = {.limit = is_pair ? UINT64_MAX : 0};
	struct snapshot_report report = {
		.request.names = {job->report.before_name, job->report.after_name},
		.how.by_threads = job->report.by_threads,
		.snapshots = {job->report.before, job->report.after},
	};
	struct report_options options = {.output = job->path};
	enum report_format format;
	int result = report_format_of_file(job->path, &format, error);

	if (result < 0)
		return result;
	options.format = (int)format;
	if (is_pair)
		report.request.display = TABLES_DISPLAY_COUNT;
	result = report_options_select(&options, &view, is_pair ? DIFF_SIDE_COUNT : 1, &report.request,
				       error);
	if (result == 0)
		result = snapshot_report_open(&report, &options, &view, false, error);
	if (result < 0)
		return result;
	report.how.grouping = *job->report.grouping;
	snapshot_report_join(&report, NULL);
	result = snapshot_report_write(&report, error);
	snapshot_report_release(&report);
	return result;
}

static void write_report(void *argument)
{
	struct job *job = argument;
	struct ui_event event = {.kind = UI_EVENT_REPORT};
	struct error error;

	event.is_error = make_report(job, &error) < 0;
	event.message = event.is_error ? memory_duplicate(error.text) : memory_format("wrote %s", job->path);
	event.path = event.is_error ? memory_duplicate(job->path) : NULL;
	/* in this order, so that whoever sees none under way finds the event */
	queue_send(job->loader->queue, &event);
	atomic_fetch_sub(&job->loader->reports, 1);
	release_job(job);
}

/* A reference of one's own; only their number changes, a finished snapshot does not. */
static struct snapshot *reference(const struct snapshot *snapshot)
{
	return snapshot != NULL ? snapshot_reference((struct snapshot *)(uintptr_t)snapshot) : NULL;
}

void file_loader_write_report(struct file_loader *loader, const char *path, const struct ui_report *shown)
{
	struct job *job = create_job(loader, path);

	job->grouping = *shown->grouping;
	job->before = reference(shown->before);
	job->after = reference(shown->after);
	job->before_name = shown->before_name != NULL ? memory_duplicate(shown->before_name) : NULL;
	job->after_name = shown->after_name != NULL ? memory_duplicate(shown->after_name) : NULL;
	job->report = (struct ui_report){
		.before = job->before,
		.after = job->after,
		.before_name = job->before_name,
		.after_name = job->after_name,
		.grouping = &job->grouping,
		.by_threads = shown->by_threads,
	};
	atomic_fetch_add(&loader->reports, 1);
	if (!start_job(job, write_report, true, UI_EVENT_REPORT, "write"))
		atomic_fetch_sub(&loader->reports, 1);
}

char *file_loader_give_up(struct file_loader *loader)
{
	return atomic_load(&loader->reports) != 0
		       ? memory_duplicate("report not written: its file system does not answer")
		       : NULL;
}
