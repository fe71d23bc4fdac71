/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "file_report.h"
#include "worker.h"
#include "ctprof/ctprof.h"

struct file_loader {
	pthread_mutex_t lock;
	int notify_fd;
	/* Everything below is guarded by the lock. */
	unsigned int references; /* the owner's and one of each thread */
	uint64_t request;        /* number of the last one; results of others are dropped */
	struct ui_event result;  /* zero while there is none */
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
	close(loader->notify_fd);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

/* Hands a result over, unless another file was asked for meanwhile. */
static void finish(struct file_loader *loader, uint64_t request, struct ui_event event)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&loader->lock);
	if (request == loader->request)
		loader->result = event;
	else
		discard(&event);
	pthread_mutex_unlock(&loader->lock);
	/* a full counter is readable already */
	if (write(loader->notify_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

static void *load(void *argument)
{
	struct loading *loading = argument;
	struct ui_event event = {.kind = UI_EVENT_MESSAGE};
	struct error error;
	int result = ctprof_read(loading->path, CTPROF_DEFAULT_LIMIT, &event.snapshot, &error);

	if (result < 0) {
		event.snapshot = NULL;
		event.is_error = true;
		event.message = memory_duplicate(error.text);
	} else if (event.snapshot->format_notes != NULL) {
		event.message = memory_duplicate(event.snapshot->format_notes);
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
	uint64_t count;

	if (read(loader->notify_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&loader->lock);
	*ret_event = loader->result;
	loader->result = (struct ui_event){0};
	pthread_mutex_unlock(&loader->lock);
	return ret_event->snapshot != NULL || ret_event->message != NULL;
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

void file_loader_release(struct file_loader *loader)
{
	if (loader == NULL)
		return;
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
	host->write_comparison = write_comparison;
}
