/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "cmd/line/config_file.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/snapshot_files.h"
#include "file_names.h"
#include "file_report.h"
#include "store/ctprof.h"

/* How long the end waits for a file system: less than the second in which the screen ends on request. */
#define WRITING_PATIENCE_NS (800 * NS_PER_MS)

struct file_loader {
	pthread_mutex_t lock;
	int notify_fd;
	/* Everything below is guarded by the lock. */
	unsigned int references; /* the owner's and one of each thread */
	uint64_t request;        /* number of the last one; results of others are dropped */
	struct ui_event result;  /* zero while there is none */
	struct ui_event written; /* of the configuration */
	struct ui_event names;   /* that were asked for last */
	unsigned int naming;     /* threads that read directories */
	unsigned int writing;    /* how many changes of it are under way */
};

struct loading {
	struct file_loader *loader;
	uint64_t request;
	char *path;
};

static void discard(struct ui_event *event)
{
	snapshot_release(event->snapshot);
	free(event->message);
	free(event->path);
	*event = (struct ui_event){0};
}

static void give_up(struct file_loader *loader)
{
	bool last;

	pthread_mutex_lock(&loader->lock);
	last = --loader->references == 0;
	pthread_mutex_unlock(&loader->lock);
	if (!last)
		return;
	discard(&loader->result);
	discard(&loader->written);
	discard(&loader->names);
	close(loader->notify_fd);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

static void notify(struct file_loader *loader)
{
	const uint64_t one = 1;

	/* a full counter is readable already */
	if (write(loader->notify_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

/* Hands a result over, unless another file was asked for meanwhile. */
static void finish(struct file_loader *loader, uint64_t request, struct ui_event event)
{
	pthread_mutex_lock(&loader->lock);
	if (request == loader->request)
		loader->result = event;
	else
		discard(&event);
	pthread_mutex_unlock(&loader->lock);
	notify(loader);
}

static void *load(void *argument)
{
	struct loading *loading = argument;
	struct ui_event event = {.kind = UI_EVENT_MESSAGE};
	struct snapshot_file file;
	struct error error;
	int result = snapshot_file_read(loading->path, CTPROF_DEFAULT_LIMIT, true, &file, &error);

	if (result < 0) {
		event.is_error = true;
		event.message = memory_duplicate(error.text);
	} else {
		event.snapshot = file.snapshot;
		event.message = file.note;
		/* a moment has the name of its own time */
		if (strcmp(file.name, loading->path) != 0)
			event.path = file.name;
		else
			free(file.name);
	}
	finish(loading->loader, loading->request, event);
	give_up(loading->loader);
	free(loading->path);
	free(loading);
	return NULL;
}

static void request_file(void *context, const char *path)
{
	struct file_loader *loader = context;
	struct loading *loading = memory_allocate(sizeof(*loading));
	int result;

	pthread_mutex_lock(&loader->lock);
	loader->references++;
	*loading = (struct loading){loader, ++loader->request, memory_duplicate(path)};
	discard(&loader->result);
	pthread_mutex_unlock(&loader->lock);
	result = worker_start(NULL, load, loading);
	if (result == 0)
		return;
	finish(loader, loading->request,
	       (struct ui_event){
		       .kind = UI_EVENT_MESSAGE,
		       .message = memory_format("cannot read %s now: %s", path, strerror(-result)),
		       .is_error = true,
	       });
	give_up(loader);
	free(loading->path);
	free(loading);
}

static bool receive_file(void *context, struct ui_event *ret_event)
{
	struct file_loader *loader = context;
	struct ui_event *event;
	uint64_t count;

	if (read(loader->notify_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&loader->lock);
	event = loader->written.message != NULL ? &loader->written
		: loader->names.message != NULL ? &loader->names
						: &loader->result;
	*ret_event = *event;
	*event = (struct ui_event){0};
	pthread_mutex_unlock(&loader->lock);
	return ret_event->snapshot != NULL || ret_event->message != NULL;
}

/* --- names of files --- */

enum {
	NAMING_MAX = 4, /* directories that are read at once, all others may hang */
};

struct naming {
	struct file_loader *loader;
	char *text;
};

/* Ends a request, with its answer or without. */
static void finish_naming(struct naming *naming, char *message)
{
	struct file_loader *loader = naming->loader;

	pthread_mutex_lock(&loader->lock);
	loader->naming--;
	if (message != NULL) {
		discard(&loader->names);
		loader->names = (struct ui_event){.kind = UI_EVENT_NAMES, .message = message};
	}
	pthread_mutex_unlock(&loader->lock);
	notify(loader);
	give_up(loader);
	free(naming->text);
	free(naming);
}

static void *complete(void *argument)
{
	struct naming *naming = argument;
	struct buffer lines = {0};

	file_names_complete(naming->text, &lines);
	finish_naming(naming, buffer_steal(&lines));
	return NULL;
}

static void request_names(void *context, const char *text)
{
	struct file_loader *loader = context;
	struct naming *naming;
	bool too_many;

	pthread_mutex_lock(&loader->lock);
	too_many = loader->naming == NAMING_MAX;
	if (!too_many) {
		loader->references++;
		loader->naming++;
	}
	pthread_mutex_unlock(&loader->lock);
	if (too_many)
		return;
	naming = memory_allocate(sizeof(*naming));
	*naming = (struct naming){loader, memory_duplicate(text)};
	if (worker_start(NULL, complete, naming) < 0)
		finish_naming(naming, NULL);
}

/* --- the configuration --- */

struct writing {
	struct file_loader *loader;
	char *path, *section;
	struct config_change changes[CONFIG_TAB_KEY_COUNT]; /* values owned */
};

static void finish_writing(struct file_loader *loader, char *message, bool is_error)
{
	pthread_mutex_lock(&loader->lock);
	loader->writing--;
	discard(&loader->written);
	loader->written = (struct ui_event){
		.kind = UI_EVENT_WRITTEN, .message = message, .is_error = is_error};
	pthread_mutex_unlock(&loader->lock);
	notify(loader);
}

static void release_writing(struct writing *writing)
{
	give_up(writing->loader);
	for (size_t i = 0; i < CONFIG_TAB_KEY_COUNT; i++)
		free((char *)(uintptr_t)writing->changes[i].value);
	free(writing->path);
	free(writing->section);
	free(writing);
}

static void *write_section(void *argument)
{
	struct writing *writing = argument;
	struct error error;
	int result = config_file_edit(writing->path, writing->section, writing->changes, CONFIG_TAB_KEY_COUNT,
				      &error);

	finish_writing(writing->loader,
		       result < 0 ? memory_duplicate(error.text)
				  : memory_format("wrote [%s] of %s", writing->section, writing->path),
		       result < 0);
	release_writing(writing);
	return NULL;
}

static void write_tab(void *context, const char *path, enum tab tab)
{
	struct file_loader *loader = context;
	struct writing *writing = memory_allocate_zero(1, sizeof(*writing));
	int result;

	pthread_mutex_lock(&loader->lock);
	loader->references++;
	loader->writing++;
	pthread_mutex_unlock(&loader->lock);
	writing->loader = loader;
	writing->path = memory_duplicate(path);
	writing->section = memory_format("tab %s", tabs[tab].name);
	for (enum config_tab_key key = 0; key < CONFIG_TAB_KEY_COUNT; key++)
		writing->changes[key] = (struct config_change){config_tab_keys[key],
							       config_tabs_value(key, tab)};
	result = worker_start(NULL, write_section, writing);
	if (result == 0)
		return;
	finish_writing(loader, memory_format("cannot write %s now: %s", path, strerror(-result)), true);
	release_writing(writing);
}

static int write_comparison(void *context, const struct ui_comparison *comparison, const char *path,
			    struct error *error)
{
	(void)context;
	return file_report_write_comparison(comparison, path, error);
}

int file_loader_create(struct file_loader **ret_loader, struct error *error)
{
	struct file_loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->references = 1;
	loader->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loader->notify_fd < 0) {
		int result = error_set(error, -errno, "cannot create an event descriptor: %s",
				       strerror(errno));

		free(loader);
		return result;
	}
	pthread_mutex_init(&loader->lock, NULL);
	*ret_loader = loader;
	return 0;
}

/* What was asked for is written even when the screen is closed right after, unless its file system hangs. */
static void wait_for_writing(struct file_loader *loader)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + WRITING_PATIENCE_NS;
	bool writing = true;

	while (writing && clock_ns(CLOCK_MONOTONIC) < deadline) {
		pthread_mutex_lock(&loader->lock);
		writing = loader->writing != 0;
		pthread_mutex_unlock(&loader->lock);
		if (writing)
			nanosleep(&(struct timespec){.tv_nsec = 5 * NS_PER_MS}, NULL);
	}
}

void file_loader_release(struct file_loader *loader)
{
	if (loader == NULL)
		return;
	wait_for_writing(loader);
	pthread_mutex_lock(&loader->lock);
	loader->request++;
	pthread_mutex_unlock(&loader->lock);
	give_up(loader);
}

void file_loader_offer(struct file_loader *loader, struct ui_host *host)
{
	host->file_context = loader;
	host->file_fd = loader->notify_fd;
	host->request_file = request_file;
	host->receive_file = receive_file;
	host->request_names = request_names;
	host->write_tab = write_tab;
	host->write_comparison = write_comparison;
}
