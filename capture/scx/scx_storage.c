/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_storage.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/remedy.h"
#include "base/rights.h"

enum {
	ID_SIZE = 8,
	DATA_MAX = 64 << 20, /* of the map of variables in which an allocator is looked for */
	RANK_CHOSEN = 4,
	RANK_ALLOCATOR = 3,
	RANK_NAMED = 2,
	RANK_TYPED = 1,
};

/* --- types --- */

/* The name of a type, or of the first one that has a name below its typedefs and qualifiers. */
static const char *type_name(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type != NULL && scx_btf_name(btf, type->name_off)[0] == '\0' &&
	       (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type != NULL ? scx_btf_name(btf, type->name_off) : "";
}

static bool is_id(const struct btf *btf, const struct btf_member *member)
{
	return scx_btf_size(btf, member->type) == ID_SIZE &&
	       (strcmp(type_name(btf, member->type), "sdt_id") == 0 ||
		strcmp(scx_btf_name(btf, member->name_off), "tid") == 0);
}

static bool is_pointer(const struct btf *btf, const struct btf_member *member)
{
	uint32_t id;
	const struct btf_type *type = scx_btf_resolve(btf, member->type, &id);

	return type != NULL && strcmp(scx_btf_name(btf, member->name_off), "data") == 0 &&
	       (btf_is_ptr(type) || (btf_is_int(type) && type->size == ID_SIZE));
}

bool scx_storage_points(const struct btf *btf, uint32_t type, struct scx_storage_value *ret_value)
{
	const struct btf_type *value = scx_btf_resolve(btf, type, &type);
	const struct btf_member *members;
	bool has_id = false, has_pointer = false;

	if (value == NULL || !btf_is_struct(value))
		return false;
	members = btf_members(value);
	for (uint32_t i = 0; i < btf_vlen(value); i++) {
		const uint32_t offset = btf_member_bit_offset(value, i) / SCX_BTF_BITS;

		if (!has_id && is_id(btf, &members[i])) {
			ret_value->id = offset;
			has_id = true;
		} else if (is_pointer(btf, &members[i])) {
			ret_value->pointer = offset;
			has_pointer = true;
		}
	}
	return has_id && has_pointer;
}

/* --- the task storage --- */

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_of_tasks(const char *name)
{
	return begins_with(name, "task_ctx") || begins_with(name, "task_data");
}

unsigned int scx_storage_rank(const char *map, const char *type, const struct context_choice *choice)
{
	if (choice != NULL && choice->map != NULL && strcmp(map, choice->map) == 0)
		return RANK_CHOSEN + 1;
	if (choice != NULL && choice->type != NULL && strcmp(type, choice->type) == 0)
		return RANK_CHOSEN;
	if (strcmp(map, "scx_task_map") == 0 || strcmp(map, "sdt_task_map") == 0)
		return RANK_ALLOCATOR;
	if (is_of_tasks(map))
		return RANK_NAMED;
	return is_of_tasks(type) ? RANK_TYPED : 0;
}

/* Results of the search through the maps; descriptors are -1 where it finds none. */
struct search {
	const struct context_choice *choice;
	struct scx_map storage, arena;
	struct btf *btf; /* of the storage */
	unsigned int rank;
	bool untyped; /* the types of some task storage are missing */
	bool refused;
	char names[256]; /* of all task storages */
};

static void note_name(struct search *search, const char *name)
{
	const size_t length = strlen(search->names);

	if (length + strlen(name) + sizeof(", ") <= sizeof(search->names)) {
		strcat(search->names, length != 0 ? ", " : "");
		strcat(search->names, name);
	}
}

/* Takes the map over if it is better than the one found so far. */
static void consider(struct search *search, struct scx_map *map)
{
	struct btf *btf = map->info.btf_id != 0 ? btf__load_from_kernel_by_id(map->info.btf_id) : NULL;
	unsigned int rank;

	note_name(search, map->info.name);
	if (btf == NULL || map->info.btf_value_type_id == 0) {
		search->untyped = true;
		btf__free(btf);
		scx_map_close(map);
		return;
	}
	btf__set_pointer_size(btf, SCX_BTF_POINTER_SIZE);
	rank = scx_storage_rank(map->info.name, type_name(btf, map->info.btf_value_type_id), search->choice);
	if (search->btf != NULL &&
	    (rank < search->rank ||
	     (rank == search->rank && map->info.value_size <= search->storage.info.value_size))) {
		btf__free(btf);
		scx_map_close(map);
		return;
	}
	btf__free(search->btf);
	scx_map_close(&search->storage);
	search->btf = btf;
	search->storage = *map;
	search->rank = rank;
}

static void look_at_maps(struct search *search, const struct scx_run *run)
{
	for (size_t i = 0; i < run->map_count; i++) {
		struct scx_map map;
		const int result = scx_map_open(run->maps[i], &map);

		if (result == -EPERM)
			search->refused = true;
		if (result < 0)
			continue;
		if (map.info.type == BPF_MAP_TYPE_TASK_STORAGE) {
			consider(search, &map);
		} else if (map.info.type == SCX_MAP_ARENA && search->arena.descriptor < 0) {
			search->arena = map;
		} else {
			scx_map_close(&map);
		}
	}
}

static struct feature_result explain_search(const struct search *search, const struct scx_run *run,
					    struct arena *arena)
{
	if (search->refused)
		return feature_off(REASON_NOT_PERMITTED,
				   "needs CAP_SYS_ADMIN besides CAP_BPF and CAP_PERFMON",
				   remedy_for_rights(arena, RIGHTS_BIT(CAP_SYS_ADMIN), false));
	if (search->untyped)
		return BPF_OFF(arena, REASON_UNREADABLE,
			       "the types (BTF) of %s's task storage %s are missing", run->name,
			       search->names);
	return BPF_OFF(arena, REASON_UNREADABLE,
		       "%s keeps nothing for each task: no task storage among its %zu maps", run->name,
		       run->map_count);
}

/* A name that the user gave must be that of something. */
static bool lacks_chosen_map(const struct search *search)
{
	return search->choice != NULL && search->choice->map != NULL &&
	       strcmp(search->storage.info.name, search->choice->map) != 0;
}

/* --- contexts in the storage --- */

static bool is_struct(const struct btf *btf, uint32_t type)
{
	const struct btf_type *resolved = scx_btf_resolve(btf, type, &type);

	return resolved != NULL && btf_is_struct(resolved);
}

static struct feature_result use_values(struct scx_storage *storage, const struct bpf_map_info *info,
					struct arena *arena)
{
	const uint64_t size = scx_btf_size(storage->btf, info->btf_value_type_id);

	if (size == 0 || size > info->value_size || !is_struct(storage->btf, info->btf_value_type_id))
		return BPF_OFF(arena, REASON_UNREADABLE, "the values of task storage %s are no struct",
			       info->name);
	storage->choice = (struct scx_types_choice){
		.type = info->btf_value_type_id,
		.name = type_name(storage->btf, info->btf_value_type_id),
		.reason = "",
	};
	storage->size = (uint32_t)size;
	return feature_on();
}

/* --- contexts in an arena --- */

/* Ranks a variable's name as that of an allocator of contexts for tasks. */
static unsigned int rank_allocator(const char *name)
{
	if (strcmp(name, "scx_task_allocator") == 0 || strcmp(name, "sdt_task_allocator") == 0)
		return 3;
	return strstr(name, "task") != NULL ? 2 : 1;
}

/* The variable that is the allocator, in one section of variables. */
static const struct btf_var_secinfo *find_allocator(const struct scx_storage *storage, uint32_t section,
						    const char **ret_name, unsigned int *rank)
{
	const struct btf_type *data = btf__type_by_id(storage->btf, section);
	const struct btf_var_secinfo *variables, *found = NULL;

	if (data == NULL || !btf_is_datasec(data))
		return NULL;
	variables = btf_var_secinfos(data);
	for (uint32_t i = 0; i < btf_vlen(data); i++) {
		const struct btf_type *variable = btf__type_by_id(storage->btf, variables[i].type);
		const char *name = variable != NULL ? scx_btf_name(storage->btf, variable->name_off) : "";
		uint32_t type = 0;

		if (variable == NULL || !btf_is_var(variable) ||
		    scx_btf_resolve(storage->btf, variable->type, &type) == NULL ||
		    type != storage->layout.allocator_type || rank_allocator(name) <= *rank)
			continue;
		*rank = rank_allocator(name);
		*ret_name = name;
		found = &variables[i];
	}
	return found;
}

/* Copies the allocator out of the map of variables. */
static bool read_allocator(struct scx_storage *storage, const struct scx_map *map, uint32_t offset)
{
	const uint32_t size = storage->layout.allocator_size, key = 0;
	unsigned char *value;
	bool read;

	if (map->info.value_size > DATA_MAX || offset > map->info.value_size ||
	    size > map->info.value_size - offset)
		return false;
	value = memory_allocate(map->info.value_size);
	read = bpf_map_lookup_elem(map->descriptor, &key, value) == 0;
	if (read) {
		free(storage->allocator);
		storage->allocator = memory_allocate(size);
		memcpy(storage->allocator, value + offset, size);
	}
	free(value);
	return read;
}

/* Looks for it in the maps of variables: arrays of one value whose type is a section (libbpf). */
static bool find_and_read_allocator(struct scx_storage *storage, const struct scx_run *run)
{
	unsigned int rank = 0;
	bool found = false;

	for (size_t i = 0; i < run->map_count; i++) {
		const struct btf_var_secinfo *place;
		unsigned int own_rank = rank;
		const char *name = NULL;
		struct scx_map map;

		if (scx_map_open(run->maps[i], &map) < 0)
			continue;
		place = map.info.type == BPF_MAP_TYPE_ARRAY
				? find_allocator(storage, map.info.btf_value_type_id, &name, &own_rank)
				: NULL;
		if (place != NULL && read_allocator(storage, &map, place->offset)) {
			storage->allocator_name = name;
			rank = own_rank;
			found = true;
		}
		scx_map_close(&map);
	}
	return found;
}

static const char *candidates(const struct btf *btf, uint64_t size, struct arena *arena)
{
	struct buffer buffer = {0};
	const char *text;

	scx_types_append_candidates(btf, size, &buffer);
	text = arena_duplicate(arena, buffer.data != NULL ? buffer.data : "", buffer.length);
	buffer_release(&buffer);
	return text;
}

static struct feature_result choose_type(struct scx_storage *storage, const char *wanted, uint64_t size,
					 struct arena *arena)
{
	const char *names;

	scx_types_choose(storage->btf, size, wanted, arena, &storage->choice);
	storage->size = (uint32_t)size;
	if (storage->choice.type != 0)
		return feature_on();
	names = candidates(storage->btf, size, arena);
	if (names[0] == '\0')
		return BPF_OFF(arena, REASON_UNREADABLE,
			       "none of its types has the %" PRIu64 " bytes of a context", size);
	return feature_off(REASON_UNREADABLE,
			   arena_format(arena, "which type contexts have is not clear (%s): %s",
					storage->choice.reason, names),
			   "ctop --scx-type NAME");
}

static struct feature_result use_arena(struct scx_storage *storage, const struct scx_run *run,
				       const struct context_choice *choice, struct arena *arena)
{
	const struct sdt_layout *layout = &storage->layout;
	struct error error;
	uint64_t elem_size, size;

	if (storage->arena < 0)
		return feature_off(REASON_UNREADABLE,
				   "its task storage points into an arena, which is not among its maps",
				   NULL);
	if (sdt_layout_find_elements(storage->btf, &storage->layout, &error) < 0)
		return BPF_OFF(arena, REASON_UNREADABLE, "the layout of its contexts is unknown: %s",
			       error.text);
	if (!find_and_read_allocator(storage, run))
		return feature_off(REASON_UNREADABLE,
				   "the layout of its contexts is unknown: no variable is their allocator",
				   NULL);
	elem_size = sdt_elem_size(layout, storage->allocator);
	size = sdt_payload_size(layout, elem_size);
	if (size == 0)
		return BPF_OFF(arena, REASON_UNREADABLE,
			       "the layout of its contexts is unknown: %s has elements of %" PRIu64 " bytes",
			       storage->allocator_name, elem_size);
	storage->element_id = layout->id_after ? (uint32_t)size : 0;
	storage->context = layout->id_after ? 0 : layout->id_size;
	return choose_type(storage, choice != NULL ? choice->type : NULL, size, arena);
}

/* --- opening --- */

static struct feature_result open_found(const struct search *search, const struct scx_run *run,
					struct arena *arena, struct scx_storage *storage)
{
	struct scx_storage_value value;

	if (lacks_chosen_map(search))
		return feature_off(REASON_UNREADABLE,
				   arena_format(arena, "%s has no task storage %s, but %s", run->name,
						search->choice->map, search->names),
				   "ctop --scx-map NAME");
	if (!scx_storage_points(search->btf, search->storage.info.btf_value_type_id, &value)) {
		if (storage->arena >= 0)
			close(storage->arena);
		storage->arena = -1;
		return use_values(storage, &search->storage.info, arena);
	}
	storage->id = value.id;
	storage->pointer = value.pointer;
	return use_arena(storage, run, search->choice, arena);
}

struct feature_result scx_storage_open(const struct scx_run *run, const struct context_choice *choice,
				       struct arena *arena, struct scx_storage *ret_storage)
{
	struct search search = {.choice = choice, .storage.descriptor = -1, .arena.descriptor = -1};
	struct feature_result result;

	look_at_maps(&search, run);
	*ret_storage = (struct scx_storage){
		.map = search.storage.descriptor, .arena = search.arena.descriptor, .btf = search.btf};
	result = search.btf == NULL ? explain_search(&search, run, arena)
				    : open_found(&search, run, arena, ret_storage);
	if (result.state != FEATURE_STATE_ON)
		scx_storage_close(ret_storage);
	return result;
}

void scx_storage_close(struct scx_storage *storage)
{
	if (storage->map >= 0)
		close(storage->map);
	if (storage->arena >= 0)
		close(storage->arena);
	btf__free(storage->btf);
	free(storage->allocator);
	*storage = (struct scx_storage){.map = -1, .arena = -1};
}

static const char *layout_words(const struct scx_storage *storage)
{
	if (storage->arena < 0)
		return "task storage";
	return storage->layout.id_after ? "arena, id behind the context" : "arena, id before the context";
}

struct task_field_owner *scx_storage_describe(const struct scx_storage *storage, const struct scx_run *run)
{
	struct bpf_map_info info = {0};
	uint32_t length = sizeof(info);
	struct task_field_owner *scheduler;

	(void)bpf_obj_get_info_by_fd(storage->map, &info, &length);
	scheduler = task_field_owner_create(TASK_FIELD_SOURCE, run->name, storage->choice.name, info.name,
					    layout_words(storage), storage->size);
	scheduler->enable_seq = run->enable_seq;
	scheduler->loaded_at_ns = run->loaded_at_ns;
	/* what is left out has no number anyway, or comes after TASK_FIELD_MEMBERS_MAX others */
	(void)scx_types_add_members(storage->btf, storage->choice.type, scheduler);
	return scheduler;
}
