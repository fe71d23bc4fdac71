/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "capture/bpf/bpf_object.h"

enum {
	WORD = 8,
	LOG_SIZE = 1 << 20,
	/* Since Linux 6.9; older headers lack it: include/uapi/linux/bpf.h. */
	ADDRESS_SPACE_CAST = 1,
	FROM_ARENA = 1, /* bpf_arena_cast_kern: from address space 1 to 0 */
	/* Offsets in struct bpf_iter__task and bpf_iter_meta, with members of 8 bytes:
	   kernel/bpf/task_iter.c, include/linux/bpf.h. */
	CONTEXT_META = 0,
	CONTEXT_TASK = 8,
	META_SEQ = 0,
};

size_t scx_record_size(uint32_t context_size)
{
	return sizeof(struct scx_record) + (context_size + WORD - 1) / WORD * WORD;
}

/* --- instructions --- */

static void emit(struct scx_code *code, uint8_t operation, uint8_t destination, uint8_t source, size_t offset,
		 int32_t immediate)
{
	/* what was asked for never is that long: contexts in an arena have SDT_ELEM_SIZE_MAX bytes at most */
	if (code->count == SCX_INSTRUCTIONS_MAX)
		abort();
	code->instructions[code->count++] = (struct bpf_insn){
		.code = operation,
		.dst_reg = destination & 0xfU,
		.src_reg = source & 0xfU,
		.off = (int16_t)offset,
		.imm = immediate,
	};
}

static void move(struct scx_code *code, uint8_t destination, uint8_t source)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, destination, source, 0, 0);
}

static void set(struct scx_code *code, uint8_t destination, uint32_t value)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, destination, 0, 0, (int32_t)value);
}

static void add(struct scx_code *code, uint8_t destination, uint32_t value)
{
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, destination, 0, 0, (int32_t)value);
}

static void load(struct scx_code *code, uint8_t size, uint8_t destination, uint8_t source, size_t offset)
{
	emit(code, BPF_LDX | BPF_MEM | size, destination, source, offset, 0);
}

static void store(struct scx_code *code, uint8_t size, uint8_t destination, size_t offset, uint8_t source)
{
	emit(code, BPF_STX | BPF_MEM | size, destination, source, offset, 0);
}

static void call(struct scx_code *code, int32_t helper)
{
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* A map itself (BPF_PSEUDO_MAP_FD), or the address of its only value (BPF_PSEUDO_MAP_VALUE). */
static void load_map(struct scx_code *code, uint8_t destination, uint8_t kind, int map)
{
	emit(code, BPF_LD | BPF_DW | BPF_IMM, destination, kind, 0, map);
	emit(code, 0, 0, 0, 0, 0);
}

/* Jumps over what comes if the register is 0; returns what land() is to be given. */
static size_t jump_if_zero(struct scx_code *code, uint8_t source)
{
	emit(code, BPF_JMP | BPF_JEQ | BPF_K, source, 0, 0, 0);
	return code->count - 1;
}

static void land(struct scx_code *code, size_t jump)
{
	code->instructions[jump].off = (int16_t)(code->count - jump - 1);
}

static void finish(struct scx_code *code)
{
	set(code, BPF_REG_0, 0);
	emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Copies bytes of an arena, by way of register 1. */
static void copy(struct scx_code *code, uint8_t destination, size_t to, uint8_t source, size_t from,
		 size_t size)
{
	static const struct {
		uint8_t size, code;
	} steps[] = {{8, BPF_DW}, {4, BPF_W}, {2, BPF_H}, {1, BPF_B}};

	for (size_t i = 0, done = 0; i < ARRAY_COUNT(steps); i++) {
		for (; size - done >= steps[i].size; done += steps[i].size) {
			load(code, steps[i].code, BPF_REG_1, source, from + done);
			store(code, steps[i].code, destination, to + done, BPF_REG_1);
		}
	}
}

/*
 * Makes register 2, an address of the arena, one that can be read. The program must name the arena: the
 * verifier takes it from the instruction that loads it. What has no page reads as zero
 * (ex_handler_bpf() of arch/x86/net/bpf_jit_comp.c and the like), and no page is made for it.
 */
static void enter_arena(struct scx_code *code, int arena)
{
	load_map(code, BPF_REG_3, BPF_PSEUDO_MAP_FD, arena);
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_2, ADDRESS_SPACE_CAST, FROM_ARENA);
}

/* --- the iterator: task in register 8, file in 9, value of the task storage in 6, record in 7 --- */

static void write_identity(struct scx_code *code, const struct scx_kernel *kernel)
{
	load(code, BPF_W, BPF_REG_1, BPF_REG_8, kernel->pid);
	store(code, BPF_W, BPF_REG_7, offsetof(struct scx_record, tid), BPF_REG_1);
	load(code, BPF_W, BPF_REG_1, BPF_REG_8, kernel->tgid);
	store(code, BPF_W, BPF_REG_7, offsetof(struct scx_record, tgid), BPF_REG_1);
	load(code, BPF_DW, BPF_REG_1, BPF_REG_8, kernel->start_boottime);
	store(code, BPF_DW, BPF_REG_7, offsetof(struct scx_record, start_boottime_ns), BPF_REG_1);
}

static void look_up_storage(struct scx_code *code, const struct scx_storage *storage)
{
	load_map(code, BPF_REG_1, BPF_PSEUDO_MAP_FD, storage->map);
	move(code, BPF_REG_2, BPF_REG_8);
	set(code, BPF_REG_3, 0);
	set(code, BPF_REG_4, 0);
	call(code, BPF_FUNC_task_storage_get);
}

/* The id of the element from register 2. */
static void write_element_id(struct scx_code *code, const struct scx_storage *storage, size_t to)
{
	load(code, BPF_DW, BPF_REG_1, BPF_REG_2, storage->element_id);
	store(code, BPF_DW, BPF_REG_7, to, BPF_REG_1);
}

/*
 * The id of the storage from register 6, or another one if that is not the task's any more: some allocators
 * leave an element its id when it is freed, but then the task has no storage.
 */
static void write_id_after(struct scx_code *code, const struct scx_storage *storage)
{
	look_up_storage(code, storage);
	load(code, BPF_DW, BPF_REG_1, BPF_REG_6, storage->id);
	emit(code, BPF_JMP | BPF_JEQ | BPF_X, BPF_REG_0, BPF_REG_6, 1, 0);
	emit(code, BPF_ALU64 | BPF_XOR | BPF_K, BPF_REG_1, 0, 0, -1);
	store(code, BPF_DW, BPF_REG_7, offsetof(struct scx_record, id_after), BPF_REG_1);
}

/* Returns the jump for a task without an element. */
static size_t copy_element(struct scx_code *code, const struct scx_storage *storage)
{
	size_t none;

	load(code, BPF_DW, BPF_REG_2, BPF_REG_6, storage->pointer);
	none = jump_if_zero(code, BPF_REG_2);
	enter_arena(code, storage->arena);
	load(code, BPF_DW, BPF_REG_1, BPF_REG_6, storage->id);
	store(code, BPF_DW, BPF_REG_7, offsetof(struct scx_record, id), BPF_REG_1);
	write_element_id(code, storage, offsetof(struct scx_record, element_id));
	copy(code, BPF_REG_7, sizeof(struct scx_record), BPF_REG_2, storage->context, storage->size);
	write_element_id(code, storage, offsetof(struct scx_record, element_id_after));
	write_id_after(code, storage);
	return none;
}

/*
 * Pointers of the kernel and locks in a value can be read in no other way: access to them is restricted
 * (Documentation/bpf/kfuncs.rst, "kptr").
 */
static void copy_value(struct scx_code *code, const struct scx_storage *storage)
{
	set(code, BPF_REG_1, 0);
	for (size_t offset = offsetof(struct scx_record, id); offset < sizeof(struct scx_record);
	     offset += WORD)
		store(code, BPF_DW, BPF_REG_7, offset, BPF_REG_1);
	move(code, BPF_REG_1, BPF_REG_7);
	add(code, BPF_REG_1, sizeof(struct scx_record));
	set(code, BPF_REG_2, storage->size);
	move(code, BPF_REG_3, BPF_REG_6);
	call(code, BPF_FUNC_probe_read_kernel);
}

void scx_program_assemble(const struct scx_kernel *kernel, const struct scx_storage *storage, int room,
			  struct scx_code *ret_code)
{
	struct scx_code *code = ret_code;
	size_t no_task, no_value, no_element = 0;

	code->count = 0;
	load(code, BPF_DW, BPF_REG_8, BPF_REG_1, CONTEXT_TASK);
	no_task = jump_if_zero(code, BPF_REG_8);
	load(code, BPF_DW, BPF_REG_9, BPF_REG_1, CONTEXT_META);
	load(code, BPF_DW, BPF_REG_9, BPF_REG_9, META_SEQ);
	look_up_storage(code, storage);
	no_value = jump_if_zero(code, BPF_REG_0);
	move(code, BPF_REG_6, BPF_REG_0);
	load_map(code, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, room);
	write_identity(code, kernel);
	if (storage->arena >= 0)
		no_element = copy_element(code, storage);
	else
		copy_value(code, storage);
	/* if the file is full, the kernel calls the program again for this task */
	move(code, BPF_REG_1, BPF_REG_9);
	move(code, BPF_REG_2, BPF_REG_7);
	set(code, BPF_REG_3, (uint32_t)scx_record_size(storage->size));
	call(code, BPF_FUNC_seq_write);
	land(code, no_task);
	land(code, no_value);
	if (storage->arena >= 0)
		land(code, no_element);
	finish(code);
}

void scx_program_assemble_chunk(int arena, int room, struct scx_code *ret_code)
{
	struct scx_code *code = ret_code;

	code->count = 0;
	load(code, BPF_DW, BPF_REG_2, BPF_REG_1, 0);
	load_map(code, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, room);
	enter_arena(code, arena);
	copy(code, BPF_REG_7, 0, BPF_REG_2, 0, SCX_CHUNK_SIZE);
	finish(code);
}

/* --- loading --- */

const char *scx_program_find_words(char *log)
{
	static const char *const statistics[] = {"processed ", "verification time ", "stack depth ",
						 "func#",      "mark_precise:",      "last_idx "};
	char *words = log + strlen(log);

	for (char *line = log, *next; *line != '\0'; line = next) {
		bool counts = line[0] != '\n';

		next = line + strcspn(line, "\n");
		if (*next != '\0')
			*next++ = '\0';
		for (size_t i = 0; i < ARRAY_COUNT(statistics); i++)
			counts = counts && strncmp(line, statistics[i], strlen(statistics[i])) != 0;
		if (counts)
			words = line;
	}
	return words;
}

static int create_room(size_t size, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
	const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ctop_scx", sizeof(uint32_t), (uint32_t)size, 1,
				       &options);

	return map >= 0 ? map : -errno;
}

static int load_iterator(const struct scx_kernel *kernel, const struct scx_code *code, char *log)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_ITER,
		    .attach_btf_id = kernel->iterator, .log_buf = log,
		    .log_size = log != NULL ? LOG_SIZE : 0);
	const int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "ctop_scx", "GPL", code->instructions,
					  code->count, &options);

	return program >= 0 ? program : -errno;
}

/* Why the kernel refused the program: loads it once more and listens. */
static struct feature_result explain_refusal(const struct scx_kernel *kernel, const struct scx_code *code,
					     int failure, struct arena *arena)
{
	char *log = memory_allocate_zero(1, LOG_SIZE);
	const int program = load_iterator(kernel, code, log);
	const char *words = scx_program_find_words(log);
	const struct feature_result result = BPF_OFF(arena, bpf_reason(failure),
						     "the kernel refused the program: %s%s%s",
						     strerror(-failure), words[0] != '\0' ? "; " : "", words);

	if (program >= 0)
		close(program);
	free(log);
	return result;
}

static struct feature_result explain_failure(const char *step, int failure, struct arena *arena)
{
	return BPF_OFF(arena, failure == -EPERM ? REASON_NOT_PERMITTED : REASON_UNREADABLE, "%s: %s", step,
		       strerror(-failure));
}

struct feature_result scx_program_load(const struct scx_kernel *kernel, const struct scx_storage *storage,
				       struct arena *arena, struct scx_program *ret_program)
{
	struct scx_program *program = ret_program;
	struct feature_result result = feature_on();
	struct scx_code *code;

	*program = (struct scx_program){.room = -1, .program = -1, .link = -1};
	if (scx_record_size(storage->size) > SCX_RECORD_SIZE_MAX)
		return BPF_OFF(arena, REASON_UNREADABLE,
			       "its contexts have %u bytes; at most %zu can be read", storage->size,
			       SCX_RECORD_SIZE_MAX - sizeof(struct scx_record));
	program->room = create_room(scx_record_size(storage->size), 0);
	if (program->room < 0)
		return explain_failure("no map could be made", program->room, arena);
	code = memory_allocate(sizeof(*code));
	scx_program_assemble(kernel, storage, program->room, code);
	program->program = load_iterator(kernel, code, NULL);
	if (program->program < 0)
		result = bpf_is_locked_down() ? bpf_refused(arena, program->program, "the program")
					      : explain_refusal(kernel, code, program->program, arena);
	free(code);
	if (program->program >= 0) {
		program->link = bpf_link_create(program->program, 0, BPF_TRACE_ITER, NULL);
		if (program->link < 0)
			result = explain_failure("no iterator could be made", -errno, arena);
	}
	if (result.state != FEATURE_STATE_ON)
		scx_program_close(program);
	return result;
}

int scx_program_load_chunk(int arena, struct scx_program *ret_program)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_SLEEPABLE);
	struct scx_program *program = ret_program;
	struct scx_code *code;
	int result = 0;

	*program = (struct scx_program){.link = -1, .program = -1};
	program->room = create_room(SCX_CHUNK_SIZE, BPF_F_MMAPABLE);
	if (program->room < 0)
		return program->room;
	program->mapped = mmap(NULL, SCX_CHUNK_SIZE, PROT_READ, MAP_SHARED, program->room, 0);
	if (program->mapped == MAP_FAILED) {
		result = -errno;
		program->mapped = NULL;
		scx_program_close(program);
		return result;
	}
	code = memory_allocate(sizeof(*code));
	scx_program_assemble_chunk(arena, program->room, code);
	program->program = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "ctop_scx_chunk", "GPL", code->instructions,
					 code->count, &options);
	if (program->program < 0)
		result = -errno;
	free(code);
	if (result < 0)
		scx_program_close(program);
	return result;
}

int scx_program_read_chunk(const struct scx_program *program, uint64_t address, void *bytes, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &address, .ctx_size_in = sizeof(address));

	if (bpf_prog_test_run_opts(program->program, &options) != 0)
		return -errno;
	memcpy(bytes, program->mapped, size < SCX_CHUNK_SIZE ? size : SCX_CHUNK_SIZE);
	return 0;
}

void scx_program_close(struct scx_program *program)
{
	if (program->mapped != NULL)
		munmap(program->mapped, SCX_CHUNK_SIZE);
	if (program->link >= 0)
		close(program->link);
	if (program->program >= 0)
		close(program->program);
	if (program->room >= 0)
		close(program->room);
	*program = (struct scx_program){.room = -1, .program = -1, .link = -1};
}
