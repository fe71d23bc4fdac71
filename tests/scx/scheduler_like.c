/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scheduler_like LAYOUT [THREADS [churn]]: starts threads (100 if not said) and gives each a context, as a
 * sched_ext scheduler would keep it in that layout (direct, before, after, rusty). Prints "ready" and the ids
 * that bpf(2) gives to a program, its types and its maps; then adds a millisecond of run time to every
 * context ten times a second, with `churn` also lets contexts change their slots, and ends with its standard
 * input.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"

enum {
	DEFAULT_THREADS = 100,
	MAX_THREADS = 100000,
	PERIOD_MS = 100,
	FAILED = 1,
	WRONG_USE = 2,
};

static int usage(void)
{
	fputs("usage: scheduler_like direct|before|after|rusty [THREADS [churn]]\n", stderr);
	return WRONG_USE;
}

/* Until nobody can write to standard input. */
static bool goes_on(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[512];

	if (poll(&input, 1, PERIOD_MS) <= 0)
		return true;
	return read(STDIN_FILENO, bytes, sizeof(bytes)) > 0;
}

static int stay(struct fixture *fixture, const struct fixture_threads *threads, bool with_churn,
		struct error *error)
{
	const struct fixture_ids *ids = fixture_ids(fixture);
	struct fixture_churn *churn = NULL;
	int result = 0;

	printf("ready program=%u btf=%u storage=%u arena=%u data=%u\n", ids->program, ids->btf, ids->storage,
	       ids->arena, ids->data);
	fflush(stdout);
	if (with_churn)
		churn = fixture_churn_start(fixture, threads->tids, threads->count);
	while (goes_on()) {
		for (size_t i = 0; i < threads->count && result == 0; i++) {
			result = fixture_run(fixture, threads->tids[i], NS_PER_MS, error);
			if (result == -ENOENT && churn != NULL)
				result = 0; /* it changes its slot just now */
		}
		if (result < 0)
			break;
	}
	if (churn != NULL)
		fixture_churn_end(churn);
	return result;
}

static int run(enum fixture_layout layout, size_t count, bool with_churn, struct error *error)
{
	struct fixture_options options = {.root_children = 1, .free_at_exit = true};
	struct fixture_scene scene;
	int result;

	if (!fixture_works(error))
		return -EPERM;
	result = fixture_scene_begin(&scene, layout, count, &options, error);
	if (result < 0)
		return result;
	result = stay(scene.fixture, &scene.threads, with_churn, error);
	fixture_scene_end(&scene);
	return result;
}

int main(int argc, char **argv)
{
	enum fixture_layout layout = 0;
	long threads = argc > 2 ? strtol(argv[2], NULL, 10) : DEFAULT_THREADS;
	bool with_churn = argc > 3 && strcmp(argv[3], "churn") == 0;
	struct error error;

	while (argc > 1 && layout < FIXTURE_LAYOUTS && strcmp(argv[1], fixture_layout_name(layout)) != 0)
		layout++;
	if (argc < 2 || argc > 4 || layout == FIXTURE_LAYOUTS || threads < 1 || threads > MAX_THREADS ||
	    (argc > 3 && !with_churn))
		return usage();
	if (run(layout, (size_t)threads, with_churn, &error) < 0) {
		fprintf(stderr, "scheduler_like: %s\n", error.text);
		return FAILED;
	}
	return 0;
}
