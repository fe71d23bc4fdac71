/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process one of whose threads calls execve(2) while it is not the leader. Prints "ready PID" when that
 *thread has run for MILLISECONDS, calls execve when a line comes in, prints "executed" as the new program,
 *and ends with its standard input.
 *
 *	exec_thread MILLISECONDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char *program;
static uint64_t run_ns;

static void *run_and_execute(void *unused)
{
	struct timespec used = {0, 0};
	char line[16];

	(void)unused;
	while ((uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec < run_ns)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (read(STDIN_FILENO, line, sizeof(line)) > 0)
		execl(program, program, (char *)NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[16];

	alarm(60); /* nothing outlives a test that hangs */
	if (argc == 1) {
		puts("executed");
		fflush(stdout);
		return read(STDIN_FILENO, line, sizeof(line)) != 0;
	}
	program = argv[0];
	run_ns = strtoull(argv[1], NULL, 10) * 1000000;
	if (pthread_create(&thread, NULL, run_and_execute, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 1;
}
