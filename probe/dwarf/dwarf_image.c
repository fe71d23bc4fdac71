/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define NAMES_SECTION ".shstrtab"

enum {
	NAME_SIZE_MAX = 32,   /* with its NUL */
	FIRST_BASE = 1 << 20, /* above vm.mmap_min_addr as it is set anywhere */
	BASE_STEP = 1 << 16,  /* the largest page size */
	BASE_TRIES = 256,
};

/* The header in front of all contents. */
struct dwarf_headers {
	Elf64_Ehdr file;
	Elf64_Shdr sections[1 + ELF_SECTION_COUNT + 1]; /* the empty one, the contents, the names */
	char names[1 + ELF_SECTION_COUNT * NAME_SIZE_MAX + sizeof(NAMES_SECTION)];
};

/* Memory at an address as low as can be had, zeroed; NULL without room. */
static struct dwarf_headers *map_low(void)
{
	uintptr_t base = FIRST_BASE;

	for (int i = 0; i < BASE_TRIES; i++, base += BASE_STEP) {
		void *headers = mmap((void *)base, sizeof(struct dwarf_headers), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (headers != MAP_FAILED)
			return headers;
	}
	return NULL;
}

/* Adds a section whose content lies behind the headers. Returns false when it lies in front of them. */
static bool add_section(struct dwarf_headers *headers, const char *name, Elf64_Word type, const void *content,
			size_t size, size_t *names_size)
{
	Elf64_Shdr *section = &headers->sections[headers->file.e_shnum++];

	if ((uintptr_t)content < (uintptr_t)headers)
		return false;
	*section = (Elf64_Shdr){.sh_name = (Elf64_Word)*names_size,
				.sh_type = type,
				.sh_offset = (uintptr_t)content - (uintptr_t)headers,
				.sh_size = size,
				.sh_addralign = 1};
	memcpy(headers->names + *names_size, name, strlen(name) + 1);
	*names_size += strlen(name) + 1;
	return true;
}

static bool fill(struct dwarf_headers *headers, const struct dwarf_section *sections, size_t count)
{
	size_t names_size = 1;

	if (count > ELF_SECTION_COUNT)
		return false;
	headers->file = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELF_OBJECT_ENCODING, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct dwarf_headers, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1};
	for (size_t i = 0; i < count; i++) {
		if (!add_section(headers, elf_section_name(sections[i].id), SHT_PROGBITS,
				 sections[i].content.data, sections[i].content.size, &names_size))
			return false;
	}
	headers->file.e_shstrndx = headers->file.e_shnum;
	return add_section(headers, NAMES_SECTION, SHT_STRTAB, headers->names, sizeof(headers->names),
			   &names_size);
}

int dwarf_image_open(struct dwarf_image *image, const struct dwarf_section *sections, size_t count,
		     struct error *error)
{
	*image = (struct dwarf_image){.headers = map_low()};
	if (image->headers == NULL || !fill(image->headers, sections, count)) {
		dwarf_image_release(image);
		return error_set(error, -ENOMEM, "no memory at a low address");
	}
	elf_version(EV_CURRENT);
	image->elf = elf_memory((char *)image->headers, PTRDIFF_MAX);
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
	if (image->headers != NULL)
		munmap(image->headers, sizeof(*image->headers));
	*image = (struct dwarf_image){0};
}
