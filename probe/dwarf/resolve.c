/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolve.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "dwarf_search.h"
#include "probe/object/c_library.h"
#include "probe/object/debug_candidate.h"
#include "probe/object/elf_object.h"
#include "probe/object/jemalloc_symbol.h"
#include "probe/object/known_build.h"

#if defined(__x86_64__)
#define RELOCATION_STATIC_TLS R_X86_64_TPOFF64
#define RELOCATION_MODULE     R_X86_64_DTPMOD64
#define RELOCATION_DESCRIPTOR R_X86_64_TLSDESC
#elif defined(__aarch64__)
#define RELOCATION_STATIC_TLS R_AARCH64_TLS_TPREL
#define RELOCATION_MODULE     R_AARCH64_TLS_DTPMOD
#define RELOCATION_DESCRIPTOR R_AARCH64_TLSDESC
#endif

/* --- the debug data of one object, wherever they are kept --- */

enum {
	/* Candidates of one kind that are asked for. */
	ORDINAL_MAX = 16,
};

/* The attempts, for the user: separated by "; ", cut when the text is full. */
struct debug_trace {
	char text[LAYOUT_TEXT_SIZE];
};

__attribute__((format(printf, 2, 3))) static void trace_add(struct debug_trace *trace, const char *format,
							    ...)
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

struct debug_search {
	const struct resolve_source *source;
	uint32_t number; /* LAYOUT_EXECUTABLE or a library's */
	struct elf_object *object;
	struct dwarf_limit *limit;
	struct debug_trace *trace;
	struct elf_object separate; /* the debug file that gave the symbols, where one was needed; owned */
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
		trace_add(trace, "%s: %s", file_words[kind], problem);
	return problem == NULL;
}

/*
 * Opens a file of an object by source->open(), `name` being "" for one without a name. Returns 0 or a
 * negative errno with a sentence: -ENOENT only where there are no more candidates.
 */
static int open_candidate(const struct resolve_source *source, uint32_t object, enum resolve_file kind,
			  const char *name, uint32_t ordinal, struct elf_object *ret_file,
			  struct error *error)
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
		const int result = open_candidate(search->source, search->number, kind, name, (*ordinal)++,
						  ret_file, &error);

		if (result == 0)
			return true;
		if (result == -ENOENT)
			break;
		if (trace != NULL)
			trace_add(trace, "%s: %s", file_words[kind], error.text);
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

/*
 * Finds the symbols in the first separate debug file that has them, for an object that was stripped of its
 * own; the file is kept in `separate`. False without one.
 */
static bool find_separate_symbols(struct debug_search *search, struct jemalloc_symbols *ret_symbols)
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
	trace_add(search->trace, "the alternate debug file %s is missing", link);
	return false;
}

/* Are the offsets in order and within the thread storage of the object? */
static bool members_fit(const struct elf_object *object, const struct jemalloc_symbols *symbols,
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
	if (result == 0 && members_fit(search->object, symbols, members))
		return 0;
	if (result == 0)
		trace_add(search->trace, "%s: offsets %llu and %llu are impossible", file_words[kind],
			  (unsigned long long)members->allocated, (unsigned long long)members->deallocated);
	else
		trace_add(search->trace, "%s: %s", file_words[kind], error->text);
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

/*
 * Finds the members: own debug data with a name table, package, separate files, own debug data. An impossible
 * result is refused and the next file tried. Returns 0 or -ENOENT, with what was tried in the trace.
 */
static int find_members(struct debug_search *search, const struct jemalloc_symbols *symbols,
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

/* --- the objects of a process --- */

struct resolve_run {
	const struct resolve_source *source;
	struct dwarf_limit limit;
	struct debug_trace trace;
	struct resolution *resolution;
};

/* The finding in one object. */
enum finding {
	FINDING_NOTHING,
	FINDING_LAYOUT,
	FINDING_FAILURE, /* jemalloc is in it, but where the counters are stays unknown: `tag` of the
			    resolution */
};

/* A file that cannot be opened may hold jemalloc; one that is not ELF cannot. */
static int open_object(const struct resolve_run *run, uint32_t number, struct elf_object *ret_object,
		       struct error *error)
{
	const int result = open_candidate(run->source, number, RESOLVE_FILE_OBJECT, "", 0, ret_object, error);

	run->resolution->is_incomplete |= result < 0 && result != -ENOEXEC;
	return result;
}

static void keep_layout(struct resolve_run *run, const struct debug_search *search,
			const struct jemalloc_symbols *symbols, const struct tsd_members *members,
			enum layout_origin origin)
{
	struct heap_layout *layout = &run->resolution->layout;

	layout->origin = origin;
	layout->object = search->number;
	layout->tls = search->object->tls;
	layout->symbol = symbols->value;
	layout->allocated = members->allocated;
	layout->deallocated = members->deallocated;
	if (!jemalloc_version(search->object, layout->version))
		layout->version[0] = '\0';
}

/*
 * Recognises a known release without debug data. With a symbol, its size and the version must agree. Without
 * one, the thread storage of the object must be nothing else than the structure, and in a library all
 * relocations have to refer to one place in it: there the variable lies.
 */
static bool find_known_build(const struct debug_search *search, bool has_symbol,
			     struct jemalloc_symbols *symbols, struct tsd_members *ret_members)
{
	const struct elf_object *object = search->object;
	char version[LAYOUT_VERSION_SIZE];
	const struct known_build *build;

	if (!jemalloc_version(object, version))
		return false;
	build = known_build_find(object->machine, version,
				 has_symbol && symbols->size > 0 ? symbols->size : object->tls.size);
	if (build == NULL)
		return false;
	if (!has_symbol)
		*symbols = (struct jemalloc_symbols){.size = build->size};
	if (!has_symbol && search->number != LAYOUT_EXECUTABLE) {
		const struct elf_relocation reference = elf_object_relocations(object, RELOCATION_STATIC_TLS);

		if (reference.count != 1 || reference.symbol != 0 || reference.addend != 0 ||
		    elf_object_relocations(object, RELOCATION_MODULE).count > 0 ||
		    elf_object_relocations(object, RELOCATION_DESCRIPTOR).count > 0)
			return false;
	}
	*ret_members = (struct tsd_members){true, true, build->allocated, build->deallocated};
	return members_fit(object, symbols, ret_members);
}

/* jemalloc is in the object; for the offsets in it all ways are tried. */
static enum finding find_offsets(struct resolve_run *run, struct debug_search *search,
				 struct jemalloc_symbols *symbols)
{
	struct tsd_members members;

	if (!search->object->is_native) {
		trace_add(search->trace, "%d bits, ELF machine %u", search->object->is_64 ? 64 : 32,
			  search->object->machine);
		run->resolution->tag = HEAP_TAG_ARCH_MISMATCH;
		return FINDING_FAILURE;
	}
	if (find_members(search, symbols, &members) == 0) {
		keep_layout(run, search, symbols, &members, LAYOUT_ORIGIN_DWARF);
	} else if (find_known_build(search, true, symbols, &members)) {
		keep_layout(run, search, symbols, &members, LAYOUT_ORIGIN_KNOWN_BUILD);
	} else {
		trace_add(search->trace, "no known build");
		run->resolution->tag = search->number == LAYOUT_EXECUTABLE ? HEAP_TAG_DWARF_PARSE_FAILURE
									   : HEAP_TAG_JEMALLOC_IN_DSO;
		return FINDING_FAILURE;
	}
	/* A stripped static program has its C library's symbols in the debug file, too. */
	if (search->number == LAYOUT_EXECUTABLE && search->separate.elf != NULL)
		c_library_read(search->object, &search->separate, &run->resolution->c_library);
	return FINDING_LAYOUT;
}

/*
 * Handles an object without any jemalloc symbol, in any file: it may be a known build. If it is not,
 * jemalloc's version text or exported interface still shows that the object contains jemalloc.
 */
static enum finding find_without_symbol(struct resolve_run *run, const struct debug_search *search)
{
	struct jemalloc_symbols symbols = {0};
	char version[LAYOUT_VERSION_SIZE];
	struct tsd_members members;

	if (search->object->symtab.count > 0 || !search->object->is_native)
		return FINDING_NOTHING;
	if (find_known_build(search, false, &symbols, &members)) {
		keep_layout(run, search, &symbols, &members, LAYOUT_ORIGIN_KNOWN_BUILD);
		return FINDING_LAYOUT;
	}
	if (!jemalloc_version(search->object, version) &&
	    (search->number == LAYOUT_EXECUTABLE || !jemalloc_is_exported(search->object)))
		return FINDING_NOTHING;
	trace_add(search->trace, "jemalloc without symbols, no known build");
	run->resolution->tag = search->number == LAYOUT_EXECUTABLE ? HEAP_TAG_DWARF_PARSE_FAILURE
								   : HEAP_TAG_JEMALLOC_IN_DSO;
	return FINDING_FAILURE;
}

static enum finding look_at(struct resolve_run *run, uint32_t number, struct elf_object *object)
{
	struct debug_search search = {.source = run->source,
				      .number = number,
				      .object = object,
				      .limit = &run->limit,
				      .trace = &run->trace};
	struct jemalloc_symbols symbols;
	enum finding finding;

	if (!object->has_tls)
		return FINDING_NOTHING;
	if (jemalloc_symbols_find(object, &symbols) ||
	    (object->symtab.count == 0 && find_separate_symbols(&search, &symbols)))
		finding = find_offsets(run, &search, &symbols);
	else
		finding = find_without_symbol(run, &search);
	elf_object_release(&search.separate);
	return finding;
}

static enum finding look_at_executable(struct resolve_run *run)
{
	struct elf_object object;
	struct error error;
	enum finding finding;

	if (open_object(run, LAYOUT_EXECUTABLE, &object, &error) < 0) {
		trace_add(&run->trace, "executable: %s", error.text);
		return FINDING_NOTHING;
	}
	run->resolution->is_static = object.is_static;
	c_library_from_interpreter(&object, &run->resolution->c_library);
	if (object.is_static)
		c_library_read(&object, &object, &run->resolution->c_library);
	finding = look_at(run, LAYOUT_EXECUTABLE, &object);
	elf_object_release(&object);
	return finding;
}

static void keep_text(struct resolve_run *run)
{
	memcpy(run->resolution->text, run->trace.text, sizeof(run->resolution->text));
}

/* The first library that tells everything; when none does, the first that has jemalloc in it says why. */
static enum finding look_at_libraries(struct resolve_run *run)
{
	enum finding found = FINDING_NOTHING;
	enum heap_tag tag = HEAP_TAG_JEMALLOC_NOT_FOUND;

	for (uint32_t number = 0; number < run->source->object_count && found != FINDING_LAYOUT; number++) {
		struct elf_object object;
		enum finding finding;

		if (dwarf_limit_check(&run->limit, NULL) < 0) {
			run->resolution->is_incomplete = true;
			break;
		}
		if (open_object(run, number, &object, NULL) < 0)
			continue;
		run->trace = (struct debug_trace){0};
		finding = look_at(run, number, &object);
		elf_object_release(&object);
		if (finding == FINDING_LAYOUT || (finding == FINDING_FAILURE && found == FINDING_NOTHING)) {
			found = finding;
			tag = run->resolution->tag;
			keep_text(run);
		}
	}
	run->resolution->tag = tag;
	return found;
}

static void read_c_library(struct resolve_run *run)
{
	struct c_library *library = &run->resolution->c_library;

	for (uint32_t number = 0; number < run->source->object_count; number++) {
		struct elf_object object;

		if (library->kind == C_LIBRARY_MUSL || (library->threads_known && library->links_known))
			return;
		if (open_object(run, number, &object, NULL) < 0)
			continue;
		if (object.is_native && c_library_is_candidate(&object))
			c_library_read(&object, &object, library);
		elf_object_release(&object);
	}
}

void resolve(const struct resolve_source *source, struct resolution *ret_resolution)
{
	struct resolve_run run = {.source = source, .resolution = ret_resolution};
	enum finding finding;

	memset(ret_resolution, 0, sizeof(*ret_resolution));
	ret_resolution->tag = HEAP_TAG_JEMALLOC_NOT_FOUND;
	run.limit.deadline_ns = clock_ns(CLOCK_MONOTONIC) + RESOLVE_SECONDS_MAX * NS_PER_S;
	finding = look_at_executable(&run);
	keep_text(&run);
	if (finding == FINDING_NOTHING)
		finding = look_at_libraries(&run);
	if (finding != FINDING_LAYOUT)
		return;
	ret_resolution->tag = HEAP_TAG_NONE;
	ret_resolution->text[0] = '\0';
	/* the dynamic linker has no interpreter either, and may have been given its program as an argument */
	if (!ret_resolution->is_static || ret_resolution->layout.object != LAYOUT_EXECUTABLE)
		read_c_library(&run);
}
