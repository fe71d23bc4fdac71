/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DWARF_PACKAGE_H
#define CTOP_DWARF_PACKAGE_H

#include "dwarf_members.h"
#include "probe/object/elf_object.h"
#include "probe/object/jemalloc_symbol.h"

/*
 * DWARF packages (.dwp): the debug data of split units, joined into one file. libdw (0.188) does not know
 * their index, so each unit is cut out by it and given to libdw as an image of its own. Both formats of the
 * index are read: that of GCC's extension to DWARF 4 (version 2) and that of DWARF 5 (7.3.5).
 */

/*
 * Searches `package` for the members. The skeleton units in `skeletons` tell which units belong to the
 * program: likely ones first, then all in their order. Returns 0 with both members, -ENODATA when there are
 * no skeleton units, -ENOENT when the members are not there, or another negative errno; all with a sentence.
 */
int dwarf_package_search(struct elf_object *package, struct elf_object *skeletons,
			 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			 struct tsd_members *ret_members, struct error *error);

#endif
