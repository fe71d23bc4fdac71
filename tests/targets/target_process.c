/* SPDX-License-Identifier: GPL-2.0-only */
#include "target_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"

static void read_report(struct target *target)
{
	char line[128];

	target->count = 0;
	while (fgets(line, sizeof(line), target->answers) != NULL) {
		struct target_thread *thread;

		if (strcmp(line, "ready\n") == 0)
			return;
		if (target->count == target->capacity) {
			target->capacity = target->capacity * 2 + 64;
			target->threads = realloc(target->threads, target->capacity * sizeof(*thread));
			assert_non_null(target->threads);
		}
		thread = &target->threads[target->count++];
		assert_int_equal(sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64, &thread->tid,
					&thread->allocated, &thread->deallocated),
				 3);
	}
	fail_msg("the target ended after %zu lines", target->count);
}

void target_start(struct target *target, const char *environment, const char *const *arguments)
{
	int commands[2], answers[2];
	char path[64];

	memset(target, 0, sizeof(*target));
	assert_int_equal(pipe2(commands, O_CLOEXEC), 0);
	assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
	target->child = fork();
	assert_true(target->child >= 0);
	if (target->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(commands[0], STDIN_FILENO);
		dup2(answers[1], STDOUT_FILENO);
		if (environment == NULL || putenv(strdup(environment)) == 0)
			execvp(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close(commands[0]);
	close(answers[1]);
	target->commands = fdopen(commands[1], "w");
	target->answers = fdopen(answers[0], "r");
	assert_non_null(target->commands);
	assert_non_null(target->answers);
	snprintf(path, sizeof(path), "/proc/%d", target->child);
	target->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(target->directory >= 0);
	read_report(target);
}

void target_command(struct target *target, const char *command)
{
	assert_true(fprintf(target->commands, "%s\n", command) > 0);
	assert_int_equal(fflush(target->commands), 0);
	read_report(target);
}

int64_t target_gap(struct target *target)
{
	char line[64];
	int64_t gap;

	assert_true(fputs("gap\n", target->commands) >= 0);
	assert_int_equal(fflush(target->commands), 0);
	assert_non_null(fgets(line, sizeof(line), target->answers));
	assert_int_equal(sscanf(line, "gap %" SCNd64, &gap), 1);
	return gap;
}

void target_end(struct target *target)
{
	fclose(target->commands);
	/* the children of the target hold its output as well */
	while (fgetc(target->answers) != EOF)
		;
	fclose(target->answers);
	close(target->directory);
	waitpid(target->child, NULL, 0);
	free(target->threads);
	memset(target, 0, sizeof(*target));
}

const struct target_thread *target_find(const struct target *target, uint32_t tid)
{
	for (size_t i = 0; i < target->count; i++) {
		if (target->threads[i].tid == tid)
			return &target->threads[i];
	}
	return NULL;
}

pid_t target_first_child(pid_t pid)
{
	char path[64];
	FILE *file;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	if (fscanf(file, "%d", &child) != 1)
		child = 0;
	fclose(file);
	return child;
}

/* The text behind the name in a thread's stat; the name may hold anything. */
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
