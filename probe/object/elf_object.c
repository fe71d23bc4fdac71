/* SPDX-License-Identifier: GPL-2.0-only */
#include "elf_object.h"

#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#define ZLIB_CONST /* input is not written to */
#include <zlib.h>
#include <zstd.h>

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#endif

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* "Compressed Sections" of the gABI, since 2022 */
#endif

static const char *const section_names[ELF_SECTION_COUNT] = {
	[ELF_SECTION_RODATA] = ".rodata",
	[ELF_SECTION_BUILD_ID] = ".note.gnu.build-id",
	[ELF_SECTION_DEBUGLINK] = ".gnu_debuglink",
	[ELF_SECTION_DEBUGALTLINK] = ".gnu_debugaltlink",
	[ELF_SECTION_INFO] = ".debug_info",
	[ELF_SECTION_TYPES] = ".debug_types",
	[ELF_SECTION_ABBREV] = ".debug_abbrev",
	[ELF_SECTION_STR] = ".debug_str",
	[ELF_SECTION_LINE_STR] = ".debug_line_str",
	[ELF_SECTION_STR_OFFSETS] = ".debug_str_offsets",
	[ELF_SECTION_ADDR] = ".debug_addr",
	[ELF_SECTION_RANGES] = ".debug_ranges",
	[ELF_SECTION_RNGLISTS] = ".debug_rnglists",
	[ELF_SECTION_PUBTYPES] = ".debug_pubtypes",
	[ELF_SECTION_INFO_DWO] = ".debug_info.dwo",
	[ELF_SECTION_TYPES_DWO] = ".debug_types.dwo",
	[ELF_SECTION_ABBREV_DWO] = ".debug_abbrev.dwo",
	[ELF_SECTION_STR_DWO] = ".debug_str.dwo",
	[ELF_SECTION_STR_OFFSETS_DWO] = ".debug_str_offsets.dwo",
	[ELF_SECTION_CU_INDEX] = ".debug_cu_index",
	[ELF_SECTION_TU_INDEX] = ".debug_tu_index",
};

const char *elf_section_name(enum elf_section_id id)
{
	return section_names[id];
}

/* ".zdebug_info" is ".debug_info" with its own header, as GNU tools wrote it before SHF_COMPRESSED. */
static enum elf_section_id section_find(const char *name, bool *ret_is_old_zlib)
{
	const size_t dot = strlen("."), prefix = strlen(".z");
	size_t id = 0;

	*ret_is_old_zlib = strncmp(name, ".zdebug_", 8) == 0;
	while (id < ELF_SECTION_COUNT && strcmp(section_names[id], name) != 0 &&
	       !(*ret_is_old_zlib && strcmp(section_names[id] + dot, name + prefix) == 0))
		id++;
	return (enum elf_section_id)id;
}

/* The bytes of the file that a section header names; empty when they are not all there. */
static struct byte_range section_content(const struct elf_object *object, const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS || header->sh_offset > object->image.size ||
	    header->sh_size > object->image.size - header->sh_offset)
		return (struct byte_range){0};
	return (struct byte_range){object->image.data + header->sh_offset, header->sh_size};
}

/* A compressed section: the header says how, and how much comes of it. */
static void read_compression(struct elf_section *section, Elf_Scn *scn, bool is_64)
{
	const size_t header_size = is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	GElf_Chdr header;

	if (section->content.size < header_size || gelf_getchdr(scn, &header) == NULL) {
		section->content = (struct byte_range){0};
		return;
	}
	section->packing = header.ch_type == ELFCOMPRESS_ZLIB   ? ELF_PACKING_ZLIB
			   : header.ch_type == ELFCOMPRESS_ZSTD ? ELF_PACKING_ZSTD
								: ELF_PACKING_UNKNOWN;
	section->unpacked_size = header.ch_size;
	section->content.data += header_size;
	section->content.size -= header_size;
}

/* "ZLIB" and the size as eight bytes, the highest first. */
static void read_old_zlib(struct elf_section *section)
{
	uint64_t size;

	if (section->content.size < 12 || memcmp(section->content.data, "ZLIB", 4) != 0)
		return;
	memcpy(&size, section->content.data + 4, sizeof(size));
	section->packing = ELF_PACKING_ZLIB;
	section->unpacked_size = be64toh(size);
	section->content.data += 12;
	section->content.size -= 12;
}

static void read_symbol_table(const struct elf_object *object, const GElf_Shdr *header,
			      struct elf_symbols *symbols)
{
	const size_t entry_size = object->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	GElf_Shdr strings;

	if (symbols->count > 0 || gelf_getshdr(elf_getscn(object->elf, header->sh_link), &strings) == NULL)
		return;
	symbols->entries = section_content(object, header);
	symbols->strings = section_content(object, &strings);
	if (symbols->strings.size == 0 || symbols->strings.data[symbols->strings.size - 1] != '\0')
		return;
	symbols->count = symbols->entries.size / entry_size;
}

static void read_sections(struct elf_object *object)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(object->elf, &names) != 0)
		return;
	while ((scn = elf_nextscn(object->elf, scn)) != NULL) {
		bool is_old_zlib;
		enum elf_section_id id;
		const char *name;
		GElf_Shdr header;
		struct elf_section *section;

		if (gelf_getshdr(scn, &header) == NULL)
			continue;
		if (header.sh_type == SHT_SYMTAB)
			read_symbol_table(object, &header, &object->symtab);
		if (header.sh_type == SHT_DYNSYM)
			read_symbol_table(object, &header, &object->dynsym);
		name = elf_strptr(object->elf, names, header.sh_name);
		if (name == NULL)
			continue;
		id = section_find(name, &is_old_zlib);
		if (id == ELF_SECTION_COUNT || object->sections[id].content.size > 0)
			continue;
		section = &object->sections[id];
		section->content = section_content(object, &header);
		if ((header.sh_flags & SHF_COMPRESSED) != 0)
			read_compression(section, scn, object->is_64);
		else if (is_old_zlib)
			read_old_zlib(section);
	}
}

static void read_interpreter(struct elf_object *object, const GElf_Phdr *header)
{
	size_t length = header->p_filesz;

	object->is_static = false;
	if (header->p_offset > object->image.size || length > object->image.size - header->p_offset)
		return;
	if (length >= sizeof(object->interpreter))
		length = sizeof(object->interpreter) - 1;
	memcpy(object->interpreter, object->image.data + header->p_offset, length);
}

static void read_segments(struct elf_object *object)
{
	size_t count;

	object->is_static = true;
	if (elf_getphdrnum(object->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(object->elf, (int)i, &header) == NULL)
			return;
		if (header.p_type == PT_TLS && !object->has_tls) {
			object->has_tls = true;
			object->tls = (struct tls_segment){header.p_vaddr, header.p_memsz, header.p_align};
		} else if (header.p_type == PT_INTERP) {
			read_interpreter(object, &header);
		}
	}
}

static int map_file(struct elf_object *object, int descriptor, struct error *error)
{
	struct stat status;
	void *image;

	if (fstat(descriptor, &status) < 0)
		return error_set(error, -errno, "cannot be examined: %s", strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_size < EI_NIDENT)
		return error_set(error, -ENOEXEC, "not an ELF file");
	image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	if (image == MAP_FAILED)
		return error_set(error, -errno, "cannot be mapped: %s", strerror(errno));
	object->image = (struct byte_range){image, (size_t)status.st_size};
	return 0;
}

static int read_headers(struct elf_object *object, struct error *error)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	/* libelf takes a pointer to characters that it does not write to: nothing here is in foreign order */
	if (memcmp(object->image.data, ELFMAG, SELFMAG) != 0 ||
	    object->image.data[EI_DATA] != ELF_OBJECT_ENCODING)
		return error_set(error, -ENOEXEC, "not an ELF file of this byte order");
	object->elf = elf_memory((char *)(uintptr_t)object->image.data, object->image.size);
	if (object->elf == NULL || gelf_getehdr(object->elf, &header) == NULL)
		return error_set(error, -ENOEXEC, "not an ELF file: %s", elf_errmsg(-1));
	object->machine = header.e_machine;
	object->is_64 = gelf_getclass(object->elf) == ELFCLASS64;
	object->is_native = object->is_64 && header.e_machine == NATIVE_MACHINE;
	read_segments(object);
	read_sections(object);
	return 0;
}

int elf_object_open(struct elf_object *object, int descriptor, struct error *error)
{
	int result;

	*object = (struct elf_object){0};
	result = map_file(object, descriptor, error);
	if (result == 0)
		result = read_headers(object, error);
	if (result < 0)
		elf_object_release(object);
	return result;
}

void elf_object_release(struct elf_object *object)
{
	for (size_t id = 0; id < ELF_SECTION_COUNT; id++) {
		if (object->sections[id].unpacked != NULL)
			munmap(object->sections[id].unpacked, object->sections[id].unpacked_size);
	}
	elf_end(object->elf);
	if (object->image.data != NULL)
		munmap((void *)(uintptr_t)object->image.data, object->image.size);
	*object = (struct elf_object){0};
}

/* --- compressed sections --- */

static uInt chunk_of(size_t size)
{
	return size > UINT_MAX ? UINT_MAX : (uInt)size;
}

/* Several zlib streams may follow each other: a linker that joins sections writes one for each. */
static int unpack_zlib(struct byte_range packed, unsigned char *destination, size_t size)
{
	z_stream stream = {.next_in = packed.data};
	size_t unread = packed.size, unwritten = size;
	int status = inflateInit(&stream);

	if (status != Z_OK)
		return -ENOMEM;
	stream.next_out = destination;
	while (unwritten > 0 && unread > 0) {
		const uInt input = chunk_of(unread), output = chunk_of(unwritten);

		stream.avail_in = input;
		stream.avail_out = output;
		status = inflate(&stream, Z_NO_FLUSH);
		unread -= input - stream.avail_in;
		unwritten -= output - stream.avail_out;
		if (status == Z_STREAM_END)
			status = inflateReset(&stream);
		if (status != Z_OK)
			break;
	}
	inflateEnd(&stream);
	return unwritten == 0 ? 0 : -EBADMSG;
}

static int unpack_zstd(struct byte_range packed, unsigned char *destination, size_t size)
{
	/* One call takes all frames and never writes beyond the destination. */
	const size_t written = ZSTD_decompress(destination, size, packed.data, packed.size);

	return !ZSTD_isError(written) && written == size ? 0 : -EBADMSG;
}

/*
 * Unpacks a compressed section into exactly `size` bytes at `destination`. Returns 0, -EBADMSG if the data is
 * damaged or unpacks to another number of bytes, -EOPNOTSUPP for an unknown compression.
 */
static int unpack(enum elf_packing packing, struct byte_range packed, void *destination, size_t size)
{
	switch (packing) {
	case ELF_PACKING_ZLIB:
		return unpack_zlib(packed, destination, size);
	case ELF_PACKING_ZSTD:
		return unpack_zstd(packed, destination, size);
	default:
		return -EOPNOTSUPP;
	}
}

int elf_object_section(struct elf_object *object, enum elf_section_id id, struct byte_range *ret_content,
		       struct error *error)
{
	struct elf_section *section = &object->sections[id];
	void *unpacked;
	int result;

	if (section->content.size == 0 ||
	    (section->packing != ELF_PACKING_NONE && section->unpacked_size == 0))
		return error_set(error, -ENOENT, "no %s", section_names[id]);
	if (section->packing == ELF_PACKING_NONE) {
		*ret_content = section->content;
		return 0;
	}
	if (section->unpacked != NULL) {
		*ret_content = (struct byte_range){section->unpacked, section->unpacked_size};
		return 0;
	}
	if (section->unpacked_size > ((uint64_t)ELF_OBJECT_UNPACK_LIMIT_MIB << 20) - object->unpacked_total)
		return error_set(error, -EFBIG, "%s is larger than %d MiB when unpacked", section_names[id],
				 ELF_OBJECT_UNPACK_LIMIT_MIB);
	unpacked = mmap(NULL, section->unpacked_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (unpacked == MAP_FAILED)
		return error_set(error, -errno, "no memory to unpack %s", section_names[id]);
	result = unpack(section->packing, section->content, unpacked, section->unpacked_size);
	if (result < 0) {
		munmap(unpacked, section->unpacked_size);
		return error_set(error, result, "%s cannot be unpacked: %s", section_names[id],
				 result == -EOPNOTSUPP ? "unknown compression" : "damaged");
	}
	object->unpacked_total += section->unpacked_size;
	section->unpacked = unpacked;
	*ret_content = (struct byte_range){unpacked, section->unpacked_size};
	return 0;
}
