/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_include.h"

#include "wait.h"

enum {
	CGROUPS_MAX = 8,
	LEFT_SECONDS = 10, /* for one that is left to become empty */
};

static char *made[CGROUPS_MAX];
static pid_t owner;

static bool is_gone(const char *path)
{
	return rmdir(path) == 0 || errno != EBUSY;
}

bool test_cgroup_write(const char *path, const char *name, const char *text)
{
	char file_name[4352];
	FILE *file;
	bool is_written;

	snprintf(file_name, sizeof(file_name), "%s/%s", path, name);
	file = fopen(file_name, "r+e");
	if (file == NULL)
		return false;
	is_written = fputs(text, file) >= 0;
	return fclose(file) == 0 && is_written;
}

static void kill_members(const char *path)
{
	char name[4352];
	FILE *file;
	pid_t member;

	/* a killed process that is frozen does not end until it is thawed */
	test_cgroup_write(path, "freezer.state", "THAWED");
	test_cgroup_write(path, "cgroup.freeze", "0");
	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	file = fopen(name, "re");
	while (file != NULL && fscanf(file, "%d", &member) == 1) {
		/* 0 is one of another pid namespace */
		if (member > 0 && member != owner)
			kill(member, SIGKILL);
	}
	if (file != NULL)
		fclose(file);
}

static void remove_left(void)
{
	/* children end, too */
	for (size_t i = 0; i < CGROUPS_MAX && getpid() == owner; i++) {
		if (made[i] == NULL)
			continue;
		kill_members(made[i]);
		wait_at_most(LEFT_SECONDS, is_gone(made[i]));
	}
}

int test_cgroup_make(const char *path)
{
	size_t place = 0;
	char members[4352];

	while (place < CGROUPS_MAX && made[place] != NULL)
		place++;
	assert_true(place < CGROUPS_MAX);
	if (mkdir(path, 0755) != 0)
		return -1;
	snprintf(members, sizeof(members), "%s/cgroup.procs", path);
	if (access(members, F_OK) != 0) {
		rmdir(path);
		errno = ENOTSUP;
		return -1;
	}
	if (owner == 0)
		atexit(remove_left);
	owner = getpid();
	made[place] = strdup(path);
	return 0;
}

bool test_cgroup_limit(const char *path, int quota, int period)
{
	const int quota_us = quota != 0 ? quota * 1000 : -1;
	char period_text[16], quota_text[16], limit[40];

	snprintf(period_text, sizeof(period_text), "%d", period * 1000);
	snprintf(quota_text, sizeof(quota_text), "%d", quota_us);
	snprintf(limit, sizeof(limit), "%s %s", quota != 0 ? quota_text : "max", period_text);
	return test_cgroup_write(path, "cpu.max", limit) ||
	       (test_cgroup_write(path, "cpu.cfs_period_us", period_text) &&
		test_cgroup_write(path, "cpu.cfs_quota_us", quota_text));
}

bool test_cgroup_make_limited(char ret_path[static TEST_CGROUP_PATH_SIZE], int quota, int period)
{
	static const char *const parents[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"};

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		snprintf(ret_path, TEST_CGROUP_PATH_SIZE, "%s/ctop-test-%d", parents[i], (int)getpid());
		if (test_cgroup_make(ret_path) != 0)
			continue;
		if (test_cgroup_limit(ret_path, quota, period))
			return true;
		test_cgroup_remove(ret_path);
	}
	return false;
}

double test_cgroup_throttled(const char *path)
{
	char file_path[TEST_CGROUP_PATH_SIZE + sizeof("/cpu.stat")], name[64];
	unsigned long long number;
	double throttled = 0;
	FILE *file;

	snprintf(file_path, sizeof(file_path), "%s/cpu.stat", path);
	file = fopen(file_path, "re");
	assert_non_null(file);
	while (fscanf(file, "%63s %llu", name, &number) == 2) {
		if (strcmp(name, "throttled_time") == 0) /* cgroup v1 */
			throttled = (double)number;
		else if (strcmp(name, "throttled_usec") == 0)
			throttled = (double)number * 1000;
	}
	fclose(file);
	return throttled;
}

void test_cgroup_remove(const char *path)
{
	await("the cgroup is empty", is_gone(path));
	for (size_t i = 0; i < CGROUPS_MAX; i++) {
		if (made[i] == NULL || strcmp(made[i], path) != 0)
			continue;
		free(made[i]);
		made[i] = NULL;
	}
}
