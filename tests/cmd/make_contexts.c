/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make_contexts DIRECTORY: writes snapshots of a host whose sched_ext scheduler keeps contexts: before,
 * after, other (of another scheduler) and none (of no scheduler).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/ctprof.h"
#include "tests/diff/pair_fixture.h"
#include "tests/diff/scx_fixture.h"

static const struct pair_thread threads[] = {
	{"/web.slice", "web", "worker-1", 10, 11, 500, 1000000, 0, 0, REASON_READ},
	{"/web.slice", "web", "worker-2", 10, 12, 500, 1000000, 0, 0, REASON_READ},
	{"/web.slice", "web", "main", 10, 10, 500, 1000000, 0, 0, REASON_READ},
	{"/db.slice", "db", "db", 20, 20, 500, 1000000, 0, 0, REASON_READ},
};

/* Contexts of all threads but that of db; counters are so many times what they are. */
static void add_contexts(struct snapshot *snapshot, const char *scheduler, uint64_t times, const char *extra)
{
	scx_fixture_begin(snapshot, scheduler, 1, extra);
	for (size_t i = 0; i < 3; i++)
		scx_fixture_add(snapshot, i,
				(uint64_t[SCX_FIXTURE_FIELDS]){
					[SCX_FIXTURE_WEIGHT] = i == 0 ? 305 : 100,
					[SCX_FIXTURE_SUM_RUNTIME] = (i + 1) * 1000000 * times,
					[SCX_FIXTURE_AVG_RUNTIME] = 1000 * i,
					[SCX_FIXTURE_LAST_RUN_AT] = SCX_FIXTURE_NOW - 5000 * i,
					[SCX_FIXTURE_MAX_SLOTS] = (uint64_t)-1 - i,
					[SCX_FIXTURE_GREEDY] = i % 2,
					[SCX_FIXTURE_STATE] = i == 1 ? 3 : 0,
					[SCX_FIXTURE_EXTRA] = 42,
				});
	scx_fixture_add_event(snapshot, "SCX_EV_SELECT_CPU_FALLBACK", 100 * times);
}

static int write_snapshot(const char *directory, const char *name, uint64_t seconds, const char *scheduler,
			  uint64_t times, const char *extra)
{
	struct snapshot *snapshot = pair_snapshot_open(seconds, threads, ARRAY_COUNT(threads));
	char *path = memory_format("%s/%s.ctprof.zst", directory, name);
	struct error error = {""};
	int status;

	if (scheduler != NULL)
		add_contexts(snapshot, scheduler, times, extra);
	else
		snapshot->sched_ext = (struct sched_ext){.present = true, .state = "disabled"};
	snapshot_finish(snapshot);
	status = ctprof_write(snapshot, snapshot->window, path, true, NULL, &error);
	if (status < 0)
		fprintf(stderr, "%s\n", error.text);
	snapshot_release(snapshot);
	free(path);
	return status;
}

int main(int argument_count, char **arguments)
{
	if (argument_count != 2)
		return EXIT_FAILURE;
	return write_snapshot(arguments[1], "before", PAIR_BEFORE_S, "made_1.2", 1, NULL) < 0 ||
			       write_snapshot(arguments[1], "after", PAIR_BEFORE_S + PAIR_INTERVAL_S,
					      "made_1.2", 3, NULL) < 0 ||
			       write_snapshot(arguments[1], "other", PAIR_BEFORE_S + PAIR_INTERVAL_S,
					      "other_0.1", 3, "layer_id") < 0 ||
			       write_snapshot(arguments[1], "none", PAIR_BEFORE_S + PAIR_INTERVAL_S, NULL, 0,
					      NULL) < 0
		       ? EXIT_FAILURE
		       : EXIT_SUCCESS;
}
