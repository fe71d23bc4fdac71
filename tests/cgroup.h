/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_CGROUP_H
#define CTOP_TEST_CGROUP_H

/*
 * Cgroups that tests make. Those that a failed test has left are removed when its program ends, and what runs
 * in them is killed.
 */

/* mkdir(2) of one; ENOTSUP where that makes an ordinary directory, as in the tmpfs of a container. */
int test_cgroup_make(const char *path);

/* Waits until nothing runs in it; one that is not there is none. */
void test_cgroup_remove(const char *path);

#endif
