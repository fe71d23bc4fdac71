/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dtv_program LIBRARY THREADS [bare]: loads dtv_library.c when its threads exist, has every other one count
 * in it, prints `TID ALLOCATED DEALLOCATED` for each and `ready`, and waits for the end of its input. With
 * `bare` the threads take back their robust lists. Each SIGRTMIN that a thread handles counts as one byte
 * allocated.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*count)(uint64_t allocated, uint64_t deallocated);
static sem_t loaded, reported;
static bool bare;

static void count_signal(int signal)
{
	(void)signal;
	count(1, 0);
}

static void *run(void *argument)
{
	const unsigned long number = (unsigned long)argument;
	const unsigned long long allocated = number % 2 * (number * 1000 + 7);

	if (bare)
		syscall(SYS_set_robust_list, NULL, 3 * sizeof(long));
	sem_wait(&loaded);
	if (allocated > 0)
		count(allocated, number);
	printf("%ld %llu %lu\n", syscall(SYS_gettid), allocated, allocated > 0 ? number : 0);
	sem_post(&reported);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
	void *library;
	char byte;

	bare = argc > 3;
	sem_init(&loaded, 0, 0);
	sem_init(&reported, 0, 0);
	for (unsigned long i = 1; i <= threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, (void *)i) != 0)
			return 1;
	}
	library = dlopen(argv[1], RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&count = dlsym(library, "dtv_count");
	sigaction(SIGRTMIN, &action, NULL);
	for (unsigned long i = 1; i <= threads; i++) {
		sem_post(&loaded);
		sem_wait(&reported);
	}
	printf("%d 0 0\nready\n", getpid());
	fflush(stdout);
	return (int)read(STDIN_FILENO, &byte, 1);
}
