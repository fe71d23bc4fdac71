/* SPDX-License-Identifier: GPL-2.0-only */
#include "trees.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/file.h"
#include "base/memory.h"

enum {
	OPEN_DIRECTORIES_MAX = 16
};

const char *const saved_host_names[SAVED_HOST_COUNT] = {"6.1", "6.12", "6.18-scx", "7.2"};

bool run_program(const char *const arguments[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execvp(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool saved_host_can_unpack(void)
{
	static const char *const check[] = {
		"sh", "-c", "tar --version >/dev/null && zstd --version >/dev/null 2>&1", NULL};

	return run_program(check);
}

char *saved_host_unpack(const char *name)
{
	const char *parent = getenv("TMPDIR");
	char *directory = memory_format("%s/ctop-saved-host-XXXXXX", parent != NULL ? parent : "/tmp");
	char *archive = memory_format("%s/kernels/%s.tar.zst", TEST_DATA, name);
	const char *const unpack[] = {"tar", "--zstd", "-xf", archive, "-C", directory, NULL};

	assert_non_null(mkdtemp(directory));
	if (!run_program(unpack))
		fail_msg("%s cannot be unpacked into %s", archive, directory);
	free(archive);
	return directory;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status;
	(void)type;
	(void)position;
	return remove(path);
}

static void remove_directory(const char *path)
{
	assert_int_equal(nftw(path, remove_entry, OPEN_DIRECTORIES_MAX, FTW_DEPTH | FTW_PHYS), 0);
}

void saved_host_remove(char *directory)
{
	remove_directory(directory);
	free(directory);
}

void tree_write(struct tree *tree, const char *path, const void *bytes, size_t length)
{
	char *whole = memory_format("%s/%s", tree->path, path);
	int descriptor;

	for (char *slash = strchr(whole + strlen(tree->path) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	descriptor = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(descriptor >= 0);
	assert_int_equal(file_write_all(descriptor, bytes, length), 0);
	close(descriptor);
	free(whole);
}

void tree_text(struct tree *tree, const char *path, const char *text)
{
	tree_write(tree, path, text, strlen(text));
}

void tree_make(struct tree *tree)
{
	strcpy(tree->path, "/tmp/ctop-tree-XXXXXX");
	assert_non_null(mkdtemp(tree->path));
	tree_text(tree, "proc/none", "");
	tree_text(tree, "sys/none", "");
	tree_text(tree, "cgroup/none", "");
}

void tree_open(struct tree *tree)
{
	tree_open_roots(tree->path, &tree->roots);
}

void tree_open_roots(const char *directory, struct roots *roots)
{
	char *paths[ROOT_COUNT];
	struct error error = {""};

	for (size_t i = 0; i < ROOT_COUNT; i++)
		paths[i] = memory_format("%s/%s", directory, root_names[i]);
	assert_int_equal(roots_open(roots, (const char *const *)paths, &error), 0);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		free(paths[i]);
}

void tree_remove(struct tree *tree)
{
	roots_close(&tree->roots);
	remove_directory(tree->path);
}
