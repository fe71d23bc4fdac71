/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_loader.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/line/config_file.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/snapshot_files.h"
#include "file_names.h"
#include "store/ctprof.h"

enum {
	NAMING_MAX = 4, /* directories that are read at once, all others may hang */
};

struct file_loader {
	struct tasks *tasks;
	struct queue *queue;
	atomic_uint_fast64_t request; /* number of the last file asked for; results of others are dropped */
	atomic_uint naming;           /* tasks that read directories */
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

/* --- snapshots --- */

struct loading {
	struct file_loader *loader;
	uint64_t request;
	char *path;
};

static void load(void *argument)
{
	struct loading *loading = argument;
	struct file_loader *loader = loading->loader;
	struct ui_event event = {.kind = UI_EVENT_FILE};
	struct snapshot_file file;
	struct error error;

	if (snapshot_file_read(loading->path, CTPROF_DEFAULT_LIMIT, true, &file, &error) < 0) {
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
	if (loading->request == atomic_load(&loader->request))
		queue_send(loader->queue, &event);
	else
		ui_event_discard(&event);
	free(loading->path);
	free(loading);
}

static bool is_file(const void *event)
{
	return ((const struct ui_event *)event)->kind == UI_EVENT_FILE;
}

void file_loader_request(struct file_loader *loader, const char *path)
{
	struct loading *loading = memory_allocate(sizeof(*loading));
	struct ui_event former;
	int result;

	*loading = (struct loading){loader, atomic_fetch_add(&loader->request, 1) + 1,
				    memory_duplicate(path)};
	if (queue_withdraw(loader->queue, is_file, &former))
		ui_event_discard(&former);
	result = tasks_start(loader->tasks, (struct task){load, loading, .must_finish = false});
	if (result == 0)
		return;
	send_message(loader, UI_EVENT_FILE, memory_format("cannot read %s now: %s", path, strerror(-result)),
		     true);
	free(loading->path);
	free(loading);
}

/* --- names of files --- */

struct naming {
	struct file_loader *loader;
	char *text;
};

static void finish_naming(struct naming *naming)
{
	atomic_fetch_sub(&naming->loader->naming, 1);
	free(naming->text);
	free(naming);
}

static void complete(void *argument)
{
	struct naming *naming = argument;
	struct buffer lines = {0};

	file_names_complete(naming->text, &lines);
	send_message(naming->loader, UI_EVENT_NAMES, buffer_steal(&lines), false);
	finish_naming(naming);
}

void file_loader_request_names(struct file_loader *loader, const char *text)
{
	struct naming *naming;

	/* only this thread adds to them */
	if (atomic_load(&loader->naming) == NAMING_MAX)
		return;
	atomic_fetch_add(&loader->naming, 1);
	naming = memory_allocate(sizeof(*naming));
	*naming = (struct naming){loader, memory_duplicate(text)};
	if (tasks_start(loader->tasks, (struct task){complete, naming, .must_finish = false}) < 0)
		finish_naming(naming);
}

/* --- the configuration --- */

struct writing {
	struct file_loader *loader;
	char *path, *section;
	struct config_change changes[CONFIG_TAB_KEY_COUNT]; /* values owned */
};

static void release_writing(struct writing *writing)
{
	for (size_t i = 0; i < CONFIG_TAB_KEY_COUNT; i++)
		free((char *)(uintptr_t)writing->changes[i].value);
	free(writing->path);
	free(writing->section);
	free(writing);
}

static void write_section(void *argument)
{
	struct writing *writing = argument;
	struct error error;
	const int result = config_file_edit(writing->path, writing->section, writing->changes,
					    CONFIG_TAB_KEY_COUNT, &error);

	send_message(writing->loader, UI_EVENT_MESSAGE,
		     result < 0 ? memory_duplicate(error.text)
				: memory_format("wrote [%s] of %s", writing->section, writing->path),
		     result < 0);
	release_writing(writing);
}

void file_loader_write_tab(struct file_loader *loader, const char *path, enum tab tab)
{
	struct writing *writing = memory_allocate_zero(1, sizeof(*writing));
	int result;

	writing->loader = loader;
	writing->path = memory_duplicate(path);
	writing->section = memory_format("tab %s", tabs[tab].name);
	for (enum config_tab_key key = 0; key < CONFIG_TAB_KEY_COUNT; key++)
		writing->changes[key] = (struct config_change){config_tab_keys[key],
							       config_tabs_value(key, tab)};
	result = tasks_start(loader->tasks, (struct task){write_section, writing, .must_finish = true});
	if (result == 0)
		return;
	send_message(loader, UI_EVENT_MESSAGE,
		     memory_format("cannot write %s now: %s", path, strerror(-result)), true);
	release_writing(writing);
}
