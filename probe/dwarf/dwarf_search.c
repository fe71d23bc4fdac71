/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_search.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

enum {
	/* No program has as many; a crafted one could have a unit in every eleven bytes. */
	UNITS_MAX = 1000000,
	UNITS_PER_CHECK = 256,
	IMPORTS_MAX = 1024,
	REFERENCES_MAX = 4096,
};

/* The sections from which libdw tells units, entries, names and address ranges, of an object or a package. */
static const enum elf_section_id needed_sections[] = {
	ELF_SECTION_INFO,     ELF_SECTION_TYPES,           ELF_SECTION_ABBREV,    ELF_SECTION_STR,
	ELF_SECTION_LINE_STR, ELF_SECTION_STR_OFFSETS,     ELF_SECTION_ADDR,      ELF_SECTION_RANGES,
	ELF_SECTION_RNGLISTS, ELF_SECTION_INFO_DWO,        ELF_SECTION_TYPES_DWO, ELF_SECTION_ABBREV_DWO,
	ELF_SECTION_STR_DWO,  ELF_SECTION_STR_OFFSETS_DWO, ELF_SECTION_CU_INDEX,  ELF_SECTION_TU_INDEX,
};

enum {
	NEEDED_COUNT = sizeof(needed_sections) / sizeof(needed_sections[0]),
};

int dwarf_object_image_open(struct elf_object *object, struct dwarf_image *image, struct error *error)
{
	struct dwarf_section sections[NEEDED_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < NEEDED_COUNT; i++) {
		const int result = elf_object_section(object, needed_sections[i], &sections[count].content,
						      error);

		if (result < 0 && result != -ENOENT)
			return result;
		if (result == 0)
			sections[count++].id = needed_sections[i];
	}
	return dwarf_image_open(image, sections, count, error);
}

/* Every spelling of the first member ends in the same letters. */
static bool holds_name(struct byte_range strings)
{
	static const char ending[] = "thread_allocated";

	return strings.size > 0 && memmem(strings.data, strings.size, ending, sizeof(ending)) != NULL;
}

bool dwarf_names_occur(struct elf_object *object)
{
	/* strings first: they are far fewer bytes than the entries */
	static const enum elf_section_id sections[] = {
		ELF_SECTION_STR,     ELF_SECTION_LINE_STR, ELF_SECTION_INFO,      ELF_SECTION_TYPES,
		ELF_SECTION_STR_DWO, ELF_SECTION_INFO_DWO, ELF_SECTION_TYPES_DWO,
	};
	struct byte_range content;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (elf_object_section(object, sections[i], &content, NULL) == 0 && holds_name(content))
			return true;
	}
	return false;
}

/* Takes the members of one unit, when it knows both. */
static int try_unit_alone(Dwarf_Die *unit, struct dwarf_limit *limit, struct tsd_members *ret_members)
{
	struct tsd_members members = {0};

	if (dwarf_members_walk(unit, &members, limit, NULL) < 0 || !tsd_members_complete(&members))
		return -ENOENT;
	*ret_members = members;
	return 0;
}

/*
 * Takes the members of a unit, or of one that it imports: dwz(1) moves what units share into partial units,
 * in the same file or in the alternate one. The imports stand before all other entries.
 */
static int try_unit(Dwarf_Die *unit, struct dwarf_limit *limit, struct tsd_members *ret_members)
{
	Dwarf_Die entry, next;
	bool more;

	if (try_unit_alone(unit, limit, ret_members) == 0)
		return 0;
	more = dwarf_child(unit, &entry) == 0;
	for (size_t count = 0; more && count < IMPORTS_MAX && dwarf_tag(&entry) == DW_TAG_imported_unit;
	     count++) {
		Dwarf_Attribute attribute;
		Dwarf_Die imported;

		if (dwarf_attr(&entry, DW_AT_import, &attribute) != NULL &&
		    dwarf_formref_die(&attribute, &imported) != NULL &&
		    try_unit_alone(&imported, limit, ret_members) == 0)
			return 0;
		more = dwarf_siblingof(&entry, &next) == 0;
		entry = next;
	}
	return -ENOENT;
}

static bool name_ends_with(const char *name, const char *ending)
{
	const size_t length = strlen(name), ending_length = strlen(ending);

	return length >= ending_length && strcmp(name + length - ending_length, ending) == 0 &&
	       (length == ending_length || name[length - ending_length - 1] == '/');
}

bool dwarf_unit_is_likely(Dwarf_Die *unit, const struct jemalloc_symbols *symbols)
{
	static const char *const sources[] = {"tsd.c", "jemalloc.c", "tsd.dwo", "jemalloc.dwo"};
	static const unsigned int name_attributes[] = {DW_AT_name, DW_AT_dwo_name, DW_AT_GNU_dwo_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(name_attributes) / sizeof(name_attributes[0]); i++) {
		const char *name = dwarf_attr(unit, name_attributes[i], &attribute) != NULL
					   ? dwarf_formstring(&attribute)
					   : NULL;

		for (size_t source = 0; name != NULL && source < sizeof(sources) / sizeof(sources[0]);
		     source++) {
			if (name_ends_with(name, sources[source]))
				return true;
		}
	}
	for (size_t i = 0; i < symbols->function_count; i++) {
		if (dwarf_haspc(unit, symbols->functions[i]) > 0)
			return true;
	}
	return false;
}

/* An object, or the common debug file of its package. */
struct searched_file {
	struct elf_object *object;
	struct dwarf_image image;
};

/* Goes from unit to unit by their headers and looks only into likely ones. */
static int try_likely_units(Dwarf *dwarf, const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			    struct tsd_members *ret_members)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;

	for (size_t count = 0;
	     count < UNITS_MAX && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0;
	     count++) {
		if (count % UNITS_PER_CHECK == 0 && dwarf_limit_check(limit, NULL) < 0)
			return -ENOENT;
		if (dwarf_unit_is_likely(&entry, symbols) && try_unit(&entry, limit, ret_members) == 0)
			return 0;
	}
	return -ENOENT;
}

/*
 * All units in their order; each member keeps its first value, be it from another unit. A unit that libdw
 * cannot read is passed over.
 */
static int walk_all_units(Dwarf *dwarf, struct dwarf_limit *limit, struct tsd_members *ret_members,
			  struct error *error)
{
	struct tsd_members members = {0};
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	bool is_damaged = false;

	for (size_t count = 0;
	     count < UNITS_MAX && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0;
	     count++) {
		int result = count % UNITS_PER_CHECK == 0 ? dwarf_limit_check(limit, error) : 0;

		if (result == 0)
			result = dwarf_members_walk(&entry, &members, limit, is_damaged ? NULL : error);
		if (result == -ETIME)
			return error_set(error, result, "not found within the time allowed");
		is_damaged = is_damaged || result < 0;
		if (tsd_members_complete(&members)) {
			*ret_members = members;
			return 0;
		}
	}
	if (is_damaged)
		return -EBADMSG;
	return error_set(error, -ENOENT,
			 members.has_allocated || members.has_deallocated
				 ? "only one of the two counters is described"
				 : "no struct tsd_s");
}

/*
 * The units whose bytes hold the offset of `name` in .debug_str, as an attribute of form DW_FORM_strp does: a
 * pass over the bytes is several times faster than one over the entries, and chance hits cost one unit each.
 */
static int try_units_with_name(const struct searched_file *file, const char *name, struct dwarf_limit *limit,
			       struct tsd_members *ret_members)
{
	struct byte_range strings, entries;
	const unsigned char *text, *at, *end;
	Dwarf_Off tried = 0;
	uint32_t offset;

	if (elf_object_section(file->object, ELF_SECTION_STR, &strings, NULL) < 0 ||
	    elf_object_section(file->object, ELF_SECTION_INFO, &entries, NULL) < 0)
		return -ENOENT;
	text = memmem(strings.data, strings.size, name, strlen(name) + 1);
	if (text == NULL || text - strings.data > UINT32_MAX)
		return -ENOENT;
	offset = (uint32_t)(text - strings.data);
	at = entries.data;
	end = at + entries.size;
	for (size_t count = 0; count < REFERENCES_MAX && dwarf_limit_check(limit, NULL) == 0; count++) {
		Dwarf_Die entry, unit;

		at = memmem(at, (size_t)(end - at), &offset, sizeof(offset));
		if (at == NULL)
			return -ENOENT;
		if (dwarf_offdie(file->image.dwarf, (Dwarf_Off)(at - entries.data), &entry) != NULL &&
		    dwarf_diecu(&entry, &unit, NULL, NULL) != NULL && dwarf_dieoffset(&unit) != tried) {
			tried = dwarf_dieoffset(&unit);
			if (try_unit(&unit, limit, ret_members) == 0)
				return 0;
		}
		at++;
	}
	return -ENOENT;
}

static int try_referring_units(const struct searched_file *file, struct dwarf_limit *limit,
			       struct tsd_members *ret_members)
{
	for (size_t i = 0; i < TSD_MEMBER_SPELLINGS; i++) {
		if (try_units_with_name(file, tsd_member_allocated(i), limit, ret_members) == 0)
			return 0;
	}
	return -ENOENT;
}

static int search_files(const struct searched_file *files, size_t count,
			const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			struct tsd_members *ret_members, struct error *error)
{
	bool has_names = false;
	int result = -ENOENT;

	for (size_t i = 0; i < count; i++) {
		if (try_likely_units(files[i].image.dwarf, symbols, limit, ret_members) == 0)
			return 0;
	}
	for (size_t i = 0; i < count && !has_names; i++)
		has_names = dwarf_names_occur(files[i].object);
	if (!has_names)
		return error_set(error, -ENOENT, "no struct tsd_s");
	for (size_t i = 0; i < count; i++) {
		if (try_referring_units(&files[i], limit, ret_members) == 0)
			return 0;
	}
	for (size_t i = 0; i < count && result < 0 && result != -ETIME; i++)
		result = walk_all_units(files[i].image.dwarf, limit, ret_members, error);
	return result;
}

/* Unpacking the entries is the expensive part; the strings alone show when it would be in vain. */
static bool is_worth_unpacking(struct elf_object *object)
{
	struct byte_range strings;

	return object->sections[ELF_SECTION_INFO].packing == ELF_PACKING_NONE ||
	       elf_object_section(object, ELF_SECTION_STR, &strings, NULL) < 0 || holds_name(strings);
}

int dwarf_search(struct elf_object *object, struct elf_object *alternate,
		 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
		 struct tsd_members *ret_members, struct error *error)
{
	struct searched_file files[] = {{.object = object}, {.object = alternate}};
	size_t count = 1;
	struct byte_range content;
	int result;

	if (alternate == NULL && !is_worth_unpacking(object))
		return error_set(error, -ENOENT, "no struct tsd_s");
	result = elf_object_section(object, ELF_SECTION_INFO, &content, error);
	if (result == 0)
		result = dwarf_object_image_open(object, &files[0].image, error);
	if (result < 0)
		return result;
	if (alternate != NULL && dwarf_object_image_open(alternate, &files[1].image, NULL) == 0) {
		dwarf_setalt(files[0].image.dwarf, files[1].image.dwarf);
		count = 2;
	}
	result = search_files(files, count, symbols, limit, ret_members, error);
	dwarf_image_release(&files[0].image);
	dwarf_image_release(&files[1].image);
	return result;
}
