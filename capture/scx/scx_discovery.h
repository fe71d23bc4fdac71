/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_DISCOVERY_H
#define CTOP_SCX_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

/*
 * Finds the maps of a running scheduler's programs by its name. The kernel's own types (BTF) describe tasks
 * and the operations of schedulers.
 */

struct btf;

enum {
	SCX_KERNEL_SLOTS_MAX = 128, /* functions that a scheduler may have */
	SCX_MAP_ARENA = 33,         /* BPF_MAP_TYPE_ARENA of include/uapi/linux/bpf.h, since Linux 6.9 */
};

/*
 * The functions of a scheduler (kernel/sched/ext.c): those of struct sched_ext_ops, or since Linux 7.3
 * those of struct sched_ext_ops_cid, which get numbers of CPUs by their place in the machine.
 */
enum scx_form {
	SCX_FORM_CPU,
	SCX_FORM_CID,
	SCX_FORMS,
};

/* The value of a map that holds a scheduler's operations, as struct bpf_struct_ops_sched_ext_ops: offsets in
 * bytes. */
struct scx_operations {
	uint32_t type;                        /* of the value, 0 where the kernel does not know this form */
	uint32_t state;                       /* enum bpf_struct_ops_state */
	uint32_t name, name_size;             /* of the scheduler */
	uint32_t slots[SCX_KERNEL_SLOTS_MAX]; /* of its functions, which user space sees as program ids, 64
						 bits each */
	size_t slot_count;
};

struct scx_kernel {
	uint32_t iterator;                  /* type of the function that programs over all tasks attach to */
	uint32_t pid, tgid, start_boottime; /* offsets in struct task_struct, bytes */
	struct scx_operations operations[SCX_FORMS];
};

/* Reads the types of the running kernel. Returns 0 or a negative errno; -ENOENT where what every kernel has
 * is missing. */
int scx_kernel_read(struct scx_kernel *ret_kernel);

/* The same out of these types. */
int scx_kernel_find(const struct btf *btf, struct scx_kernel *ret_kernel);

/* Whether the kernel has sched_ext. */
bool scx_kernel_has_schedulers(const struct scx_kernel *kernel);

/*
 * The operations whose value has this type (bpf_map_info.btf_vmlinux_value_type_id), or NULL where it is that
 * of something else.
 */
const struct scx_operations *scx_kernel_operations(const struct scx_kernel *kernel, uint32_t type);

/* A map of the kernel's, held open. */
struct scx_map {
	int descriptor; /* -1: none */
	struct bpf_map_info info;
};

/* Opens a map by its id, which takes CAP_SYS_ADMIN. Returns 0 or a negative errno; then none is open. */
int scx_map_open(uint32_t id, struct scx_map *ret_map);
void scx_map_close(struct scx_map *map);

/* A scheduler that runs. */
struct scx_run {
	const char *name;      /* that it gave its operations (/sys/kernel/sched_ext/root/ops) */
	uint64_t enable_seq;   /* /sys/kernel/sched_ext/enable_seq */
	uint64_t loaded_at_ns; /* CLOCK_BOOTTIME, when the last of its programs was; 0 when unknown */
	uint32_t *maps;        /* ids of all maps that its programs use, each once */
	size_t map_count, map_capacity;
};

/*
 * Finds the operations of run->name by the links that hold them, else by the maps that are in use without
 * one, and fills the run's maps, which the caller frees, and loaded_at_ns. Takes CAP_SYS_ADMIN (ids of
 * objects) and CAP_BPF. Returns 0 or a negative errno: -EPERM, -ENOENT where no operations of that name are
 * attached.
 */
int scx_discovery_find(const struct scx_kernel *kernel, struct scx_run *run);

/*
 * Whether the value of a map of operations, as user space sees it, is that of the scheduler `name`. Pure.
 */
bool scx_discovery_is_named(const struct scx_operations *operations, const unsigned char *value, size_t size,
			    const char *name);

/* Whether those operations are attached without a link. Pure. */
bool scx_discovery_is_in_use(const struct scx_operations *operations, const unsigned char *value,
			     size_t size);

/* The ids of the programs of the operations, at most `capacity`, those that are not set left out. Pure. */
size_t scx_discovery_programs(const struct scx_operations *operations, const unsigned char *value,
			      size_t size, uint32_t programs[], size_t capacity);

#endif
