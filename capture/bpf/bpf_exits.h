/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_EXITS_H
#define CTOP_BPF_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "exit_record.h"
#include "metric/feature.h"

/*
 * The work of ended tasks, which BPF programs note when a task ends and when the kernel frees it. Each task
 * is listed from its end on. Once free, a task that no round can have seen goes into a sum by name and
 * cgroup; the others stay listed until they are taken.
 */
struct bpf_exits;

/* The work of tasks of one key since sums were last read. */
struct bpf_exit_group {
	struct exit_key key;
	struct exit_sum sum;
};

struct bpf_exit_item {
	struct exit_identity identity;
	struct exit_thread thread;
};

/*
 * Loads and attaches the programs. With a `scope` of process ids only those processes count. The
 * capabilities that bpf_check() asks for are not needed afterwards. `*ret_result` is on, or tells why there
 * are no programs; its words are owned by `arena`. Returns the reader, to be ended with bpf_exits_close(), or
 * NULL.
 */
struct bpf_exits *bpf_exits_open(const uint32_t *scope, size_t scope_count, struct arena *arena,
				 struct feature_result *ret_result);
void bpf_exits_close(struct bpf_exits *exits);

/*
 * Says which tasks a round may have seen: those that started before `boottime_ns` (CLOCK_BOOTTIME),
 * UINT64_MAX from the beginning to the end of a round. At first none is.
 */
void bpf_exits_set_known(struct bpf_exits *exits, uint64_t boottime_ns);

/*
 * Reads the sums since the last call, groups of most threads first: a reader that keeps a limited number of
 * names keeps those of the first. They are owned by the reader and valid until the next call. Returns 0 or a
 * negative errno: then some groups may be missing, and what they did comes with the next call.
 */
int bpf_exits_read_groups(struct bpf_exits *exits, const struct bpf_exit_group **ret_groups,
			  size_t *ret_count);

/*
 * Lists every task that has ended and was neither taken nor added to a sum: tasks that are not free yet, and
 * free ones that a round may have seen. Threads that take over a leader's id in execve(2) are listed in the
 * order in which they had the id. The list is owned by the reader and valid until the next call. Returns 0 or
 * a negative errno: then some may be missing.
 */
int bpf_exits_list(struct bpf_exits *exits, const struct bpf_exit_item **ret_items, size_t *ret_count);

/*
 * Takes a task off the list, with its last numbers. False when it is there no more: it was freed meanwhile
 * and is part of a sum.
 */
bool bpf_exits_take(struct bpf_exits *exits, const struct exit_identity *identity,
		    struct exit_thread *ret_thread);

/* The kernel's accounting, TASK_KERNEL_…; 0 until a task has ended. */
uint32_t bpf_exits_kernel(const struct bpf_exits *exits);

/* The number of tasks since the programs were attached that were lost for lack of room. */
uint64_t bpf_exits_lost(const struct bpf_exits *exits);

#endif
