/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DEBUG_DATA_H
#define CTOP_DEBUG_DATA_H

#include "dwarf_members.h"
#include "probe/object/elf_object.h"
#include "probe/object/jemalloc_symbol.h"
#include "resolve.h"

/* The debug data of one object of a process, wherever it is kept. */

/*
 * Opens a file of an object by source->open(), `name` being "" for one without a name. Returns 0 or a
 * negative errno with a sentence: -ENOENT only where there are no more candidates.
 */
int debug_file_open(const struct resolve_source *source, uint32_t object, enum resolve_file kind,
		    const char *name, uint32_t ordinal, struct elf_object *ret_file, struct error *error);

/* The attempts, for the user: separated by "; ", cut when the text is full. */
struct debug_trace {
	char text[LAYOUT_TEXT_SIZE];
};

void debug_trace_add(struct debug_trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct debug_search {
	const struct resolve_source *source;
	uint32_t number; /* LAYOUT_EXECUTABLE or a library's */
	struct elf_object *object;
	struct dwarf_limit *limit;
	struct debug_trace *trace;
	struct elf_object separate; /* the debug file that gave the symbols, where one was needed; owned */
};

/*
 * Finds the symbols in the first separate debug file that has them, for an object that was stripped of its
 * own; the file is kept in `separate`. False without one.
 */
bool debug_data_find_symbols(struct debug_search *search, struct jemalloc_symbols *ret_symbols);

/*
 * Finds the members: own debug data with a name table, package, separate files, own debug data. An impossible
 * result is refused and the next file tried. Returns 0 or -ENOENT, with what was tried in the trace.
 */
int debug_data_find_members(struct debug_search *search, const struct jemalloc_symbols *symbols,
			    struct tsd_members *ret_members);

/* Are the offsets in order and within the thread storage of the object? */
bool debug_data_members_fit(const struct elf_object *object, const struct jemalloc_symbols *symbols,
			    const struct tsd_members *members);

#endif
