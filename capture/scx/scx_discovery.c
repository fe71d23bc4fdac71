/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_discovery.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "scx_types.h"

/* --- the kernel's types --- */

/* Names of the structs in maps of operations: struct bpf_struct_ops_common_value and the operations
 * (kernel/bpf/bpf_struct_ops.c). */
static const char *const values_of_forms[SCX_FORMS] = {
	[SCX_FORM_CPU] = "bpf_struct_ops_sched_ext_ops",
	[SCX_FORM_CID] = "bpf_struct_ops_sched_ext_ops_cid",
};

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
	uint32_t offset, id;
	const struct btf_member *common;
	const struct btf_type *type;

	if (scx_btf_member(btf, value, "state", &found->state) != NULL)
		return true;
	common = scx_btf_member(btf, value, "common", &offset);
	type = common != NULL ? scx_btf_resolve(btf, common->type, &id) : NULL;
	if (type == NULL || !btf_is_composite(type) ||
	    scx_btf_member(btf, type, "state", &found->state) == NULL)
		return false;
	found->state += offset;
	return true;
}

/* Stays all zero where one of the types is missing. */
static void find_operations(const struct btf *btf, const char *name_of_value,
			    struct scx_operations *ret_operations)
{
	struct scx_operations found = {0};
	uint32_t id, data_id, offset, name;
	const struct btf_type *value = scx_btf_struct(btf, name_of_value, &id);
	const struct btf_member *data = value != NULL ? scx_btf_member(btf, value, "data", &offset) : NULL;
	const struct btf_type *operations = data != NULL ? scx_btf_resolve(btf, data->type, &data_id) : NULL;
	const struct btf_member *text;

	if (operations == NULL || !btf_is_struct(operations) || !find_state(btf, value, &found))
		return;
	text = scx_btf_member(btf, operations, "name", &name);
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
	const struct btf_type *task = scx_btf_struct(btf, "task_struct", &id);

	*ret_kernel = (struct scx_kernel){0};
	if (iterator <= 0 || task == NULL || scx_btf_member(btf, task, "pid", &ret_kernel->pid) == NULL ||
	    scx_btf_member(btf, task, "tgid", &ret_kernel->tgid) == NULL ||
	    scx_btf_member(btf, task, "start_boottime", &ret_kernel->start_boottime) == NULL)
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

enum {
	STATE_IN_USE = 1,    /* BPF_STRUCT_OPS_STATE_INUSE of include/linux/bpf.h */
	LINK_STRUCT_OPS = 9, /* BPF_LINK_TYPE_STRUCT_OPS of include/uapi/linux/bpf.h, like the next */
	VALUE_MAX = 65536,
	MAPS_MAX = 256, /* of a program: MAX_USED_MAPS of include/linux/bpf_verifier.h is 64 */
};

/* The start of struct bpf_link_info of include/uapi/linux/bpf.h; older headers have no struct_ops. */
struct link_info {
	uint32_t type, id, program;
	uint32_t unused;
	uint32_t map; /* of LINK_STRUCT_OPS */
	uint32_t rest[15];
};

/* --- maps --- */

int scx_map_open(uint32_t id, struct scx_map *ret_map)
{
	uint32_t length = sizeof(ret_map->info);
	int result = 0;

	*ret_map = (struct scx_map){.descriptor = bpf_map_get_fd_by_id(id)};
	if (ret_map->descriptor < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(ret_map->descriptor, &ret_map->info, &length) != 0) {
		result = -errno;
		scx_map_close(ret_map);
	}
	return result;
}

void scx_map_close(struct scx_map *map)
{
	if (map->descriptor >= 0)
		close(map->descriptor);
	map->descriptor = -1;
}

/* --- the value of a map of operations --- */

static bool has_bytes(size_t size, uint32_t offset, size_t count)
{
	return offset <= size && count <= size - offset;
}

bool scx_discovery_is_named(const struct scx_operations *operations, const unsigned char *value, size_t size,
			    const char *name)
{
	const size_t length = strlen(name);

	return length < operations->name_size && has_bytes(size, operations->name, operations->name_size) &&
	       memcmp(value + operations->name, name, length + 1) == 0;
}

bool scx_discovery_is_in_use(const struct scx_operations *operations, const unsigned char *value, size_t size)
{
	uint32_t state;

	if (!has_bytes(size, operations->state, sizeof(state)))
		return false;
	memcpy(&state, value + operations->state, sizeof(state));
	return state == STATE_IN_USE;
}

size_t scx_discovery_programs(const struct scx_operations *operations, const unsigned char *value,
			      size_t size, uint32_t programs[], size_t capacity)
{
	size_t count = 0;

	for (size_t i = 0; i < operations->slot_count && count < capacity; i++) {
		unsigned long id; /* a slot is a pointer: bpf_struct_ops_map_update_elem() */

		if (!has_bytes(size, operations->slots[i], sizeof(id)))
			continue;
		memcpy(&id, value + operations->slots[i], sizeof(id));
		if (id != 0 && id <= UINT32_MAX)
			programs[count++] = (uint32_t)id;
	}
	return count;
}

/* --- programs --- */

static void add_map(struct scx_run *run, uint32_t id)
{
	for (size_t i = 0; i < run->map_count; i++) {
		if (run->maps[i] == id)
			return;
	}
	*MEMORY_APPEND(run->maps, run->map_count, run->map_capacity) = id;
}

/* A program that has just gone takes the scheduler along, which is seen later. */
static void add_program(struct scx_run *run, uint32_t id)
{
	uint32_t maps[MAPS_MAX];
	struct bpf_prog_info info = {.nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)maps};
	uint32_t length = sizeof(info);
	const int descriptor = bpf_prog_get_fd_by_id(id);

	if (descriptor < 0)
		return;
	if (bpf_obj_get_info_by_fd(descriptor, &info, &length) == 0) {
		for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++)
			add_map(run, maps[i]);
		if (info.load_time > run->loaded_at_ns)
			run->loaded_at_ns = info.load_time;
	}
	close(descriptor);
}

static void add_programs(const struct scx_operations *operations, const unsigned char *value, size_t size,
			 struct scx_run *run)
{
	uint32_t programs[SCX_KERNEL_SLOTS_MAX];
	const size_t count = scx_discovery_programs(operations, value, size, programs, SCX_KERNEL_SLOTS_MAX);

	for (size_t i = 0; i < count; i++)
		add_program(run, programs[i]);
}

/* --- operations --- */

/* Takes a map's programs where it holds the operations that are looked for. */
static bool take_operations(const struct scx_kernel *kernel, uint32_t id, bool linked, struct scx_run *run)
{
	const uint32_t key = 0;
	const struct scx_operations *operations = NULL;
	unsigned char *value;
	struct scx_map map;
	bool found;

	if (scx_map_open(id, &map) < 0)
		return false;
	if (map.info.type == BPF_MAP_TYPE_STRUCT_OPS && map.info.value_size <= VALUE_MAX)
		operations = scx_kernel_operations(kernel, map.info.btf_vmlinux_value_type_id);
	if (operations == NULL) {
		scx_map_close(&map);
		return false;
	}
	value = memory_allocate_zero(1, map.info.value_size);
	found = bpf_map_lookup_elem(map.descriptor, &key, value) == 0 &&
		(linked || scx_discovery_is_in_use(operations, value, map.info.value_size)) &&
		scx_discovery_is_named(operations, value, map.info.value_size, run->name);
	if (found)
		add_programs(operations, value, map.info.value_size, run);
	free(value);
	scx_map_close(&map);
	return found;
}

/* The map that a link of operations holds, or 0. */
static uint32_t linked_map(uint32_t id)
{
	struct link_info info = {0};
	uint32_t length = sizeof(info);
	const int descriptor = bpf_link_get_fd_by_id(id);
	bool known;

	if (descriptor < 0)
		return 0;
	known = bpf_obj_get_info_by_fd(descriptor, &info, &length) == 0;
	close(descriptor);
	return known && info.type == LINK_STRUCT_OPS ? info.map : 0;
}

/* Returns 1 when found, 0, or a negative errno. */
static int find_by_link(const struct scx_kernel *kernel, struct scx_run *run)
{
	uint32_t id = 0;

	while (bpf_link_get_next_id(id, &id) == 0) {
		const uint32_t map = linked_map(id);

		if (map != 0 && take_operations(kernel, map, true, run))
			return 1;
	}
	return errno == ENOENT ? 0 : -errno;
}

static int find_by_map(const struct scx_kernel *kernel, struct scx_run *run)
{
	uint32_t id = 0;

	while (bpf_map_get_next_id(id, &id) == 0) {
		if (take_operations(kernel, id, false, run))
			return 1;
	}
	return errno == ENOENT ? 0 : -errno;
}

int scx_discovery_find(const struct scx_kernel *kernel, struct scx_run *run)
{
	int found;

	if (!scx_kernel_has_schedulers(kernel))
		return -ENOENT;
	found = find_by_link(kernel, run);
	if (found == 0)
		found = find_by_map(kernel, run);
	return found > 0 && run->map_count != 0 ? 0 : found < 0 ? found : -ENOENT;
}
