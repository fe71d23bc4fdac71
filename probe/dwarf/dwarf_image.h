/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DWARF_IMAGE_H
#define CTOP_DWARF_IMAGE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "base/error.h"
#include "probe/object/elf_object.h"

/*
 * Debug sections put together for libdw. libdw would unpack every compressed section of a file at once,
 * cannot unpack zstd (0.188) and looks for further files by itself; so it gets
 * an ELF image in memory that holds just the sections that are needed, as the caller cut and unpacked them.
 * Nothing is copied: the image begins with its headers at a low address and reaches over all memory above
 * them; the offset of a section is how far away its content lies. (Data added by elf_newdata(3) are none to
 * the elf_rawdata(3) that libdw 0.192 reads sections with.)
 */
struct dwarf_image {
	struct dwarf_headers *headers; /* owned mapping */
	Elf *elf;                      /* owned */
	Dwarf *dwarf;                  /* owned; valid as long as the sections are */
};

struct dwarf_section {
	enum elf_section_id id; /* gives the name */
	struct byte_range content;
};

/*
 * Makes an image of `count` sections, at most ELF_SECTION_COUNT. The contents stay the caller's and must
 * outlive the image. Returns 0 or a negative errno with a sentence. Ends with dwarf_image_release().
 */
int dwarf_image_open(struct dwarf_image *image, const struct dwarf_section *sections, size_t count,
		     struct error *error);

/* Does nothing on a zeroed struct. */
void dwarf_image_release(struct dwarf_image *image);

#endif
