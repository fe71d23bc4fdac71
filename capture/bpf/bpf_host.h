/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_HOST_H
#define CTOP_BPF_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "metric/feature.h"

/*
 * Facts about the host for loaders of programs, and the reading of iterators. Needs no libbpf.
 */

enum {
	/* what an iterator returns at most: PAGE_SIZE << 3, bpf_seq_read() of kernel/bpf/bpf_iter.c */
	BPF_ITERATOR_READ_SIZE = 32 * 1024,
};

/*
 * Whether the calling thread may load programs: the kernel has BTF, CAP_BPF and CAP_PERFMON are effective
 * (capabilities(7)), and the thread is in the initial user and time namespaces. A program with more rights
 * than its user (file capabilities, setuid) loads none, because an iterator over tasks would show every user
 * data that needs CAP_SYS_PTRACE. Returns on, or off with the reason; `arena` owns its texts.
 */
struct feature_result bpf_check(struct arena *arena);

/* Off for a reason, with words (a format and its arguments) that the arena owns. */
#define BPF_OFF(arena, reason, ...) feature_off(reason, arena_format(arena, __VA_ARGS__), NULL)

/* The v1 hierarchy that tells this host's containers apart: OLD_HIERARCHY_…. */
uint32_t bpf_find_old_hierarchy(void);

/*
 * Reads all that the file of an iterator hands over into `*bytes` (of `*capacity` bytes, grown as needed; the
 * caller owns it). `cancel` (may be NULL) is checked between reads. Returns the length or a negative errno;
 * -ECANCELED.
 */
ssize_t bpf_iterator_read(int descriptor, const atomic_bool *cancel, unsigned char **bytes, size_t *capacity);

#endif
