/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_package.h"

#include <dwarf.h>
#include <elfutils/version.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dwarf_image.h"
#include "dwarf_search.h"

enum {
	SKELETONS_MAX = 1000000,
};

/* A skeleton unit of the program: the package has the unit of that id. */
struct skeleton {
	uint64_t id;
	bool is_likely;
};

static int compare_skeletons(const void *a, const void *b)
{
	const struct skeleton *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* Ascending by id; the caller frees them. */
static size_t list_skeletons(Dwarf *dwarf, const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			     struct skeleton **ret_skeletons)
{
	struct skeleton *skeletons = NULL;
	size_t count = 0, capacity = 0;
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	uint8_t type;

	while (count < SKELETONS_MAX && dwarf_limit_check(limit, NULL) == 0 &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &type, &entry, NULL) == 0) {
		uint64_t id;

		if (type == DW_UT_skeleton &&
		    dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0)
			*MEMORY_APPEND(skeletons, count, capacity) = (struct skeleton){
				id, dwarf_unit_is_likely(&entry, symbols)};
	}
	if (count != 0)
		qsort(skeletons, count, sizeof(*skeletons), compare_skeletons);
	*ret_skeletons = skeletons;
	return count;
}

/* Types may have units of their own (-fdebug-types-section), which no skeleton names. */
static bool is_wanted(Dwarf_CU *unit, uint8_t type, const struct skeleton *skeletons, size_t count,
		      bool likely)
{
	struct skeleton key;
	const struct skeleton *found;

	if (type == DW_UT_split_type || type == DW_UT_type) /* that of DWARF 4 */
		return !likely;
	if (type != DW_UT_split_compile ||
	    dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &key.id, NULL, NULL) != 0)
		return false;
	found = bsearch(&key, skeletons, count, sizeof(*skeletons), compare_skeletons);
	return found != NULL && (!likely || found->is_likely);
}

/*
 * Likely units have to tell both members by themselves; in the others each member keeps its first value. A
 * unit that libdw cannot read is passed over.
 */
static int walk_units(Dwarf *package, const struct skeleton *skeletons, size_t count, bool likely,
		      struct dwarf_limit *limit, struct tsd_members *members)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	uint8_t type;

	*members = (struct tsd_members){0};
	while (dwarf_get_units(package, unit, &unit, NULL, &type, &entry, NULL) == 0) {
		if (dwarf_limit_check(limit, NULL) < 0)
			return -ETIME;
		if (!is_wanted(unit, type, skeletons, count, likely))
			continue;
		if (likely)
			*members = (struct tsd_members){0};
		if (dwarf_members_walk(&entry, members, limit, NULL) == -ETIME)
			return -ETIME;
		if (tsd_members_complete(members))
			return 0;
	}
	return -ENOENT;
}

static int search_units(struct elf_object *package, const struct skeleton *skeletons, size_t count,
			struct dwarf_limit *limit, struct tsd_members *ret_members, struct error *error)
{
	struct dwarf_image image;
	int result = dwarf_object_image_open(package, &image, error);

	if (result < 0)
		return result;
	result = walk_units(image.dwarf, skeletons, count, true, limit, ret_members);
	if (result == -ENOENT && dwarf_names_occur(package))
		result = walk_units(image.dwarf, skeletons, count, false, limit, ret_members);
	dwarf_image_release(&image);
	if (result == -ETIME)
		return error_set(error, result, "not found within the time allowed");
	return result < 0 ? error_set(error, result, "no struct tsd_s") : 0;
}

int dwarf_package_search(struct elf_object *package, struct elf_object *skeletons,
			 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			 struct tsd_members *ret_members, struct error *error)
{
	struct skeleton *list = NULL;
	struct dwarf_image image;
	size_t count = 0;
	int result;

	if (!_ELFUTILS_PREREQ(0, 191))
		return error_set(error, -EOPNOTSUPP, "reading it needs libdw 0.191 or later");
	if (dwarf_object_image_open(skeletons, &image, NULL) == 0) {
		count = list_skeletons(image.dwarf, symbols, limit, &list);
		dwarf_image_release(&image);
	}
	result = count != 0 ? search_units(package, list, count, limit, ret_members, error)
			    : error_set(error, -ENODATA, "no skeleton units");
	free(list);
	return result;
}
