// SPDX-License-Identifier: GPL-2.0-only
/*
 * keep OUTPUT NAME... -- OBJECT...: links BPF objects as a scheduler's build does, and writes what is wanted
 * of the types to OUTPUT, as raw BTF: those of variables and maps, structs with one of the names, and what
 * these contain. Other structs and unions keep name and size but no members, so that what is looked for by
 * name or size is as hard to find as before; functions and all else are left out. Built by `save` with the
 * libbpf of a scheduler's packages: that of some distributions cannot link objects which declare the same
 * kernel function.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum keep {
	KEEP_NOT,
	KEEP_SHELL, /* name and size of a struct */
	KEEP_WHOLE,
};

static const struct btf *source;
static uint8_t *kept;   /* enum keep by id */
static uint32_t *fresh; /* id among what is kept, by id */

static const char *name_of(const struct btf_type *type)
{
	return btf__name_by_offset(source, type->name_off);
}

static bool is_reference(const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_VAR:
		return true;
	default:
		return false;
	}
}

/* Keeps a type and what it contains; behind pointers structs are shells. */
static void keep(uint32_t id, enum keep how)
{
	const struct btf_type *type = btf__type_by_id(source, id);

	if (id == 0 || kept[id] >= how)
		return;
	if (btf_is_func_proto(type))
		return;
	kept[id] = (uint8_t)how;
	if (is_reference(type)) {
		keep(type->type, how);
	} else if (btf_is_ptr(type)) {
		keep(type->type, KEEP_SHELL);
	} else if (btf_is_array(type)) {
		keep(btf_array(type)->type, how);
		keep(btf_array(type)->index_type, how);
	} else if (btf_is_composite(type) && how == KEEP_WHOLE) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			keep(btf_members(type)[i].type, how);
	}
}

/* The variables of a section; the types that a map's definition points to are those of its keys and values.
 */
static void keep_section(uint32_t id)
{
	const struct btf_type *section = btf__type_by_id(source, id);
	bool maps = strcmp(name_of(section), ".maps") == 0;

	kept[id] = KEEP_WHOLE;
	for (uint32_t i = 0; i < btf_vlen(section); i++) {
		uint32_t variable = btf_var_secinfos(section)[i].type;
		const struct btf_type *type = btf__type_by_id(source,
							      btf__type_by_id(source, variable)->type);

		keep(variable, KEEP_WHOLE);
		for (uint32_t j = 0; maps && btf_is_composite(type) && j < btf_vlen(type); j++)
			keep(btf__type_by_id(source, btf_members(type)[j].type)->type, KEEP_WHOLE);
	}
}

static bool is_named(const char *name, char *const *names)
{
	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static void choose(char *const *names, uint32_t count)
{
	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(source, id);
		const char *name = name_of(type);

		if (btf_is_datasec(type) && name[0] == '.' && strcmp(name, ".ksyms") != 0 &&
		    strncmp(name, ".struct_ops", strlen(".struct_ops")) != 0)
			keep_section(id);
		else if (name[0] != '\0' && (btf_is_composite(type) || btf_is_typedef(type)))
			keep(id, is_named(name, names) ? KEEP_WHOLE : KEEP_SHELL);
	}
}

static void renumber(uint32_t *id)
{
	*id = fresh[*id];
}

/* Lets a copied type refer to the copies of others; to void where one was not copied. */
static void renumber_type(struct btf_type *type)
{
	if (is_reference(type) || btf_is_ptr(type)) {
		renumber(&type->type);
	} else if (btf_is_array(type)) {
		renumber(&btf_array(type)->type);
		renumber(&btf_array(type)->index_type);
	} else if (btf_is_composite(type)) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			renumber(&btf_members(type)[i].type);
	} else if (btf_is_datasec(type)) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			renumber(&btf_var_secinfos(type)[i].type);
	}
}

/* The copy of a type; a negative errno without memory. */
static int copy(struct btf *target, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(source, id);

	if (!btf_is_composite(type) || kept[id] == KEEP_WHOLE)
		return btf__add_type(target, source, type);
	return btf_is_union(type) ? btf__add_union(target, name_of(type), type->size)
				  : btf__add_struct(target, name_of(type), type->size);
}

static int write_types(const struct btf *types, const char *path)
{
	uint32_t size;
	const void *bytes = btf__raw_data(types, &size);
	FILE *file = fopen(path, "wb");
	bool written;

	if (file == NULL)
		return -errno;
	written = fwrite(bytes, 1, size, file) == size;
	return fclose(file) == 0 && written ? 0 : -EIO;
}

static int save(char *const *names, const char *path)
{
	uint32_t count = btf__type_cnt(source);
	struct btf *target = btf__new_empty();
	int status = 0;

	kept = calloc(count, sizeof(*kept));
	fresh = calloc(count, sizeof(*fresh));
	if (target == NULL || kept == NULL || fresh == NULL)
		return -ENOMEM;
	choose(names, count);
	for (uint32_t id = 1; id < count && status >= 0; id++) {
		if (kept[id] == KEEP_NOT)
			continue;
		status = copy(target, id);
		fresh[id] = (uint32_t)status;
	}
	if (status < 0)
		return status;
	for (uint32_t id = 1; id < btf__type_cnt(target); id++)
		renumber_type((struct btf_type *)btf__type_by_id(target, id)); /* NOLINT: it is ours */
	return write_types(target, path);
}

static int link_objects(char *const *objects, const char *path)
{
	struct bpf_linker *linker = bpf_linker__new(path, NULL);
	int status = linker == NULL ? -errno : 0;

	for (; status == 0 && *objects != NULL; objects++)
		status = bpf_linker__add_file(linker, *objects, NULL);
	if (status == 0)
		status = bpf_linker__finalize(linker);
	bpf_linker__free(linker);
	return status;
}

int main(int count, char **words)
{
	char path[4096];
	int objects = 2, status;

	while (objects < count && strcmp(words[objects], "--") != 0)
		objects++;
	if (objects + 1 >= count) {
		fprintf(stderr, "usage: keep OUTPUT NAME... -- OBJECT...\n");
		return 2;
	}
	words[objects] = NULL;
	snprintf(path, sizeof(path), "%s.o", words[1]);
	status = link_objects(words + objects + 1, path);
	if (status == 0) {
		source = btf__parse(path, NULL);
		status = source == NULL ? -errno : save(words + 2, words[1]);
	}
	if (status != 0)
		fprintf(stderr, "keep: %s: %s\n", words[1], strerror(-status));
	return status != 0;
}
