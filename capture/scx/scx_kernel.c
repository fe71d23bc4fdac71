/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_kernel.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "scx_btf.h"

/* Of struct bpf_struct_ops_common_value and the operations: what a map of them holds
 * (kernel/bpf/bpf_struct_ops.c). */
static const char *const values_of_forms[SCX_FORMS] = {
	[SCX_FORM_CPU] = "bpf_struct_ops_sched_ext_ops",
	[SCX_FORM_CID] = "bpf_struct_ops_sched_ext_ops_cid",
};

/* A member of a struct by its name, or NULL. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
					    const char *name, uint32_t *ret_offset)
{
	const struct btf_member *members = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		if (strcmp(scx_btf_name(btf, members[i].name_off), name) == 0) {
			*ret_offset = btf_member_bit_offset(type, i) / SCX_BTF_BITS;
			return &members[i];
		}
	}
	return NULL;
}

static const struct btf_type *find_struct(const struct btf *btf, const char *name, uint32_t *ret_id)
{
	const int32_t id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	*ret_id = id > 0 ? (uint32_t)id : 0;
	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

static bool is_function(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = scx_btf_resolve(btf, id, &id);

	if (type == NULL || !btf_is_ptr(type))
		return false;
	type = scx_btf_resolve(btf, type->type, &id);
	return type != NULL && btf_is_func_proto(type);
}

static void find_slots(const struct btf *btf, const struct btf_type *operations, uint32_t start,
		       struct scx_operations *found)
{
	const struct btf_member *members = btf_members(operations);

	for (uint32_t i = 0; i < btf_vlen(operations) && found->slot_count < SCX_KERNEL_SLOTS_MAX; i++) {
		if (is_function(btf, members[i].type))
			found->slots[found->slot_count++] = start + btf_member_bit_offset(operations, i) /
									    SCX_BTF_BITS;
	}
}

/* The state stands in the value itself, or since Linux 6.9 in its member "common" (include/linux/bpf.h). */
static bool find_state(const struct btf *btf, const struct btf_type *value, struct scx_operations *found)
{
	uint32_t offset, inner;
	const struct btf_member *common;
	const struct btf_type *type;
	uint32_t id;

	if (find_member(btf, value, "state", &offset) != NULL) {
		found->state = offset;
		return true;
	}
	common = find_member(btf, value, "common", &offset);
	type = common != NULL ? scx_btf_resolve(btf, common->type, &id) : NULL;
	if (type == NULL || !btf_is_composite(type) || find_member(btf, type, "state", &inner) == NULL)
		return false;
	found->state = offset + inner;
	return true;
}

/* Stays all zero where one of the types is missing. */
static void find_operations(const struct btf *btf, const char *name_of_value,
			    struct scx_operations *ret_operations)
{
	struct scx_operations found = {0};
	uint32_t id, data_id, offset, name;
	const struct btf_type *value = find_struct(btf, name_of_value, &id);
	const struct btf_member *data = value != NULL ? find_member(btf, value, "data", &offset) : NULL;
	const struct btf_type *operations = data != NULL ? scx_btf_resolve(btf, data->type, &data_id) : NULL;
	const struct btf_member *text;

	if (operations == NULL || !btf_is_struct(operations) || !find_state(btf, value, &found))
		return;
	text = find_member(btf, operations, "name", &name);
	if (text == NULL)
		return;
	found.name = offset + name;
	found.name_size = (uint32_t)scx_btf_size(btf, text->type);
	find_slots(btf, operations, offset, &found);
	found.type = id;
	*ret_operations = found;
}

int scx_kernel_find(const struct btf *btf, struct scx_kernel *ret_kernel)
{
	const int32_t iterator = btf__find_by_name_kind(btf, "bpf_iter_task", BTF_KIND_FUNC);
	uint32_t id;
	const struct btf_type *task = find_struct(btf, "task_struct", &id);

	*ret_kernel = (struct scx_kernel){0};
	if (iterator <= 0 || task == NULL || find_member(btf, task, "pid", &ret_kernel->pid) == NULL ||
	    find_member(btf, task, "tgid", &ret_kernel->tgid) == NULL ||
	    find_member(btf, task, "start_boottime", &ret_kernel->start_boottime) == NULL)
		return -ENOENT;
	ret_kernel->iterator = (uint32_t)iterator;
	for (size_t i = 0; i < SCX_FORMS; i++)
		find_operations(btf, values_of_forms[i], &ret_kernel->operations[i]);
	return 0;
}

bool scx_kernel_has_schedulers(const struct scx_kernel *kernel)
{
	for (size_t i = 0; i < SCX_FORMS; i++) {
		if (kernel->operations[i].type != 0)
			return true;
	}
	return false;
}

const struct scx_operations *scx_kernel_operations(const struct scx_kernel *kernel, uint32_t type)
{
	for (size_t i = 0; i < SCX_FORMS; i++) {
		if (type != 0 && kernel->operations[i].type == type)
			return &kernel->operations[i];
	}
	return NULL;
}

static struct scx_kernel own_kernel;
static int own_result;

static void read_own_kernel(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	own_result = btf != NULL ? scx_kernel_find(btf, &own_kernel) : -errno;
	btf__free(btf);
}

int scx_kernel_read(struct scx_kernel *ret_kernel)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	/* hundreds of thousands of types, which stay as they are while the kernel runs */
	pthread_once(&once, read_own_kernel);
	*ret_kernel = own_kernel;
	return own_result;
}
