/* SPDX-License-Identifier: GPL-2.0-only */
/* The types of schedulers: members, the type of a context, the allocator, contexts as text. */
#include "tests/cmocka_include.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "allocator_types.h"
#include "base/memory.h"
#include "capture/scx/sdt_walk.h"

/* A context as a scheduler's compiler may describe it; the numbers of its types follow it. */
struct example {
	uint64_t runtime;
	struct {
		uint32_t nice : 3, weight : 12;
		int32_t small : 5;
	} inner;
	union {
		uint64_t key;
		struct {
			uint32_t low, high;
		};
	};
	union {
		int64_t value;
		int32_t half;
	} choice;
	bool is_idle;
	int8_t state;
	uint16_t load[2][3];
	void *mask;
	int64_t wide;
	double share;
	char name[8];
	uint32_t lock;
	struct {
		uint32_t id;
	} queues[2];
	uint64_t payload[];
};

static int add_example(struct btf *btf)
{
	const struct basic_types basic = add_basic_types(btf);
	int stats, share, inner, low_high, key, choice, state, rows, wide, name, lock, queue, queues, payload,
		mask, example;
	const int constant = btf__add_const(btf, btf__add_volatile(btf, basic.u64));

	inner = btf__add_struct(btf, "stats", 8);
	assert_int_equal(btf__add_field(btf, "nice", basic.u32, 0, 3), 0);
	assert_int_equal(btf__add_field(btf, "weight", basic.u32, 3, 12), 0);
	assert_int_equal(btf__add_field(btf, "small", basic.s32, 15, 5), 0);
	low_high = btf__add_struct(btf, "", 8);
	add_member(btf, "low", basic.u32, 0);
	add_member(btf, "high", basic.u32, 4);
	key = btf__add_union(btf, "", 8);
	add_member(btf, "key", constant, 0);
	add_member(btf, "", low_high, 0);
	choice = btf__add_union(btf, "value_or_half", 8);
	add_member(btf, "value", basic.s64, 0);
	add_member(btf, "half", basic.s32, 0);
	state = btf__add_enum(btf, "task_state", 1);
	assert_int_equal(btf__add_enum_value(btf, "GONE", -1), 0);
	assert_int_equal(btf__add_enum_value(btf, "READY", 2), 0);
	rows = btf__add_array(btf, basic.s32, btf__add_array(btf, basic.s32, basic.u16, 3), 2);
	wide = btf__add_enum64(btf, "wide_state", 8, false);
	assert_int_equal(btf__add_enum64_value(btf, "ALL", UINT64_MAX), 0);
	assert_int_equal(btf__add_enum64_value(btf, "HIGH", 1ULL << 40), 0);
	name = btf__add_array(btf, basic.s32, basic.character, 8);
	lock = btf__add_struct(btf, "bpf_spin_lock", 4);
	add_member(btf, "val", basic.u32, 0);
	queue = btf__add_struct(btf, "queue", 4);
	add_member(btf, "id", basic.u32, 0);
	queues = btf__add_array(btf, basic.s32, queue, 2);
	payload = btf__add_array(btf, basic.s32, basic.u64, 0);
	mask = btf__add_ptr(btf, btf__add_type_tag(btf, "arena", btf__add_fwd(btf, "mask", BTF_FWD_STRUCT)));

	share = btf__add_float(btf, "double", 8);
	stats = btf__add_typedef(btf, "stats_t", inner);
	example = btf__add_struct(btf, "example", sizeof(struct example));
	add_member(btf, "runtime", constant, offsetof(struct example, runtime));
	add_member(btf, "inner", stats, offsetof(struct example, inner));
	add_member(btf, "", key, offsetof(struct example, key));
	add_member(btf, "choice", choice, offsetof(struct example, choice));
	add_member(btf, "is_idle", basic.boolean, offsetof(struct example, is_idle));
	add_member(btf, "state", state, offsetof(struct example, state));
	add_member(btf, "load", rows, offsetof(struct example, load));
	add_member(btf, "mask", mask, offsetof(struct example, mask));
	add_member(btf, "wide", wide, offsetof(struct example, wide));
	add_member(btf, "share", share, offsetof(struct example, share));
	add_member(btf, "name", name, offsetof(struct example, name));
	add_member(btf, "lock", lock, offsetof(struct example, lock));
	add_member(btf, "queues", queues, offsetof(struct example, queues));
	add_member(btf, "payload", payload, offsetof(struct example, payload));
	return btf__add_typedef(btf, "example_t", example);
}

static const struct example example_values = {
	.runtime = 1234567890123,
	.inner = {.nice = 5, .weight = 305, .small = -7},
	.key = 0x0000000200000001,
	.choice = {.value = -2},
	.is_idle = true,
	.state = 2,
	.load = {{1, 2, 3}, {4, 5, 65535}},
	.mask = (void *)0x7f0012345678,
	.wide = 1LL << 40,
	.share = 0.5,
	.name = "a\"\x1b",
	.lock = 1,
	.queues = {{7}, {8}},
};

struct expected_member {
	const char *name, *type;
	enum task_field_kind kind;
	uint32_t bit_offset, bit_size, count;
	uint64_t value; /* of the last element */
};

static void require_members(const struct task_field_owner *scheduler, const struct expected_member expected[],
			    size_t count, const uint8_t *bytes)
{
	for (size_t i = 0; i < count && i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		assert_string_equal(member->name, expected[i].name);
		assert_string_equal(member->type, expected[i].type);
		assert_int_equal(member->kind, expected[i].kind);
		assert_int_equal(member->bit_offset, expected[i].bit_offset);
		assert_int_equal(member->bit_size, expected[i].bit_size);
		assert_int_equal(member->count, expected[i].count);
		assert_int_equal(task_field_read(member, bytes, member->count - 1), expected[i].value);
	}
	assert_int_equal(scheduler->member_count, count);
}

#define AT(member) (8 * (uint32_t)offsetof(struct example, member))

static void test_members(void **state)
{
	static const struct expected_member expected[] = {
		{"runtime", "u64", TASK_FIELD_KIND_UNSIGNED, AT(runtime), 64, 1, 1234567890123},
		{"inner.nice", "unsigned int", TASK_FIELD_KIND_UNSIGNED, AT(inner), 3, 1, 5},
		{"inner.weight", "unsigned int", TASK_FIELD_KIND_UNSIGNED, AT(inner) + 3, 12, 1, 305},
		{"inner.small", "int", TASK_FIELD_KIND_SIGNED, AT(inner) + 15, 5, 1, (uint64_t)-7},
		{"key", "u64", TASK_FIELD_KIND_UNSIGNED, AT(key), 64, 1, 0x200000001},
		{"low", "unsigned int", TASK_FIELD_KIND_UNSIGNED, AT(low), 32, 1, 1},
		{"high", "unsigned int", TASK_FIELD_KIND_UNSIGNED, AT(high), 32, 1, 2},
		{"choice", "union value_or_half", TASK_FIELD_KIND_OTHER, AT(choice), 64, 1, 0},
		{"is_idle", "bool", TASK_FIELD_KIND_BOOLEAN, AT(is_idle), 8, 1, 1},
		{"state", "enum task_state", TASK_FIELD_KIND_ENUM, AT(state), 8, 1, 2},
		{"load", "unsigned short[2][3]", TASK_FIELD_KIND_ARRAY, AT(load), 16, 6, 65535},
		{"mask", "struct mask *", TASK_FIELD_KIND_POINTER, AT(mask), 64, 1, 0},
		{"wide", "enum wide_state", TASK_FIELD_KIND_ENUM, AT(wide), 64, 1, 1ULL << 40},
		{"share", "double", TASK_FIELD_KIND_OTHER, AT(share), 64, 1, 0},
		{"name", "char[8]", TASK_FIELD_KIND_ARRAY, AT(name), 8, 8, 0},
		{"lock", "struct bpf_spin_lock", TASK_FIELD_KIND_OTHER, AT(lock), 32, 1, 0},
		{"queues", "struct queue[2]", TASK_FIELD_KIND_OTHER, AT(queues), 64, 1, 0},
	};
	struct btf *btf = btf__new_empty();
	const int type = add_example(btf);
	struct task_field_owner *scheduler = task_field_owner_create(
		TASK_FIELD_SOURCE, "example", "example_t", "map", "task storage", sizeof(struct example));
	uint8_t bytes[sizeof(struct example)];

	(void)state;
	memcpy(bytes, &example_values, sizeof(bytes));
	assert_int_equal(scx_types_add_members(btf, (uint32_t)type, scheduler), 0);
	require_members(scheduler, expected, ARRAY_COUNT(expected), bytes);
	assert_true(scheduler->members[9].is_signed);
	assert_string_equal(task_field_find_enumerator(&scheduler->members[9], -1), "GONE");
	assert_string_equal(task_field_find_enumerator(&scheduler->members[9], 2), "READY");
	assert_false(scheduler->members[12].is_signed);
	assert_string_equal(task_field_find_enumerator(&scheduler->members[12], 1LL << 40), "HIGH");
	task_field_owner_release(scheduler);
	btf__free(btf);
}

static void test_render(void **state)
{
	static const char expected[] =
		"{.runtime = 1234567890123, .inner = {.nice = 5, .weight = 305, .small = -7}, "
		"{.key = 8589934593, {.low = 1, .high = 2}}, .choice = {.value = -2, .half = -2}, "
		".is_idle = true, .state = READY, .load = [1, 2, 3, 4, 5, 65535], .mask = 0x7f0012345678, "
		".wide = HIGH, .share = 0.5, .name = \"a\\\"\\x1b\", .lock = {.val = 1}, "
		".queues = [{.id = 7}, {.id = 8}], .payload = []}";
	struct btf *btf = btf__new_empty();
	const uint32_t type = (uint32_t)add_example(btf);
	struct buffer text = {0};
	uint8_t bytes[sizeof(struct example)];

	(void)state;
	memcpy(bytes, &example_values, sizeof(bytes));
	scx_types_render(btf, type, bytes, sizeof(bytes), 4096, &text);
	assert_string_equal(text.data, expected);
	/* what is longer than asked for ends in dots, and nothing of what stood before is lost */
	for (size_t limit = 0; limit < sizeof(expected); limit++) {
		buffer_clear(&text);
		buffer_append_text(&text, "payload=");
		scx_types_render(btf, type, bytes, sizeof(bytes), limit, &text);
		assert_true(text.length <= strlen("payload=") + limit);
		assert_int_equal(text.length, strlen(text.data));
		if (limit >= strlen(expected)) {
			assert_string_equal(text.data + strlen("payload="), expected);
		} else if (limit >= 3) {
			assert_memory_equal(text.data + strlen("payload="), expected, limit - 3);
			assert_string_equal(text.data + text.length - 3, "...");
		}
	}
	/* what could not be read has no value */
	buffer_clear(&text);
	scx_types_render(btf, type, bytes, offsetof(struct example, choice), 200, &text);
	assert_non_null(
		strstr(text.data, ".low = 1, .high = 2}}, .choice = {.value = ?, .half = ?}, .is_idle = ?"));
	buffer_release(&text);
	btf__free(btf);
}

/* Types that no compiler makes, and the kernel would refuse. */
static void test_senseless_types(void **state)
{
	struct btf *btf = btf__new_empty();
	const struct basic_types basic = add_basic_types(btf);
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "a", "b", "c", "d",
								     64);
	struct buffer text = {0};
	char long_name[1024] = {0};
	const uint8_t bytes[64] = {0};
	int empty, itself, endless, huge, wide, far, ring, long_named, many;

	(void)state;
	memset(long_name, 'n', sizeof(long_name) - 1);
	itself = btf__add_struct(btf, "itself", 64);
	add_member(btf, "runtime", basic.u64, 0);
	add_member(btf, "inner", itself, 0);
	ring = btf__add_typedef(btf, "ring", (int)btf__type_cnt(btf) + 1);
	btf__add_typedef(btf, "gnir", ring);
	empty = btf__add_struct(btf, "empty", 0);
	endless = btf__add_struct(btf, "endless", 64);
	for (int i = 0; i < 300; i++)
		add_member(btf, "again", endless, 0);
	huge = btf__add_array(btf, basic.s32, btf__add_array(btf, basic.s32, basic.u64, UINT32_MAX),
			      UINT32_MAX);
	wide = btf__add_int(btf, "__int128", 16, 0);
	far = btf__add_struct(btf, "far", 64);
	add_member(btf, "ring", ring, 0);
	add_member(btf, "nothing", 0, 0);
	add_member(btf, "unknown", 1 << 20, 0);
	add_member(btf, "huge", huge, 0);
	add_member(btf, "empty", empty, 0);
	add_member(btf, "behind", basic.u64, 60);
	add_member(btf, "far", basic.u64, 1 << 20);
	add_member(btf, "wide", wide, 0);
	add_member(btf, "last", basic.u64, 0);
	long_named = btf__add_struct(btf, "long_named", 64);
	add_member(btf, long_name, basic.u64, 0);
	many = btf__add_struct(btf, "many", 64);
	for (int i = 0; i < TASK_FIELD_MEMBERS_MAX + 1; i++)
		add_member(btf, "same", basic.u8, (uint32_t)i % 64);

	assert_int_equal(scx_types_add_members(btf, (uint32_t)basic.u64, scheduler), -ENOENT);
	assert_int_equal(scx_types_add_members(btf, (uint32_t)ring, scheduler), -ENOENT);
	assert_int_equal(scx_types_add_members(btf, 0, scheduler), -ENOENT);
	assert_int_equal(scx_types_add_members(btf, 1 << 20, scheduler), -ENOENT);
	assert_int_equal(scheduler->member_count, 0);

	/* eight levels deep, and then a member that is what it is */
	assert_int_equal(scx_types_add_members(btf, (uint32_t)itself, scheduler), 0);
	assert_int_equal(scheduler->member_count, 10);
	assert_int_equal(scheduler->members[9].kind, TASK_FIELD_KIND_OTHER);
	assert_int_equal(scx_types_add_members(btf, (uint32_t)endless, scheduler), -E2BIG);
	task_field_owner_release(scheduler);

	scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "a", "b", "c", "d", 64);
	assert_int_equal(scx_types_add_members(btf, (uint32_t)far, scheduler), -E2BIG);
	assert_string_equal(scheduler->members[0].name, "behind");
	assert_int_equal(scheduler->members[0].kind, TASK_FIELD_KIND_OTHER);
	assert_string_equal(scheduler->members[1].name, "wide");
	assert_int_equal(scheduler->members[1].kind, TASK_FIELD_KIND_OTHER);
	assert_string_equal(scheduler->members[2].name, "last");
	assert_int_equal(scheduler->members[2].kind, TASK_FIELD_KIND_UNSIGNED);
	assert_int_equal(scheduler->member_count, 3);
	assert_int_equal(scx_types_add_members(btf, (uint32_t)long_named, scheduler), -E2BIG);
	assert_int_equal(scx_types_add_members(btf, (uint32_t)many, scheduler), -E2BIG);
	assert_int_equal(scheduler->member_count, TASK_FIELD_MEMBERS_MAX);
	task_field_owner_release(scheduler);

	for (uint32_t type = 0; type < btf__type_cnt(btf) + 2; type++) {
		buffer_clear(&text);
		scx_types_render(btf, type, bytes, sizeof(bytes), 1000, &text);
		assert_true(text.length <= 1000);
	}
	buffer_release(&text);
	btf__free(btf);
}

/* --- which type a context has --- */

/*
 * Types of 64 bytes, each a word: a name, of a struct; "|" before it: of a union; "=": of a typedef of the
 * type before; "^": of a typedef of the first type. "?" is a struct without a name, ":SIZE" behind it another
 * size.
 */
struct choice_case {
	uint64_t size;
	const char *wanted;
	const char *types;
	int chosen; /* place among the types, -1: none */
	const char *name, *reason;
};

static int add_type(struct btf *btf, char *word, int first)
{
	const int last = (int)btf__type_cnt(btf) - 1;
	char *colon = strchr(word, ':');
	const uint32_t size = colon != NULL ? (uint32_t)strtoul(colon + 1, NULL, 10) : 64;

	if (colon != NULL)
		*colon = '\0';
	switch (*word) {
	case '|':
		return btf__add_union(btf, word + 1, size);
	case '=':
		return btf__add_typedef(btf, word + 1, btf__add_const(btf, last));
	case '^':
		return btf__add_typedef(btf, word + 1, first);
	case '?':
		return btf__add_struct(btf, "", size);
	default:
		return btf__add_struct(btf, word, size);
	}
}

static void test_choice(void **state)
{
	static const struct choice_case cases[] = {
		{0, NULL, "task_ctx:0", -1, NULL, "payload_size == 0"},
		{64, NULL, "task_ctx:63", -1, NULL, "no candidate of size 64"},
		/* unions and what has no name do not count */
		{64, NULL, "|task_ctx ?", -1, NULL, "no candidate of size 64"},
		{64, NULL, "|task_ctx only", 1, "only", ""},
		{64, NULL, "a b", -1, NULL, "ambiguous: 2 candidates"},
		{64, NULL, "a_ctx task_ctx", 1, "task_ctx", ""},
		{64, NULL, "x_task_ctx x_arena_ctx", 1, "x_arena_ctx", ""},
		{64, NULL, "x_ctx x_task_ctx", 1, "x_task_ctx", ""},
		{64, NULL, "x x_ctx", 1, "x_ctx", ""},
		{64, NULL, "x ctx", -1, NULL, "ambiguous: 2 candidates"},
		/* a pattern that two fit does not end the search */
		{64, NULL, "a_arena_ctx b_arena_ctx x_task_ctx", 2, "x_task_ctx", ""},
		{64, NULL, "task_ctx task_ctx x_task_ctx", 2, "x_task_ctx", ""},
		{64, NULL, "task_ctx task_ctx x", -1, NULL, "ambiguous: 3 candidates"},
		/* "task_ctx" does not end in "_task_ctx", but in "_ctx" */
		{64, NULL, "a_ctx b_ctx", -1, NULL, "ambiguous: 2 candidates"},
		/* a typedef gives a struct another name, which counts, and none more to choose from */
		{64, NULL, "p =task_ctx q_ctx", 0, "p", ""},
		{64, NULL, "p =p_t", 0, "p", ""},
		{64, NULL, "? =task_ctx", 0, "task_ctx", ""},
		{64, NULL, "p q ^a_task_ctx ^b_task_ctx", 0, "p", ""},
		/* what the user chose, or nothing */
		{64, "x", "x task_ctx", 0, "x", ""},
		{64, "x", "p =x task_ctx", 0, "p", ""},
		{64, "x", "x:32 a task_ctx", -1, NULL, "no struct 'x' of size 64, only a, task_ctx"},
		{64, "x", "a:32", -1, NULL, "no struct 'x' of size 64"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct choice_case *one = &cases[i];
		struct btf *btf = btf__new_empty();
		struct scx_types_choice choice;
		struct arena arena = {0};
		char words[128], *rest = words;
		int ids[6] = {0};
		size_t count = 0;

		snprintf(words, sizeof(words), "%s", one->types);
		for (char *word; (word = strsep(&rest, " ")) != NULL; count++)
			ids[count] = add_type(btf, word, ids[0]);
		scx_types_choose(btf, one->size, one->wanted, &arena, &choice);
		print_message("case %zu\n", i);
		assert_string_equal(choice.reason, one->reason);
		assert_int_equal(choice.type, one->chosen < 0 ? 0 : ids[one->chosen]);
		if (one->name == NULL)
			assert_null(choice.name);
		else
			assert_string_equal(choice.name, one->name);
		arena_release(&arena);
		btf__free(btf);
	}
}

/* --- the allocator --- */

static void test_layout(void **state)
{
	static const struct {
		struct allocator_types types;
		int result;
		const char *error;
		uint32_t children, id_size;
		bool id_after;
	} cases[] = {
		{{"scx_allocator", .chunk = CHUNK_DESCS, .data = DATA_BEFORE}, .id_size = 8},
		{{"sdt_allocator", .chunk = CHUNK_FORWARD, .data = DATA_BEFORE}, .id_size = 8},
		{{"scx_allocator", .chunk = CHUNK_DATA, .data = DATA_FORWARD}, .id_size = 8},
		{{"scx_allocator", .chunk = CHUNK_SHIFTED}, .id_size = 8, .children = 8},
		{{"scx_allocator", .has_reserve = true}, .id_size = 16, .id_after = true},
		{{"scx_allocator", .has_reserve = true, .data = DATA_FORWARD},
		 .id_size = 16,
		 .id_after = true},
		{{"scx_allocator", .has_reserve = true, .data = DATA_AFTER}, .id_size = 16, .id_after = true},
		/* what the element's own type says wins */
		{{"scx_allocator", .data = DATA_AFTER}, .id_size = 16, .id_after = true},
		{{"scx_allocator", .has_reserve = true, .data = DATA_BEFORE}, .id_size = 8},
		{{.allocator = NULL}, .result = -ENOENT, .error = "struct scx_allocator is not there"},
		{{"scx_allocator", .forward_allocator = true},
		 .result = -ENOENT,
		 .error = "struct scx_allocator the scheduler's types have a forward"},
		{{"scx_allocator", .no_pool = true},
		 .result = -ENOENT,
		 .error = "struct sdt_pool is not there"},
		{{"scx_allocator", .no_descriptor = true},
		 .result = -ENOENT,
		 .error = "struct sdt_desc is not there"},
		{{"scx_allocator", .forward_descriptor = true},
		 .result = -ENOENT,
		 .error = "struct sdt_desc the scheduler's types have a forward"},
		{{"scx_allocator", .chunk = CHUNK_NONE},
		 .result = -ENOENT,
		 .error = "struct sdt_chunk is not there"},
		{{"scx_allocator", .chunk = CHUNK_OTHER},
		 .result = -EINVAL,
		 .error = "neither 'descs' nor 'data'"},
		{{"scx_allocator", .data = DATA_LARGE},
		 .result = -EINVAL,
		 .error = "struct sdt_data of the scheduler has 4097 bytes"},
		{{"scx_allocator", .data = DATA_TINY},
		 .result = -EINVAL,
		 .error = "struct sdt_data of the scheduler has 4 bytes"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct btf *btf = btf__new_empty();
		const struct basic_types basic = add_basic_types(btf);
		const uint32_t reserve = cases[i].types.has_reserve ? 8 : 0;
		struct sdt_layout layout = {.elem_size = 12345};
		struct error error = {{0}};

		print_message("case %zu\n", i);
		add_allocator_types(btf, &basic, &cases[i].types);
		assert_int_equal(sdt_layout_find(btf, &layout, &error), cases[i].result);
		if (cases[i].error != NULL) {
			assert_non_null(strstr(error.text, cases[i].error));
			assert_int_equal(layout.elem_size, 12345);
		} else {
			assert_string_equal(
				btf__name_by_offset(btf,
						    btf__type_by_id(btf, layout.allocator_type)->name_off),
				cases[i].types.allocator);
			assert_int_equal(layout.allocator_size, 40 + reserve);
			assert_int_equal(layout.elem_size, 8 + reserve);
			assert_int_equal(layout.root, 32 + reserve);
			assert_int_equal(layout.allocated, 0);
			assert_int_equal(layout.nr_free, 64);
			assert_int_equal(layout.chunk, 72);
			assert_int_equal(layout.children, cases[i].children);
			assert_int_equal(layout.id_size, cases[i].id_size);
			assert_int_equal(layout.id_after, cases[i].id_after);
		}
		btf__free(btf);
	}
}

/* A required member is missing. */
static void test_layout_without_member(void **state)
{
	struct btf *btf = btf__new_empty();
	const struct basic_types basic = add_basic_types(btf);
	struct sdt_layout layout;
	struct error error;

	(void)state;
	assert_true(btf__add_struct(btf, "scx_allocator", 16) > 0);
	add_member(btf, "pool", basic.u64, 0);
	assert_true(btf__add_struct(btf, "sdt_pool", 8) > 0);
	add_member(btf, "elem_size", basic.u64, 0);
	assert_int_equal(sdt_layout_find(btf, &layout, &error), -EINVAL);
	assert_string_equal(error.text, "struct scx_allocator of the scheduler has no member 'root'");
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),         cmocka_unit_test(test_render),
		cmocka_unit_test(test_senseless_types), cmocka_unit_test(test_choice),
		cmocka_unit_test(test_layout),          cmocka_unit_test(test_layout_without_member),
	};

	return cmocka_run_group_tests_name("scx_types", tests, NULL, NULL);
}
