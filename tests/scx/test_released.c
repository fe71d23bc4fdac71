/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types of released schedulers (tests/data/scx): how their allocators are laid out, which type a context
 * has, and what is made of its members. What is expected of each stands beside its types as NAME.fields.
 */
#include "tests/cmocka_include.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <zstd.h>

#include "../report/golden.h"
#include "base/file.h"
#include "base/memory.h"
#include "capture/scx/sdt_walk.h"

enum {
	FILE_MAX = 1 << 20,
	FIRST_COLUMNS = 10,
};

static const struct {
	const char *name, *operations; /* as it calls itself */
	const char *type;
	uint32_t size;
	uint32_t id_size; /* 0: contexts are in task storage */
	bool id_after;
	const char *candidates; /* when nobody chooses by name */
} schedulers[] = {
	{"bpfland-1.1.4", "bpfland_1.1.4_x86_64", "task_ctx", 40, 0, false, NULL},
	{"lavd-1.1.3", "lavd_1.1.3_x86_64", "task_ctx", 512, 8, false,
	 "cpu_ctx, task_ctx, cfs_rq, sched_ext_ops"},
	{"lavd-1.1.4", "lavd_1.1.4_x86_64", "task_ctx", 512, 16, true,
	 "cpu_ctx, task_ctx, scx_bitmap, cfs_rq"},
	{"layered-1.1.4", "layered_1.1.4_x86_64", "task_ctx", 232, 0, false, NULL},
	{"p2dq-1.1.3", "p2dq_1.1.3_x86_64", "task_p2dq", 208, 8, false, "hw_perf_event, task_p2dq"},
	{"p2dq-1.1.4", "p2dq_1.1.4_x86_64", "task_p2dq", 200, 16, true, "task_p2dq"},
	{"rusty-1.1.4", "rusty_1.1.4_x86_64", "task_ctx", 152, 8, false, "thread_struct, task_ctx"},
};

static struct btf *load(const char *name)
{
	struct buffer packed = {0};
	struct btf *btf;
	char path[512];
	void *types = memory_allocate(FILE_MAX);
	size_t size;

	snprintf(path, sizeof(path), "%s/%s.btf.zst", TEST_DATA, name);
	assert_int_equal(file_read(AT_FDCWD, path, &packed, FILE_MAX), 0);
	size = ZSTD_decompress(types, FILE_MAX, packed.data, packed.length);
	assert_false(ZSTD_isError(size));
	btf = btf__new(types, (uint32_t)size);
	assert_non_null(btf);
	free(types);
	buffer_release(&packed);
	return btf;
}

static void test_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(schedulers); i++) {
		struct btf *btf = load(schedulers[i].name);
		struct sdt_layout layout;
		struct error error;
		const int result = sdt_layout_find(btf, &layout, &error);

		print_message("%s\n", schedulers[i].name);
		if (schedulers[i].id_size == 0) {
			assert_true(result < 0);
			assert_non_null(strstr(error.text, "is not there"));
		} else {
			const bool after = schedulers[i].id_after;

			assert_int_equal(result, 0);
			assert_int_equal(layout.id_after, after);
			assert_int_equal(layout.id_size, schedulers[i].id_size);
			assert_int_equal(layout.allocator_size, after ? 48 : 40);
			assert_int_equal(layout.elem_size, after ? 16 : 8);
			assert_int_equal(layout.root, after ? 40 : 32);
			assert_int_equal(layout.allocated, 0);
			assert_int_equal(layout.nr_free, 64);
			assert_int_equal(layout.chunk, 72);
			assert_int_equal(layout.children, 0);
		}
		btf__free(btf);
	}
}

static void test_choices(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(schedulers); i++) {
		struct btf *btf = load(schedulers[i].name);
		struct scx_types_choice choice;
		struct buffer names = {0};
		struct arena arena = {0};

		print_message("%s\n", schedulers[i].name);
		scx_types_choose(btf, schedulers[i].size, NULL, &arena, &choice);
		assert_string_equal(choice.reason, "");
		assert_string_equal(choice.name, schedulers[i].type);
		scx_types_append_candidates(btf, schedulers[i].size, &names);
		if (schedulers[i].candidates != NULL)
			assert_string_equal(names.data, schedulers[i].candidates);
		/* the name that all of them give it chooses the same, and so does its own */
		scx_types_choose(btf, schedulers[i].size, "task_ctx", &arena, &choice);
		assert_string_equal(choice.name, schedulers[i].type);
		scx_types_choose(btf, schedulers[i].size, schedulers[i].type, &arena, &choice);
		assert_string_equal(choice.name, schedulers[i].type);
		buffer_release(&names);
		arena_release(&arena);
		btf__free(btf);
	}
}

/* The fields that the tab Scx has first. */
static void append_columns(const struct task_field_owner *scheduler, struct buffer *text)
{
	size_t last = 0;

	buffer_append_text(text, "columns:");
	for (int i = 0; i < FIRST_COLUMNS; i++) {
		const struct task_field_member *next = NULL;
		size_t next_place = SIZE_MAX;

		for (size_t j = 0; j < scheduler->member_count; j++) {
			const struct task_field_member *member = &scheduler->members[j];
			const size_t place = member->field != TASK_FIELD_NONE
						     ? task_field_place(scheduler->family, member->name)
						     : SIZE_MAX;

			if (place < next_place && (i == 0 || place > last)) {
				next = member;
				next_place = place;
			}
		}
		if (next == NULL)
			break;
		last = next_place;
		buffer_append_format(text, " %s", next->name);
	}
	buffer_append_char(text, '\n');
}

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(schedulers); i++) {
		struct btf *btf = load(schedulers[i].name);
		struct task_field_owner *scheduler = task_field_owner_create(
			TASK_FIELD_SOURCE, schedulers[i].operations, schedulers[i].type, "", "",
			schedulers[i].size);
		struct scx_types_choice choice;
		struct buffer text = {0};
		struct arena arena = {0};
		char name[64];

		scx_types_choose(btf, schedulers[i].size, NULL, &arena, &choice);
		assert_int_equal(scx_types_add_members(btf, choice.type, scheduler), 0);
		append_columns(scheduler, &text);
		for (size_t j = 0; j < scheduler->member_count; j++) {
			const struct task_field_member *member = &scheduler->members[j];
			const bool is_field = member->field != TASK_FIELD_NONE;

			buffer_append_format(&text, "%u.%u %u %s: %s, %s", member->bit_offset / 8,
					     member->bit_offset % 8, member->bit_size, member->name,
					     member->type, task_field_kind_names[member->kind]);
			if (is_field)
				buffer_append_format(&text, ", %s%s",
						     task_field_reduction_names[member->facts.reduction],
						     member->facts.ladder == LADDER_NS ? " of ns" : "");
			buffer_append_char(&text, '\n');
		}
		snprintf(name, sizeof(name), "%s.fields", schedulers[i].name);
		golden_compare(name, &text);
		buffer_release(&text);
		arena_release(&arena);
		task_field_owner_release(scheduler);
		btf__free(btf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests_name("scx_released", tests, NULL, NULL);
}
