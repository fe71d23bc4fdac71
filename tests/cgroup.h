/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_CGROUP_H
#define CTOP_TEST_CGROUP_H

#include <stdbool.h>

enum {
	TEST_CGROUP_PATH_SIZE = 128,
};

/*
 * Cgroups that tests make. Those that a failed test has left are removed when its program ends, and what runs
 * in them is killed.
 */

/* mkdir(2) of one; ENOTSUP where that makes an ordinary directory, as in the tmpfs of a container. */
int test_cgroup_make(const char *path);

/* Writes a text to a file of one; false where the kernel has no such file or refuses. */
bool test_cgroup_write(const char *path, const char *name, const char *text);

/* Limits one, v2 or v1, to `quota` ms of CPU time per `period` ms (0: no limit). */
bool test_cgroup_limit(const char *path, int quota, int period);

/* Makes one with such a limit, wherever this host lets it be made; false if nowhere. */
bool test_cgroup_make_limited(char ret_path[static TEST_CGROUP_PATH_SIZE], int quota, int period);

/* How long the kernel says that one has been throttled, ns. */
double test_cgroup_throttled(const char *path);

/* Waits until nothing runs in it; one that is not there is none. */
void test_cgroup_remove(const char *path);

#endif
