/* SPDX-License-Identifier: GPL-2.0-only */
#include "layout.h"

#include <stddef.h>
#include <string.h>

const char *const layout_origin_names[LAYOUT_ORIGIN_COUNT] = {
	[LAYOUT_ORIGIN_DWARF] = "dwarf",
	[LAYOUT_ORIGIN_KNOWN_BUILD] = "known-build",
};

/* --- checking what came from a child --- */

enum {
	COUNTER_SIZE = 8,
	PTHREAD_SIZE_MAX = 64 << 10, /* struct pthread of glibc: 2 to 3 KiB */
	LINK_SIZE_MAX = 64 << 10,    /* struct link_map of glibc: 1 to 2 KiB */
	DTV_ENTRY_SIZE_MAX = 64,
};

#define TLS_SIZE_MAX (UINT64_C(1) << 40)

/* A bool whose byte is neither 0 nor 1, or an enum out of range, must not even be read as such. */
static bool byte_is_bool(const unsigned char *bytes, size_t offset)
{
	return bytes[offset] <= 1;
}

static bool enum_is_below(const unsigned char *bytes, size_t offset, unsigned int count)
{
	unsigned int value;

	_Static_assert(sizeof(enum heap_tag) == sizeof(value) &&
			       sizeof(enum layout_origin) == sizeof(value) &&
			       sizeof(enum c_library_kind) == sizeof(value),
		       "enums are as wide as unsigned int");
	memcpy(&value, bytes + offset, sizeof(value));
	return value < count;
}

static bool types_are_sound(const unsigned char *bytes)
{
	return enum_is_below(bytes, offsetof(struct resolution, tag), HEAP_TAG_NONE + 1) &&
	       enum_is_below(bytes, offsetof(struct resolution, layout.origin), LAYOUT_ORIGIN_COUNT) &&
	       enum_is_below(bytes, offsetof(struct resolution, c_library.kind), C_LIBRARY_MUSL + 1) &&
	       byte_is_bool(bytes, offsetof(struct resolution, c_library.threads_known)) &&
	       byte_is_bool(bytes, offsetof(struct resolution, c_library.links_known)) &&
	       byte_is_bool(bytes, offsetof(struct resolution, is_static)) &&
	       byte_is_bool(bytes, offsetof(struct resolution, is_incomplete));
}

static bool is_power_of_two_or_0(uint64_t value)
{
	return (value & (value - 1)) == 0;
}

static bool layout_is_sound(const struct heap_layout *layout, uint32_t object_count)
{
	uint64_t end;

	if (memchr(layout->version, '\0', sizeof(layout->version)) == NULL)
		return false;
	if (layout->object != LAYOUT_EXECUTABLE && layout->object >= object_count)
		return false;
	if (layout->tls.size == 0 || layout->tls.size > TLS_SIZE_MAX ||
	    !is_power_of_two_or_0(layout->tls.alignment) || layout->tls.alignment > TLS_SIZE_MAX)
		return false;
	if (layout->allocated >= layout->deallocated ||
	    layout->deallocated - layout->allocated > LAYOUT_SPAN_MAX - COUNTER_SIZE)
		return false;
	/* the whole of struct tsd_s is part of the image that PT_TLS describes */
	return !__builtin_add_overflow(layout->symbol, layout->deallocated, &end) &&
	       end <= layout->tls.size && layout->tls.size - end >= COUNTER_SIZE;
}

static bool c_library_is_sound(const struct c_library *library)
{
	/* on aarch64 the pointer to the DTV is right behind struct pthread (nptl_db/structs.def) */
	if (library->threads_known &&
	    (library->pthread_size == 0 || library->pthread_size > PTHREAD_SIZE_MAX ||
	     library->tid_offset >= library->pthread_size ||
	     library->dtv_pointer_offset > library->pthread_size))
		return false;
	if (library->links_known &&
	    (library->link_tls_offset > LINK_SIZE_MAX || library->link_tls_module > LINK_SIZE_MAX))
		return false;
	return library->dtv_entry_size <= DTV_ENTRY_SIZE_MAX &&
	       library->dtv_pointer_value <= DTV_ENTRY_SIZE_MAX;
}

bool resolution_check(const unsigned char *bytes, uint32_t object_count, struct resolution *ret_resolution)
{
	struct resolution resolution;

	if (!types_are_sound(bytes))
		return false;
	memcpy(&resolution, bytes, sizeof(resolution));
	if (memchr(resolution.text, '\0', sizeof(resolution.text)) == NULL)
		return false;
	if (resolution.tag == HEAP_TAG_NONE) {
		if (!layout_is_sound(&resolution.layout, object_count) ||
		    !c_library_is_sound(&resolution.c_library))
			return false;
	} else {
		if (heap_tags[resolution.tag].stage != HEAP_TAG_STAGE_ATTACH &&
		    !heap_tag_is_of_worker(resolution.tag))
			return false;
		memset(&resolution.layout, 0, sizeof(resolution.layout));
		memset(&resolution.c_library, 0, sizeof(resolution.c_library));
	}
	*ret_resolution = resolution;
	return true;
}
