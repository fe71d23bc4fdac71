/* SPDX-License-Identifier: GPL-2.0-only */
/* From the operations of a scheduler to its contexts, with types and values made here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "allocator_types.h"
#include "base/memory.h"
#include "capture/scx/scx_discovery.h"
#include "capture/scx/scx_program.h"
#include "capture/scx/scx_reader.h"
#include "capture/scx/scx_storage.h"
#include "capture/scx/sdt_walk.h"

/* A kernel: where its types have what. */
enum {
	PID = 8,
	TGID = 12,
	START = 24,
	COMMON_STATE = 4,
	DATA = 64, /* of the operations, in the value of their map */
	NAME = 32, /* in the operations */
	NAME_SIZE = 16,
	VALUE_SIZE = DATA + 64,
	CID_DATA = 128, /* of the operations of the other form */
	CID_NAME = 8,
	CID_NAME_SIZE = 24,
	CONTEXT_MAX = 32712, /* that a record can have */
};

struct types {
	struct btf *btf;
	struct basic_types basic;
	int bytes, function, function_pointer;
};

static void make_types(struct types *types)
{
	struct btf *btf = types->btf = btf__new_empty();

	assert_non_null(btf);
	types->basic = add_basic_types(btf);
	types->bytes = btf__add_array(btf, types->basic.u32, types->basic.character, NAME_SIZE);
	types->function = btf__add_func_proto(btf, 0);
	types->function_pointer = btf__add_ptr(btf, types->function);
}

static void add_task(const struct types *types)
{
	btf__add_func(types->btf, "bpf_iter_task", BTF_FUNC_GLOBAL, types->function);
	btf__add_struct(types->btf, "task_struct", 64);
	add_member(types->btf, "pid", types->basic.u32, PID);
	add_member(types->btf, "tgid", types->basic.u32, TGID);
	add_member(types->btf, "start_boottime", types->basic.u64, START);
}

/* `wrapped`: the state stands in a member, as since Linux 6.9. Returns the type of the map's value. */
static uint32_t add_operations(const struct types *types, bool wrapped)
{
	struct btf *btf = types->btf;
	int operations, common, type_of_function, value;

	common = btf__add_struct(btf, "bpf_struct_ops_common_value", 8);
	add_member(btf, "refcnt", types->basic.u32, 0);
	add_member(btf, "state", types->basic.u32, COMMON_STATE);
	type_of_function = btf__add_typedef(btf, "select_cpu_t", types->function_pointer);
	operations = btf__add_struct(btf, "sched_ext_ops", 56);
	add_member(btf, "select_cpu", type_of_function, 0);
	add_member(btf, "flags", types->basic.u64, 8);
	add_member(btf, "running", types->function_pointer, 16);
	add_member(btf, "priv", types->basic.pointer, 24);
	add_member(btf, "name", types->bytes, NAME);
	add_member(btf, "exit", types->function_pointer, NAME + NAME_SIZE);
	value = btf__add_struct(btf, "bpf_struct_ops_sched_ext_ops", VALUE_SIZE);
	if (wrapped) {
		add_member(btf, "common", common, 8);
	} else {
		add_member(btf, "refcnt", types->basic.u32, 0);
		add_member(btf, "state", types->basic.u32, 4);
	}
	add_member(btf, "data", operations, DATA);
	return (uint32_t)value;
}

/* Those of the other form: other functions, at other places. Returns the type of the map's value. */
static uint32_t add_cid_operations(const struct types *types)
{
	struct btf *btf = types->btf;
	const int common = btf__find_by_name_kind(btf, "bpf_struct_ops_common_value", BTF_KIND_STRUCT);
	const int bytes = btf__add_array(btf, types->basic.u32, types->basic.character, CID_NAME_SIZE);
	int operations, value;

	operations = btf__add_struct(btf, "sched_ext_ops_cid", 56);
	add_member(btf, "running", types->function_pointer, 0);
	add_member(btf, "name", bytes, CID_NAME);
	add_member(btf, "exit", types->function_pointer, CID_NAME + CID_NAME_SIZE);
	value = btf__add_struct(btf, "bpf_struct_ops_sched_ext_ops_cid", CID_DATA + 56);
	add_member(btf, "common", common, 16);
	add_member(btf, "data", operations, CID_DATA);
	return (uint32_t)value;
}

static void check_operations(const struct scx_operations *operations, uint32_t value)
{
	assert_non_null(operations);
	assert_int_equal(operations->type, value);
	assert_int_equal(operations->state, 8 + COMMON_STATE);
	assert_int_equal(operations->name, DATA + NAME);
	assert_int_equal(operations->name_size, NAME_SIZE);
	/* functions only, behind a typedef too */
	assert_int_equal(operations->slot_count, 3);
	assert_int_equal(operations->slots[0], DATA);
	assert_int_equal(operations->slots[1], DATA + 16);
	assert_int_equal(operations->slots[2], DATA + NAME + NAME_SIZE);
}

static void check_cid_operations(const struct scx_operations *operations, uint32_t value)
{
	assert_non_null(operations);
	assert_int_equal(operations->type, value);
	assert_int_equal(operations->state, 16 + COMMON_STATE);
	assert_int_equal(operations->name, CID_DATA + CID_NAME);
	assert_int_equal(operations->name_size, CID_NAME_SIZE);
	assert_int_equal(operations->slot_count, 2);
	assert_int_equal(operations->slots[0], CID_DATA);
	assert_int_equal(operations->slots[1], CID_DATA + CID_NAME + CID_NAME_SIZE);
}

static void test_kernel(void **state)
{
	struct scx_kernel kernel;
	struct types types;
	uint32_t value, cid_value;

	(void)state;
	make_types(&types);
	assert_int_equal(scx_kernel_find(types.btf, &kernel), -ENOENT);
	add_task(&types);
	assert_int_equal(scx_kernel_find(types.btf, &kernel), 0);
	assert_int_equal(kernel.pid, PID);
	assert_int_equal(kernel.tgid, TGID);
	assert_int_equal(kernel.start_boottime, START);
	assert_int_equal(kernel.iterator, btf__find_by_name_kind(types.btf, "bpf_iter_task", BTF_KIND_FUNC));
	/* a kernel without sched_ext */
	assert_false(scx_kernel_has_schedulers(&kernel));
	assert_null(scx_kernel_operations(&kernel, 0));
	value = add_operations(&types, true);
	assert_int_equal(scx_kernel_find(types.btf, &kernel), 0);
	assert_true(scx_kernel_has_schedulers(&kernel));
	check_operations(scx_kernel_operations(&kernel, value), value);
	/* one that knows a single form of schedulers; the map of something else is none */
	assert_int_equal(kernel.operations[SCX_FORM_CID].type, 0);
	assert_null(scx_kernel_operations(&kernel, 0));
	assert_null(scx_kernel_operations(&kernel, value + 1));

	cid_value = add_cid_operations(&types);
	assert_int_equal(scx_kernel_find(types.btf, &kernel), 0);
	assert_true(cid_value != value);
	check_operations(scx_kernel_operations(&kernel, value), value);
	check_cid_operations(scx_kernel_operations(&kernel, cid_value), cid_value);
	btf__free(types.btf);

	make_types(&types);
	add_task(&types);
	add_operations(&types, false);
	assert_int_equal(scx_kernel_find(types.btf, &kernel), 0);
	assert_int_equal(kernel.operations[SCX_FORM_CPU].state, 4);
	btf__free(types.btf);
}

static void test_own_kernel(void **state)
{
	struct scx_kernel kernel;
	const int result = scx_kernel_read(&kernel);

	(void)state;
	if (result < 0) {
		skip_test("this kernel tells no types: %s", strerror(-result));
	}
	assert_true(kernel.iterator != 0);
	assert_int_equal(kernel.tgid, kernel.pid + sizeof(uint32_t));
	for (size_t i = 0; i < SCX_FORMS; i++) {
		if (kernel.operations[i].type == 0)
			continue;
		assert_true(kernel.operations[i].slot_count > 20);
		assert_int_equal(kernel.operations[i].name_size, 128);
	}
}

/* --- the value of a map of operations --- */

static void put(unsigned char *value, size_t offset, uint64_t number, size_t size)
{
	memcpy(value + offset, &number, size);
}

static void test_value(void **state)
{
	const struct scx_operations operations = {.state = 12,
						  .name = DATA + NAME,
						  .name_size = NAME_SIZE,
						  .slots = {DATA, DATA + 16, DATA + NAME + NAME_SIZE},
						  .slot_count = 3};
	unsigned char value[VALUE_SIZE] = {0};
	uint32_t programs[3] = {0};

	(void)state;
	/* another slot of sched_ext, or the operations of something else, are not it */
	assert_false(scx_discovery_is_in_use(&operations, value, sizeof(value)));
	put(value, 12, 3, 4); /* ready to be attached by a link */
	assert_false(scx_discovery_is_in_use(&operations, value, sizeof(value)));
	put(value, 12, 1, 4);
	assert_true(scx_discovery_is_in_use(&operations, value, sizeof(value)));
	assert_false(scx_discovery_is_in_use(&operations, value, 15));

	memcpy(value + operations.name, "lavd_1.0", sizeof("lavd_1.0"));
	assert_true(scx_discovery_is_named(&operations, value, sizeof(value), "lavd_1.0"));
	assert_false(scx_discovery_is_named(&operations, value, sizeof(value), "lavd"));
	assert_false(scx_discovery_is_named(&operations, value, sizeof(value), "lavd_1.0.2"));
	assert_false(scx_discovery_is_named(&operations, value, operations.name + NAME_SIZE - 1, "lavd_1.0"));
	assert_false(
		scx_discovery_is_named(&operations, value, sizeof(value), "a name of over sixteen bytes"));

	put(value, DATA, 1201, 8);
	put(value, DATA + NAME + NAME_SIZE, 1203, 8);
	assert_int_equal(scx_discovery_programs(&operations, value, sizeof(value), programs, 3), 2);
	assert_int_equal(programs[0], 1201);
	assert_int_equal(programs[1], 1203);
	assert_int_equal(scx_discovery_programs(&operations, value, sizeof(value), programs, 1), 1);
	/* no id is that large: it would be an address */
	put(value, DATA, UINT64_C(0xffff888100000000), 8);
	assert_int_equal(scx_discovery_programs(&operations, value, sizeof(value), programs, 3), 1);
	assert_int_equal(scx_discovery_programs(&operations, value, DATA + NAME, programs, 3), 0);
}

/* --- the task storage --- */

static void test_rank(void **state)
{
	const struct context_choice map = {.map = "other"}, type = {.type = "lavd_ctx"};

	(void)state;
	assert_true(scx_storage_rank("scx_task_map", "scx_task_map_val", NULL) >
		    scx_storage_rank("task_ctx_stor", "task_ctx", NULL));
	assert_true(scx_storage_rank("sdt_task_map", "sdt_task_map_val", NULL) >
		    scx_storage_rank("task_ctxs", "task_ctx", NULL));
	assert_true(scx_storage_rank("task_data", "x", NULL) > scx_storage_rank("storage", "task_ctx", NULL));
	assert_true(scx_storage_rank("storage", "task_ctx", NULL) > scx_storage_rank("storage", "x", NULL));
	assert_true(scx_storage_rank("other", "x", &map) >
		    scx_storage_rank("scx_task_map", "task_ctx", &map));
	assert_true(scx_storage_rank("storage", "lavd_ctx", &type) >
		    scx_storage_rank("scx_task_map", "x", &type));
	assert_true(scx_storage_rank("task_masks", "x", &type) < scx_storage_rank("task_ctx", "x", &type));
}

static void test_points(void **state)
{
	struct scx_storage_value value = {0};
	struct types types;
	int id, newer, older, number, context, only_id, behind;

	(void)state;
	make_types(&types);
	id = btf__add_union(types.btf, "sdt_id", 8);
	add_member(types.btf, "val", types.basic.u64, 0);
	newer = btf__add_struct(types.btf, "scx_task_map_val", 24);
	add_member(types.btf, "tid", id, 0);
	add_member(types.btf, "tptr", types.basic.u64, 8);
	add_member(types.btf, "data", types.basic.pointer, 16);
	older = btf__add_struct(types.btf, "val", 24);
	add_member(types.btf, "data", types.basic.pointer, 0);
	add_member(types.btf, "slot", id, 16);
	number = btf__add_struct(types.btf, "number", 16);
	add_member(types.btf, "tid", types.basic.u64, 0);
	add_member(types.btf, "data", types.basic.u64, 8);
	context = btf__add_struct(types.btf, "task_ctx", 16);
	add_member(types.btf, "tid", types.basic.u32, 0);
	add_member(types.btf, "data", types.basic.pointer, 8);
	only_id = btf__add_struct(types.btf, "only_id", 16);
	add_member(types.btf, "tid", id, 0);
	add_member(types.btf, "cpumask", types.basic.pointer, 8);
	behind = btf__add_typedef(types.btf, "value_t", newer);

	assert_true(scx_storage_points(types.btf, (uint32_t)newer, &value));
	assert_int_equal(value.id, 0);
	assert_int_equal(value.pointer, 16);
	assert_true(scx_storage_points(types.btf, (uint32_t)older, &value));
	assert_int_equal(value.id, 16);
	assert_int_equal(value.pointer, 0);
	assert_true(scx_storage_points(types.btf, (uint32_t)number, &value));
	assert_int_equal(value.pointer, 8);
	assert_true(scx_storage_points(types.btf, (uint32_t)behind, &value));
	assert_int_equal(value.pointer, 16);
	/* contexts themselves: a thread id of 32 bits, and a pointer of another name */
	assert_false(scx_storage_points(types.btf, (uint32_t)context, &value));
	assert_false(scx_storage_points(types.btf, (uint32_t)only_id, &value));
	assert_false(scx_storage_points(types.btf, (uint32_t)types.basic.u64, &value));
	assert_false(scx_storage_points(types.btf, UINT32_MAX, &value));
	btf__free(types.btf);
}

/* --- the program --- */

static const struct scx_kernel some_kernel = {.pid = PID, .tgid = TGID, .start_boottime = START};

/* All jumps go forward to an instruction; the one before the last makes the result 0. */
static void assert_ends(const struct scx_code *code)
{
	const size_t result = code->count - 2;

	assert_true(code->count <= SCX_INSTRUCTIONS_MAX);
	assert_int_equal(code->instructions[result].code, BPF_ALU64 | BPF_MOV | BPF_K);
	assert_int_equal(code->instructions[result + 1].code, BPF_JMP | BPF_EXIT);
	for (size_t i = 0; i < code->count; i++) {
		if (code->instructions[i].code == (BPF_JMP | BPF_JEQ | BPF_K))
			assert_int_equal(i + 1 + (size_t)code->instructions[i].off, result);
	}
}

/* Counts the bytes of the record that the program stores, and checks that none is stored twice. */
static size_t stored_bytes(const struct scx_code *code, size_t size)
{
	bool *stored = memory_allocate_zero(size, sizeof(*stored));
	size_t count = 0;

	for (size_t i = 0; i < code->count; i++) {
		const struct bpf_insn *instruction = &code->instructions[i];
		const uint8_t width = instruction->code & 0x18;
		const size_t bytes = width == BPF_DW ? 8 : width == BPF_W ? 4 : width == BPF_H ? 2 : 1;

		if ((instruction->code & 0xe7) != (BPF_STX | BPF_MEM))
			continue;
		for (size_t at = 0; at < bytes; at++) {
			const size_t byte = (size_t)instruction->off + at;

			assert_true(byte < size);
			assert_false(stored[byte]);
			stored[byte] = true;
			count++;
		}
	}
	free(stored);
	return count;
}

static void test_code(void **state)
{
	static const uint32_t sizes[] = {1, 7, 8, 15, 200, SDT_ELEM_SIZE_MAX};
	struct scx_code *code = memory_allocate(sizeof(*code));

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct scx_storage storage = {
			.map = 3, .arena = 4, .pointer = 16, .context = 8, .size = sizes[i]};

		scx_program_assemble(&some_kernel, &storage, 5, code);
		assert_ends(code);
		assert_int_equal(stored_bytes(code, scx_record_size(sizes[i])),
				 sizeof(struct scx_record) + sizes[i]);
		/* the kernel's helper writes the context */
		storage.arena = -1;
		scx_program_assemble(&some_kernel, &storage, 5, code);
		assert_ends(code);
		assert_int_equal(stored_bytes(code, scx_record_size(sizes[i])), sizeof(struct scx_record));
	}
	assert_int_equal(scx_record_size(1), sizeof(struct scx_record) + 8);
	assert_int_equal(scx_record_size(8), sizeof(struct scx_record) + 8);
	scx_program_assemble_chunk(4, 5, code);
	assert_ends(code);
	assert_int_equal(stored_bytes(code, SCX_CHUNK_SIZE), SCX_CHUNK_SIZE);
	free(code);
}

/* --- whole contexts of all sizes, in a task storage made here --- */

static int load_btf(const struct btf *btf)
{
	LIBBPF_OPTS(bpf_btf_load_opts, options);
	uint32_t size;
	const void *data = btf__raw_data(btf, &size);

	return bpf_btf_load(data, size, &options);
}

/* A task storage whose values have `size` bytes; its id, or 0 where none can be made. */
static uint32_t make_storage(uint32_t size, int *ret_map)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	struct bpf_map_info info = {0};
	uint32_t length = sizeof(info);
	struct btf *btf = btf__new_empty();
	const int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED),
		  byte = btf__add_int(btf, "char", 1, BTF_INT_CHAR),
		  bytes = btf__add_array(btf, number, byte, size),
		  context = btf__add_struct(btf, "task_ctx", size);

	add_member(btf, "bytes", bytes, 0);
	options.btf_fd = (uint32_t)load_btf(btf);
	options.btf_key_type_id = (uint32_t)number;
	options.btf_value_type_id = (uint32_t)context;
	*ret_map = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "task_ctxs", sizeof(int), size, 0, &options);
	close((int)options.btf_fd);
	btf__free(btf);
	return *ret_map >= 0 && bpf_obj_get_info_by_fd(*ret_map, &info, &length) == 0 ? info.id : 0;
}

/* Gives this thread a context whose bytes all differ from their neighbours. */
static void give_context(int map, unsigned char *context, uint32_t size)
{
	const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	assert_true(self >= 0);
	for (uint32_t i = 0; i < size; i++)
		context[i] = (unsigned char)(i * 7 + i / 251 + 1);
	assert_int_equal(bpf_map_update_elem(map, &self, context, BPF_ANY), 0);
	close(self);
}

static void read_context(struct scx_reader *reader, const unsigned char *context, uint32_t size)
{
	struct scx_reading reading;
	const struct scx_record *record;

	assert_int_equal(scx_reader_read(reader, NULL, &reading), 0);
	assert_int_equal(reading.count, 1);
	record = scx_reading_record(&reading, 0);
	assert_int_equal(record->tid, getpid());
	assert_int_equal(record->tgid, getpid());
	assert_true(record->start_boottime_ns != 0);
	assert_true(scx_record_is_own(record));
	assert_memory_equal(scx_record_context(record), context, size);
}

static void test_sizes(void **state)
{
	static const uint32_t sizes[] = {1, 7, 200, 5000, CONTEXT_MAX, CONTEXT_MAX + 1};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		unsigned char *context = memory_allocate(sizes[i]);
		struct feature_result result;
		struct scx_reader *reader;
		struct arena arena = {0};
		int map;
		uint32_t id = make_storage(sizes[i], &map);

		if (id == 0) {
			free(context);
			skip_test("no task storage can be made: %s", strerror(errno));
		}
		give_context(map, context, sizes[i]);
		reader = scx_reader_open(&(struct scx_run){.name = "test", .maps = &id, .map_count = 1}, NULL,
					 &arena, &result);
		if (result.reason == REASON_NOT_PERMITTED) {
			print_message("SKIP: %s\n", result.detail);
			close(map);
			arena_release(&arena);
			free(context);
			skip();
		}
		if (sizes[i] <= CONTEXT_MAX) {
			if (reader == NULL)
				fail_msg("%u bytes: %s", sizes[i], result.detail);
			read_context(reader, context, sizes[i]);
		} else {
			assert_null(reader);
			assert_int_equal(result.reason, REASON_UNREADABLE);
			assert_string_equal(result.detail,
					    "its contexts have 32713 bytes; at most 32712 can be read");
		}
		scx_reader_close(reader);
		close(map);
		arena_release(&arena);
		free(context);
	}
}

/* The kernel says what it does not like: here a map that is no task storage. */
static void test_refusal(void **state)
{
	const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "no_storage", sizeof(int), 64, 1, NULL);
	const struct scx_storage storage = {.map = map, .arena = -1, .size = 64};
	struct feature_result result;
	struct scx_program program;
	struct scx_kernel kernel;
	struct arena arena = {0};

	(void)state;
	if (map < 0 || scx_kernel_read(&kernel) < 0) {
		skip_test("no map can be made, or the kernel tells no types");
	}
	result = scx_program_load(&kernel, &storage, &arena, &program);
	if (result.reason == REASON_NOT_PERMITTED) {
		close(map);
		print_message("SKIP: %s\n", result.detail);
		arena_release(&arena);
		skip();
	}
	assert_int_equal(result.state, FEATURE_STATE_OFF);
	assert_int_equal(result.reason, REASON_NOT_IN_KERNEL);
	assert_non_null(strstr(result.detail, "the kernel refused the program: Invalid argument; "));
	assert_non_null(strstr(result.detail, "bpf_task_storage_get"));
	assert_int_equal(program.program, -1);
	assert_int_equal(program.room, -1);
	close(map);
	arena_release(&arena);
}

static void test_words(void **state)
{
	char log[] = "0: (79) r8 = *(u64 *)(r1 +8)\nR1 type=ctx expected=fp\n"
		     "processed 12 insns (limit 1000000) max_states_per_insn 0\n";
	char empty[] = "", only[] = "processed 1 insns\n", unended[] = "first\nunknown func 156";

	(void)state;
	assert_string_equal(scx_program_find_words(log), "R1 type=ctx expected=fp");
	assert_string_equal(scx_program_find_words(empty), "");
	assert_string_equal(scx_program_find_words(only), "");
	assert_string_equal(scx_program_find_words(unended), "unknown func 156");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel), cmocka_unit_test(test_own_kernel),
		cmocka_unit_test(test_value),  cmocka_unit_test(test_rank),
		cmocka_unit_test(test_points), cmocka_unit_test(test_code),
		cmocka_unit_test(test_sizes),  cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
