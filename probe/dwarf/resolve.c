/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolve.h"

#include <elf.h>
#include <string.h>

#include "base/clock.h"
#include "probe/object/c_library.h"
#include "debug_data.h"
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

static int open_object(const struct resolve_run *run, uint32_t number, struct elf_object *ret_object,
		       struct error *error)
{
	return debug_file_open(run->source, number, RESOLVE_FILE_OBJECT, "", 0, ret_object, error);
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
 * one, the thread storage of the object must be nothing else than the structure, and in a library exactly one
 * relocation may refer to it: then the variable lies where that points.
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
	return debug_data_members_fit(object, symbols, ret_members);
}

/* jemalloc is in the object; for the offsets in it all ways are tried. */
static enum finding find_offsets(struct resolve_run *run, struct debug_search *search,
				 struct jemalloc_symbols *symbols)
{
	struct tsd_members members;

	if (!search->object->is_native) {
		debug_trace_add(search->trace, "%d bits, ELF machine %u", search->object->is_64 ? 64 : 32,
				search->object->machine);
		run->resolution->tag = HEAP_TAG_ARCH_MISMATCH;
		return FINDING_FAILURE;
	}
	if (debug_data_find_members(search, symbols, &members) == 0) {
		keep_layout(run, search, symbols, &members, LAYOUT_ORIGIN_DWARF);
	} else if (find_known_build(search, true, symbols, &members)) {
		keep_layout(run, search, symbols, &members, LAYOUT_ORIGIN_KNOWN_BUILD);
	} else {
		debug_trace_add(search->trace, "no known build");
		run->resolution->tag = search->number == LAYOUT_EXECUTABLE ? HEAP_TAG_DWARF_PARSE_FAILURE
									   : HEAP_TAG_JEMALLOC_IN_DSO;
		return FINDING_FAILURE;
	}
	/* A stripped static program has its C library's symbols in the debug file, too. */
	if (search->number == LAYOUT_EXECUTABLE && search->separate.elf != NULL)
		c_library_read(search->object, &search->separate, &run->resolution->c_library);
	return FINDING_LAYOUT;
}

/* No file has a symbol of jemalloc for the object: it may be a known build, or export its interface. */
static enum finding find_without_symbol(struct resolve_run *run, const struct debug_search *search)
{
	struct jemalloc_symbols symbols = {0};
	struct tsd_members members;

	if (search->object->symtab.count > 0 || !search->object->is_native)
		return FINDING_NOTHING;
	if (find_known_build(search, false, &symbols, &members)) {
		keep_layout(run, search, &symbols, &members, LAYOUT_ORIGIN_KNOWN_BUILD);
		return FINDING_LAYOUT;
	}
	if (search->number == LAYOUT_EXECUTABLE || !jemalloc_is_exported(search->object))
		return FINDING_NOTHING;
	debug_trace_add(search->trace, "jemalloc without symbols, no known build");
	run->resolution->tag = HEAP_TAG_JEMALLOC_IN_DSO;
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
	    (object->symtab.count == 0 && debug_data_find_symbols(&search, &symbols)))
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
		debug_trace_add(&run->trace, "executable: %s", error.text);
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

		if (dwarf_limit_check(&run->limit, NULL) < 0)
			break;
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
