/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads wait for, without passes of a BPF program: by the state of each, and by the system call that
 * it sleeps in and the link of its descriptor.
 */
#include "round_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/procfs/procfs.h"
#include "capture/procfs/thread_file.h"
#include "capture/wait_call.h"

enum {
	DESCRIPTOR_NAME_SIZE = 32, /* "fd/2147483647" */
};

void round_begin_waits(struct round *round)
{
	if (((round->needed | round->extra) & source_bit(SOURCE_WAIT)) != 0)
		snapshot_make_wait_columns(round->snapshot);
}

static void store_wait(struct round *round, size_t row, enum wait_class class, struct text object)
{
	struct snapshot *snapshot = round->snapshot;

	if (snapshot->wait_class == NULL)
		return;
	snapshot->wait_class[row] = (uint8_t) class;
	snapshot->wait_object[row] = object.length != 0 ? snapshot_intern_name(&snapshot->strings,
									       object.data, object.length)
							: 0;
}

/* --- by state --- */

/*
 * procfs does not tell runnable threads that have a CPU from those that queue for one. A thread most likely
 * does what it did for longer since the last round.
 */
static enum wait_class runnable_class(const struct round *round, size_t row)
{
	const struct thread_state *state = &round->states[row];
	const uint32_t old = round->old_row[row];
	struct thread_counters before = {0};
	uint64_t ran, waited;

	if (old != SNAPSHOT_NO_ROW)
		before = round->capture->states[old].counters;
	ran = state->counters.run_ns - before.run_ns;
	waited = state->counters.wait_ns - before.wait_ns;
	return ran > waited || (ran == waited && (state->flags & ROW_MOVED) != 0) ? WAIT_CLASS_CPU
										  : WAIT_CLASS_RUN_QUEUE;
}

/* As a pass judges (capture/waits.c). WAIT_CLASS_UNKNOWN of a thread whose system call is to be asked for. */
static enum wait_class class_of_state(const struct round *round, size_t row)
{
	const struct thread_state *state = &round->states[row];
	const bool is_kernel_thread = (round->snapshot->thread_flags[row] & THREAD_KERNEL) != 0;

	if (state->state == 'Z' || state->state == 'X')
		return WAIT_CLASS_OTHER;
	if (state->state == 'R')
		return runnable_class(round, row);
	if (is_kernel_thread)
		return state->state != 'D' ? WAIT_CLASS_KERNEL_IDLE : WAIT_CLASS_UNKNOWN;
	if ((state->flags & ROW_IO_WORKER) != 0)
		return WAIT_CLASS_IO_URING;
	if (state->state == 'T' || state->state == 't')
		return WAIT_CLASS_STOPPED;
	return state->state == SNAPSHOT_STATE_FROZEN ? WAIT_CLASS_FROZEN : WAIT_CLASS_UNKNOWN;
}

bool round_wait_by_state(struct round *round, size_t row)
{
	const bool is_kernel_thread = (round->snapshot->thread_flags[row] & THREAD_KERNEL) != 0;
	const enum wait_class class = class_of_state(round, row);

	if (class == WAIT_CLASS_UNKNOWN && !is_kernel_thread)
		return false;
	store_wait(round, row, class, (struct text){0});
	if (class != WAIT_CLASS_UNKNOWN)
		round_apply(round, row, SOURCE_WAIT);
	else
		round_apply_failure(round, row, SOURCE_WAIT, REASON_OTHER_BACKEND);
	return true;
}

/* --- by system call --- */

/* What fstatat(2) says of a file that a link leads to. */
struct file_status {
	uint32_t mode, device; /* as in struct wait_file */
	uint64_t inode;
};

/* A reader_work: answers with the struct file_status of the link whose path is the argument. */
static int read_status(int directory, const void *argument, size_t size, struct buffer *answer)
{
	struct file_status found;
	struct stat status;

	(void)size;
	if (fstatat(directory, argument, &status, 0) < 0)
		return -errno;
	found = (struct file_status){.mode = status.st_mode, .inode = status.st_ino};
	if (S_ISCHR(status.st_mode))
		found.device = major(status.st_rdev) << 20 | minor(status.st_rdev);
	buffer_append(answer, (const char *)&found, sizeof(found));
	return 0;
}

/*
 * Adds the kind of a file, which counts as a regular one if that is not known. The reader asks, since its
 * file system may not answer.
 */
static void add_status(struct capture *capture, uint32_t tid, int tasks, const char *path,
		       struct wait_file *file)
{
	struct buffer *answer = &capture->text;
	struct file_status found;
	int result;

	file->mode = S_IFREG;
	result = reader_call(capture->reader, (pid_t)tid, read_status, tasks, path, strlen(path) + 1, answer);
	if (result < 0 || answer->length != sizeof(found))
		return;
	memcpy(&found, answer->data, sizeof(found));
	file->mode = found.mode;
	file->device = found.device;
	file->inode = found.inode;
}

/* The file of a descriptor; its kind too if `with_kind`. */
static enum reason find_file(const struct round *round, size_t row, int tasks, uint64_t descriptor,
			     bool with_kind, struct wait_file *ret_file)
{
	const uint32_t tid = round->snapshot->tid[row];
	char name[DESCRIPTOR_NAME_SIZE], path[THREAD_PATH_SIZE], link[PATH_MAX];
	ssize_t length;

	/* int, whose upper half the register may have anything in */
	snprintf(name, sizeof(name), "fd/%" PRIu32, (uint32_t)descriptor);
	length = readlinkat(tasks, thread_file_path(path, tid, name), link, sizeof(link));
	if (length < 0)
		return errno == EACCES || errno == EPERM ? REASON_NOT_PERMITTED : REASON_UNREADABLE;
	if (!wait_file_from_link(link, (size_t)length, ret_file) && with_kind)
		add_status(round->capture, tid, tasks, path, ret_file);
	return REASON_READ;
}

/*
 * Whether the class of the call holds for a thread in D. procfs does not tell waits for a disk from waits for
 * a lock of the kernel, but both are waits for a file if the call is about one.
 */
static bool is_known_in_d(enum wait_class class)
{
	return class == WAIT_CLASS_FAULT || class == WAIT_CLASS_CHILD || class == WAIT_CLASS_FILE;
}

static enum reason take_call(struct round *round, size_t row, int tasks, const struct wait_call *call)
{
	const bool is_in_d = round->states[row].state == 'D';
	enum wait_class class = wait_call_class(call);
	bool has_file = wait_call_has_descriptor(call->is_compat, call->number) && class != WAIT_CLASS_SOCKET;
	struct wait_file file;
	char text[WAIT_OBJECT_SIZE];
	size_t length;

	if (class == WAIT_CLASS_UNKNOWN && !has_file)
		return REASON_NOT_BUILT; /* the table lacks this architecture */
	if (has_file) {
		const enum reason reason = find_file(round, row, tasks, call->arguments[0],
						     class == WAIT_CLASS_UNKNOWN && !is_in_d, &file);

		if (class == WAIT_CLASS_UNKNOWN && reason != REASON_READ)
			return reason;
		has_file = reason == REASON_READ;
	}
	if (class == WAIT_CLASS_UNKNOWN)
		class = wait_file_class(&file);
	if (is_in_d && !is_known_in_d(class))
		return REASON_OTHER_BACKEND;
	length = wait_call_object(class, call, has_file ? &file : NULL, NULL, text);
	store_wait(round, row, class, (struct text){text, length});
	return REASON_READ;
}

enum reason round_wait_by_call(struct round *round, size_t row, int tasks, struct text text)
{
	struct thread_state *state = &round->states[row];
	struct procfs_syscall found;
	struct wait_call call;

	if (!procfs_parse_syscall(text.data, text.length, &found))
		return REASON_BAD_VALUE;
	if (found.is_running) {
		store_wait(round, row, runnable_class(round, row), (struct text){0});
		return REASON_READ;
	}
	if (procfs_syscall_is_copy(&found)) {
		store_wait(round, row, WAIT_CLASS_OTHER, (struct text){0});
		return REASON_READ;
	}
	call = (struct wait_call){
		.number = found.number,
		.is_compat = procfs_syscall_is_compat(&found),
	};
	memcpy(call.arguments, found.arguments, sizeof(call.arguments));
	wait_call_resume(&call, &state->called);
	return take_call(round, row, tasks, &call);
}

/* --- all rows --- */

void round_settle_waits(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;

	if (snapshot->wait_class == NULL) {
		round_set_source(snapshot, SOURCE_WAIT, REASON_NOT_READ);
		return;
	}
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if ((round->states[row].stale & source_bit(SOURCE_WAIT)) == 0)
			continue;
		round_forget_wait(round, row);
		snapshot_source_reasons(snapshot, SOURCE_WAIT)[row] = REASON_OVER_BUDGET;
	}
}
