/* SPDX-License-Identifier: GPL-2.0-only */
#include "process_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "thread_file.h"

enum {
	ENTRIES_SIZE = 64 * 1024,
	OWN_LINKS = 2,          /* of a task directory without any thread */
	DISTRUST_LISTINGS = 10, /* a process that lost a thread is likely to lose the next */
	KEPT_MAX = 4096,        /* each pins a directory entry and an inode in the kernel */
	LEFT_MIN = 64,          /* descriptors for other sources and for the caller's files */
};

void process_list_initialize(struct process_list *list, int proc)
{
	struct rlimit limit = {.rlim_cur = 1024};
	const int next = fcntl(proc, F_DUPFD_CLOEXEC, 0);

	*list = (struct process_list){.proc = proc};
	getrlimit(RLIMIT_NOFILE, &limit);
	if (next >= 0 && limit.rlim_cur > (rlim_t)next + LEFT_MIN)
		list->keep_limit = (size_t)limit.rlim_cur - (size_t)next - LEFT_MIN;
	if (list->keep_limit > limit.rlim_cur / 2)
		list->keep_limit = (size_t)limit.rlim_cur / 2;
	if (list->keep_limit > KEPT_MAX)
		list->keep_limit = KEPT_MAX;
	if (next >= 0)
		close(next);
	list->entries = memory_allocate(ENTRIES_SIZE);
}

/* Ascending and each once; the kernel lists threads by age, which mostly is the order of their ids. */
static void sort_ids(struct process_list *list)
{
	bool ascending = true;
	size_t kept = 0;

	for (size_t i = 1; i < list->id_count && ascending; i++)
		ascending = list->ids[i - 1] < list->ids[i];
	if (ascending)
		return;
	qsort(list->ids, list->id_count, sizeof(*list->ids), order_by_u32);
	for (size_t i = 0; i < list->id_count; i++) {
		if (i == 0 || list->ids[i] != list->ids[i - 1])
			list->ids[kept++] = list->ids[i];
	}
	list->id_count = kept;
}

static void take_entries(struct process_list *list, size_t length)
{
	for (size_t offset = 0; offset < length;) {
		const struct dirent64 *entry = (const struct dirent64 *)(const void *)(list->entries +
										       offset);
		uint32_t id;

		if (number_parse_u32(entry->d_name, strlen(entry->d_name), &id) && id != 0 && id <= INT32_MAX)
			*MEMORY_APPEND(list->ids, list->id_count, list->id_capacity) = id;
		offset += entry->d_reclen;
	}
}

/* Adds the numbers among a directory's entries to list->ids. */
static int add_directory(struct process_list *list, int directory)
{
	ssize_t length;

	/* the way back to the start: cheaper than a new descriptor */
	if (lseek(directory, 0, SEEK_SET) < 0)
		return -errno;
	while ((length = getdents64(directory, list->entries, ENTRIES_SIZE)) > 0)
		take_entries(list, (size_t)length);
	if (length < 0)
		length = -errno;
	sort_ids(list);
	return (int)length;
}

static int list_directory(struct process_list *list, int directory)
{
	list->id_count = 0;
	return add_directory(list, directory);
}

void process_list_done(struct process *process)
{
	if (process->tasks < 0 || process->keep_open)
		return;
	close(process->tasks);
	process->tasks = -1;
}

void process_forget(struct process *process)
{
	free(process->cgroup);
	process->cgroup = NULL;
	process->cgroup_length = 0;
	process->cgroup_reason = REASON_READ;
	process->cgroup_read_at = 0;
	process->threads_have_cgroups = false;
	process_note_freezer(process, "", 0);
	process->smaps_read_at = 0;
	memset(&process->resident, 0, sizeof(process->resident));
	process->heap = NULL;
	process->heap_exec_id = 0;
	process->heap_run_ns = 0;
	process->links = 0;
}

void process_list_forget(struct process_list *list, struct process *process)
{
	list->kept -= process->keep_open;
	process->keep_open = false;
	process_list_done(process);
	process_forget(process);
}

bool process_note_cgroup(struct process *process, const char *path, size_t length)
{
	if (process->cgroup != NULL && process->cgroup_length == length &&
	    memcmp(process->cgroup, path, length) == 0)
		return false;
	free(process->cgroup);
	process->cgroup = memory_duplicate_bytes(path, length);
	process->cgroup_length = length;
	return true;
}

void process_note_freezer(struct process *process, const char *path, size_t length)
{
	free(process->freezer);
	process->freezer = length > 1 ? memory_duplicate_bytes(path, length) : NULL;
}

void process_note_resident(struct process *process, bool has_memory, uint64_t pages, uint64_t read_at_ns)
{
	if (!has_memory && process->row_count > 1)
		return;
	process->resident.has_memory = has_memory;
	process->resident.pages = pages;
	process->resident.read_at = read_at_ns;
}

struct process *process_list_find(const struct process_list *list, uint32_t tgid)
{
	if (list->count == 0)
		return NULL;
	return bsearch(&tgid, list->items, list->count, sizeof(*list->items), order_by_u32);
}

/* Merges list->ids, ascending, into the processes known. */
static void merge(struct process_list *list)
{
	struct process *merged = memory_allocate_zero(list->id_count + 1, sizeof(*merged));
	size_t old = 0;

	for (size_t i = 0; i < list->id_count; i++) {
		for (; old < list->count && list->items[old].tgid < list->ids[i]; old++)
			process_list_forget(list, &list->items[old]);
		if (old < list->count && list->items[old].tgid == list->ids[i])
			merged[i] = list->items[old++];
		else
			merged[i] = (struct process){.tgid = list->ids[i], .tasks = -1};
	}
	for (; old < list->count; old++)
		process_list_forget(list, &list->items[old]);
	free(list->items);
	list->items = merged;
	list->count = list->id_count;
}

int process_list_update(struct process_list *list, const uint32_t *scope, size_t scope_count)
{
	if (scope == NULL) {
		int result = list_directory(list, list->proc);

		if (result < 0)
			return result;
	} else {
		list->id_count = 0;
		for (size_t i = 0; i < scope_count; i++)
			*MEMORY_APPEND(list->ids, list->id_count, list->id_capacity) = scope[i];
		sort_ids(list);
	}
	merge(list);
	return 0;
}

int process_list_tasks(struct process_list *list, struct process *process)
{
	char path[THREAD_PATH_SIZE];

	if (process->tasks >= 0)
		return process->tasks;
	process->tasks = openat(list->proc, thread_file_path(path, process->tgid, "task"),
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	process->keep_open = process->tasks >= 0 && list->kept < list->keep_limit;
	if (process->keep_open)
		list->kept++;
	return process->tasks;
}

static uint64_t count_links(int directory)
{
	struct stat status;

	return fstat(directory, &status) == 0 ? status.st_nlink : 0;
}

bool process_list_is_settled(const struct process *process)
{
	return process->tasks >= 0 && process->links != 0 && process->distrusted == 0 &&
	       count_links(process->tasks) == process->links;
}

void process_list_distrust(struct process *process)
{
	process->links = 0;
	process->distrusted = DISTRUST_LISTINGS;
}

size_t process_list_threads(struct process_list *list, struct process *process)
{
	bool was_open = process->tasks >= 0;
	uint64_t links;

	list->id_count = 0;
	if (process_list_tasks(list, process) < 0)
		return 0;
	if (list_directory(list, process->tasks) < 0 || list->id_count == 0) {
		/* A kept directory of an ended process; its number may belong to another by now. */
		process_list_forget(list, process);
		list->id_count = 0;
		if (was_open && process_list_tasks(list, process) >= 0 &&
		    list_directory(list, process->tasks) < 0)
			list->id_count = 0;
	}
	links = list->id_count != 0 ? count_links(process->tasks) : 0;
	/* a thread that ends while it is listed may hide the next one: next_tid() of fs/proc/base.c */
	if (links > list->id_count + OWN_LINKS && add_directory(list, process->tasks) == 0)
		links = count_links(process->tasks);
	process->links = process->keep_open && links == list->id_count + OWN_LINKS ? links : 0;
	if (process->distrusted > 0)
		process->distrusted--;
	return list->id_count;
}

void process_list_release(struct process_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		process_list_forget(list, &list->items[i]);
	free(list->items);
	free(list->ids);
	free(list->entries);
	*list = (struct process_list){0};
}
