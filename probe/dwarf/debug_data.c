/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug_data.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/object/debug_candidate.h"
#include "dwarf_package.h"
#include "dwarf_search.h"

enum {
	/* Candidates of one kind that are asked for. */
	ORDINAL_MAX = 16,
};

void debug_trace_add(struct debug_trace *trace, const char *format, ...)
{
	const size_t length = strlen(trace->text);
	char attempt[LAYOUT_TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(attempt, sizeof(attempt), format, arguments);
	va_end(arguments);
	snprintf(trace->text + length, sizeof(trace->text) - length, "%s%s", length > 0 ? "; " : "", attempt);
}

/* Names of the files that are asked for, for the user. */
static const char *const file_words[RESOLVE_FILE_COUNT] = {
	[RESOLVE_FILE_OBJECT] = "own debug data", [RESOLVE_FILE_PACKAGE] = ".dwp",
	[RESOLVE_FILE_DEBUGINFO] = ".debuginfo",  [RESOLVE_FILE_DEBUG] = ".debug",
	[RESOLVE_FILE_BUILD_ID] = "build id",     [RESOLVE_FILE_DEBUGLINK] = "debuglink",
	[RESOLVE_FILE_ALTERNATE] = "alternate",   [RESOLVE_FILE_ALTERNATE_LINK] = "alternate",
};

/* The separate debug files of an object, one after the other. */
static const enum resolve_file separate_files[] = {RESOLVE_FILE_DEBUGINFO, RESOLVE_FILE_DEBUG,
						   RESOLVE_FILE_BUILD_ID, RESOLVE_FILE_DEBUGLINK};

enum {
	SEPARATE_COUNT = sizeof(separate_files) / sizeof(separate_files[0]),
};

struct separate_cursor {
	size_t kind;
	uint32_t ordinal;
};

/* The name that the object gives its debug file, "" for a file named after it; false for no such file. */
static bool separate_name(const struct elf_object *object, enum resolve_file file,
			  char name[static ELF_LINK_NAME_SIZE], uint32_t *ret_crc)
{
	char build_id[ELF_BUILD_ID_TEXT_SIZE];

	name[0] = '\0';
	if (file == RESOLVE_FILE_BUILD_ID) {
		if (!elf_object_build_id(object, build_id) ||
		    !debug_build_id_is_safe(build_id, strlen(build_id)))
			return false;
		memcpy(name, build_id, sizeof(build_id));
		return true;
	}
	if (file == RESOLVE_FILE_DEBUGLINK)
		return elf_object_debuglink(object, name, ret_crc) && debug_link_is_safe(name, strlen(name));
	return true;
}

/* Is the file of the same build? By build id where both have one, and by CRC when the link gave one. */
static bool is_same_build(const struct elf_object *object, const struct elf_object *file,
			  enum resolve_file kind, uint32_t crc, struct debug_trace *trace)
{
	char own[ELF_BUILD_ID_TEXT_SIZE], other[ELF_BUILD_ID_TEXT_SIZE];
	const char *problem = NULL;

	if (file->machine != object->machine || file->is_64 != object->is_64)
		problem = "another architecture";
	else if (elf_object_build_id(object, own) && elf_object_build_id(file, other) &&
		 strcmp(own, other) != 0)
		problem = "another build id";
	else if (kind == RESOLVE_FILE_DEBUGLINK && elf_object_crc(file) != crc)
		problem = "another CRC";
	if (problem != NULL)
		debug_trace_add(trace, "%s: %s", file_words[kind], problem);
	return problem == NULL;
}

int debug_file_open(const struct resolve_source *source, uint32_t object, enum resolve_file kind,
		    const char *name, uint32_t ordinal, struct elf_object *ret_file, struct error *error)
{
	const int descriptor = source->open(source->context, object, kind, name[0] != '\0' ? name : NULL,
					    ordinal);
	int result;

	if (descriptor < 0)
		return error_set(error, descriptor, "%s", strerror(-descriptor));
	result = elf_object_open(ret_file, descriptor, error);
	close(descriptor);
	/* -ENOENT would end the search for candidates */
	return result == -ENOENT ? -ENOEXEC : result;
}

/*
 * Opens the next candidate of a kind that can be read, from `*ordinal` on; the others go into the trace.
 * False without one.
 */
static bool next_file(const struct debug_search *search, enum resolve_file kind, const char *name,
		      uint32_t *ordinal, struct debug_trace *trace, struct elf_object *ret_file)
{
	while (*ordinal < ORDINAL_MAX) {
		struct error error;
		const int result = debug_file_open(search->source, search->number, kind, name, (*ordinal)++,
						   ret_file, &error);

		if (result == 0)
			return true;
		if (result == -ENOENT)
			break;
		if (trace != NULL)
			debug_trace_add(trace, "%s: %s", file_words[kind], error.text);
	}
	return false;
}

/* Opens the next separate debug file that is of the same build. Returns its kind, or RESOLVE_FILE_COUNT. */
static enum resolve_file next_separate(struct debug_search *search, struct separate_cursor *cursor,
				       struct elf_object *ret_file)
{
	for (; cursor->kind < SEPARATE_COUNT; cursor->kind++, cursor->ordinal = 0) {
		const enum resolve_file kind = separate_files[cursor->kind];
		char name[ELF_LINK_NAME_SIZE];
		uint32_t crc = 0;

		if (!separate_name(search->object, kind, name, &crc))
			continue;
		while (next_file(search, kind, name, &cursor->ordinal, search->trace, ret_file)) {
			if (is_same_build(search->object, ret_file, kind, crc, search->trace))
				return kind;
			elf_object_release(ret_file);
		}
	}
	return RESOLVE_FILE_COUNT;
}

bool debug_data_find_symbols(struct debug_search *search, struct jemalloc_symbols *ret_symbols)
{
	struct separate_cursor cursor = {0};

	while (next_separate(search, &cursor, &search->separate) != RESOLVE_FILE_COUNT) {
		if (jemalloc_symbols_find(&search->separate, ret_symbols))
			return true;
		elf_object_release(&search->separate);
	}
	return false;
}

/* Opens the common debug file that `file` refers to (dwz); false when it refers to none, or it is missing. */
static bool open_alternate(const struct debug_search *search, const struct elf_object *file,
			   struct elf_object *ret_alternate)
{
	static const enum resolve_file kinds[] = {RESOLVE_FILE_ALTERNATE, RESOLVE_FILE_ALTERNATE_LINK};
	char link[ELF_LINK_NAME_SIZE], build_id[ELF_BUILD_ID_TEXT_SIZE], found[ELF_BUILD_ID_TEXT_SIZE];

	if (!elf_object_debugaltlink(file, link, build_id))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *name = kinds[i] == RESOLVE_FILE_ALTERNATE ? build_id : link;
		uint32_t ordinal = 0;

		while (next_file(search, kinds[i], name, &ordinal, NULL, ret_alternate)) {
			if (elf_object_build_id(ret_alternate, found) && strcmp(found, build_id) == 0)
				return true;
			elf_object_release(ret_alternate);
		}
	}
	debug_trace_add(search->trace, "the alternate debug file %s is missing", link);
	return false;
}

bool debug_data_members_fit(const struct elf_object *object, const struct jemalloc_symbols *symbols,
			    const struct tsd_members *members)
{
	uint64_t end, last;

	if (members->allocated >= members->deallocated ||
	    __builtin_add_overflow(members->deallocated, sizeof(uint64_t), &end) ||
	    __builtin_add_overflow(symbols->value, end, &last))
		return false;
	return last <= object->tls.size && (symbols->size == 0 || end <= symbols->size);
}

/* A result that cannot be true is none: into the trace with it, as with any other failure. */
static int judge(const struct debug_search *search, enum resolve_file kind, int result,
		 const struct jemalloc_symbols *symbols, const struct tsd_members *members,
		 const struct error *error)
{
	if (result == 0 && debug_data_members_fit(search->object, symbols, members))
		return 0;
	if (result == 0)
		debug_trace_add(search->trace, "%s: offsets %llu and %llu are impossible", file_words[kind],
				(unsigned long long)members->allocated,
				(unsigned long long)members->deallocated);
	else
		debug_trace_add(search->trace, "%s: %s", file_words[kind], error->text);
	return result == 0 ? -EBADMSG : result;
}

/* Searches one file and judges the result. */
static int try_file(const struct debug_search *search, struct elf_object *file, enum resolve_file kind,
		    const struct jemalloc_symbols *symbols, struct tsd_members *ret_members)
{
	struct elf_object alternate;
	struct error error;
	const bool has_alternate = open_alternate(search, file, &alternate);
	int result = dwarf_search(file, has_alternate ? &alternate : NULL, symbols, search->limit,
				  ret_members, &error);

	if (has_alternate)
		elf_object_release(&alternate);
	return judge(search, kind, result, symbols, ret_members, &error);
}

static int try_separate_files(struct debug_search *search, const struct jemalloc_symbols *symbols,
			      struct tsd_members *ret_members)
{
	struct separate_cursor cursor = {0};
	struct elf_object file;
	enum resolve_file kind;

	while ((kind = next_separate(search, &cursor, &file)) != RESOLVE_FILE_COUNT) {
		const int result = try_file(search, &file, kind, symbols, ret_members);

		elf_object_release(&file);
		if (result == 0)
			return 0;
	}
	return -ENOENT;
}

/* The package `package`, by the skeleton units of the object itself or of a file that is named after it. */
static int search_package(struct debug_search *search, struct elf_object *package,
			  const struct jemalloc_symbols *symbols, struct tsd_members *ret_members,
			  struct error *error)
{
	static const enum resolve_file others[] = {RESOLVE_FILE_DEBUGINFO, RESOLVE_FILE_DEBUG};
	int result = dwarf_package_search(package, search->object, symbols, search->limit, ret_members,
					  error);

	for (size_t i = 0; result == -ENODATA && i < sizeof(others) / sizeof(others[0]); i++) {
		struct elf_object skeletons;
		uint32_t ordinal = 0;

		while (result == -ENODATA && next_file(search, others[i], "", &ordinal, NULL, &skeletons)) {
			if (is_same_build(search->object, &skeletons, others[i], 0, search->trace))
				result = dwarf_package_search(package, &skeletons, symbols, search->limit,
							      ret_members, error);
			elf_object_release(&skeletons);
		}
	}
	return result;
}

static int try_packages(struct debug_search *search, const struct jemalloc_symbols *symbols,
			struct tsd_members *ret_members)
{
	struct elf_object package;
	uint32_t ordinal = 0;

	while (next_file(search, RESOLVE_FILE_PACKAGE, "", &ordinal, search->trace, &package)) {
		struct error error;
		const int result = search_package(search, &package, symbols, ret_members, &error);

		elf_object_release(&package);
		if (judge(search, RESOLVE_FILE_PACKAGE, result, symbols, ret_members, &error) == 0)
			return 0;
	}
	return -ENOENT;
}

int debug_data_find_members(struct debug_search *search, const struct jemalloc_symbols *symbols,
			    struct tsd_members *ret_members)
{
	const bool has_names = search->object->sections[ELF_SECTION_PUBTYPES].content.size > 0;

	if (has_names && try_file(search, search->object, RESOLVE_FILE_OBJECT, symbols, ret_members) == 0)
		return 0;
	if (try_packages(search, symbols, ret_members) == 0 ||
	    try_separate_files(search, symbols, ret_members) == 0)
		return 0;
	if (!has_names && try_file(search, search->object, RESOLVE_FILE_OBJECT, symbols, ret_members) == 0)
		return 0;
	return -ENOENT;
}
