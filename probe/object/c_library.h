/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_C_LIBRARY_H
#define CTOP_C_LIBRARY_H

#include "elf_object.h"
#include "layout.h"

/*
 * The facts that a C library states about its threads. glibc describes its structures for debuggers in
 * constants named _thread_db_* (nptl_db/structs.def); their values are read from the object, never assumed.
 */

/*
 * Adds to `library` what `data` says, by the symbols of `symbols`: `data` itself, or its separate debug file.
 * Objects without such symbols change nothing.
 */
void c_library_read(const struct elf_object *data, const struct elf_object *symbols,
		    struct c_library *library);

/* Recognises musl by the interpreter of an executable. */
void c_library_from_interpreter(const struct elf_object *executable, struct c_library *library);

/* Can the shared object, by its name, be (a part of) the glibc that describes threads? */
bool c_library_is_candidate(const struct elf_object *object);

#endif
