/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_image.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define NAMES_SECTION ".shstrtab"

/* Appends a section; its name stands at `name` in the table of names. Returns the index of it, 0 on failure.
 */
static size_t add_section(Elf *elf, size_t name, GElf_Word type, struct byte_range content)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn != NULL ? elf_newdata(scn) : NULL;
	GElf_Shdr header = {
		.sh_name = (GElf_Word)name, .sh_type = type, .sh_size = content.size, .sh_addralign = 1};

	if (data == NULL || gelf_update_shdr(scn, &header) == 0)
		return 0;
	data->d_buf = (void *)(uintptr_t)content.data;
	data->d_size = content.size;
	data->d_type = ELF_T_BYTE;
	data->d_version = EV_CURRENT;
	data->d_align = 1;
	return elf_ndxscn(scn);
}

/* All names, each with its NUL, behind an empty one; that of the table itself comes last. */
static void collect_names(const struct dwarf_section *sections, size_t count, struct buffer *names)
{
	buffer_append(names, "", 1);
	for (size_t i = 0; i < count; i++)
		buffer_append(names, elf_section_name(sections[i].id),
			      strlen(elf_section_name(sections[i].id)) + 1);
	buffer_append(names, NAMES_SECTION, sizeof(NAMES_SECTION));
}

static bool fill(struct dwarf_image *image, const struct elf_object *object,
		 const struct dwarf_section *sections, size_t count, size_t names_size)
{
	const struct byte_range names = {(const unsigned char *)image->names, names_size};
	size_t name = 1, index;
	GElf_Ehdr header;

	if (gelf_newehdr(image->elf, gelf_getclass(object->elf)) == NULL ||
	    gelf_getehdr(image->elf, &header) == NULL)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (add_section(image->elf, name, SHT_PROGBITS, sections[i].content) == 0)
			return false;
		name += strlen(image->names + name) + 1;
	}
	index = add_section(image->elf, name, SHT_STRTAB, names);
	header.e_ident[EI_DATA] = object->image.data[EI_DATA];
	header.e_type = ET_EXEC;
	header.e_machine = object->machine;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = (GElf_Half)index;
	return index != 0 && gelf_update_ehdr(image->elf, &header) != 0;
}

int dwarf_image_open(struct dwarf_image *image, const struct elf_object *object,
		     const struct dwarf_section *sections, size_t count, struct error *error)
{
	struct buffer names = {0};
	size_t names_size;

	*image = (struct dwarf_image){0};
	collect_names(sections, count, &names);
	names_size = names.length;
	image->names = buffer_steal(&names);
	image->elf = elf_clone(object->elf, ELF_C_EMPTY);
	if (image->elf == NULL || !fill(image, object, sections, count, names_size)) {
		dwarf_image_release(image);
		return error_set(error, -ENOMEM, "libelf: %s", elf_errmsg(-1));
	}
	image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	if (image->dwarf == NULL) {
		dwarf_image_release(image);
		return error_set(error, -EBADMSG, "libdw: %s", dwarf_errmsg(-1));
	}
	return 0;
}

void dwarf_image_release(struct dwarf_image *image)
{
	dwarf_end(image->dwarf);
	elf_end(image->elf);
	free(image->names);
	*image = (struct dwarf_image){0};
}
