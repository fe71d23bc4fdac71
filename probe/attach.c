/* SPDX-License-Identifier: GPL-2.0-only */
#include "attach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/stat_file.h"
#include "probe/process/link_map.h"
#include "probe/process/tls.h"
#include "probe/process/transfer.h"

enum {
	STATUS_SIZE_MAX = 64 * 1024, /* of PROCESS/status, whose lists of CPUs can be long */
	MODULES_MAX = 1 << 20,       /* a DTV index beyond this is not one */
	COUNTER_SIZE = 8,
	/* PF_IO_WORKER and, since Linux 6.4, PF_USER_WORKER of include/linux/sched.h */
	KERNEL_WORKER = 0x10 | 0x4000,
};

static int fail(enum heap_tag tag, enum heap_tag *ret_tag, int r)
{
	*ret_tag = tag;
	return r;
}

enum heap_tag attachment_failure_tag(int negative_errno, enum heap_tag otherwise)
{
	switch (negative_errno) {
	case -EPERM:
	case -EACCES:
		return HEAP_TAG_NOT_PERMITTED;
	case -ESRCH:
	case -ENOENT:
		return HEAP_TAG_PID_MISSING;
	case -ETIMEDOUT:
		return HEAP_TAG_MEMORY_LOCKED;
	case -EIO: /* of reader_call() alone */
		return HEAP_TAG_RESOLVER_ENDED;
	default:
		return otherwise;
	}
}

int attachment_read_own_number(int directory, const char *path, uint32_t *ret_number, size_t *ret_namespaces)
{
	struct buffer status = {0};
	const char *line = NULL;
	unsigned long number = 0;
	const int r = file_read(directory, path, &status, STATUS_SIZE_MAX);

	if (r == 0 && status.length != 0)
		line = strstr(status.data, "\nNSpid:");
	if (line != NULL)
		line += strlen("\nNSpid:");
	*ret_namespaces = 0;
	while (line != NULL && line[0] == '\t' && line[1] >= '0' && line[1] <= '9') {
		char *end;

		number = strtoul(line, &end, 10);
		++*ret_namespaces;
		line = end;
	}
	buffer_release(&status);
	if (r < 0)
		return r;
	*ret_number = (uint32_t)number;
	return number != 0 && number <= INT32_MAX ? 0 : -ENODATA;
}

/*
 * Opens the directory of the process if its threads have other ids in their own pid namespace: unlike a
 * thread's directory, it stays valid until the process ends. Kernels before 4.1 do not report those ids.
 */
static int find_namespace(struct attachment *attachment, int process_directory)
{
	char path[32];
	uint32_t number;
	size_t namespaces;
	int r = attachment_read_own_number(process_directory, "status", &number, &namespaces);

	if (r == -ENODATA || (r == 0 && namespaces == 1))
		return 0;
	if (r == 0) {
		snprintf(path, sizeof(path), "../%d", (int)attachment->tgid);
		attachment->directory = openat(process_directory, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (attachment->directory < 0)
			r = -errno;
	}
	return r;
}

static int find_random(struct attachment *attachment, pid_t tid, const struct auxiliary_vector *vector,
		       struct transfer_way *way)
{
	attachment->random_address = vector->random;
	return transfer_read(tid, vector->random, attachment->random, sizeof(attachment->random), way);
}

void attachment_set_robust_distance(struct attachment *attachment, uint64_t distance)
{
	/* above the thread pointer's own words on x86_64, below it on aarch64 */
	if (tls_native_variant() == TLS_VARIANT_2 &&
	    (distance < ATTACHMENT_ROBUST_MIN || distance > ATTACHMENT_ROBUST_MAX))
		return;
	attachment->robust_distance = distance;
	attachment->robust_known = true;
}

/*
 * glibc keeps the head of the robust list 16 bytes behind the tid field, with one pointer between them, in
 * struct pthread (nptl/descr.h). The thread pointer is the beginning of that structure on x86_64 and its end
 * on aarch64. Without its description, thread_reader.c finds the distance where that can be done.
 */
static void find_robust_distance(struct attachment *attachment)
{
	const struct c_library *library = &attachment->c_library;

	if (library->kind == C_LIBRARY_MUSL || !library->threads_known)
		return;
	if (tls_native_variant() == TLS_VARIANT_1)
		attachment_set_robust_distance(attachment,
					       (uint64_t)library->tid_offset + 16 - library->pthread_size);
	else
		attachment_set_robust_distance(attachment, (uint64_t)library->tid_offset + 16);
}

/* The image of a library lies where the dynamic linker put it. */
static int find_library_storage(struct attachment *attachment, pid_t tid,
				const struct auxiliary_vector *vector, const struct process_map *map,
				uint32_t object, struct transfer_way *way, struct error *error)
{
	const struct c_library *library = &attachment->c_library;
	struct link_map_tls tls;
	int r;

	if (library->kind == C_LIBRARY_MUSL)
		return error_set(error, -ENOENT,
				 "musl does not say where the thread storage of a library is");
	r = link_map_find_tls(tid, vector, map, object, library, &tls, way, error);
	if (r < 0)
		return r;
	if (tls.is_static) {
		attachment->distance = tls_native_variant() == TLS_VARIANT_1 ? tls.offset : -tls.offset;
		return 0;
	}
	if (!library->threads_known || library->dtv_entry_size == 0 || tls.module > MODULES_MAX)
		return error_set(error, -ENOENT, "its C library does not describe its threads");
	attachment->in_dtv = true;
	attachment->module = tls.module;
	return 0;
}

static int find_storage(struct attachment *attachment, pid_t tid, const struct auxiliary_vector *vector,
			const struct heap_layout *layout, const struct process_map *map,
			struct transfer_way *way, enum heap_tag *ret_tag, struct error *error)
{
	int r;

	if (layout->object == LAYOUT_EXECUTABLE) {
		r = tls_executable_distance(&layout->tls, tls_native_variant(), &attachment->distance);
		return r == 0 ? 0
			      : fail(HEAP_TAG_TLS_ARITHMETIC, ret_tag,
				     error_set(error, r, "its TLS segment matches no thread storage"));
	}
	r = find_library_storage(attachment, tid, vector, map, layout->object, way, error);
	if (r == -EPERM || r == -ESRCH || r == -ETIMEDOUT || r == -EIO)
		return fail(attachment_failure_tag(r, HEAP_TAG_PROCESS_VM_READV), ret_tag, r);
	return r == 0 ? 0 : fail(HEAP_TAG_JEMALLOC_IN_DSO, ret_tag, r);
}

int attachment_open(struct attachment *attachment, pid_t tgid, pid_t tid, int process_directory,
		    const struct resolution *resolution, const struct process_map *map,
		    struct transfer_way *way, enum heap_tag *ret_tag, struct error *error)
{
	const struct heap_layout *layout = &resolution->layout;
	struct auxiliary_vector vector;
	int r;

	*attachment = (struct attachment){
		.tgid = tgid,
		.symbol = layout->symbol,
		.offset = layout->allocated,
		.span = (uint32_t)(layout->deallocated - layout->allocated) + COUNTER_SIZE,
		.c_library = resolution->c_library,
		.directory = -1,
	};
	r = auxiliary_vector_read(process_directory, &vector);
	if (r == 0)
		r = find_random(attachment, tid, &vector, way);
	if (r < 0)
		return fail(attachment_failure_tag(r, HEAP_TAG_PROCESS_VM_READV), ret_tag,
			    error_set(error, r, "its memory: %s", strerror(-r)));
	find_robust_distance(attachment);
	r = find_storage(attachment, tid, &vector, layout, map, way, ret_tag, error);
	if (r < 0)
		return r;
	r = find_namespace(attachment, process_directory);
	if (r < 0)
		return fail(attachment_failure_tag(r, HEAP_TAG_PROCESS_VM_READV), ret_tag,
			    error_set(error, r, "its status: %s", strerror(-r)));
	return 0;
}

void attachment_release(struct attachment *attachment)
{
	if (attachment->directory >= 0)
		close(attachment->directory);
	attachment->directory = -1;
}

/* The arguments of find_block(). */
struct block_search {
	pid_t pid;
	struct c_library library;
	uint64_t module, thread_pointer;
};

/*
 * The block of a module in the DTV of a thread (dtv_t of sysdeps/generic/dl-dtv.h): entry -1 counts the
 * entries, entry 0 holds the generation, a block that was never touched is 0 or all ones. An entry can be
 * older than its module only where another library was unloaded before: then a thread that has not used the
 * new one yet still shows the old block.
 */
static int find_block(const struct block_search *search, uint64_t *ret_block, struct transfer_way *way)
{
	const struct c_library *library = &search->library;
	const uint64_t thread = search->thread_pointer -
				(tls_native_variant() == TLS_VARIANT_1 ? library->pthread_size : 0);
	const pid_t pid = search->pid;
	uint64_t dtv, length, block;
	int r = transfer_read(pid, thread + library->dtv_pointer_offset, &dtv, sizeof(dtv), way);

	if (r == 0)
		r = transfer_read(pid, dtv - library->dtv_entry_size, &length, sizeof(length), way);
	if (r < 0)
		return r;
	if (search->module > length)
		return -ENODATA;
	r = transfer_read(pid, dtv + search->module * library->dtv_entry_size + library->dtv_pointer_value,
			  &block, sizeof(block), way);
	if (r < 0)
		return r;
	if (block == 0 || block == UINT64_MAX)
		return -ENODATA;
	*ret_block = block;
	return 0;
}

/* A reader_work: answers with the address of the block. */
static int find_block_for_reader(int directory, const void *argument, size_t size, struct buffer *answer)
{
	struct transfer_way here = {0};
	uint64_t block;
	const int r = find_block(argument, &block, &here);

	(void)directory;
	(void)size;
	if (r == 0)
		buffer_append(answer, &block, sizeof(block));
	return r;
}

int attachment_counter_address(const struct attachment *attachment, pid_t pid, uint64_t thread_pointer,
			       uint64_t *ret_address, struct transfer_way *way)
{
	const struct block_search search = {
		.pid = pid,
		.library = attachment->c_library,
		.module = attachment->module,
		.thread_pointer = thread_pointer,
	};
	uint64_t block;
	int r;

	if (!attachment->in_dtv)
		return tls_address(thread_pointer, attachment->distance, tls_native_variant(),
				   attachment->symbol, attachment->offset, ret_address);
	r = way->reader == NULL ? find_block(&search, &block, way)
				: transfer_call(way, pid, find_block_for_reader, &search, sizeof(search),
						&block, sizeof(block));
	if (r < 0)
		return r;
	/* a block has no distance: it counts from itself, on any machine */
	return tls_address(block, 0, TLS_VARIANT_1, attachment->symbol, attachment->offset, ret_address);
}

void attachment_take_counters(const struct attachment *attachment, const char *bytes, uint64_t *ret_allocated,
			      uint64_t *ret_deallocated)
{
	memcpy(ret_allocated, bytes, COUNTER_SIZE);
	memcpy(ret_deallocated, bytes + attachment->span - COUNTER_SIZE, COUNTER_SIZE);
}

bool attachment_has_thread(const struct attachment *attachment, uint32_t tid)
{
	/*
	 * EPERM is for a thread of the group whose process belongs to another user; any other number gives
	 * ESRCH before rights are looked at (do_send_specific() of kernel/signal.c).
	 */
	return syscall(SYS_tgkill, (long)attachment->tgid, (long)tid, 0) == 0 || errno == EPERM;
}

bool attachment_is_worker(const struct attachment *attachment, uint32_t tid)
{
	struct buffer text = {0};
	uint64_t flags = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu32 "/stat", (int)attachment->tgid, tid);
	if (file_read(AT_FDCWD, path, &text, STAT_FILE_BYTES_MAX) == 0)
		flags = strtoull(stat_file_field(&text, STAT_FILE_FLAGS), NULL, 10);
	buffer_release(&text);
	return (flags & KERNEL_WORKER) != 0;
}
