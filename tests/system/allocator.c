/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A jemalloc program for the tests of `ctop probe`. Prints "ready" once it has done its work, a line of its
 * standard input makes it exec sleep(1), and it ends at the end of its input. Usage: allocator MODE, MODE:
 *
 *   hold    one thread allocates 16 MiB and keeps them
 *   bare    the same by a thread that has registered no robust list
 *   churn   threads are created and end all the time
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	HELD_BYTES = 16 << 20,
	PIECES = 64,
	CHURN_BYTES = 1000,
	CHURN_THREADS = 4,
};

static void *volatile held[PIECES];

static void *end_soon(void *argument)
{
	void *volatile block = malloc(CHURN_BYTES);

	usleep(500);
	free(block);
	return argument;
}

static void *churn(void *argument)
{
	for (;;) {
		pthread_t threads[CHURN_THREADS];

		for (int i = 0; i < CHURN_THREADS; i++) {
			if (pthread_create(&threads[i], NULL, end_soon, NULL) != 0)
				abort();
		}
		for (int i = 0; i < CHURN_THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	return argument;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t churner;
	char line[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(mode, "bare") == 0)
		syscall(SYS_set_robust_list, NULL, sizeof(void *) * 3);
	if (strcmp(mode, "churn") == 0) {
		if (pthread_create(&churner, NULL, churn, NULL) != 0)
			return 1;
	} else {
		for (int i = 0; i < PIECES; i++) {
			held[i] = malloc(HELD_BYTES / PIECES);
			if (held[i] == NULL)
				return 1;
			memset(held[i], 1, 4096);
		}
	}
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	if (read(STDIN_FILENO, line, sizeof(line)) > 0)
		execlp("sleep", "sleep", "60", (char *)NULL);
	return 0;
}
