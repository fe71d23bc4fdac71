/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/wait.h"

#include "base/memory.h"
#include "capture/host/cgroup.h"
#include "capture/procfs/root.h"
#include "trees.h"

static void test_path_below_mount(void **state)
{
	static const struct {
		const char *path, *mount_root, *rest;
	} cases[] = {
		{"/a/b", "/", "/a/b"},
		{"/", "/", "/"},
		{"/docker/1/x", "/docker/1", "/x"},
		{"/docker/1", "/docker/1", ""},
		{"/docker/12", "/docker/1", NULL},
		{"/other", "/docker/1", NULL},
		{"/../x", "/..", "/x"},
		{"/", "/..", NULL},
		{"/deep", "/../..", NULL},
		{"/../x", "/", "/../x"},
	};
	struct roots roots = {.own_namespace = true};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *rest;
		size_t length;
		bool found = cgroup_path_below_mount(cases[i].path, strlen(cases[i].path),
						     cases[i].mount_root, &rest, &length);

		assert_int_equal(found, cases[i].rest != NULL);
		if (found) {
			assert_int_equal(length, strlen(cases[i].rest));
			assert_memory_equal(rest, cases[i].rest, length);
		}
	}
	/* a hierarchy that is not mounted has no mount root */
	roots.v1[CGROUP_V1_PIDS].descriptor = -ENOENT;
	assert_int_equal(cgroup_open_v1(&roots, CGROUP_V1_PIDS, "/a", strlen("/a"), O_PATH), -EBADF);
}

/* No path leads out of the directory, by name or by link. */
static void test_beneath(void **state)
{
	static const char *const refused[] = {"..", "/..", "/../sys", "a/../../sys", "/link/none", "up"};
	struct tree tree;
	char *link, *up;
	int directory, descriptor;

	(void)state;
	tree_make(&tree);
	tree_text(&tree, "cgroup/a/file", "x");
	link = memory_format("%s/cgroup/link", tree.path);
	up = memory_format("%s/cgroup/up", tree.path);
	assert_int_equal(symlink(tree.path, link), 0);
	assert_int_equal(symlink("..", up), 0);
	tree_open(&tree);
	directory = tree.roots.descriptor[ROOT_CGROUP];
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_true(root_open_beneath(directory, refused[i], strlen(refused[i]), O_RDONLY) < 0);
	assert_true(root_open_beneath(directory, "a\0b", 3, O_RDONLY) < 0);
	descriptor = root_open_beneath(directory, "//a/file", 8, O_RDONLY);
	assert_true(descriptor >= 0);
	close(descriptor);
	descriptor = root_open_beneath(directory, "/", 1, O_RDONLY | O_DIRECTORY);
	assert_true(descriptor >= 0);
	close(descriptor);
	free(link);
	free(up);
	tree_remove(&tree);
}

static void test_find_cgroup2(void **state)
{
	static const char text[] = "22 1 0:20 / /proc rw,relatime shared:5 - proc proc rw\n"
				   "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
				   "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup2 rw,memory\n"
				   "broken line\n"
				   "41 31 0:38 /../.. /sys/fs/cgroup/unified rw,relatime shared:1 master:2 - "
				   "cgroup2 cgroup2 rw\n"
				   "43 31 0:39 / /sys/fs/cgroup/cpu,freezer rw - cgroup c rw,cpu,freezer\n"
				   "44 31 0:40 / /sys/fs/cgroup/systemd rw - cgroup c rw,name=systemd\n"
				   "42 31 0:38 /a\\040b\\134 /mnt/c\\011d\\9 rw - cgroup2 none rw";
	struct buffer mount_point = {0}, mount_root = {0};
	struct text rest = {text, strlen(text)};

	(void)state;
	assert_true(root_next_cgroup(&rest, NULL, &mount_point, &mount_root));
	assert_string_equal(mount_point.data, "/sys/fs/cgroup/unified");
	assert_string_equal(mount_root.data, "/../..");
	assert_true(root_next_cgroup(&rest, NULL, &mount_point, &mount_root));
	assert_string_equal(mount_point.data, "/mnt/c\td\\9");
	assert_string_equal(mount_root.data, "/a b\\");
	assert_false(root_next_cgroup(&rest, NULL, &mount_point, &mount_root));
	rest = (struct text){text, strlen(text)};
	assert_true(root_next_cgroup(&rest, "freezer", &mount_point, &mount_root));
	assert_string_equal(mount_point.data, "/sys/fs/cgroup/cpu,freezer");
	assert_false(root_next_cgroup(&rest, "freezer", &mount_point, &mount_root));
	rest = (struct text){text, strlen(text)};
	assert_true(root_next_cgroup(&rest, "name=systemd", &mount_point, &mount_root));
	assert_string_equal(mount_point.data, "/sys/fs/cgroup/systemd");
	rest = (struct text){text, strlen(text)};
	assert_true(root_next_cgroup(&rest, "memory", &mount_point, &mount_root));
	assert_false(root_next_cgroup(&rest, "pids", &mount_point, &mount_root));
	buffer_release(&mount_point);
	buffer_release(&mount_root);
}

static void test_roots(void **state)
{
	const char *paths[ROOT_COUNT] = {NULL};
	struct error error = {""};
	struct roots roots;
	struct tree tree;

	(void)state;
	assert_int_equal(roots_open(&roots, paths, &error), 0);
	assert_false(roots.redirected);
	assert_true(roots.is_procfs);
	assert_true(roots.own_namespace);
	roots_close(&roots);

	tree_make(&tree);
	tree_open(&tree);
	assert_true(tree.roots.redirected);
	assert_false(tree.roots.is_procfs);
	assert_false(tree.roots.own_namespace);
	assert_int_equal(tree.roots.cgroup_reason, REASON_READ);
	assert_string_equal(tree.roots.cgroup_mount_root, "/");

	/* the mounts that a saved tree tells of are not those of this host */
	tree_text(&tree, "proc/self/mountinfo", "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 c rw\n");
	paths[ROOT_PROC] = tree.roots.path[ROOT_PROC];
	assert_int_equal(roots_open(&roots, paths, &error), 0);
	assert_int_equal(roots.descriptor[ROOT_CGROUP], -1);
	assert_int_equal(roots.cgroup_reason, REASON_OTHER_NAMESPACE);
	roots_close(&roots);

	paths[ROOT_PROC] = "/nonexistent/proc";
	assert_int_equal(roots_open(&roots, paths, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/proc"));
	paths[ROOT_PROC] = NULL;
	paths[ROOT_SYS] = "/proc/self/stat";
	assert_int_equal(roots_open(&roots, paths, &error), -ENOTDIR);
	tree_remove(&tree);
}

/* A missing file means "not in this kernel" only if the tree is complete. */
static void test_whole(void **state)
{
	char hiding[] = "subset=pid";
	struct roots roots;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_text(&tree, "proc/there", "");
	tree_open(&tree);
	assert_int_equal(roots_find(&tree.roots, ROOT_PROC, "there"), 0);
	assert_int_equal(roots_find(&tree.roots, ROOT_PROC, "pressure"), -ENOENT);
	assert_int_equal(roots_reason(&tree.roots, ROOT_PROC, -ENOENT), REASON_NOT_IN_KERNEL);
	assert_int_equal(roots_reason(&tree.roots, ROOT_PROC, -EPERM), REASON_NOT_PERMITTED);
	roots = tree.roots;
	roots.hides_files = hiding;
	assert_int_equal(roots_reason(&roots, ROOT_PROC, -ENOENT), REASON_NOT_PERMITTED);
	assert_int_equal(roots_reason(&roots, ROOT_SYS, -ENOENT), REASON_NOT_IN_KERNEL);
	/* a /sys without sysfs */
	roots.redirected = false;
	assert_int_equal(roots_reason(&roots, ROOT_SYS, -ENOENT), REASON_UNREADABLE);
	tree_remove(&tree);
}

static int next_descriptor(void)
{
	const int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	assert_true(next >= 0);
	close(next);
	return next;
}

static bool differ(const struct buffer *a, const struct buffer *b)
{
	return a->length != b->length || memcmp(a->data, b->data, a->length) != 0;
}

/* A file that each round reads stays open, and tells what is there now. */
static void test_kept_files(void **state)
{
	const char *paths[ROOT_COUNT] = {NULL};
	struct buffer first = {0}, second = {0};
	struct rlimit usual, few;
	struct roots roots;
	int kept;

	(void)state;
	assert_int_equal(roots_open(&roots, paths, NULL), 0);
	kept = next_descriptor();
	assert_int_equal(roots_read(&roots, ROOT_PROC, "stat", &first), 0);
	assert_int_equal(next_descriptor(), kept);
	roots_keep_files(&roots);
	assert_int_equal(roots_read(&roots, ROOT_PROC, "version", &first), 0);
	assert_int_equal(next_descriptor(), kept);
	assert_int_equal(roots_read(&roots, ROOT_PROC, "stat", &first), 0);
	assert_int_not_equal(next_descriptor(), kept);
	/* the host switches from thread to thread */
	await("other numbers",
	      roots_read(&roots, ROOT_PROC, "stat", &second) == 0 && differ(&first, &second));
	assert_memory_equal(second.data, "cpu ", 4);

	/* a descriptor that cannot be read any more is opened again */
	assert_int_equal(dup2(roots.descriptor[ROOT_PROC], kept), kept);
	assert_int_equal(roots_read(&roots, ROOT_PROC, "stat", &second), 0);
	assert_memory_equal(second.data, "cpu ", 4);
	roots_keep_files(&roots);
	assert_int_equal(next_descriptor(), kept);

	/* few descriptors are left to others */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	few = (struct rlimit){(rlim_t)kept + 64, usual.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(roots_read(&roots, ROOT_PROC, "stat", &second), 0);
	assert_int_equal(next_descriptor(), kept);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	roots_close(&roots);
	buffer_release(&first);
	buffer_release(&second);
}

/* A file of a saved tree may be replaced, and is found by its path each time. */
static void test_replaced_file(void **state)
{
	struct buffer text = {0};
	struct tree tree;
	char *from, *to;

	(void)state;
	tree_make(&tree);
	tree_text(&tree, "proc/loadavg", "1\n");
	tree_text(&tree, "proc/later", "2\n");
	tree_open(&tree);
	roots_keep_files(&tree.roots);
	assert_true(text_equals(roots_read_text(&tree.roots, ROOT_PROC, "loadavg", &text), "1"));
	from = memory_format("%s/proc/later", tree.path);
	to = memory_format("%s/proc/loadavg", tree.path);
	assert_int_equal(rename(from, to), 0);
	assert_true(text_equals(roots_read_text(&tree.roots, ROOT_PROC, "loadavg", &text), "2"));
	free(from);
	free(to);
	buffer_release(&text);
	tree_remove(&tree);
}

/* Cgroups come and go for ever, and each has its path: with too many, all are forgotten. */
static void test_cgroup_paths(void **state)
{
	struct cgroup_paths known = {0};

	(void)state;
	for (uint64_t id = 1; id < 3 * CGROUP_PATHS_MAX; id++) {
		char path[32];
		const int length = snprintf(path, sizeof(path), "/job-%ju", (uintmax_t)id % 100000);

		assert_null(cgroup_paths_find(&known, id));
		assert_string_equal(cgroup_paths_add(&known, id, path, (size_t)length), path);
		assert_string_equal(cgroup_paths_find(&known, id), path);
		assert_true(known.of.count <= CGROUP_PATHS_MAX);
	}
	/* one that was forgotten is found again */
	assert_null(cgroup_paths_find(&known, 1));
	assert_string_equal(cgroup_paths_add(&known, 1, "/job-1", 6), "/job-1");
	cgroup_paths_release(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_kept_files),
		cmocka_unit_test(test_replaced_file),
		cmocka_unit_test(test_cgroup_paths),
		cmocka_unit_test(test_path_below_mount),
		cmocka_unit_test(test_beneath),
		cmocka_unit_test(test_find_cgroup2),
		cmocka_unit_test(test_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
