/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_LAYOUT_H
#define CTOP_PROBE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap_tag.h"

/*
 * The result of resolving the ELF objects of a process: where a thread's two jemalloc counters are. Plain
 * data without pointers: it travels as bytes from the sandboxed child, so whoever receives it checks every
 * field by resolution_check().
 */

enum layout_origin {
	LAYOUT_ORIGIN_DWARF,
	LAYOUT_ORIGIN_KNOWN_BUILD, /* by fingerprint, without debug data */
	LAYOUT_ORIGIN_COUNT,
};

extern const char *const layout_origin_names[LAYOUT_ORIGIN_COUNT]; /* "dwarf" "known-build" */

enum {
	/*
	 * The index that stands for the executable where objects of a process are numbered; libraries have
	 * their index in process_map.objects.
	 */
	LAYOUT_EXECUTABLE = UINT32_MAX,
	LAYOUT_VERSION_SIZE = 32,
	LAYOUT_TEXT_SIZE = 512,
	/* Bytes from one counter to the end of the other, read at once: 16 or 24 in all versions. */
	LAYOUT_SPAN_MAX = 4096,
};

/* The PT_TLS segment of an object, as its program header says (bytes). */
struct tls_segment {
	uint64_t address;   /* p_vaddr */
	uint64_t size;      /* p_memsz */
	uint64_t alignment; /* p_align */
};

/* jemalloc's thread specific data in one ELF object. */
struct heap_layout {
	enum layout_origin origin;
	char version[LAYOUT_VERSION_SIZE]; /* "5.3.0", "" when unknown */
	uint32_t object;                   /* that holds it: LAYOUT_EXECUTABLE or a library's number */
	struct tls_segment tls;            /* of that object */
	uint64_t symbol;                   /* st_value of the TLS symbol: offset in the TLS image */
	uint64_t allocated,
		deallocated; /* offsets of the counters in struct tsd_s; allocated < deallocated */
};

/* The facts that a C library states about its threads (symbols _thread_db_*: offsets in struct pthread and
 * others). */
enum c_library_kind {
	C_LIBRARY_UNKNOWN,
	C_LIBRARY_GLIBC,
	C_LIBRARY_MUSL,
};

struct c_library {
	enum c_library_kind kind;
	bool threads_known; /* the next three are */
	uint32_t pthread_size, tid_offset, dtv_pointer_offset;
	bool links_known; /* the next two are: in struct link_map */
	uint32_t link_tls_offset, link_tls_module;
	uint32_t dtv_entry_size, dtv_pointer_value; /* of one entry of a thread's DTV, bytes; 0 unknown */
};

/* The outcome of the search. */
struct resolution {
	enum heap_tag tag;           /* HEAP_TAG_NONE: `layout` holds */
	char text[LAYOUT_TEXT_SIZE]; /* detail of a failure: what was tried, what was wrong */
	struct heap_layout layout;
	struct c_library c_library; /* filled on success, whatever could be found */
	bool is_static;             /* the executable has no interpreter */
	bool is_incomplete;         /* some of its files could not be opened, or not in time */
};

/*
 * Accepts a resolution that came as bytes from a child that may have been made to lie: `bytes` are
 * sizeof(struct resolution) of them. Every field that anybody will use is checked against its range,
 * `object_count` is the number of libraries of the process. Returns true and fills `*ret_resolution`, or
 * false if the bytes are not valid.
 */
bool resolution_check(const unsigned char *bytes, uint32_t object_count, struct resolution *ret_resolution);

#endif
