/* SPDX-License-Identifier: GPL-2.0-only */
#include "c_library.h"

#include <elf.h>
#include <string.h>

#define DESCRIPTOR_PREFIX "_thread_db_"

/* The layout of a constant (nptl_db/db_info.c): a size is one word, a field three. */
enum descriptor_shape {
	SHAPE_SIZE,
	SHAPE_FIELD_OFFSET, /* bits, number of elements, offset: the offset is wanted */
	SHAPE_FIELD_SIZE,   /* the bits are wanted, as bytes */
};

struct descriptor {
	const char *name; /* behind the prefix */
	enum descriptor_shape shape;
	uint32_t limit; /* larger values are nonsense */
};

enum descriptor_id {
	PTHREAD_SIZE,
	TID_OFFSET,
	DTV_POINTER_OFFSET,
	LINK_TLS_OFFSET,
	LINK_TLS_MODULE,
	DTV_ENTRY_SIZE,
	DTV_POINTER_VALUE,
	DESCRIPTOR_COUNT,
};

static const struct descriptor descriptors[DESCRIPTOR_COUNT] = {
	[PTHREAD_SIZE] = {"sizeof_pthread", SHAPE_SIZE, 65536},
	[TID_OFFSET] = {"pthread_tid", SHAPE_FIELD_OFFSET, 65536},
	[DTV_POINTER_OFFSET] = {"pthread_dtvp", SHAPE_FIELD_OFFSET, 65536},
	[LINK_TLS_OFFSET] = {"link_map_l_tls_offset", SHAPE_FIELD_OFFSET, 65536},
	[LINK_TLS_MODULE] = {"link_map_l_tls_modid", SHAPE_FIELD_OFFSET, 65536},
	[DTV_ENTRY_SIZE] = {"dtv_dtv", SHAPE_FIELD_SIZE, 64},
	[DTV_POINTER_VALUE] = {"dtv_t_pointer_val", SHAPE_FIELD_OFFSET, 64},
};

struct descriptor_value {
	bool known;
	uint32_t value;
};

static void read_value(const struct elf_object *data, uint64_t address, const struct descriptor *descriptor,
		       struct descriptor_value *value)
{
	uint32_t words[3];
	const size_t size = descriptor->shape == SHAPE_SIZE ? sizeof(words[0]) : sizeof(words);
	const unsigned char *bytes = elf_object_address(data, address, size);
	uint32_t found;

	if (bytes == NULL)
		return;
	memcpy(words, bytes, size);
	found = descriptor->shape == SHAPE_SIZE           ? words[0]
		: descriptor->shape == SHAPE_FIELD_OFFSET ? words[2]
							  : words[0] / 8;
	if (found <= descriptor->limit)
		*value = (struct descriptor_value){true, found};
}

static void read_table(const struct elf_object *data, const struct elf_object *symbols,
		       const struct elf_symbols *table, struct descriptor_value values[DESCRIPTOR_COUNT])
{
	if (table->count == 0 || memmem(table->strings.data, table->strings.size, DESCRIPTOR_PREFIX,
					sizeof(DESCRIPTOR_PREFIX) - 1) == NULL)
		return;
	for (size_t i = 0; i < table->count; i++) {
		struct elf_symbol symbol;

		if (!elf_symbols_get(symbols, table, i, &symbol) || symbol.section == SHN_UNDEF ||
		    strncmp(symbol.name, DESCRIPTOR_PREFIX, sizeof(DESCRIPTOR_PREFIX) - 1) != 0)
			continue;
		for (size_t id = 0; id < DESCRIPTOR_COUNT; id++) {
			if (strcmp(symbol.name + sizeof(DESCRIPTOR_PREFIX) - 1, descriptors[id].name) == 0)
				read_value(data, symbol.value, &descriptors[id], &values[id]);
		}
	}
}

/* A function that only musl has (src/env/__init_tls.c), seen in static programs that kept their symbols. */
static bool is_static_musl(const struct elf_object *object)
{
	const struct elf_symbols *table = &object->symtab;
	static const char name[] = "__copy_tls";

	return table->count > 0 &&
	       memmem(table->strings.data, table->strings.size, name, sizeof(name)) != NULL;
}

void c_library_read(const struct elf_object *data, const struct elf_object *symbols,
		    struct c_library *library)
{
	struct descriptor_value values[DESCRIPTOR_COUNT] = {{0}};

	read_table(data, symbols, &symbols->symtab, values);
	read_table(data, symbols, &symbols->dynsym, values);
	if (values[PTHREAD_SIZE].known && values[TID_OFFSET].known && values[DTV_POINTER_OFFSET].known &&
	    values[TID_OFFSET].value < values[PTHREAD_SIZE].value) {
		library->kind = C_LIBRARY_GLIBC;
		library->threads_known = true;
		library->pthread_size = values[PTHREAD_SIZE].value;
		library->tid_offset = values[TID_OFFSET].value;
		library->dtv_pointer_offset = values[DTV_POINTER_OFFSET].value;
	}
	if (values[LINK_TLS_OFFSET].known && values[LINK_TLS_MODULE].known) {
		library->kind = C_LIBRARY_GLIBC;
		library->links_known = true;
		library->link_tls_offset = values[LINK_TLS_OFFSET].value;
		library->link_tls_module = values[LINK_TLS_MODULE].value;
	}
	if (values[DTV_ENTRY_SIZE].known && values[DTV_POINTER_VALUE].known) {
		library->dtv_entry_size = values[DTV_ENTRY_SIZE].value;
		library->dtv_pointer_value = values[DTV_POINTER_VALUE].value;
	}
	if (library->kind == C_LIBRARY_UNKNOWN && data->is_static && is_static_musl(symbols))
		library->kind = C_LIBRARY_MUSL;
}

void c_library_from_interpreter(const struct elf_object *executable, struct c_library *library)
{
	if (strstr(executable->interpreter, "/ld-musl-") != NULL)
		library->kind = C_LIBRARY_MUSL;
}

bool c_library_is_candidate(const struct elf_object *object)
{
	const char *name = elf_object_soname(object);

	return name != NULL && (strcmp(name, "libc.so.6") == 0 || strcmp(name, "libpthread.so.0") == 0);
}
