/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_package.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dwarf_image.h"
#include "dwarf_search.h"

enum {
	HEADER_WORDS = 4, /* version, columns, units, slots */
	COLUMNS_MAX = 16,
	ROW_SECTIONS_MAX = COLUMNS_MAX + 2,
	SKELETONS_MAX = 1000000,
};

/* The sections by column number (DW_SECT_…), the same in both formats; 0 for those not needed. */
static const enum elf_section_id column_sections[] = {
	[1] = ELF_SECTION_INFO_DWO,
	[2] = ELF_SECTION_TYPES_DWO,
	[3] = ELF_SECTION_ABBREV_DWO,
	[6] = ELF_SECTION_STR_OFFSETS_DWO,
};

enum {
	COLUMN_NUMBERS = sizeof(column_sections) / sizeof(column_sections[0]),
};

/* .debug_cu_index or .debug_tu_index: a hash table from unit ids to rows, and the slices of each row. */
struct package_index {
	uint32_t columns, rows, slots;
	const unsigned char *ids;     /* one u64 a slot */
	const unsigned char *numbers; /* one u32 a slot: 0 or row + 1 */
	const unsigned char *heads;   /* one u32 a column */
	const unsigned char *offsets; /* rows of u32, one a column */
	const unsigned char *sizes;
};

static uint32_t word_at(const unsigned char *words, uint64_t index)
{
	uint32_t word;

	memcpy(&word, words + index * sizeof(word), sizeof(word));
	return word;
}

static bool read_index(struct elf_object *package, enum elf_section_id id, struct package_index *index)
{
	const uint64_t word = sizeof(uint32_t);
	struct byte_range content;
	uint32_t version;
	uint64_t cells, size;

	if (elf_object_section(package, id, &content, NULL) < 0 || content.size < HEADER_WORDS * word)
		return false;
	version = word_at(content.data, 0); /* version 5 has two bytes and two of padding */
	index->columns = word_at(content.data, 1);
	index->rows = word_at(content.data, 2);
	index->slots = word_at(content.data, 3);
	if ((version != 2 && version != 5) || index->columns == 0 || index->columns > COLUMNS_MAX ||
	    index->rows > index->slots || (index->slots & (index->slots - 1)) != 0)
		return false;
	cells = (uint64_t)index->rows * index->columns;
	size = HEADER_WORDS * word + (uint64_t)index->slots * 3 * word + index->columns * word +
	       2 * cells * word;
	if (size > content.size)
		return false;
	index->ids = content.data + HEADER_WORDS * word;
	index->numbers = index->ids + (uint64_t)index->slots * 2 * word;
	index->heads = index->numbers + index->slots * word;
	index->offsets = index->heads + index->columns * word;
	index->sizes = index->offsets + cells * word;
	return true;
}

/* The row of a unit; false when it is not in the index. */
static bool find_row(const struct package_index *index, uint64_t id, uint32_t *ret_row)
{
	const uint32_t mask = index->slots - 1;
	uint32_t slot = (uint32_t)id & mask;
	const uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t tries = 0; tries < index->slots; tries++) {
		const uint32_t number = word_at(index->numbers, slot);
		uint64_t found;

		if (number == 0)
			return false;
		memcpy(&found, index->ids + (uint64_t)slot * sizeof(found), sizeof(found));
		if (found == id) {
			*ret_row = number - 1;
			return *ret_row < index->rows;
		}
		slot = (slot + step) & mask;
	}
	return false;
}

/*
 * Cuts the sections of one row out of the package; the strings are common to all. Returns their number. libdw
 * takes no data without units in .debug_info: beside type units of DWARF 4 stands one too short for a unit.
 */
static size_t cut_row(struct elf_object *package, const struct package_index *index, uint32_t row,
		      struct dwarf_section sections[static ROW_SECTIONS_MAX])
{
	static const unsigned char no_unit[1];
	bool has_info = false;
	size_t count = 0;

	if (elf_object_section(package, ELF_SECTION_STR_DWO, &sections[0].content, NULL) == 0)
		sections[count++].id = ELF_SECTION_STR_DWO;
	for (uint32_t column = 0; column < index->columns; column++) {
		const uint64_t cell = (uint64_t)row * index->columns + column;
		const uint32_t offset = word_at(index->offsets, cell), size = word_at(index->sizes, cell);
		const uint32_t number = word_at(index->heads, column);
		struct dwarf_section *section = &sections[count];

		section->id = number < COLUMN_NUMBERS ? column_sections[number] : 0;
		if (section->id == 0 ||
		    elf_object_section(package, section->id, &section->content, NULL) < 0 ||
		    offset > section->content.size || size > section->content.size - offset)
			continue;
		section->content.data += offset;
		section->content.size = size;
		has_info = has_info || section->id == ELF_SECTION_INFO_DWO;
		count++;
	}
	if (!has_info)
		sections[count++] = (struct dwarf_section){ELF_SECTION_INFO_DWO, {no_unit, sizeof(no_unit)}};
	return count;
}

/* The type units of DWARF 4; dwarf_get_units() comes to them only behind a unit in .debug_info. */
static int walk_types_section(Dwarf *dwarf, struct dwarf_limit *limit, struct tsd_members *members)
{
	Dwarf_Off offset = 0, next;
	uint64_t signature;
	size_t header;
	int result = 0;

	while (result != -ETIME && !tsd_members_complete(members) &&
	       dwarf_next_unit(dwarf, offset, &next, &header, NULL, NULL, NULL, NULL, &signature, NULL) ==
		       0 &&
	       next > offset) {
		Dwarf_Die entry;

		if (dwarf_offdie_types(dwarf, offset + header, &entry) != NULL)
			result = dwarf_members_walk(&entry, members, limit, NULL);
		offset = next;
	}
	return result;
}

/* Walks the unit of one row; a row that libdw cannot read is passed over. Only -ETIME is an error. */
static int walk_row(struct elf_object *package, const struct package_index *index, uint32_t row,
		    struct dwarf_limit *limit, struct tsd_members *members)
{
	struct dwarf_section sections[ROW_SECTIONS_MAX];
	struct dwarf_image image;
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	int result = dwarf_limit_check(limit, NULL);

	if (result < 0 ||
	    dwarf_image_open(&image, sections, cut_row(package, index, row, sections), NULL) < 0)
		return result;
	while (result != -ETIME && !tsd_members_complete(members) &&
	       dwarf_get_units(image.dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0)
		result = dwarf_members_walk(&entry, members, limit, NULL);
	if (result != -ETIME && !tsd_members_complete(members))
		result = walk_types_section(image.dwarf, limit, members);
	dwarf_image_release(&image);
	return result == -ETIME ? result : 0;
}

/* Ids of the skeleton units, in their order. */
struct skeleton {
	uint64_t id;
	bool is_likely;
};

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

		if (type != DW_UT_skeleton ||
		    dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0)
			continue;
		skeletons = memory_grow(skeletons, &capacity, count + 1, sizeof(*skeletons));
		skeletons[count++] = (struct skeleton){id, dwarf_unit_is_likely(&entry, symbols)};
	}
	*ret_skeletons = skeletons;
	return count;
}

/* Likely units have to tell both members by themselves; in the others each member keeps its first value. */
static int walk_skeletons(struct elf_object *package, const struct package_index *index,
			  const struct skeleton *skeletons, size_t count, bool likely,
			  struct dwarf_limit *limit, struct tsd_members *members)
{
	uint32_t row;

	*members = (struct tsd_members){0};
	for (size_t i = 0; i < count; i++) {
		if ((likely && !skeletons[i].is_likely) || !find_row(index, skeletons[i].id, &row))
			continue;
		if (likely)
			*members = (struct tsd_members){0};
		if (walk_row(package, index, row, limit, members) < 0)
			return -ETIME;
		if (tsd_members_complete(members))
			return 0;
	}
	return -ENOENT;
}

/* Types may have units of their own (-fdebug-types-section): a second index lists them. */
static int walk_type_units(struct elf_object *package, struct dwarf_limit *limit, struct tsd_members *members)
{
	struct package_index index;

	*members = (struct tsd_members){0};
	if (!read_index(package, ELF_SECTION_TU_INDEX, &index))
		return -ENOENT;
	for (uint32_t row = 0; row < index.rows; row++) {
		if (walk_row(package, &index, row, limit, members) < 0)
			return -ETIME;
		if (tsd_members_complete(members))
			return 0;
	}
	return -ENOENT;
}

int dwarf_package_search(struct elf_object *package, struct elf_object *skeletons,
			 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			 struct tsd_members *ret_members, struct error *error)
{
	struct skeleton *list;
	struct package_index index;
	struct dwarf_image image;
	size_t count;
	int result = dwarf_object_image_open(skeletons, &image, NULL);

	if (result < 0)
		return error_set(error, -ENODATA, "no skeleton units");
	count = list_skeletons(image.dwarf, symbols, limit, &list);
	dwarf_image_release(&image);
	if (count == 0) {
		result = error_set(error, -ENODATA, "no skeleton units");
	} else if (!read_index(package, ELF_SECTION_CU_INDEX, &index)) {
		result = error_set(error, -EBADMSG, "no index of units");
	} else {
		result = walk_skeletons(package, &index, list, count, true, limit, ret_members);
		if (result == -ENOENT && dwarf_names_occur(package))
			result = walk_skeletons(package, &index, list, count, false, limit, ret_members);
		if (result == -ENOENT && dwarf_names_occur(package))
			result = walk_type_units(package, limit, ret_members);
		if (result < 0)
			error_set(error, result,
				  result == -ETIME ? "not found within the time allowed" : "no struct tsd_s");
	}
	free(list);
	return result;
}
