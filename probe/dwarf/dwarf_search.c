/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_search.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/version.h>
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"

/* --- the members, as one unit describes them --- */

#define STRUCT_NAME "tsd_s"

enum {
	DEPTH_MAX = 256,
	/* Entries between two looks at the clock. */
	ENTRIES_PER_CHECK = 1024,
};

struct member_names {
	const char *allocated, *deallocated;
	bool in_tsd_only; /* they mean nothing elsewhere */
};

static const struct member_names member_names[] = {
	{"cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated", /* 5.2.0 and later */
	 "cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated", false},
	{"use_a_getter_or_setter_instead_thread_allocated", /* 5.0 and 5.1 */
	 "use_a_getter_or_setter_instead_thread_deallocated", false},
	{"thread_allocated", "thread_deallocated", true}, /* 4.x */
};

int dwarf_limit_check(const struct dwarf_limit *limit, struct error *error)
{
	if (clock_ns(CLOCK_MONOTONIC) < limit->deadline_ns)
		return 0;
	return error_set(error, -ETIME, "the time allowed is over");
}

/* The name of an entry itself, or NULL: nothing that it refers to is followed. */
static const char *entry_name(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, DW_AT_name, &attribute) != NULL ? dwarf_formstring(&attribute) : NULL;
}

/* The offset of a member, a constant; -ENOENT without one (a union), an error for an expression. */
static int member_offset(Dwarf_Die *member, uint64_t *ret_offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword sword;
	Dwarf_Word word;

	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) == NULL)
		return -ENOENT;
	switch (dwarf_whatform(&attribute)) {
	case DW_FORM_udata:
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		if (dwarf_formudata(&attribute, &word) != 0)
			return -EBADMSG;
		*ret_offset = word;
		return 0;
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		if (dwarf_formsdata(&attribute, &sword) != 0 || sword < 0)
			return -EBADMSG;
		*ret_offset = (uint64_t)sword;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Takes the offset of `member` unless it is known already. */
static int take_offset(Dwarf_Die *member, const char *name, bool *known, uint64_t *ret_offset,
		       struct error *error)
{
	int result;

	if (*known)
		return 0;
	result = member_offset(member, ret_offset);
	*known = result == 0;
	if (result < 0 && result != -ENOENT)
		return error_set(error, -EBADMSG, "the offset of %s is not a constant", name);
	return 0;
}

static int look_at_member(Dwarf_Die *member, bool is_in_tsd, struct tsd_members *members, struct error *error)
{
	const char *name = entry_name(member);

	for (size_t i = 0; name != NULL && i < ARRAY_COUNT(member_names); i++) {
		const struct member_names *names = &member_names[i];

		if (names->in_tsd_only && !is_in_tsd)
			continue;
		if (strcmp(name, names->allocated) == 0)
			return take_offset(member, name, &members->has_allocated, &members->allocated, error);
		if (strcmp(name, names->deallocated) == 0)
			return take_offset(member, name, &members->has_deallocated, &members->deallocated,
					   error);
	}
	return 0;
}

/* The entry after `*entry` on its level: 0, 1 at the end, or -EBADMSG. It always lies further on. */
static int next_sibling(Dwarf_Die *entry)
{
	Dwarf_Die sibling;
	const int result = dwarf_siblingof(entry, &sibling);

	if (result != 0)
		return result < 0 ? -EBADMSG : 1;
	if ((const char *)sibling.addr <= (const char *)entry->addr)
		return -EBADMSG;
	*entry = sibling;
	return 0;
}

static int count_entry(struct dwarf_limit *limit, struct error *error)
{
	return ++limit->entries % ENTRIES_PER_CHECK == 0 ? dwarf_limit_check(limit, error) : 0;
}

static int read_tsd(Dwarf_Die *structure, struct tsd_members *members, struct dwarf_limit *limit,
		    struct error *error)
{
	Dwarf_Die member;
	int result = dwarf_child(structure, &member);

	while (result == 0) {
		if (count_entry(limit, error) < 0)
			return -ETIME;
		if (dwarf_tag(&member) == DW_TAG_member) {
			result = look_at_member(&member, true, members, error);
			if (result < 0)
				return result;
		}
		result = next_sibling(&member);
	}
	return result < 0 ? error_set(error, -EBADMSG, "damaged entries: %s", dwarf_errmsg(-1)) : 0;
}

static bool is_tsd(Dwarf_Die *entry)
{
	const char *name;

	if (dwarf_tag(entry) != DW_TAG_structure_type)
		return false;
	name = entry_name(entry);
	return name != NULL && strcmp(name, STRUCT_NAME) == 0;
}

/*
 * Walks the entries below `unit`, depth first, up to the end or until a structure tsd_s gives one of the
 * members. Each member that is not yet known in `members` takes the first value found. A member of a jemalloc
 * that mangles its names (5.0 and later) counts wherever it stands; the plain names of 4.x count only as
 * direct members of tsd_s. Returns 0 or a negative errno with a sentence (-ETIME, -EBADMSG).
 */
static int walk_members(Dwarf_Die *unit, struct tsd_members *members, struct dwarf_limit *limit,
			struct error *error)
{
	Dwarf_Die level[DEPTH_MAX];
	size_t depth = 0;
	int result = dwarf_child(unit, &level[0]);

	if (result != 0)
		return result < 0 ? error_set(error, -EBADMSG, "damaged entries: %s", dwarf_errmsg(-1)) : 0;
	for (;;) {
		Dwarf_Die *entry = &level[depth];
		bool descends = false;

		result = count_entry(limit, error);
		if (result < 0)
			return result;
		if (is_tsd(entry)) {
			result = read_tsd(entry, members, limit, error);
			if (result < 0 || members->has_allocated || members->has_deallocated)
				return result;
		} else {
			if (dwarf_tag(entry) == DW_TAG_member)
				result = look_at_member(entry, false, members, error);
			if (result < 0)
				return result;
			descends = depth + 1 < DEPTH_MAX && dwarf_haschildren(entry) > 0;
		}
		if (descends && dwarf_child(entry, &level[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while ((result = next_sibling(&level[depth])) == 1) {
			if (depth == 0)
				return 0;
			depth--;
		}
		if (result < 0)
			return error_set(error, -EBADMSG, "damaged entries: %s", dwarf_errmsg(-1));
	}
}

static bool is_complete(const struct tsd_members *members)
{
	return members->has_allocated && members->has_deallocated;
}

/* --- images for libdw --- */

/*
 * Debug sections put together for libdw. libdw would unpack every compressed section of a file at once,
 * cannot unpack zstd (0.188) and looks for further files by itself; so it gets an ELF image in memory that
 * holds just the sections that are needed, unpacked.
 * Nothing is copied: the image begins with its headers at a low address and reaches over all memory above
 * them; the offset of a section is how far away its content lies. (Data added by elf_newdata(3) are none to
 * the elf_rawdata(3) that libdw 0.192 reads sections with.)
 */
struct dwarf_image {
	struct dwarf_headers *headers; /* owned mapping */
	Elf *elf;                      /* owned */
	Dwarf *dwarf;                  /* owned; valid as long as the sections are */
};

/* The sections from which libdw tells units, entries, names and address ranges, of an object or a package. */
static const enum elf_section_id needed_sections[] = {
	ELF_SECTION_INFO,     ELF_SECTION_TYPES,           ELF_SECTION_ABBREV,    ELF_SECTION_STR,
	ELF_SECTION_LINE_STR, ELF_SECTION_STR_OFFSETS,     ELF_SECTION_ADDR,      ELF_SECTION_RANGES,
	ELF_SECTION_RNGLISTS, ELF_SECTION_INFO_DWO,        ELF_SECTION_TYPES_DWO, ELF_SECTION_ABBREV_DWO,
	ELF_SECTION_STR_DWO,  ELF_SECTION_STR_OFFSETS_DWO, ELF_SECTION_CU_INDEX,  ELF_SECTION_TU_INDEX,
};

#define NAMES_SECTION ".shstrtab"

enum {
	NEEDED_COUNT = ARRAY_COUNT(needed_sections),
	NAME_SIZE_MAX = 32,   /* with its NUL */
	FIRST_BASE = 1 << 20, /* above vm.mmap_min_addr as it is set anywhere */
	BASE_STEP = 1 << 16,  /* the largest page size */
	BASE_TRIES = 256,
};

/* The header in front of all contents. */
struct dwarf_headers {
	Elf64_Ehdr file;
	Elf64_Shdr sections[1 + NEEDED_COUNT + 1]; /* the empty one, the contents, the names */
	char names[1 + NEEDED_COUNT * NAME_SIZE_MAX + sizeof(NAMES_SECTION)];
};

/* Memory at an address as low as can be had, zeroed; NULL without room. */
static struct dwarf_headers *map_low(void)
{
	uintptr_t base = FIRST_BASE;

	for (int i = 0; i < BASE_TRIES; i++, base += BASE_STEP) {
		void *headers = mmap((void *)base, sizeof(struct dwarf_headers), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (headers != MAP_FAILED)
			return headers;
	}
	return NULL;
}

/* Adds a section whose content lies behind the headers. Returns false when it lies in front of them. */
static bool add_section(struct dwarf_headers *headers, const char *name, Elf64_Word type, const void *content,
			size_t size, size_t *names_size)
{
	Elf64_Shdr *section = &headers->sections[headers->file.e_shnum++];

	if ((uintptr_t)content < (uintptr_t)headers)
		return false;
	*section = (Elf64_Shdr){.sh_name = (Elf64_Word)*names_size,
				.sh_type = type,
				.sh_offset = (uintptr_t)content - (uintptr_t)headers,
				.sh_size = size,
				.sh_addralign = 1};
	memcpy(headers->names + *names_size, name, strlen(name) + 1);
	*names_size += strlen(name) + 1;
	return true;
}

/* Describes the own sections of an object. Returns 0 or a negative errno with a sentence. */
static int fill(struct dwarf_headers *headers, struct elf_object *object, struct error *error)
{
	size_t names_size = 1;
	bool fits = true;

	headers->file = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELF_OBJECT_ENCODING, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct dwarf_headers, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1};
	for (size_t i = 0; i < NEEDED_COUNT && fits; i++) {
		struct byte_range content;
		const int result = elf_object_section(object, needed_sections[i], &content, error);

		if (result < 0 && result != -ENOENT)
			return result;
		if (result == 0)
			fits = add_section(headers, elf_section_name(needed_sections[i]), SHT_PROGBITS,
					   content.data, content.size, &names_size);
	}
	headers->file.e_shstrndx = headers->file.e_shnum;
	return fits && add_section(headers, NAMES_SECTION, SHT_STRTAB, headers->names, sizeof(headers->names),
				   &names_size)
		       ? 0
		       : error_set(error, -ENOMEM, "no memory at a low address");
}

/* Does nothing on a zeroed struct. */
static void release_image(struct dwarf_image *image)
{
	dwarf_end(image->dwarf);
	elf_end(image->elf);
	if (image->headers != NULL)
		munmap(image->headers, sizeof(*image->headers));
	*image = (struct dwarf_image){0};
}

/*
 * Makes an image of the own sections of an object, or a package, which has to outlive it. Returns 0 or a
 * negative errno with a sentence. Ends with release_image().
 */
static int open_image(struct elf_object *object, struct dwarf_image *image, struct error *error)
{
	int result;

	*image = (struct dwarf_image){.headers = map_low()};
	result = image->headers != NULL ? fill(image->headers, object, error)
					: error_set(error, -ENOMEM, "no memory at a low address");
	if (result == 0) {
		elf_version(EV_CURRENT);
		image->elf = elf_memory((char *)image->headers, PTRDIFF_MAX);
		image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
		if (image->dwarf == NULL)
			result = error_set(error, -EBADMSG, "libdw: %s", dwarf_errmsg(-1));
	}
	if (result < 0)
		release_image(image);
	return result;
}

/* --- units --- */

enum {
	/* No program has as many; a crafted one could have a unit in every eleven bytes. */
	UNITS_MAX = 1000000,
	UNITS_PER_CHECK = 256,
	IMPORTS_MAX = 1024,
	REFERENCES_MAX = 4096,
};

/* Every spelling of the first member ends in the same letters. */
static bool holds_name(struct byte_range strings)
{
	static const char ending[] = "thread_allocated";

	return strings.size > 0 && memmem(strings.data, strings.size, ending, sizeof(ending)) != NULL;
}

/* Do the names of the members occur in an object, or a package, at all? */
static bool names_occur(struct elf_object *object)
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

	if (walk_members(unit, &members, limit, NULL) < 0 || !is_complete(&members))
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

/* The units to search first: those that hold one of the functions, and those whose name mentions jemalloc. */
static bool is_likely(Dwarf_Die *unit, const struct jemalloc_symbols *symbols)
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
		if (is_likely(&entry, symbols) && try_unit(&entry, limit, ret_members) == 0)
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
			result = walk_members(&entry, &members, limit, is_damaged ? NULL : error);
		if (result == -ETIME)
			return error_set(error, result, "not found within the time allowed");
		is_damaged = is_damaged || result < 0;
		if (is_complete(&members)) {
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
	for (size_t i = 0; i < ARRAY_COUNT(member_names); i++) {
		if (try_units_with_name(file, member_names[i].allocated, limit, ret_members) == 0)
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
		has_names = names_occur(files[i].object);
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
		result = open_image(object, &files[0].image, error);
	if (result < 0)
		return result;
	if (alternate != NULL && open_image(alternate, &files[1].image, NULL) == 0) {
		dwarf_setalt(files[0].image.dwarf, files[1].image.dwarf);
		count = 2;
	}
	result = search_files(files, count, symbols, limit, ret_members, error);
	release_image(&files[0].image);
	release_image(&files[1].image);
	return result;
}

/* --- packages --- */

enum {
	SKELETONS_MAX = 1000000,
};

/* A skeleton unit of the program: the package has the unit of that id. */
struct skeleton {
	uint64_t id;
	bool is_likely;
};

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
			*MEMORY_APPEND(skeletons, count,
				       capacity) = (struct skeleton){id, is_likely(&entry, symbols)};
	}
	if (count != 0)
		qsort(skeletons, count, sizeof(*skeletons), order_by_u64);
	*ret_skeletons = skeletons;
	return count;
}

/* Types may have units of their own (-fdebug-types-section), which no skeleton names. */
static bool is_wanted(Dwarf_CU *unit, uint8_t type, const struct skeleton *skeletons, size_t count,
		      bool likely)
{
	uint64_t id;
	const struct skeleton *found;

	if (type == DW_UT_split_type || type == DW_UT_type) /* that of DWARF 4 */
		return !likely;
	if (type != DW_UT_split_compile || dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0)
		return false;
	found = bsearch(&id, skeletons, count, sizeof(*skeletons), order_by_u64);
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
		if (walk_members(&entry, members, limit, NULL) == -ETIME)
			return -ETIME;
		if (is_complete(members))
			return 0;
	}
	return -ENOENT;
}

static int search_units(struct elf_object *package, const struct skeleton *skeletons, size_t count,
			struct dwarf_limit *limit, struct tsd_members *ret_members, struct error *error)
{
	struct dwarf_image image;
	int result = open_image(package, &image, error);

	if (result < 0)
		return result;
	result = walk_units(image.dwarf, skeletons, count, true, limit, ret_members);
	if (result == -ENOENT && names_occur(package))
		result = walk_units(image.dwarf, skeletons, count, false, limit, ret_members);
	release_image(&image);
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
	if (open_image(skeletons, &image, NULL) == 0) {
		count = list_skeletons(image.dwarf, symbols, limit, &list);
		release_image(&image);
	}
	result = count != 0 ? search_units(package, list, count, limit, ret_members, error)
			    : error_set(error, -ENODATA, "no skeleton units");
	free(list);
	return result;
}
