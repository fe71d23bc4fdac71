/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DWARF_SEARCH_H
#define CTOP_DWARF_SEARCH_H

#include <elfutils/libdw.h>

#include "dwarf_image.h"
#include "dwarf_members.h"
#include "probe/object/elf_object.h"
#include "probe/object/jemalloc_symbol.h"

/* Finding, among many compilation units, one that describes jemalloc's thread data. */

/* Makes an image of the own sections of an object, or a package; ends with dwarf_image_release(). 0 or a
 * negative errno. */
int dwarf_object_image_open(struct elf_object *object, struct dwarf_image *image, struct error *error);

/* Do the names of the members occur in an object, or a package, at all? */
bool dwarf_names_occur(struct elf_object *object);

/*
 * Searches the debug data in `object`: the units of jemalloc's functions and sources, then, unless the names
 * occur nowhere, all. `alternate` is the common debug file
 * (dwz) or NULL. Returns 0 with both members, -ENOENT when they are not there, or another negative errno;
 * both with a sentence.
 */
int dwarf_search(struct elf_object *object, struct elf_object *alternate,
		 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
		 struct tsd_members *ret_members, struct error *error);

/* The units to search first: those that hold one of the functions, and those whose name mentions jemalloc. */
bool dwarf_unit_is_likely(Dwarf_Die *unit, const struct jemalloc_symbols *symbols);

#endif
