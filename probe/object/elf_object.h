/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ELF_OBJECT_H
#define CTOP_ELF_OBJECT_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "layout.h"

/*
 * One ELF file, mapped and read with libelf. No offset or size in it is trusted: what this header hands out
 * lies within the mapping. Only files of this machine's byte order are read.
 */

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define ELF_OBJECT_ENCODING ELFDATA2LSB
#else
#define ELF_OBJECT_ENCODING ELFDATA2MSB
#endif

struct byte_range {
	const unsigned char *data;
	size_t size; /* bytes; 0 for none */
};

/* The sections that are read; their names are in elf_object.c. */
enum elf_section_id {
	ELF_SECTION_RODATA,
	ELF_SECTION_BUILD_ID,
	ELF_SECTION_DEBUGLINK,
	ELF_SECTION_DEBUGALTLINK,
	ELF_SECTION_INFO,
	ELF_SECTION_TYPES,
	ELF_SECTION_ABBREV,
	ELF_SECTION_STR,
	ELF_SECTION_LINE_STR,
	ELF_SECTION_STR_OFFSETS,
	ELF_SECTION_ADDR,
	ELF_SECTION_RANGES,
	ELF_SECTION_RNGLISTS,
	ELF_SECTION_PUBTYPES,
	ELF_SECTION_INFO_DWO,
	ELF_SECTION_TYPES_DWO,
	ELF_SECTION_ABBREV_DWO,
	ELF_SECTION_STR_DWO,
	ELF_SECTION_STR_OFFSETS_DWO,
	ELF_SECTION_CU_INDEX,
	ELF_SECTION_TU_INDEX,
	ELF_SECTION_COUNT,
};

enum elf_packing {
	ELF_PACKING_NONE,
	ELF_PACKING_ZLIB,
	ELF_PACKING_ZSTD,
	ELF_PACKING_UNKNOWN,
};

struct elf_section {
	struct byte_range content; /* as in the file, without a compression header; size 0: absent or empty */
	enum elf_packing packing;
	uint64_t unpacked_size; /* as the header claims, bytes */
	void *unpacked;         /* owned mapping of that size, once asked for */
};

/* A table of symbols with its names. */
struct elf_symbols {
	struct byte_range entries;
	struct byte_range strings; /* ends in a NUL unless empty */
	size_t count;
};

struct elf_symbol {
	const char *name; /* NUL-terminated */
	uint64_t value, size;
	unsigned char type; /* STT_… */
	uint16_t section;   /* SHN_… */
};

struct elf_object {
	struct byte_range image; /* owned mapping of the whole file */
	Elf *elf;                /* owned */
	uint16_t machine;        /* e_machine */
	bool is_64;
	bool is_native;          /* of the machine that this program is built for */
	bool has_tls, is_static; /* static: no PT_INTERP */
	struct tls_segment tls;
	char interpreter[64]; /* "" for none */
	struct elf_symbols symtab, dynsym;
	struct elf_section sections[ELF_SECTION_COUNT];
	uint64_t unpacked_total; /* bytes unpacked up to now */
};

enum {
	/* Unpacked bytes that one file may ask for, MiB. */
	ELF_OBJECT_UNPACK_LIMIT_MIB = 1024,
	ELF_BUILD_ID_TEXT_SIZE = 2 * 64 + 1,
	ELF_LINK_NAME_SIZE = 256,
};

/*
 * Maps the file behind `descriptor` (which stays the caller's) and reads its headers. Returns 0 or a negative
 * errno with a sentence: -ENOEXEC for what is no ELF file of this byte order. Ends with elf_object_release().
 */
int elf_object_open(struct elf_object *object, int descriptor, struct error *error);

/* Does nothing on a zeroed struct. */
void elf_object_release(struct elf_object *object);

/*
 * The content of a section, unpacked when it is compressed (and kept for the next call). Owned by the object.
 * Returns 0, -ENOENT when the section is absent or empty, or a negative errno with a sentence.
 */
int elf_object_section(struct elf_object *object, enum elf_section_id id, struct byte_range *ret_content,
		       struct error *error);

/* Name of a section as libdw knows it: ".debug_info". */
const char *elf_section_name(enum elf_section_id id);

/* True and the symbol at `index` (below `count`), false when its name lies outside of the names. */
bool elf_symbols_get(const struct elf_object *object, const struct elf_symbols *symbols, size_t index,
		     struct elf_symbol *ret_symbol);

/*
 * The `size` bytes that the file puts at a virtual address (a PT_LOAD segment). Owned by the object; NULL
 * when they are not all in one segment of the file.
 */
const unsigned char *elf_object_address(const struct elf_object *object, uint64_t address, size_t size);

/*
 * The build id as lower-case hexadecimal: the descriptor of the first note in .note.gnu.build-id. False when
 * it has none.
 */
bool elf_object_build_id(const struct elf_object *object, char ret_text[static ELF_BUILD_ID_TEXT_SIZE]);

/* The name and the CRC-32 in .gnu_debuglink. False without one, or with an overlong one. */
bool elf_object_debuglink(const struct elf_object *object, char ret_name[static ELF_LINK_NAME_SIZE],
			  uint32_t *ret_crc);

/* The last component of the name in .gnu_debugaltlink, and the build id behind it. False without one. */
bool elf_object_debugaltlink(const struct elf_object *object, char ret_name[static ELF_LINK_NAME_SIZE],
			     char ret_build_id[static ELF_BUILD_ID_TEXT_SIZE]);

/* The CRC-32 of the whole file, as .gnu_debuglink has it. Reads all of it. */
uint32_t elf_object_crc(const struct elf_object *object);

/* The shared object name (DT_SONAME), or NULL. Owned by the object. */
const char *elf_object_soname(const struct elf_object *object);

/*
 * Counts the dynamic relocations of `type` (R_…), and keeps symbol index and addend of the last one. One that
 * refers to the same as the one before is not counted: linkers leave several to one variable.
 */
struct elf_relocation {
	size_t count;
	uint32_t symbol;
	int64_t addend;
};

struct elf_relocation elf_object_relocations(const struct elf_object *object, uint32_t type);

#endif
