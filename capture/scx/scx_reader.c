/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_reader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/remedy.h"
#include "base/rights.h"
#include "capture/bpf/bpf_object.h"

enum {
	ELEMENTS_MAX = 1 << 20, /* of a walk: more than the host has tasks */
};

/* --- rights --- */

static bool is_allowed(struct arena *arena, struct feature_result *ret_result)
{
	*ret_result = bpf_check(arena);
	if (ret_result->state == FEATURE_STATE_ON && !rights_include(CAP_SYS_ADMIN))
		*ret_result = feature_off(REASON_NOT_PERMITTED,
					  "needs CAP_SYS_ADMIN besides CAP_BPF and CAP_PERFMON",
					  remedy_for_rights(arena, RIGHTS_BIT(CAP_SYS_ADMIN), false));
	return ret_result->state == FEATURE_STATE_ON;
}

static bool read_kernel(struct scx_kernel *kernel, struct arena *arena, struct feature_result *ret_result)
{
	const int result = scx_kernel_read(kernel);

	if (result < 0)
		*ret_result = BPF_OFF(arena, bpf_reason(result), "the kernel's types (BTF): %s",
				      strerror(-result));
	return result == 0;
}

/* --- opening --- */

bool scx_reader_discover(const char *name, struct arena *arena, struct scx_run *ret_run,
			 struct feature_result *ret_result)
{
	struct scx_kernel kernel;
	int result;

	*ret_run = (struct scx_run){.name = name};
	if (!is_allowed(arena, ret_result) || !read_kernel(&kernel, arena, ret_result))
		return false;
	if (!scx_kernel_has_schedulers(&kernel)) {
		*ret_result = feature_off(REASON_NOT_IN_KERNEL,
					  "the kernel's types know no sched_ext (CONFIG_SCHED_CLASS_EXT)",
					  NULL);
		return false;
	}
	result = scx_discovery_find(&kernel, ret_run);
	if (result < 0) {
		*ret_result = BPF_OFF(arena, result == -EPERM ? REASON_NOT_PERMITTED : REASON_UNREADABLE,
				      "the programs of %s were not found: %s", name, strerror(-result));
		if (result == -ENOENT)
			ret_result->state = FEATURE_STATE_UNKNOWN;
		return false;
	}
	return true;
}

static struct feature_result open_parts(struct scx_reader *reader, const struct scx_run *run,
					const struct context_choice *choice, struct arena *arena)
{
	struct scx_kernel kernel;
	struct feature_result result;

	if (!is_allowed(arena, &result) || !read_kernel(&kernel, arena, &result))
		return result;
	result = scx_storage_open(run, choice, arena, &reader->storage);
	if (result.state != FEATURE_STATE_ON)
		return result;
	return scx_program_load(&kernel, &reader->storage, arena, &reader->program);
}

struct scx_reader *scx_reader_open(const struct scx_run *run, const struct context_choice *choice,
				   struct arena *arena, struct feature_result *ret_result)
{
	struct scx_reader *reader = memory_allocate_zero(1, sizeof(*reader));

	reader->storage = (struct scx_storage){.map = -1, .arena = -1};
	reader->program = (struct scx_program){.room = -1, .program = -1, .link = -1};
	*ret_result = open_parts(reader, run, choice, arena);
	if (ret_result->state != FEATURE_STATE_ON) {
		scx_reader_close(reader);
		return NULL;
	}
	reader->scheduler = scx_storage_describe(&reader->storage, run);
	ret_result->detail = arena_format(arena, "%s in %s of %s, %u bytes each (%s)",
					  reader->scheduler->type, reader->scheduler->storage, run->name,
					  reader->scheduler->size, reader->scheduler->layout);
	return reader;
}

void scx_reader_close(struct scx_reader *reader)
{
	if (reader == NULL)
		return;
	scx_program_close(&reader->program);
	scx_storage_close(&reader->storage);
	task_field_owner_release(reader->scheduler);
	free(reader->bytes);
	free(reader);
}

/* --- reading --- */

int scx_reader_read(struct scx_reader *reader, const atomic_bool *cancel, struct scx_reading *ret_reading)
{
	const size_t stride = scx_record_size(reader->storage.size);
	const int descriptor = bpf_iter_create(reader->program.link);
	ssize_t length;

	if (descriptor < 0)
		return -errno;
	length = bpf_iterator_read(descriptor, cancel, &reader->bytes, &reader->bytes_size);
	close(descriptor);
	if (length < 0)
		return (int)length;
	*ret_reading = (struct scx_reading){
		.records = reader->bytes,
		.count = (size_t)length / stride,
		.stride = stride,
	};
	return (size_t)length % stride == 0 ? 0 : -EIO;
}

/* --- the whole arena --- */

static size_t read_arena(void *context, uint64_t pointer, void *bytes, size_t size)
{
	const struct scx_program *program = context;
	size_t done = 0;

	while (done < size) {
		const size_t part = size - done < SCX_CHUNK_SIZE ? size - done : SCX_CHUNK_SIZE;

		if (scx_program_read_chunk(program, pointer + done, (char *)bytes + done, part) < 0)
			break;
		done += part;
	}
	return done;
}

int scx_reader_walk(struct scx_reader *reader, struct sdt_walk *ret_walk, struct error *error)
{
	const struct scx_storage *storage = &reader->storage;
	struct scx_program program;
	struct sdt_layout layout;
	int result;

	if (storage->arena < 0)
		return error_set(
			error, -ENOTSUP,
			"%s keeps contexts in task storage, not in an arena: there is nothing to walk",
			reader->scheduler->name);
	result = sdt_layout_find(storage->btf, &layout, error);
	if (result < 0)
		return result;
	result = scx_program_load_chunk(storage->arena, &program);
	if (result < 0)
		return error_set(error, result, "cannot read the arena of %s: %s", reader->scheduler->name,
				 strerror(-result));
	sdt_walk(&(struct sdt_image){.read = read_arena, .context = &program}, &layout, storage->allocator,
		 storage->allocator_name, &storage->choice, ELEMENTS_MAX, ret_walk);
	scx_program_close(&program);
	sdt_walk_render(ret_walk, storage->btf);
	return 0;
}
