/* SPDX-License-Identifier: GPL-2.0-only */
#include "link_map.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "transfer.h"

enum {
	VECTOR_SIZE_MAX = 16 * 1024, /* of PROCESS/auxv; the kernel writes well below 1 KiB */
	HEADERS_MAX = 256,           /* program headers of one object */
	DYNAMIC_MAX = 256,           /* entries of one dynamic section */
	SECTIONS_MAX = 512,          /* looked at in one process: each entry is a system call */
	LINKS_MAX = 65536,           /* entries of the link map */
};

int auxiliary_vector_read(int process_directory, struct auxiliary_vector *ret_vector)
{
	struct buffer text = {0};
	struct auxiliary_vector vector = {0};
	int r = file_read(process_directory, "auxv", &text, VECTOR_SIZE_MAX);

	for (size_t at = 0; r == 0 && at + sizeof(Elf64_auxv_t) <= text.length; at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t entry;

		memcpy(&entry, text.data + at, sizeof(entry));
		switch (entry.a_type) {
		case AT_PHDR:
			vector.headers = entry.a_un.a_val;
			break;
		case AT_PHENT:
			vector.header_size = entry.a_un.a_val;
			break;
		case AT_PHNUM:
			vector.header_count = entry.a_un.a_val;
			break;
		case AT_RANDOM:
			vector.random = entry.a_un.a_val;
			break;
		}
	}
	buffer_release(&text);
	if (r == 0)
		*ret_vector = vector;
	return r;
}

struct link_reader {
	pid_t pid;
	struct transfer_way *way;
};

/* The object to look for, and the process. */
struct link_search {
	pid_t pid;
	struct auxiliary_vector vector;
	struct c_library library;
	size_t object, count;
	uint64_t firsts[]; /* of the objects of the map */
};

static int read_memory(const struct link_reader *reader, uint64_t address, void *buffer, size_t size)
{
	return transfer_read(reader->pid, address, buffer, size, reader->way);
}

/*
 * Finds the dynamic section of an object in memory by its `count` program headers at `address`. The
 * distance that it was moved follows from PT_PHDR or, with `base` not 0, from the segment that begins the
 * file and was mapped at `base`. Returns 0 and its address, or a negative errno.
 */
static int read_headers(const struct link_reader *reader, uint64_t address, uint64_t count, uint64_t base,
			uint64_t *ret_dynamic)
{
	Elf64_Phdr headers[HEADERS_MAX];
	uint64_t bias = 0, dynamic = 0;
	bool biased = false;
	int r;

	if (count == 0 || count > HEADERS_MAX)
		return -ENOENT;
	r = read_memory(reader, address, headers, count * sizeof(headers[0]));
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < count; i++) {
		if (headers[i].p_type == PT_DYNAMIC)
			dynamic = headers[i].p_vaddr;
		if (base == 0 ? headers[i].p_type == PT_PHDR
			      : headers[i].p_type == PT_LOAD && headers[i].p_offset == 0) {
			bias = (base == 0 ? address : base) - headers[i].p_vaddr;
			biased = true;
		}
	}
	if (!biased || dynamic == 0)
		return -ENOENT;
	*ret_dynamic = bias + dynamic;
	return 0;
}

/* The same for an object that is mapped from its first byte on at `base`. */
static int read_object(const struct link_reader *reader, uint64_t base, uint64_t *ret_dynamic)
{
	Elf64_Ehdr header;
	int r = read_memory(reader, base, &header, sizeof(header));

	if (r < 0)
		return r;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOENT;
	return read_headers(reader, base + header.e_phoff, header.e_phnum, base, ret_dynamic);
}

/* The value of DT_DEBUG: address of struct r_debug, 0 where the linker has not put it yet. -ENOENT: none. */
static int read_debug_address(const struct link_reader *reader, uint64_t dynamic, uint64_t *ret_address)
{
	for (uint64_t i = 0; i < DYNAMIC_MAX; i++) {
		Elf64_Dyn entry;
		const int r = read_memory(reader, dynamic + i * sizeof(entry), &entry, sizeof(entry));

		if (r < 0)
			return r;
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_DEBUG) {
			*ret_address = entry.d_un.d_ptr;
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * Address of struct r_debug. A program started as an argument of the dynamic linker is not the executable of
 * its process: then one of the mapped objects has the entry.
 */
static int find_debug(const struct link_reader *reader, const struct link_search *search,
		      uint64_t *ret_address)
{
	const struct auxiliary_vector *vector = &search->vector;
	uint64_t dynamic;
	int r = -ENOENT;

	if (vector->headers != 0 && vector->header_size == sizeof(Elf64_Phdr))
		r = read_headers(reader, vector->headers, vector->header_count, 0, &dynamic);
	if (r == 0)
		r = read_debug_address(reader, dynamic, ret_address);
	for (size_t i = 0; i < search->count && i < SECTIONS_MAX && (r == -ENOENT || r == -EFAULT); i++) {
		r = read_object(reader, search->firsts[i], &dynamic);
		if (r == 0)
			r = read_debug_address(reader, dynamic, ret_address);
	}
	return r;
}

/* Address of the entry whose dynamic section is at `dynamic`. */
static int find_link(const struct link_reader *reader, uint64_t debug, uint64_t dynamic, uint64_t *ret_link)
{
	struct r_debug head;
	uint64_t link;
	int r = read_memory(reader, debug, &head, sizeof(head));

	if (r < 0)
		return r;
	link = (uint64_t)(uintptr_t)head.r_map;
	for (size_t i = 0; link != 0 && i < LINKS_MAX; i++) {
		struct link_map entry;

		r = read_memory(reader, link, &entry, sizeof(entry));
		if (r < 0)
			return r;
		if ((uint64_t)(uintptr_t)entry.l_ld == dynamic) {
			*ret_link = link;
			return 0;
		}
		link = (uint64_t)(uintptr_t)entry.l_next;
	}
	/* while it is being changed, or before it is complete, the next look may find the object */
	return head.r_map == NULL || head.r_state != RT_CONSISTENT ? -EAGAIN : -ENOENT;
}

/*
 * Offsets that stand for "none yet" and "decided to be dynamic" (NO_TLS_OFFSET and FORCED_DYNAMIC_TLS_OFFSET
 * of glibc's include/link.h: 0 and -1, or -1 and -2 where 0 is a valid offset).
 */
static bool is_valid(uint64_t offset)
{
	return offset != 0 && offset < UINT64_MAX - 1;
}

static int read_tls(const struct link_reader *reader, uint64_t link, const struct c_library *library,
		    struct link_map_tls *ret_tls)
{
	struct link_map_tls tls = {0};
	int r = read_memory(reader, link + library->link_tls_offset, &tls.offset, sizeof(tls.offset));

	if (r == 0)
		r = read_memory(reader, link + library->link_tls_module, &tls.module, sizeof(tls.module));
	if (r < 0)
		return r;
	if (tls.module == 0)
		return -EAGAIN;
	tls.is_static = is_valid(tls.offset);
	*ret_tls = tls;
	return 0;
}

static int search_links(const struct link_search *search, struct link_map_tls *ret_tls)
{
	struct transfer_way here = {0};
	const struct link_reader reader = {.pid = search->pid, .way = &here};
	uint64_t dynamic, debug = 0, link = 0;
	int r = read_object(&reader, search->firsts[search->object], &dynamic);

	if (r == 0)
		r = find_debug(&reader, search, &debug);
	if (r == 0 && debug == 0)
		r = -EAGAIN;
	if (r == 0)
		r = find_link(&reader, debug, dynamic, &link);
	if (r == 0)
		r = read_tls(&reader, link, &search->library, ret_tls);
	return r;
}

/* A reader_work: answers with a struct link_map_tls. */
static int search_links_for_reader(int directory, const void *argument, size_t size, struct buffer *answer)
{
	struct link_map_tls tls = {0};
	const int r = search_links(argument, &tls);

	(void)directory;
	(void)size;
	if (r == 0)
		buffer_append(answer, &tls, sizeof(tls));
	return r;
}

int link_map_find_tls(pid_t pid, const struct auxiliary_vector *vector, const struct process_map *map,
		      uint32_t object, const struct c_library *library, struct link_map_tls *ret_tls,
		      struct transfer_way *way, struct error *error)
{
	const size_t size = sizeof(struct link_search) + map->count * sizeof(uint64_t);
	struct link_search *search;
	int r;

	if (object >= map->count)
		return error_set(error, -ENOENT, "its memory map changed while it was read");
	if (!library->links_known)
		return error_set(error, -ENOENT, "its C library does not describe its link map");
	if (size > READER_ARGUMENT_MAX)
		return error_set(error, -ENOENT, "it has %zu libraries mapped", map->count);
	search = memory_allocate_zero(1, size);
	*search = (struct link_search){
		.pid = pid,
		.vector = *vector,
		.library = *library,
		.object = object,
		.count = map->count,
	};
	for (size_t i = 0; i < map->count; i++)
		search->firsts[i] = map->objects[i].first;
	r = transfer_call(way, pid, search_links_for_reader, search, size, ret_tls, sizeof(*ret_tls));
	way->calls++;
	free(search);
	switch (r) {
	case 0:
		return 0;
	case -EAGAIN:
		return error_set(error, r, "its dynamic linker has not finished");
	case -EPERM:
	case -ESRCH:
	case -ETIMEDOUT:
	case -EIO:
		return error_set(error, r, "its memory: %s", strerror(-r));
	default:
		return error_set(error, -ENOENT, "%s is not in its link map", map->objects[object].path);
	}
}
