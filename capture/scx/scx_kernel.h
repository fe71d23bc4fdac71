/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_KERNEL_H
#define CTOP_SCX_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct btf;

/* What the kernel's own types (BTF) say of tasks and of the operations of schedulers. Pure but for the first.
 */

enum {
	SCX_KERNEL_SLOTS_MAX = 128, /* functions that a scheduler may have */
};

struct scx_kernel {
	uint32_t iterator;                  /* type of the function that programs over all tasks attach to */
	uint32_t pid, tgid, start_boottime; /* offsets in struct task_struct, bytes */
	/*
	 * The value of a map that holds a scheduler's operations, struct bpf_struct_ops_sched_ext_ops: its
	 * type, 0 where the kernel has no sched_ext, and offsets in bytes.
	 */
	uint32_t operations;
	uint32_t state;                       /* enum bpf_struct_ops_state */
	uint32_t name, name_size;             /* of the scheduler */
	uint32_t slots[SCX_KERNEL_SLOTS_MAX]; /* of its functions, which user space sees as program ids, 64
						 bits each */
	size_t slot_count;
};

/* Reads the types of the running kernel. Returns 0 or a negative errno; -ENOENT where what every kernel has
 * is missing. */
int scx_kernel_read(struct scx_kernel *ret_kernel);

/* The same out of these types. */
int scx_kernel_find(const struct btf *btf, struct scx_kernel *ret_kernel);

#endif
