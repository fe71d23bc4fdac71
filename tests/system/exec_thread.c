/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process one of whose threads calls execve(2) while it is not the leader. Prints "ready PID TID" when that
 * thread has run for MILLISECONDS and the leader for LEADER_MILLISECONDS, calls execve when a line comes in,
 * prints "executed" as the new program, and ends with its standard input.
 *
 *	exec_thread MILLISECONDS [LEADER_MILLISECONDS]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char *program;
static uint64_t run_ns;
static pthread_barrier_t both_ran;

static void run_for(uint64_t ns)
{
	struct timespec used = {0, 0};

	while ((uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec < ns)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
}

static void *run_and_execute(void *unused)
{
	char line[16];

	(void)unused;
	run_for(run_ns);
	pthread_barrier_wait(&both_ran);
	printf("ready %d %d\n", (int)getpid(), (int)gettid());
	fflush(stdout);
	if (read(STDIN_FILENO, line, sizeof(line)) > 0)
		execl(program, program, (char *)NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[16];

	if (argc == 1) {
		puts("executed");
		fflush(stdout);
		return read(STDIN_FILENO, line, sizeof(line)) != 0;
	}
	program = argv[0];
	run_ns = strtoull(argv[1], NULL, 10) * 1000000;
	if (pthread_barrier_init(&both_ran, NULL, 2) != 0 ||
	    pthread_create(&thread, NULL, run_and_execute, NULL) != 0)
		return 1;
	run_for(argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0);
	pthread_barrier_wait(&both_ran);
	pthread_join(thread, NULL);
	return 1;
}
