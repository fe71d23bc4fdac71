/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_OBJECT_H
#define CTOP_BPF_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "metric/feature.h"

/*
 * Common to the BPF objects of this room: whether they may be loaded, the reason why one was not, maps, and
 * the reading of iterators. Each is loaded by itself, so that one that the kernel refuses does not cost the
 * others.
 */

struct bpf_map;
struct bpf_object_skeleton;

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

/* The processes whose tasks count, by id in the initial pid namespace. */
struct bpf_scope {
	const uint32_t *ids;
	size_t count; /* 0: all */
};

/*
 * Whether lockdown is in confidentiality mode, which disables the helpers that read kernel memory
 * (LOCKDOWN_BPF_READ_KERNEL of include/linux/security.h). Plain loads through pointers that the verifier
 * trusts still work.
 */
bool bpf_is_locked_down(void);

/*
 * The reason for a failure of bpf(2) or libbpf, from its negative errno value. Some values mean that the
 * kernel does not know a program type, map type or function: REASON_NOT_IN_KERNEL. Other failures, such as
 * too little memory or too few descriptors, are not a missing feature.
 */
enum reason bpf_reason(int result);

/* Keeps what libbpf says for bpf_object_load(); to be called before an object is opened. */
void bpf_object_listen(void);

/*
 * Loads the programs and maps of an object that was opened (`opened`: 0, or a negative errno by which that or
 * its preparation failed; then `skeleton` may be NULL), and fills `map`, which holds the ids of the scope.
 * Returns on, or off with the reason in words, which `arena` owns.
 */
struct feature_result bpf_object_load(struct bpf_object_skeleton *skeleton, int opened, struct bpf_map *map,
				      struct bpf_scope scope, struct arena *arena);

/* Off, since bpf(2) failed with a negative errno value on `what`. `arena` owns the texts of the result. */
struct feature_result bpf_refused(struct arena *arena, int result, const char *what);

/* A map that is an array, in our memory; all zero: not mapped. */
struct bpf_array {
	void *start;
	size_t size, stride; /* bytes: of all, and from one value to the next */
};

/* Maps one, with `protection` as for mmap(2). False when the kernel refuses. */
bool bpf_array_map(struct bpf_array *array, const struct bpf_map *map, int protection);
void bpf_array_unmap(struct bpf_array *array);

#endif
