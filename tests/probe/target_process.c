/* SPDX-License-Identifier: GPL-2.0-only */
#include "target_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "base/memory.h"

static _Noreturn void become(const struct target_start *start, const char *const *arguments, int input,
			     int output)
{
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (start->preload != NULL)
		setenv("LD_PRELOAD", start->preload, 1);
	if (start->user != 0 && (setgid(start->user) < 0 || setuid(start->user) < 0))
		_exit(126);
	execv(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(127);
}

/* In a new namespace the program is the child of the one that unshared, and its first process. */
static pid_t start_program(const struct target_start *start, const char *const *arguments, int input,
			   int output)
{
	const pid_t pid = fork();
	pid_t inner;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!start->new_namespace)
		become(start, arguments, input, output);
	if (unshare(CLONE_NEWPID) < 0)
		_exit(125);
	inner = fork();
	if (inner == 0)
		become(start, arguments, input, output);
	/* no end of the pipes, ours included: the program is to see when we close one */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	waitpid(inner, NULL, 0);
	_exit(0);
}

static void add_report(struct target_process *target, const struct target_thread *report)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].tid == report->tid) {
			target->threads[i] = *report;
			return;
		}
	target->threads = memory_resize(target->threads, target->count + 1, sizeof(target->threads[0]));
	target->threads[target->count++] = *report;
}

static bool read_line(struct target_process *target)
{
	target->line_length = 0;
	for (;;) {
		char *end = &target->line[target->line_length];

		if (target->line_length + 1 >= sizeof(target->line) || read(target->output, end, 1) != 1)
			return false;
		if (*end == '\n') {
			*end = '\0';
			return true;
		}
		target->line_length++;
	}
}

static void take_reports(struct target_process *target)
{
	for (;;) {
		struct target_thread report;
		unsigned long long allocated, deallocated;

		if (!read_line(target))
			fail_msg("the target ended early");
		if (strcmp(target->line, "ready") == 0)
			return;
		if (sscanf(target->line, "%u %llu %llu", &report.tid, &allocated, &deallocated) != 3)
			fail_msg("the target says: %s", target->line);
		report.allocated = allocated;
		report.deallocated = deallocated;
		add_report(target, &report);
	}
}

/* The process that a program in a new namespace became. */
static pid_t only_child(pid_t pid)
{
	char path[64];
	FILE *file;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file != NULL)
		fclose(file);
	return child;
}

void target_start(struct target_process *target, const struct target_start *start,
		  const char *const *arguments)
{
	int input[2], output[2];
	char path[64];

	*target = (struct target_process){0};
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	target->pid = start_program(start, arguments, input[0], output[1]);
	assert_true(target->pid > 0);
	close(input[0]);
	close(output[1]);
	target->input = input[1];
	target->output = output[0];
	take_reports(target);
	if (start->new_namespace)
		target->pid = only_child(target->pid);
	snprintf(path, sizeof(path), "/proc/%d", target->pid);
	target->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(target->directory >= 0);
}

void target_command(struct target_process *target, const char *command)
{
	assert_int_equal(write(target->input, command, strlen(command)), strlen(command));
	assert_int_equal(write(target->input, "\n", 1), 1);
	take_reports(target);
}

void target_end(struct target_process *target)
{
	close(target->input);
	while (read(target->output, target->line, sizeof(target->line)) > 0)
		;
	close(target->output);
	close(target->directory);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	free(target->threads);
	*target = (struct target_process){0};
}

const struct target_thread *target_find(const struct target_process *target, uint32_t tid)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].tid == tid)
			return &target->threads[i];
	return NULL;
}

/* The text behind the name in a thread's stat. */
static bool read_stat(pid_t pid, uint32_t tid, char *text, size_t size)
{
	char path[64];
	ssize_t length = -1;
	char *end;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", pid, tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		length = read(file, text, size - 1);
		close(file);
	}
	if (length <= 0)
		return false;
	text[length] = '\0';
	end = strrchr(text, ')');
	if (end == NULL)
		return false;
	memmove(text, end + 2, strlen(end + 2) + 1);
	return true;
}

char target_state(pid_t pid, uint32_t tid)
{
	char text[1024];

	return read_stat(pid, tid, text, sizeof(text)) ? text[0] : '\0';
}

uint64_t target_stat_field(pid_t pid, uint32_t tid, unsigned int field)
{
	char text[1024], *rest = NULL;
	const char *word;

	if (!read_stat(pid, tid, text, sizeof(text)))
		return 0;
	word = strtok_r(text, " ", &rest);
	for (unsigned int i = 3; i < field && word != NULL; i++)
		word = strtok_r(NULL, " ", &rest);
	return word != NULL ? strtoull(word, NULL, 10) : 0;
}
