/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holds the lock of its address space for as long as the file system of FILE does not answer: it maps a page
 * of the file, writes into it, and maps something else over it, which waits for that page to be written.
 * Meanwhile a thread goes on allocating, so that there is something to read.
 *
 * Usage: held_target FILE. Prints `ready`; a byte of its standard input has it do so. With an `e` it becomes
 * another program instead, and waits in execve(2) until FILE is closed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	INTERVAL_US = 20 * 1000,
};

static void *volatile held;

static void *allocate(void *argument)
{
	for (;;) {
		held = malloc(1000);
		free(held);
		usleep(INTERVAL_US);
	}
	return argument;
}

int main(int count, char **arguments)
{
	int file = count == 2 ? open(arguments[1], O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
	volatile char *page;
	pthread_t thread;
	char byte;

	if (file < 0 || ftruncate(file, PAGE) < 0)
		return EXIT_FAILURE;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED || pthread_create(&thread, NULL, allocate, NULL) != 0)
		return EXIT_FAILURE;
	page[0] = 1; /* before the server hangs, which is asked about the first writing */
	if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, &byte, 1) != 1)
		return EXIT_FAILURE;
	if (byte == 'e')
		execl("/bin/sleep", "sleep", "600", NULL);
	page[0] = 2;
	mmap((void *)page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (;;)
		pause();
}
