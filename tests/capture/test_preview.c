/* SPDX-License-Identifier: GPL-2.0-only */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/memory.h"
#include "capture/preview/preview.h"
#include "live.h"

enum {
	THREADS = 5
};

static const char *const no_roots[ROOT_COUNT];

static void *wait_forever(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

/* A process of THREADS threads, of which only the leader has this name. */
static void be_named(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "preview-thread");
	for (int i = 1; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, wait_forever, NULL) != 0)
			_exit(1);
	}
	prctl(PR_SET_NAME, "preview-) 3");
}

static struct preview *open_preview(const uint32_t *scope, size_t count)
{
	struct preview *preview;
	struct error error;

	assert_int_equal(preview_open(no_roots, scope, count, &preview, &error), 0);
	return preview;
}

static void test_host(void **state)
{
	struct preview *preview = open_preview(NULL, 0);
	struct snapshot *snapshot = preview_host(preview);
	char name[256];

	(void)state;
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	assert_string_equal(snapshot->provenance.hostname, name);
	assert_true(snapshot->provenance.boottime_ns != 0);
	assert_true(snapshot->provenance.load_known);
	assert_true(snapshot->provenance.cpu_ticks_known);
	assert_true(snapshot->provenance.mem_available_kib.present);
	assert_true(snapshot->host.total_memory_kib.present);
	assert_true(snapshot->host.online_cpus.present);
	assert_int_equal(snapshot->thread_count, 0);
	snapshot_release(snapshot);
	preview_close(preview);
}

static void test_scope(void **state)
{
	const pid_t child = live_start(be_named, NULL);
	const uint32_t scope[] = {(uint32_t)child, (uint32_t)getpid(), 4000000};
	struct preview *preview = open_preview(scope, 3);
	struct snapshot *snapshot;
	long row;

	(void)state;
	assert_true(live_wait_for_name(child, "preview-) 3"));
	assert_int_equal(preview_read(preview, UINT64_MAX, NULL), 0);
	assert_int_equal(preview_process_count(preview), 2);
	assert_int_equal(preview_thread_count(preview), THREADS + 1);
	snapshot = preview_threads(preview);
	assert_int_equal(snapshot->thread_count, THREADS + 1);
	/* what is not known is not said: all have the name of their process */
	assert_int_equal(live_count_named(snapshot, "preview-) 3", &row), THREADS);
	assert_string_equal(live_pcomm(snapshot, row), "preview-) 3");
	assert_int_equal(live_reason(snapshot, row, METRIC_RUN_TIME_NS), REASON_NOT_READ);
	assert_int_equal(live_row(snapshot, (uint32_t)child, (uint32_t)child), row);
	snapshot_release(snapshot);
	preview_close(preview);
	live_end(child);
}

/* A deadline that has passed lets go on with the next call; nobody is read twice. */
static void test_slices(void **state)
{
	struct preview *preview = open_preview(NULL, 0), *whole = open_preview(NULL, 0);
	const atomic_bool cancel = true;
	pid_t children[80];
	size_t last = 0, calls = 1;
	int left;

	(void)state;
	for (size_t i = 0; i < 80; i++)
		children[i] = live_start(be_named, NULL);
	while ((left = preview_read(preview, 0, NULL)) == 1) {
		assert_true(preview_process_count(preview) > last);
		last = preview_process_count(preview);
		calls++;
	}
	assert_int_equal(left, 0);
	assert_true(calls > 1);
	assert_true(preview_process_count(preview) >= 80);
	assert_int_equal(preview_read(preview, 0, NULL), 0);
	assert_int_equal(preview_read(whole, UINT64_MAX, &cancel), 1);
	assert_true(preview_process_count(whole) < 80);
	for (size_t i = 0; i < 80; i++)
		live_end(children[i]);
	preview_close(preview);
	preview_close(whole);
}

static void test_kernel_threads(void **state)
{
	struct preview *preview = open_preview(NULL, 0);
	struct snapshot *snapshot;
	long row;

	(void)state;
	assert_int_equal(preview_read(preview, UINT64_MAX, NULL), 0);
	snapshot = preview_threads(preview);
	row = live_row(snapshot, (uint32_t)getpid(), (uint32_t)getpid());
	assert_true(row >= 0);
	assert_int_equal(snapshot->thread_flags[row] & THREAD_KERNEL, 0);
	/* in the initial pid namespace */
	row = live_row(snapshot, 2, 2);
	if (row >= 0 && strcmp(live_comm(snapshot, row), "kthreadd") == 0)
		assert_int_equal(snapshot->thread_flags[row] & THREAD_KERNEL, THREAD_KERNEL);
	snapshot_release(snapshot);
	preview_close(preview);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_kernel_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
