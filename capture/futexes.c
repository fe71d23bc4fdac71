/* SPDX-License-Identifier: GPL-2.0-only */
/* The futexes at which threads of the process in scope wait. */
#include "round_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/remedy.h"
#include "base/rights.h"
#include "call_text.h"
#include "capture/bpf/bpf_futex.h"
#include "capture/procfs/thread_file.h"
#include "latency_watch.h"
#include "wait_call.h"

_Static_assert((int)FUTEX_RECORDS == (int)FUTEXES_MAX, "numbers of futexes");

void futexes_open(struct capture *capture)
{
	struct feature_result *result = &capture->futex_result;
	struct futex_calls calls;
	struct utsname kernel;

	capture->has_futexes = true;
	wait_call_list_futexes(&calls);
	if (!capture->roots.initial_pid_namespace)
		*result = feature_of_other_pids(&capture->roots, &capture->arena);
	else if (uname(&kernel) == 0 && !latency_watch_suits(&kernel))
		*result = feature_off(REASON_NOT_IN_KERNEL,
				      "a PREEMPT_RT kernel can measure it since Linux 6.4", NULL);
	else
		capture->futex = bpf_futex_open(capture->scope[0], &calls, &capture->arena, result);
}

static void add_measured(struct capture *capture, struct futexes *futexes)
{
	struct bpf_futex_reading reading = {0};
	const int result = bpf_futex_read(capture->futex, &reading);

	if (result < 0) {
		bpf_futex_close(capture->futex);
		capture->futex = NULL;
		capture->futex_result = feature_off(reason_of_errno(result), "bpf(2) failed", NULL);
	}
	for (size_t i = 0; i < reading.count; i++)
		*MEMORY_APPEND(futexes->items, futexes->count, futexes->capacity) = (struct futex){
			.address = reading.addresses[i],
			.waits = reading.sums[i].waits,
			.time_ns = reading.sums[i].time,
			.longest_ns = reading.sums[i].longest,
			.is_lock = reading.sums[i].is_lock != 0,
		};
	futexes->has_more = reading.overflowed;
}

static void add_threads(const struct snapshot *snapshot, struct futexes *futexes)
{
	for (size_t row = 0; snapshot->wait_class != NULL && row < snapshot->thread_count; row++) {
		const char *object = snapshot_text(snapshot, snapshot->wait_object[row]);
		char *end;

		if (snapshot->wait_class[row] != WAIT_CLASS_FUTEX)
			continue;
		*MEMORY_APPEND(futexes->items, futexes->count, futexes->capacity) = (struct futex){
			.address = strtoull(object, &end, 16),
			.threads = 1,
			.longest_ns = snapshot_wait_in(snapshot, row, 'S'),
			.is_lock = strcmp(end, WAIT_OBJECT_LOCK) == 0,
		};
	}
}

static int order_by_time(const void *left, const void *right)
{
	const struct futex *a = left, *b = right;
	int result = order_u64(b->time_ns, a->time_ns);

	if (result == 0)
		result = order_u64(b->threads, a->threads);
	return result != 0 ? result : order_u64(a->address, b->address);
}

/* Makes one item of all of a futex, which come one after the other. */
static void join(struct futexes *futexes)
{
	struct futex *last = futexes->items;

	for (size_t i = 1; i < futexes->count; i++) {
		const struct futex *item = &futexes->items[i];

		if (last->address != item->address) {
			*++last = *item;
			continue;
		}
		last->waits += item->waits;
		last->time_ns += item->time_ns;
		last->threads += item->threads;
		last->is_lock |= item->is_lock;
		if (item->longest_ns > last->longest_ns)
			last->longest_ns = item->longest_ns;
	}
	futexes->count = (size_t)(last - futexes->items) + 1;
}

/* A reader_work: the argument is a process and addresses that ascend, each of 64 bits. */
static int name_mappings(int proc, const void *argument, size_t size, struct buffer *answer)
{
	const uint64_t *numbers = argument;
	struct buffer maps = {0};
	char path[THREAD_PATH_SIZE];
	const int result = file_read(proc, thread_file_path(path, (uint32_t)numbers[0], "maps"), &maps,
				     CALL_TEXT_MAPS_MAX);

	if (result == 0)
		call_text_append_mappings(answer, text_of(&maps), numbers + 1, size / sizeof(*numbers) - 1);
	buffer_release(&maps);
	return result;
}

/* Names the mappings of futexes that ascend by address. */
static void name_futexes(struct capture *capture, struct snapshot *snapshot)
{
	struct futexes *futexes = &snapshot->futexes;
	uint64_t *numbers = memory_allocate_zero(futexes->count + 1, sizeof(*numbers));
	struct text names = {0}, name;

	numbers[0] = capture->scope[0];
	for (size_t i = 0; i < futexes->count; i++)
		numbers[i + 1] = futexes->items[i].address;
	if (reader_call(capture->reader, (pid_t)numbers[0], name_mappings,
			capture->roots.descriptor[ROOT_PROC], numbers,
			(futexes->count + 1) * sizeof(*numbers), &capture->text) == 0)
		names = text_of(&capture->text);
	for (size_t i = 0; text_next_line(&names, &name); i++) {
		if (name.length != 0)
			futexes->items[i].mapping = arena_duplicate(&snapshot->arena, name.data, name.length);
	}
	free(numbers);
}

/* Sorts and names what was found, which is something. */
static void finish(struct capture *capture, struct snapshot *snapshot)
{
	struct futexes *futexes = &snapshot->futexes;

	qsort(futexes->items, futexes->count, sizeof(*futexes->items), order_by_u64);
	join(futexes);
	if (futexes->count > FUTEXES_MAX) {
		qsort(futexes->items, futexes->count, sizeof(*futexes->items), order_by_time);
		futexes->count = FUTEXES_MAX;
		futexes->has_more = true;
		qsort(futexes->items, futexes->count, sizeof(*futexes->items), order_by_u64);
	}
	name_futexes(capture, snapshot);
	qsort(futexes->items, futexes->count, sizeof(*futexes->items), order_by_time);
}

/* Whether the kernel shows the calls of the process to ctop (proc_pid_syscall() of fs/proc/base.c). */
static bool may_show(struct capture *capture, struct arena *arena, struct feature_result *ret_refusal)
{
	const enum reason reason = thread_file_read_locked(capture->reader,
							   capture->roots.descriptor[ROOT_PROC],
							   capture->scope[0], SOURCE_WAIT, &capture->text);

	if (reason == REASON_READ)
		return true;
	*ret_refusal = feature_off(reason, NULL, NULL);
	if (reason == REASON_NOT_PERMITTED)
		*ret_refusal = feature_off(reason,
					   "the kernel shows them only to those who may trace the process",
					   remedy_for_rights(arena, RIGHTS_BIT(CAP_SYS_PTRACE), false));
	return false;
}

void futexes_read(struct round *round)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	struct futexes *futexes = &snapshot->futexes;

	futexes->present = capture->has_futexes;
	if (!futexes->present || !may_show(capture, &snapshot->arena, &futexes->result))
		return;
	if (capture->futex != NULL)
		add_measured(capture, futexes);
	add_threads(snapshot, futexes);
	futexes->result = feature_copy(&snapshot->arena, &capture->futex_result);
	if (futexes->count != 0)
		finish(capture, snapshot);
}
