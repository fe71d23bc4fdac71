/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the threads of a pass do or wait for: classes and objects, from the state of each and the system call
 * that it sleeps in (docs/dev/bpf.md).
 */
#include "pass_internal.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/bpf/task_decode.h"
#include "capture/procfs/thread_file.h"
#include "wait_call.h"

_Static_assert((int)TASK_CALL_LIMIT == (int)WAIT_CALL_LIMIT, "numbers of calls");
_Static_assert((int)TASK_CALL_ARGUMENTS == (int)WAIT_CALL_ARGUMENTS, "arguments of calls");
_Static_assert(TASK_FILE_NAME_SIZE < sizeof(((struct wait_file *)0)->name), "names of files");

enum {
	ABI_COUNT = 2, /* the kernel's own, and its 32-bit one */
	WORD_BITS = 64,
	PATH_SIZE = 64,
};

/* What a thread waits for; `reason` is why the class is unknown. */
struct wait {
	enum wait_class class;
	enum reason reason;
	char object[WAIT_OBJECT_SIZE];
	size_t object_length;
};

void waits_list_calls(struct task_call_set *ret_by_file)
{
	memset(ret_by_file, 0, sizeof(*ret_by_file));
	for (int abi = 0; abi < ABI_COUNT; abi++) {
		for (int32_t number = 0; number < WAIT_CALL_LIMIT; number++) {
			if (wait_call_has_descriptor(abi == 1, number))
				ret_by_file->bits[abi][number / WORD_BITS] |= UINT64_C(1)
									      << number % WORD_BITS;
		}
	}
}

/* --- from the call to what it waits for --- */

static struct wait_call decode_call(const struct task_call *call)
{
	struct wait_call result = {.number = call->number,
				   .is_compat = (call->flags & TASK_CALL_COMPAT) != 0};

	memcpy(result.arguments, call->arguments, sizeof(result.arguments));
	return result;
}

/* Copies a name that may be cut: then without its last character if that has several bytes. */
static void copy_name(const char *name, char *ret_name)
{
	size_t length = strnlen(name, TASK_FILE_NAME_SIZE);

	while (length == TASK_FILE_NAME_SIZE && length != 0 &&
	       ((unsigned char)name[length - 1] & 0xc0) == 0x80)
		length--;
	memcpy(ret_name, name, length);
	ret_name[length] = '\0';
}

static struct wait_file decode_file(const struct task_call *call)
{
	struct wait_file file = {.mode = call->mode, .magic = call->magic, .inode = call->inode};

	if (!S_ISSOCK(file.mode)) {
		file.device = call->device;
		copy_name(call->name, file.name);
		return file;
	}
	file.family = (uint16_t)call->device;
	file.local_port = call->local_port;
	file.remote_port = ntohs(call->remote_port);
	memcpy(file.remote_address, call->remote_address, sizeof(file.remote_address));
	file.peer = call->peer;
	return file;
}

/* The record of a thread that the pass met; NULL for others. */
static const struct task_record *find_record(const struct intake *intake, uint32_t tgid, uint32_t tid)
{
	const uint32_t row = snapshot_find_row(intake->round->snapshot, tgid, tid);

	return row != SNAPSHOT_NO_ROW ? intake_record(intake, row) : NULL;
}

static void name_object(const struct intake *intake, const struct wait_call *call,
			const struct wait_file *file, struct wait *wait)
{
	const struct task_record *record = file != NULL ? find_record(intake, file->peer, file->peer) : NULL;
	char peer[TASK_COMM_SIZE + 1] = "";

	if (record != NULL)
		memcpy(peer, record->comm, TASK_COMM_SIZE);
	wait->object_length = wait_call_object(wait->class, call, file, peer, wait->object);
}

/*
 * Writes the kernel lock that a thread is in D for, and its owner. A thread counts as the owner if its
 * address is the one that the lock has. The owner of a mutex and the writer of an rwsem are alive, even if
 * this pass, of chosen processes, has not met them: then only their number is known.
 */
static void name_lock(const struct intake *intake, const struct task_call *call, struct wait *wait)
{
	static const struct {
		const char *name, *verb;
		bool is_alive;
	} locks[TASK_LOCK_COUNT] = {
		[TASK_LOCK_MUTEX] = {"mutex", " held by", true},
		[TASK_LOCK_RWSEM] = {"rwsem", " held by", true},
		[TASK_LOCK_RWSEM_READ] = {"rwsem", " read by", false},
		[TASK_LOCK_SEMAPHORE] = {"semaphore", " last taken by", false},
	};
	const uint32_t lock = call->lock % TASK_LOCK_COUNT;
	const struct task_record *owner = find_record(intake, call->owner_tgid, call->owner_tid);
	const bool is_met = owner != NULL && owner->task == call->owner;
	const bool is_known = is_met || (call->owner != 0 && locks[lock].is_alive);
	char number[16] = "";

	if (is_known && !(is_met && (owner->task_flags & TASK_KERNEL_THREAD) != 0))
		snprintf(number, sizeof(number), " %" PRIu32, call->owner_tid);
	wait->object_length = (size_t)snprintf(wait->object, WAIT_OBJECT_SIZE, "%s%s%s%s%.*s",
					       locks[lock].name, is_known ? locks[lock].verb : "", number,
					       is_met ? " " : "", TASK_COMM_SIZE, is_met ? owner->comm : "");
}

/* The class of an uninterruptible sleep. Outside of one, in_iowait may be a wait for an io_uring. */
static enum wait_class class_of_block(const struct task_call *call)
{
	return (call->flags & TASK_CALL_IN_IOWAIT) != 0 ? WAIT_CLASS_DISK : WAIT_CLASS_KERNEL_LOCK;
}

/* What a sleeping thread waits for whose call is known. */
static void judge_call(struct intake *intake, size_t row, const struct task_parts *parts, struct wait *wait)
{
	struct thread_state *state = &intake->round->states[row];
	struct wait_call call = decode_call(parts->call);
	const bool has_file = (parts->call->flags & TASK_CALL_FILE) != 0, is_blocked = state->state == 'D';
	const struct wait_file file = has_file ? decode_file(parts->call) : (struct wait_file){0};

	wait_call_resume(&call, &state->called);
	wait->class = wait_call_class(&call);
	if (wait->class == WAIT_CLASS_UNKNOWN && has_file)
		wait->class = wait_file_class(&file);
	else if (wait->class == WAIT_CLASS_UNKNOWN)
		wait->reason = intake->pass.has_files ? REASON_UNREADABLE : REASON_NOT_IN_KERNEL;
	/* the parent of a vfork(2) and a fault are in D, too */
	if (is_blocked && wait->class != WAIT_CLASS_CHILD && wait->class != WAIT_CLASS_FAULT) {
		wait->class = class_of_block(parts->call);
		wait->reason = REASON_READ;
	}
	name_object(intake, &call, has_file ? &file : NULL, wait);
}

/* --- threads --- */

/*
 * Whether the call of a thread may be shown. Without CAP_SYS_PTRACE the kernel decides whether the user may
 * read it (proc_pid_syscall() of fs/proc/base.c), which is never so of other users' threads.
 */
static bool may_show_call(struct intake *intake, const struct task_record *record)
{
	struct capture *capture = intake->round->capture;
	char path[PATH_SIZE];

	if (capture->passes.sees_others)
		return true;
	snprintf(path, sizeof(path), "%" PRIu32 "/task/%" PRIu32 "/syscall", record->tgid, record->tid);
	return record->uid == geteuid() &&
	       thread_file_read(capture->roots.descriptor[ROOT_PROC], path, &capture->text) == 0;
}

/* The class of a thread by its state alone; WAIT_CLASS_UNKNOWN of one that sleeps. */
static enum wait_class class_of_state(const struct task_record *record, char state,
				      const struct task_call *call)
{
	const bool is_kernel_thread = (record->task_flags & TASK_KERNEL_THREAD) != 0;

	if (record->exit_state != 0)
		return WAIT_CLASS_OTHER;
	if ((record->flags & TASK_RUNNING) != 0 || (call != NULL && (call->flags & TASK_CALL_MOVED) != 0))
		return WAIT_CLASS_CPU;
	if (state == 'R')
		return (record->flags & TASK_THROTTLED) != 0 ? WAIT_CLASS_THROTTLED : WAIT_CLASS_RUN_QUEUE;
	if (is_kernel_thread && state != 'D')
		return WAIT_CLASS_KERNEL_IDLE;
	if (!is_kernel_thread && (record->task_flags & TASK_IO_WORKER) != 0)
		return WAIT_CLASS_IO_URING;
	if (state == 'T' || state == 't')
		return WAIT_CLASS_STOPPED;
	return state == SNAPSHOT_STATE_FROZEN ? WAIT_CLASS_FROZEN : WAIT_CLASS_UNKNOWN;
}

static void judge_thread(struct intake *intake, size_t row, const struct task_parts *parts, struct wait *wait)
{
	const struct task_call *call = parts->call;
	const char state = intake->round->states[row].state;
	const bool is_user = (parts->record->task_flags & TASK_KERNEL_THREAD) == 0;
	const bool is_shown = is_user && may_show_call(intake, parts->record);

	wait->class = class_of_state(parts->record, state, call);
	if (wait->class != WAIT_CLASS_UNKNOWN)
		return;
	if (is_shown && call != NULL && (call->flags & TASK_CALL_READ) != 0)
		judge_call(intake, row, parts, wait);
	else if (call != NULL && state == 'D')
		wait->class = class_of_block(call);
	else
		wait->reason = is_user && !is_shown ? REASON_NOT_PERMITTED : REASON_NOT_IN_KERNEL;
	if ((wait->class == WAIT_CLASS_KERNEL_LOCK || wait->class == WAIT_CLASS_FAULT) &&
	    (call->flags & TASK_CALL_LOCK) != 0 && (is_shown || intake->round->capture->passes.sees_others))
		name_lock(intake, call, wait);
}

static void store_reason(struct snapshot *snapshot, size_t row, enum reason reason)
{
	if (snapshot->source_reason[SOURCE_WAIT] != NULL ||
	    snapshot->default_reason[SOURCE_WAIT] != (reason_id)reason)
		snapshot_source_reasons(snapshot, SOURCE_WAIT)[row] = (reason_id)reason;
}

void waits_store(struct intake *intake, size_t row, const struct task_parts *parts)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	struct wait wait = {.class = WAIT_CLASS_UNKNOWN, .reason = REASON_READ};
	uint32_t object;

	judge_thread(intake, row, parts, &wait);
	object = snapshot_intern_name(&snapshot->strings, wait.object, wait.object_length);
	if (snapshot->wait_class[row] != wait.class || snapshot->wait_object[row] != object)
		round->states[row].flags |= ROW_CHANGED;
	snapshot->wait_class[row] = (uint8_t)wait.class;
	snapshot->wait_object[row] = object;
	store_reason(snapshot, row, wait.reason);
}
