/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JEMALLOC_SYMBOL_H
#define CTOP_JEMALLOC_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_object.h"

/* Symbols of jemalloc in an ELF object. */

enum {
	JEMALLOC_FUNCTION_MAX = 8,
};

struct jemalloc_symbols {
	uint64_t value, size; /* of the thread-local variable */
	/* Addresses of a few functions that belong to it: their compilation units know struct tsd_s. */
	uint64_t functions[JEMALLOC_FUNCTION_MAX];
	size_t function_count;
};

/*
 * Searches .symtab, then .dynsym; the first defined symbol, of any type, that is called "tsd_tls", or
 * anything before "_tsd_tls" (a jemalloc built with another prefix), wins. False without one.
 */
bool jemalloc_symbols_find(const struct elf_object *object, struct jemalloc_symbols *ret_symbols);

/* Does the object export mallctl, jemalloc's own interface, with whatever prefix? */
bool jemalloc_is_exported(const struct elf_object *object);

/*
 * The release that the object carries as text ("5.3.0-0-g" and 40 digits of its commit, in .rodata): "5.3.0",
 * or "5.3.0-12" for a build of 12 commits later. False without one, or with several that differ.
 */
bool jemalloc_version(const struct elf_object *object, char ret_version[static LAYOUT_VERSION_SIZE]);

#endif
