/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static char directory[] = "/tmp/ctop-test-file-XXXXXX";

static char *path_of(const char *name)
{
	return memory_format("%s/%s", directory, name);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *path, const char *text)
{
	struct buffer buffer = {0};

	assert_int_equal(file_read(AT_FDCWD, path, &buffer, 1 << 20), 0);
	assert_string_equal(buffer.data, text);
	buffer_release(&buffer);
}

/* Every test leaves the directory with just the one file it is about. */
static unsigned int count_entries(void)
{
	DIR *entries = opendir(directory);
	unsigned int count = 0;

	assert_non_null(entries);
	for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(entries);
	return count;
}

static void reads_procfs_and_bounds(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	assert_int_equal(file_read(AT_FDCWD, "/proc/self/status", &buffer, 1 << 20), 0);
	assert_non_null(strstr(buffer.data, "Threads:\t1"));
	assert_int_equal(file_read(AT_FDCWD, "/proc/self/status", &buffer, 100), -EFBIG);
	assert_int_equal(file_read(AT_FDCWD, "/nonexistent/file", &buffer, 100), -ENOENT);
	assert_int_equal(file_read(AT_FDCWD, "/proc", &buffer, 100), -EISDIR);
	buffer_release(&buffer);
}

static void replaces_a_file_whole(void **state)
{
	struct file_replacement replacement;
	char *path = path_of("report");
	struct stat status;
	struct error error;

	(void)state;
	write_file(path, "old");
	assert_int_equal(file_replacement_open(&replacement, path, 0600, true, &error), 0);
	assert_int_equal(file_write_all(replacement.descriptor, "new content", 11), 0);
	assert_content(path, "old");
	assert_int_equal(file_replacement_commit(&replacement, &error), 0);
	assert_content(path, "new content");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(count_entries(), 1);
	unlink(path);
	free(path);
}

/* A file that was private stays so, and one that others read too. */
static void keeps_the_permissions(void **state)
{
	static const mode_t modes[] = {0600, 0664};
	struct file_replacement replacement;
	char *path = path_of("access");
	struct stat status;
	struct error error;

	(void)state;
	/* there is nothing to keep yet */
	assert_int_equal(file_replacement_open(&replacement, path, 0640, true, &error), 0);
	assert_int_equal(file_replacement_keep_access(&replacement), 0);
	assert_int_equal(fstat(replacement.descriptor, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_int_equal(file_replacement_commit(&replacement, &error), 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_int_equal(file_replacement_open(&replacement, path, 0640, true, &error), 0);
		assert_int_equal(file_replacement_keep_access(&replacement), 0);
		assert_int_equal(file_replacement_commit(&replacement, &error), 0);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_mode & 07777, modes[i]);
	}
	unlink(path);
	free(path);
}

/* A link of /proc/self/fd has the text of a name, but stands for a file that may have none. */
static void refuses_open_files(void **state)
{
	struct file_replacement replacement;
	char *path = path_of("open"), *link = path_of("link"), *gone = path_of("open (deleted)");
	char number[32];
	struct error error;
	int descriptor;

	(void)state;
	descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(descriptor >= 0);
	snprintf(number, sizeof(number), "/proc/self/fd/%d", descriptor);
	assert_int_equal(symlink(number, link), 0);
	for (int round = 0; round < 2; round++) { /* then its file has no name any more */
		assert_int_equal(file_replacement_open(&replacement, number, 0644, true, &error), -EINVAL);
		assert_non_null(strstr(error.text, number));
		assert_int_equal(file_replacement_open(&replacement, link, 0644, true, &error), -EINVAL);
		assert_non_null(strstr(error.text, link));
		unlink(path);
	}
	assert_int_equal(access(gone, F_OK), -1);
	unlink(link);
	/* what is told of a device is the name that was given */
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(file_replacement_open(&replacement, link, 0644, true, &error), -EINVAL);
	assert_non_null(strstr(error.text, link));
	unlink(link);
	close(descriptor);
	free(gone);
	free(link);
	free(path);
}

static void never_replaces_where_told_not_to(void **state)
{
	struct file_replacement replacement;
	char *path = path_of("kept");
	struct error error;

	(void)state;
	write_file(path, "kept");
	assert_int_equal(file_replacement_open(&replacement, path, 0644, false, &error), 0);
	assert_int_equal(file_replacement_commit(&replacement, &error), -EEXIST);
	assert_non_null(strstr(error.text, path));
	assert_content(path, "kept");
	assert_int_equal(count_entries(), 1);
	unlink(path);
	assert_int_equal(file_replacement_open(&replacement, path, 0644, false, &error), 0);
	assert_int_equal(file_replacement_commit(&replacement, &error), 0);
	assert_content(path, "");
	unlink(path);
	free(path);
}

/* Writes through links as a shell does: at their target, even one that does not exist yet. */
static void follows_links(void **state)
{
	static const struct {
		const char *link, *text; /* text NULL: the path of `target` */
	} links[] = {{"relative", "below/target"}, {"chain", "relative"}, {"absolute", NULL}};
	struct file_replacement replacement;
	char *below = path_of("below"), *target = path_of("below/target"), *loop = path_of("loop");
	struct error error;
	struct stat status;

	(void)state;
	assert_int_equal(mkdir(below, 0755), 0);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		char *path = path_of(links[i].link);

		assert_int_equal(symlink(links[i].text != NULL ? links[i].text : target, path), 0);
		for (int round = 0; round < 2; round++) { /* first a link to nothing */
			assert_int_equal(file_replacement_open(&replacement, path, 0644, true, &error), 0);
			assert_int_equal(file_write_all(replacement.descriptor, links[i].link, 5), 0);
			assert_int_equal(file_replacement_commit(&replacement, &error), 0);
			assert_int_equal(lstat(path, &status), 0);
			assert_true(S_ISLNK(status.st_mode));
			assert_int_equal(lstat(target, &status), 0);
			assert_true(S_ISREG(status.st_mode));
		}
		/* what is not to be replaced is not followed either */
		unlink(target);
		assert_int_equal(file_replacement_open(&replacement, path, 0644, false, &error), 0);
		assert_int_equal(file_replacement_commit(&replacement, &error), -EEXIST);
		assert_int_equal(access(target, F_OK), -1);
		free(path);
	}
	assert_int_equal(symlink("loop", loop), 0);
	assert_int_equal(file_replacement_open(&replacement, loop, 0644, true, &error), -ELOOP);
	assert_non_null(strstr(error.text, loop));
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		char *path = path_of(links[i].link);

		assert_int_equal(unlink(path), 0);
		free(path);
	}
	assert_int_equal(unlink(loop), 0);
	assert_int_equal(rmdir(below), 0); /* nothing is left in it */
	free(loop);
	free(target);
	free(below);
}

static void abandons_without_a_trace(void **state)
{
	struct file_replacement replacement;
	char *path = path_of("never");
	struct error error;

	(void)state;
	assert_int_equal(file_replacement_open(&replacement, path, 0644, true, &error), 0);
	assert_int_equal(file_write_all(replacement.descriptor, "half", 4), 0);
	file_replacement_abandon(&replacement);
	file_replacement_abandon(&replacement);
	assert_int_equal(count_entries(), 0);
	free(path);
}

static void a_killed_writer_leaves_nothing(void **state)
{
	struct file_replacement replacement;
	char *path = path_of("killed");
	struct error error;
	int ready[2], status;
	pid_t child;
	char named;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (file_replacement_open(&replacement, path, 0644, true, &error) < 0 ||
		    file_write_all(replacement.descriptor, "half", 4) < 0)
			_exit(1);
		named = replacement.temporary_name != NULL;
		if (write(ready[1], &named, 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &named, 1), 1);
	close(ready[0]);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	free(path);
	if (named) {
		skip_test("the file system of /tmp has no files without a name (O_TMPFILE)");
	}
	assert_int_equal(count_entries(), 0);
}

static void a_write_that_fails_leaves_the_old_file(void **state)
{
	struct rlimit old_limit, small = {4096, RLIM_INFINITY};
	struct file_replacement replacement;
	char *path = path_of("full");
	static char bytes[65536];
	struct error error;

	(void)state;
	write_file(path, "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
	signal(SIGXFSZ, SIG_IGN);
	small.rlim_max = old_limit.rlim_max;
	assert_int_equal(file_replacement_open(&replacement, path, 0644, true, &error), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(file_write_all(replacement.descriptor, bytes, sizeof(bytes)), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
	file_replacement_abandon(&replacement);
	assert_content(path, "old");
	assert_int_equal(count_entries(), 1);
	unlink(path);
	free(path);
}

static void says_why_a_file_cannot_be_written(void **state)
{
	struct file_replacement replacement;
	char *path = path_of("missing/file");
	struct error error;

	(void)state;
	assert_int_equal(file_replacement_open(&replacement, path, 0644, true, &error), -ENOENT);
	assert_non_null(strstr(error.text, "missing/file"));
	assert_int_equal(file_replacement_open(&replacement, directory, 0644, true, &error), -EISDIR);
	assert_non_null(strstr(error.text, "is a directory"));
	assert_int_equal(file_replacement_open(&replacement, "/tmp/", 0644, true, &error), -EISDIR);
	assert_int_equal(file_replacement_open(&replacement, "/dev/null", 0644, true, &error), -EINVAL);
	free(path);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_procfs_and_bounds),
		cmocka_unit_test(replaces_a_file_whole),
		cmocka_unit_test(keeps_the_permissions),
		cmocka_unit_test(refuses_open_files),
		cmocka_unit_test(never_replaces_where_told_not_to),
		cmocka_unit_test(follows_links),
		cmocka_unit_test(abandons_without_a_trace),
		cmocka_unit_test(a_killed_writer_leaves_nothing),
		cmocka_unit_test(a_write_that_fails_leaves_the_old_file),
		cmocka_unit_test(says_why_a_file_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
