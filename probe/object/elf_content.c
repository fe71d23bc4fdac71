/* SPDX-License-Identifier: GPL-2.0-only */
/* The content of an ELF object: symbols, names of its debug files, dynamic section. */
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "elf_object.h"

bool elf_symbols_get(const struct elf_object *object, const struct elf_symbols *symbols, size_t index,
		     struct elf_symbol *ret_symbol)
{
	size_t name;

	if (object->is_64) {
		Elf64_Sym entry;

		memcpy(&entry, symbols->entries.data + index * sizeof(entry), sizeof(entry));
		name = entry.st_name;
		*ret_symbol = (struct elf_symbol){NULL, entry.st_value, entry.st_size,
						  ELF64_ST_TYPE(entry.st_info), entry.st_shndx};
	} else {
		Elf32_Sym entry;

		memcpy(&entry, symbols->entries.data + index * sizeof(entry), sizeof(entry));
		name = entry.st_name;
		*ret_symbol = (struct elf_symbol){NULL, entry.st_value, entry.st_size,
						  ELF32_ST_TYPE(entry.st_info), entry.st_shndx};
	}
	if (name >= symbols->strings.size)
		return false;
	ret_symbol->name = (const char *)symbols->strings.data + name;
	return true;
}

const unsigned char *elf_object_address(const struct elf_object *object, uint64_t address, size_t size)
{
	size_t count;

	if (elf_getphdrnum(object->elf, &count) != 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		uint64_t within;

		if (gelf_getphdr(object->elf, (int)i, &header) == NULL)
			return NULL;
		if (header.p_type != PT_LOAD || address < header.p_vaddr)
			continue;
		within = address - header.p_vaddr;
		if (within > header.p_filesz || size > header.p_filesz - within ||
		    header.p_offset > object->image.size || within > object->image.size - header.p_offset ||
		    size > object->image.size - header.p_offset - within)
			continue;
		return object->image.data + header.p_offset + within;
	}
	return NULL;
}

/* False when the text would not fit, or there are no bytes. */
static bool write_hexadecimal(const unsigned char *bytes, size_t count,
			      char text[static ELF_BUILD_ID_TEXT_SIZE])
{
	if (count == 0 || count > (ELF_BUILD_ID_TEXT_SIZE - 1) / 2)
		return false;
	for (size_t i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

bool elf_object_build_id(const struct elf_object *object, char ret_text[static ELF_BUILD_ID_TEXT_SIZE])
{
	const struct byte_range note = object->sections[ELF_SECTION_BUILD_ID].content;
	uint32_t head[3]; /* sizes of name and descriptor, type */
	uint64_t start;

	if (note.size < sizeof(head))
		return false;
	memcpy(head, note.data, sizeof(head));
	start = sizeof(head) + (((uint64_t)head[0] + 3) & ~UINT64_C(3));
	if (start > note.size || head[1] > note.size - start)
		return false;
	return write_hexadecimal(note.data + start, head[1], ret_text);
}

/* Length of the name at the beginning of `link`, or 0 when it does not end or does not fit. */
static size_t link_name_length(struct byte_range link)
{
	const size_t length = link.size > 0 ? strnlen((const char *)link.data, link.size) : 0;

	return length < link.size && length < ELF_LINK_NAME_SIZE ? length : 0;
}

bool elf_object_debuglink(const struct elf_object *object, char ret_name[static ELF_LINK_NAME_SIZE],
			  uint32_t *ret_crc)
{
	const struct byte_range link = object->sections[ELF_SECTION_DEBUGLINK].content;
	const size_t length = link_name_length(link), crc = (length + 1 + 3) & ~(size_t)3;

	if (length == 0 || crc > link.size || link.size - crc < sizeof(*ret_crc))
		return false;
	memcpy(ret_name, link.data, length + 1);
	memcpy(ret_crc, link.data + crc, sizeof(*ret_crc));
	return true;
}

bool elf_object_debugaltlink(const struct elf_object *object, char ret_name[static ELF_LINK_NAME_SIZE],
			     char ret_build_id[static ELF_BUILD_ID_TEXT_SIZE])
{
	const struct byte_range link = object->sections[ELF_SECTION_DEBUGALTLINK].content;
	const size_t length = link_name_length(link);
	const char *last;

	if (length == 0 || !write_hexadecimal(link.data + length + 1, link.size - length - 1, ret_build_id))
		return false;
	last = memrchr(link.data, '/', length);
	last = last != NULL ? last + 1 : (const char *)link.data;
	memcpy(ret_name, last, strlen(last) + 1);
	return true;
}

uint32_t elf_object_crc(const struct elf_object *object)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), object->image.data, object->image.size);
}

const char *elf_object_soname(const struct elf_object *object)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Dyn entry;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
			if (entry.d_tag == DT_NULL)
				break;
			if (entry.d_tag == DT_SONAME)
				return elf_strptr(object->elf, header.sh_link, entry.d_un.d_val);
		}
		return NULL;
	}
	return NULL;
}

struct elf_relocation elf_object_relocations(const struct elf_object *object, uint32_t type)
{
	struct elf_relocation found = {0};
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Rela entry;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data != NULL && gelf_getrela(data, i, &entry) != NULL; i++) {
			const uint32_t symbol = (uint32_t)GELF_R_SYM(entry.r_info);

			if (GELF_R_TYPE(entry.r_info) != type ||
			    (found.count != 0 && symbol == found.symbol && entry.r_addend == found.addend))
				continue;
			found.count++;
			found.symbol = symbol;
			found.addend = entry.r_addend;
		}
	}
	return found;
}
