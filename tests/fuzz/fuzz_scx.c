/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types of a scheduler and the memory of its arena. The first two bytes say how many of the others are
 * types (BTF), the third what to do with them and with which of them; all that is left is memory, over and
 * over again, so that a walk meets circles.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "capture/scx/scx_types.h"
#include "capture/scx/sdt_walk.h"

enum {
	HEAD = 3,
	TEXT_MAX = 2000,
	ENTRIES_MAX = 20,
	OWN_LAYOUT = 1,
	ID_AFTER = 2,
	TYPE = 4, /* times this: the type that is taken for a context */
};

struct memory {
	const uint8_t *bytes;
	size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct memory *memory = context;
	const size_t at = memory->size != 0 ? address % memory->size : 0;
	const size_t length = size < memory->size - at ? size : memory->size - at;

	if (length != 0)
		memcpy(bytes, memory->bytes + at, length);
	return length;
}

/* Members, texts and the choice of one type. */
static void look_at_type(const struct btf *btf, uint32_t type, const struct memory *memory)
{
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "fuzz_1", "", "", "",
								     (uint32_t)memory->size);
	struct scx_types_choice choice;
	struct arena arena = {0};
	struct buffer text = {0};

	scx_types_add_members(btf, type, scheduler);
	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		task_field_read(member, memory->bytes, 0);
		task_field_read(member, memory->bytes, member->count - 1);
	}
	scx_types_render(btf, type, memory->bytes, memory->size, TEXT_MAX, &text);
	if (text.length > TEXT_MAX)
		abort();
	scx_types_choose(btf, memory->size, NULL, &arena, &choice);
	if ((choice.type == 0) != (choice.reason[0] != '\0'))
		abort();
	scx_types_append_candidates(btf, memory->size, &text);
	buffer_release(&text);
	arena_release(&arena);
	task_field_owner_release(scheduler);
}

static void walk(const struct btf *btf, const struct sdt_layout *layout, const struct memory *memory)
{
	const struct scx_types_choice choice = {.type = btf != NULL ? 1 : 0, .reason = ""};
	const struct sdt_image image = {read_memory, (void *)(uintptr_t)memory};
	uint8_t *allocator = calloc(1, layout->allocator_size + 1);
	struct sdt_walk result;

	if (allocator == NULL)
		return;
	read_memory((void *)(uintptr_t)memory, 0, allocator, layout->allocator_size);
	sdt_walk(&image, layout, allocator, "fuzz", &choice, ENTRIES_MAX, &result);
	if (result.entry_count > ENTRIES_MAX)
		abort();
	sdt_walk_render(&result, btf);
	sdt_walk_release(&result);
	free(allocator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sdt_layout layout = {
		.allocator_size = 40,
		.elem_size = 8,
		.root = 32,
		.nr_free = 64,
		.chunk = 72,
		.id_size = 8,
	};
	size_t types;
	struct memory memory;
	struct error error;
	struct btf *btf;

	if (size < HEAD)
		return 0;
	types = (size_t)data[0] | (size_t)data[1] << 8;
	if (types > size - HEAD)
		types = size - HEAD;
	memory = (struct memory){data + HEAD + types, size - HEAD - types};
	btf = btf__new(data + HEAD, (uint32_t)types);
	if (btf != NULL) {
		look_at_type(btf, data[2] / TYPE % (btf__type_cnt(btf) + 1), &memory);
		if ((data[2] & OWN_LAYOUT) == 0 && sdt_layout_find(btf, &layout, &error) < 0 &&
		    error.text[0] == '\0')
			abort();
	}
	if ((data[2] & OWN_LAYOUT) != 0 && (data[2] & ID_AFTER) != 0) {
		layout.id_after = true;
		layout.id_size = 16;
	}
	/* an object of an allocator is as large as its variable, which the kernel bounds */
	if (layout.allocator_size <= TASK_FIELDS_SIZE_MAX)
		walk(btf, &layout, &memory);
	btf__free(btf);
	return 0;
}
