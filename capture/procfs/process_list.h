/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROCESS_LIST_H
#define CTOP_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/reason.h"

struct probe_process;

/* A process and what is known of it across rounds. */
struct process {
	uint32_t tgid;
	int tasks;      /* PROC/TGID/task, -1 while not open */
	bool keep_open; /* within the bound of descriptors */

	/* Its rows in the newest snapshot, the one being made once it is listed again. */
	size_t first_row, row_count;

	uint64_t links; /* of the task directory when it was listed, 0 where that does not count threads */
	uint8_t distrusted; /* listings to go before its link count is trusted again */

	/* Its leader's cgroup. */
	char *cgroup; /* NULL until read */
	size_t cgroup_length;
	reason_id cgroup_reason;
	uint64_t cgroup_read_at;   /* CLOCK_BOOTTIME ns */
	bool threads_have_cgroups; /* its threads may be in different ones */
	char *freezer;             /* its cgroup in the v1 freezer; NULL for the root */

	/* Its resident memory, as any of its threads had it last. */
	struct {
		uint64_t read_at; /* CLOCK_BOOTTIME ns, 0 before the first reading */
		uint64_t pages;
		bool has_memory;   /* false: it has no address space */
		uint32_t stat_tid; /* the thread whose stat had it, until statm was read as well; else 0 */
	} resident;

	uint64_t smaps_read_at;           /* CLOCK_BOOTTIME ns, 0 before the first reading */
	const struct probe_process *heap; /* what the allocator probe found; NULL until it looked */
	unsigned int heap_looked;         /* probe round of its last turn */
	uint32_t heap_exec_id;            /* that passes had of its leader at its last look; else 0 */
	uint64_t heap_run_ns;             /* run time of its threads at its last look */
};

/* All processes below a proc root, ascending by id, with their task directories kept open while there is
 * room. */
struct process_list {
	int proc; /* the proc root, a directory descriptor that the caller owns */
	struct process *items;
	size_t count;
	size_t kept, keep_limit; /* open task directories, and how many there may be */
	uint32_t *ids;           /* room for the listing under way */
	size_t id_count, id_capacity;
	char *entries; /* room for getdents64(2) */
};

/* An empty list; the bound of descriptors comes from RLIMIT_NOFILE. */
void process_list_initialize(struct process_list *list, int proc);

/*
 * Brings the list up to date with the entries of the proc root whose names are numbers from 1 to 2147483647,
 * or with the `scope_count` ids of `scope` (NULL: all). What is known of a process that is still there stays.
 * Returns 0 or a negative errno.
 */
int process_list_update(struct process_list *list, const uint32_t *scope, size_t scope_count);

/*
 * Lists the threads of a process into list->ids, ascending, each once. None when it ended meanwhile. A
 * process that took over the number of another loses what was known. Returns the number of threads.
 */
size_t process_list_threads(struct process_list *list, struct process *process);

/*
 * Whether a process still has as many threads as when it was listed: the link count of its task directory
 * says so (proc_task_getattr() of fs/proc/base.c) for a tenth of the cost of a listing. If one ended and
 * another came the count is the same, so the caller has to ask for each thread and to call
 * process_list_distrust() when one is gone.
 */
bool process_list_is_settled(const struct process *process);
void process_list_distrust(struct process *process);

/* The task directory, opened when it is not; -1 when the process is gone. */
int process_list_tasks(struct process_list *list, struct process *process);

/* To be called when nothing more is read of a process for now: closes what cannot stay open. */
void process_list_done(struct process *process);

/* Forgets what was learned about a process: another one has its number now. */
void process_forget(struct process *process);

/* The same where its task directory may be that of the former one: closes it, too, if it was kept open. */
void process_list_forget(struct process_list *list, struct process *process);

/* Takes the path of the cgroup, `length` bytes, that its leader is in. Returns whether it is another one. */
bool process_note_cgroup(struct process *process, const char *path, size_t length);

/* Stores the path of the leader's cgroup in the v1 freezer. */
void process_note_freezer(struct process *process, const char *path, size_t length);

/* The process of that id, or NULL. */
struct process *process_list_find(const struct process_list *list, uint32_t tgid);

/*
 * Takes the resident memory that one of its threads tells. A thread without memory says so of the process
 * only if it is alone: others end, or are zombies, before it.
 */
void process_note_resident(struct process *process, bool has_memory, uint64_t pages, uint64_t read_at_ns);

void process_list_release(struct process_list *list);

#endif
