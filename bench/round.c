/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a live round must cost: listing the threads, asking taskstats for all and opening procfs only for
 * those that moved, beside the plain way of opening stat, io and schedstat of every thread, in the same run
 * and under four loads. Prints CPU microseconds per thread (CLOCK_THREAD_CPUTIME_ID, median of the rounds).
 * Needs root for taskstats. Usage: bench-round LOAD [THREADS]…, LOAD being the load generator.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/taskstats.h"

enum {
	ROUNDS = 9,
	PER_PROCESS = 100, /* threads of each process of the load */
	ROTATION = 10,     /* a sleeping thread's stat is read in one round of so many */
};

struct thread {
	uint32_t tgid, tid;
	uint64_t run, count, voluntary, nonvoluntary;
};

struct threads {
	struct thread *items;
	size_t count, capacity;
};

struct walk {
	DIR *proc;
	struct taskstats_connection *taskstats;
	struct threads now, before;
	struct hash_map index; /* tid to the place in `before` */
	unsigned int round;
	size_t opened; /* files of the last round */
};

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void list_tasks(struct walk *walk, uint32_t tgid)
{
	char path[64];
	struct dirent *entry;
	uint32_t tid;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	tasks = opendir(path);
	if (tasks == NULL)
		return;
	while ((entry = readdir(tasks)) != NULL) {
		struct threads *now = &walk->now;

		if (!number_parse_u32(entry->d_name, strlen(entry->d_name), &tid))
			continue;
		now->items = memory_grow(now->items, &now->capacity, now->count + 1, sizeof(*now->items));
		now->items[now->count++] = (struct thread){.tgid = tgid, .tid = tid};
	}
	closedir(tasks);
}

static void list_threads(struct walk *walk)
{
	struct dirent *entry;
	uint32_t tgid;

	walk->now.count = 0;
	rewinddir(walk->proc);
	while ((entry = readdir(walk->proc)) != NULL) {
		if (number_parse_u32(entry->d_name, strlen(entry->d_name), &tgid))
			list_tasks(walk, tgid);
	}
}

static void read_file(struct walk *walk, const struct thread *thread, const char *name)
{
	static char text[8192];
	char path[64];
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", thread->tgid, thread->tid, name);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	walk->opened++;
	if (descriptor < 0)
		return;
	if (read(descriptor, text, sizeof(text)) < 0)
		walk->opened--;
	close(descriptor);
}

static void plain_round(struct walk *walk)
{
	list_threads(walk);
	for (size_t i = 0; i < walk->now.count; i++) {
		read_file(walk, &walk->now.items[i], "stat");
		read_file(walk, &walk->now.items[i], "io");
		read_file(walk, &walk->now.items[i], "schedstat");
	}
}

static void take_counters(void *context, size_t index, const struct taskstats_reply *reply)
{
	struct walk *walk = context;
	struct thread *thread = &walk->now.items[index];

	if (reply->error != 0)
		return;
	thread->run = taskstats_u64(reply->layout, reply->stats, TASKSTATS_MEMBER_CPU_RUN_VIRTUAL_TOTAL);
	thread->count = taskstats_u64(reply->layout, reply->stats, TASKSTATS_MEMBER_CPU_COUNT);
	thread->voluntary = taskstats_u64(reply->layout, reply->stats, TASKSTATS_MEMBER_NVCSW);
	thread->nonvoluntary = taskstats_u64(reply->layout, reply->stats, TASKSTATS_MEMBER_NIVCSW);
}

static bool moved(const struct walk *walk, const struct thread *thread)
{
	const struct thread *old;
	uint32_t place;

	if (!hash_map_get(&walk->index, thread->tid, &place))
		return true;
	old = &walk->before.items[place];
	return old->run != thread->run || old->count != thread->count ||
	       old->voluntary != thread->voluntary || old->nonvoluntary != thread->nonvoluntary;
}

static void selective_round(struct walk *walk)
{
	struct threads swap;
	uint32_t *tids;

	list_threads(walk);
	tids = memory_allocate_zero(walk->now.count + 1, sizeof(*tids));
	for (size_t i = 0; i < walk->now.count; i++)
		tids[i] = walk->now.items[i].tid;
	taskstats_query(walk->taskstats, tids, walk->now.count, take_counters, walk);
	free(tids);
	walk->round++;
	for (size_t i = 0; i < walk->now.count; i++) {
		const struct thread *thread = &walk->now.items[i];
		bool changed = moved(walk, thread);

		if (changed)
			read_file(walk, thread, "io");
		if (changed || (thread->tid + walk->round) % ROTATION == 0)
			read_file(walk, thread, "stat");
	}
	hash_map_clear(&walk->index);
	for (size_t i = 0; i < walk->now.count; i++)
		hash_map_set(&walk->index, walk->now.items[i].tid, (uint32_t)i);
	swap = walk->before;
	walk->before = walk->now;
	walk->now = swap;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Microseconds of CPU per thread and round; `ret_opened` gets the files opened per thread. */
static double measure(struct walk *walk, void (*run)(struct walk *walk), double *ret_opened)
{
	const struct timespec pause = {.tv_nsec = 500000000};
	double cost[ROUNDS];
	size_t threads = 1;

	run(walk);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t start;

		nanosleep(&pause, NULL);
		walk->opened = 0;
		start = cpu_time_ns();
		run(walk);
		threads = run == plain_round ? walk->now.count : walk->before.count;
		cost[i] = (double)(cpu_time_ns() - start) / 1000.0 / (double)threads;
	}
	qsort(cost, ROUNDS, sizeof(cost[0]), compare_doubles);
	*ret_opened = (double)walk->opened / (double)threads;
	return cost[ROUNDS / 2];
}

/* The load generator ends with its standard input: closing `ret_input` stops it. */
static pid_t start_load(const char *program, unsigned long threads, const char *options, int *ret_input)
{
	int input[2], output[2];
	char *command = memory_format("exec %s %lu %d %s", program, threads / PER_PROCESS, PER_PROCESS,
				      options);
	char line[64];
	pid_t child;

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		exit(EXIT_FAILURE);
	child = fork();
	if (child == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	free(command);
	close(input[0]);
	close(output[1]);
	if (child < 0 || read(output[0], line, sizeof(line)) <= 0) {
		fprintf(stderr, "bench-round: cannot start %s\n", program);
		exit(EXIT_FAILURE);
	}
	close(output[0]);
	*ret_input = input[1];
	return child;
}

static void bench_load(const char *program, unsigned long threads, const char *name, const char *options)
{
	struct walk walk = {.proc = opendir("/proc")};
	double plain, selective, plain_opened, opened;
	struct error error;
	int input;
	pid_t child = start_load(program, threads, options, &input);

	if (walk.proc == NULL || taskstats_open(&walk.taskstats, &error) < 0)
		exit(EXIT_FAILURE);
	plain = measure(&walk, plain_round, &plain_opened);
	selective = measure(&walk, selective_round, &opened);
	printf("%7lu  %-22s %8.2f %8.2f %8.2f %8.2f\n", threads, name, plain, plain_opened, selective,
	       opened);
	fflush(stdout);
	close(input);
	waitpid(child, NULL, 0);
	closedir(walk.proc);
	taskstats_close(walk.taskstats);
	hash_map_release(&walk.index);
	free(walk.now.items);
	free(walk.before.items);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *options;
	} loads[] = {
		{"idle", ""},
		{"8 busy", "--busy 8"},
		{"a tenth waking", "--waking 0.1 --interval-ms 500"},
		{"1000 a second churn", "--churn 1000"},
	};

	if (argc < 2) {
		fprintf(stderr, "usage: bench-round LOAD [THREADS]...\n");
		return 2;
	}
	printf("%7s  %-22s %8s %8s %8s %8s\n", "threads", "load", "plain us", "files", "round us", "files");
	for (int i = 2; i < argc || i == 2; i++) {
		unsigned long threads = i < argc ? strtoul(argv[i], NULL, 10) : 10000;

		for (size_t k = 0; k < sizeof(loads) / sizeof(loads[0]); k++)
			bench_load(argv[1], threads, loads[k].name, loads[k].options);
	}
	return 0;
}
