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
 * What tasks did that ended, as BPF programs note it when they end and when the kernel frees them. Each is
 * listed from its end on. Once free, a task that no round can have seen goes into a sum by name and cgroup;
 * the others stay listed until they are taken.
 */
struct bpf_exits;

/* What tasks of one key did since sums were last read. */
struct bpf_exit_group {
	struct exit_key key;
	struct exit_sum sum; /* `lock` means nothing */
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
 * What was summed up since the last call, the groups of most threads first: of many, the reader keeps the
 * names of the first. They are owned by the reader and valid until the next call. Returns 0 or a negative
 * errno: then some groups may be missing, and what they did comes with the next call.
 */
int bpf_exits_read_groups(struct bpf_exits *exits, const struct bpf_exit_group **ret_groups,
			  size_t *ret_count);

/*
 * Every task that has ended and was neither taken nor added to a sum, in no particular order: those that are
 * not free yet, and those that are free and a round may have seen. Owned by the reader and valid until the
 * next call. Returns 0 or a negative errno: then some may be missing.
 */
int bpf_exits_list(struct bpf_exits *exits, const struct bpf_exit_item **ret_items, size_t *ret_count);

/*
 * Takes a task off the list, with its last numbers. False when it is there no more: it was freed meanwhile
 * and is part of a sum.
 */
bool bpf_exits_take(struct bpf_exits *exits, const struct exit_identity *identity,
		    struct exit_thread *ret_thread);

/* What the kernel accounts, TASK_KERNEL_…; 0 until a task has ended. */
uint32_t bpf_exits_kernel(const struct bpf_exits *exits);

/* Tasks since the programs were attached of which nothing is known, for lack of room. */
uint64_t bpf_exits_lost(const struct bpf_exits *exits);

#endif
