/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_loader.h"

#include <dirent.h>
#include <pthread.h>
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
#include "save_name.h"
#include "store/ctprof.h"

/* The rest of a larger directory is ignored. */
#define ENTRIES_MAX 100000

enum {
	NAMING_MAX = 4, /* directories that are read at once, all others may hang */
	NAMES_LISTED = 20,
};

struct file_loader {
	const char *directory; /* of saved snapshots; NULL: the working directory */
	struct tasks *tasks;
	struct queue *queue;
	atomic_uint_fast64_t request; /* number of the last file asked for; results of others are dropped */
	atomic_uint naming;           /* tasks that read directories */
	pthread_mutex_t config_lock;  /* held while a task writes the configuration */

	/* Of the screen's thread: */
	char *report;             /* name of the last report */
	uint64_t serial, from_ns; /* last save: the end of a window and when that began; 0: no window */

	pthread_mutex_t lock;
	/* Everything below is guarded by the lock. */
	bool is_saving, is_reporting; /* from when it was asked for until the file is there */
};

struct file_loader *file_loader_create(const char *directory, struct tasks *tasks, struct queue *queue)
{
	struct file_loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->directory = directory;
	loader->tasks = tasks;
	loader->queue = queue;
	pthread_mutex_init(&loader->config_lock, NULL);
	pthread_mutex_init(&loader->lock, NULL);
	return loader;
}

void file_loader_release(struct file_loader *loader)
{
	if (loader == NULL)
		return;
	pthread_mutex_destroy(&loader->config_lock);
	pthread_mutex_destroy(&loader->lock);
	free(loader->report);
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
	struct buffer text;                                 /* of a report */
	struct snapshot *snapshot;                          /* to save, with its window */
	struct snapshot_window *window;
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
	buffer_release(&job->text);
	snapshot_release(job->snapshot);
	snapshot_window_release(job->window);
	free(job->path);
	free(job->section);
	free(job);
}

/* An event of this kind says if no thread can be started: "cannot read FILE now". */
static void start_job(struct job *job, void (*run)(void *job), bool must_finish, enum ui_event_kind kind,
		      const char *what)
{
	const int result = tasks_start(job->loader->tasks, (struct task){run, job, must_finish});

	if (result == 0)
		return;
	queue_send(job->loader->queue,
		   &(struct ui_event){.kind = kind,
				      .number = job->request,
				      .message = memory_format("cannot %s %s now: %s", what, job->path,
							       strerror(-result)),
				      .is_error = true});
	release_job(job);
}

/* --- what is written one at a time: `is_busy` is a flag that the lock guards --- */

static bool is_set(struct file_loader *loader, const bool *is_busy)
{
	bool set;

	pthread_mutex_lock(&loader->lock);
	set = *is_busy;
	pthread_mutex_unlock(&loader->lock);
	return set;
}

/* Returns false while another one is under way. */
static bool begin(struct file_loader *loader, bool *is_busy)
{
	bool was_busy;

	pthread_mutex_lock(&loader->lock);
	was_busy = *is_busy;
	*is_busy = true;
	pthread_mutex_unlock(&loader->lock);
	return !was_busy;
}

/* Ends under the lock: once the screen has the event, it may ask for the next one. */
static void finish(struct file_loader *loader, bool *is_busy, const struct ui_event *event)
{
	pthread_mutex_lock(&loader->lock);
	*is_busy = false;
	queue_send(loader->queue, event);
	pthread_mutex_unlock(&loader->lock);
}

/* --- snapshots --- */

static void load(void *argument)
{
	struct job *job = argument;
	struct file_loader *loader = job->loader;
	struct ui_event event = {.kind = UI_EVENT_FILE, .number = job->request};
	struct history_moment file;
	struct error error;

	if (snapshot_file_read(job->path, CTPROF_DEFAULT_LIMIT, true, true, &file, &error) < 0) {
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

/* A message is one line on the screen, so the reason must not come after a long name. */
static char *describe_unsaved(const struct file_loader *loader, const char *reason)
{
	static const char suffix[] = ".ctprof.zst: ";
	const char *end_of_name = strstr(reason, suffix);

	return memory_format("not saved in %s: %s", loader->directory != NULL ? loader->directory : ".",
			     end_of_name != NULL ? end_of_name + strlen(suffix) : reason);
}

static void save(void *argument)
{
	struct job *job = argument;
	struct file_loader *loader = job->loader;
	struct ui_event event = {.kind = UI_EVENT_SAVED};
	struct error error;
	uint64_t json_bytes;

	if (save_name_write(job->snapshot, job->window, loader->directory, &event.path, &json_bytes, &error) <
	    0) {
		event.is_error = true;
		event.message = describe_unsaved(loader, error.text);
	} else {
		event.message = memory_format("%s%s", event.path,
					      json_bytes > CTPROF_KTSTR_LIMIT
						      ? " (over 256 MiB of JSON: ktstr will refuse it)"
						      : "");
	}
	release_job(job);
	finish(loader, &loader->is_saving, &event);
}

void file_loader_save(struct file_loader *loader, const struct snapshot *shown,
		      struct snapshot_window *window)
{
	const uint64_t from_ns = window != NULL ? window->from->provenance.boottime_ns : 0;
	struct ui_event failure = {.kind = UI_EVENT_SAVED, .is_error = true};
	struct job *job;
	int result;

	if (!begin(loader, &loader->is_saving)) {
		snapshot_window_release(window);
		/* the save under way serves a request for the same, too */
		if (loader->serial == shown->serial && loader->from_ns == from_ns)
			return;
		failure.message = memory_duplicate("not saved: the previous snapshot is still being written");
		queue_send(loader->queue, &failure);
		return;
	}
	loader->serial = shown->serial;
	loader->from_ns = from_ns;
	job = create_job(loader, "");
	/* only the number of references changes: a finished snapshot does not */
	job->snapshot = snapshot_reference((struct snapshot *)(uintptr_t)shown);
	job->window = window;
	result = tasks_start(loader->tasks, (struct task){save, job, .must_finish = true});
	if (result == 0)
		return;
	failure.message = describe_unsaved(loader, strerror(-result));
	release_job(job);
	finish(loader, &loader->is_saving, &failure);
}

char *file_loader_give_up_save(struct file_loader *loader)
{
	return is_set(loader, &loader->is_saving)
		       ? describe_unsaved(loader, "its file system does not answer")
		       : NULL;
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
 * was given, its completion, and, when several names begin so, up to NAMES_LISTED of them in byte order,
 * their number before them if there are more.
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
	/* in front, since the rest may have no room */
	if (names.count > NAMES_LISTED)
		buffer_append_format(lines, "%zu names:\n", names.count);
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
	int result;

	/* one task at a time: each replaces the whole file */
	pthread_mutex_lock(&job->loader->config_lock);
	result = config_file_edit(job->path, job->section, job->changes, CONFIG_TAB_KEY_COUNT, &error);
	pthread_mutex_unlock(&job->loader->config_lock);
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

/* Draws into `text`, which the caller releases. */
static int draw_report(const struct ui_report *shown, const char *path, struct buffer *text,
		       struct error *error)
{
	const bool is_pair = shown->before != NULL;
	const struct view_options view = {.limit = is_pair ? UINT64_MAX : 0};
	struct snapshot_report report = {
		.names = {shown->before_name, shown->after_name},
		.how.by_threads = shown->by_threads,
		.snapshots = {shown->before, shown->after},
		.in_hurry = true,
	};
	struct report_options options = {.output = NULL};
	enum report_format format;
	int result = report_format_of_file(path, &format, error);

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
	report.output.kept = true;
	report.report.to_terminal = false;
	report.how.grouping = *shown->grouping;
	snapshot_report_join(&report, NULL);
	result = snapshot_report_write(&report, error);
	*text = report.output.buffer;
	snapshot_report_release(&report);
	return result;
}

static struct ui_event report_event(char *message, const char *unwritten)
{
	return (struct ui_event){
		.kind = UI_EVENT_REPORT,
		.message = message,
		.path = unwritten != NULL ? memory_duplicate(unwritten) : NULL,
		.is_error = unwritten != NULL,
	};
}

static void write_report(void *argument)
{
	struct job *job = argument;
	struct file_loader *loader = job->loader;
	struct ui_event event;
	struct output output;
	struct error error;
	int result = output_open(&output, job->path, false, &error);

	if (result == 0) {
		output.buffer = job->text;
		job->text = (struct buffer){0};
		result = output_close(&output, &error);
	}
	event = report_event(result < 0 ? memory_duplicate(error.text) : memory_format("wrote %s", job->path),
			     result < 0 ? job->path : NULL);
	release_job(job);
	finish(loader, &loader->is_reporting, &event);
}

void file_loader_write_report(struct file_loader *loader, const char *path, const struct ui_report *shown)
{
	struct ui_event event;
	struct job *job;
	struct error error;
	int result;

	if (!begin(loader, &loader->is_reporting)) {
		event = report_event(
			memory_format("%s: not written: the previous report is still being written", path),
			path);
		queue_send(loader->queue, &event);
		return;
	}
	job = create_job(loader, path);
	/* here, since columns and tabs are of the screen's thread */
	result = draw_report(shown, path, &job->text, &error);
	if (result == 0) {
		free(loader->report);
		loader->report = memory_duplicate(path);
		result = tasks_start(loader->tasks, (struct task){write_report, job, .must_finish = true});
		if (result == 0)
			return;
		error_set(&error, result, "cannot write %s now: %s", path, strerror(-result));
	}
	release_job(job);
	event = report_event(memory_duplicate(error.text), path);
	finish(loader, &loader->is_reporting, &event);
}

char *file_loader_give_up_report(struct file_loader *loader)
{
	return is_set(loader, &loader->is_reporting)
		       ? memory_format("%s: not written: its file system does not answer", loader->report)
		       : NULL;
}
