/* SPDX-License-Identifier: GPL-2.0-only */
/* Changing the user's configuration file: root changes nothing where another user controls the path. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/line/config_file.h"

enum {
	ANOTHER_USER = 65534
};

static const struct config_change change = {"columns", "CPU%"};
static const char edited[] = "\n[tab mine]\ncolumns = CPU%\n";

static char base[] = "/tmp/ctop-config-XXXXXX";

static int make_base(void **state)
{
	(void)state;
	return mkdtemp(base) != NULL && chdir(base) == 0 && chmod(base, 0755) == 0 ? 0 : -1;
}

static int remove_base(void **state)
{
	char *command = memory_format("rm -rf %s", base);
	const int status = chdir("/") == 0 ? system(command) : -1;

	(void)state;
	free(command);
	return status;
}

/* The path of a name below the base, in one of four static buffers. */
static const char *below(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", base, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(below(name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_file(const char *name, const char *expected)
{
	struct buffer text = {0};

	assert_int_equal(file_read(AT_FDCWD, below(name), &text, 1000), 0);
	assert_string_equal(text.data, expected);
	buffer_release(&text);
}

static int edit(const char *path, struct error *error)
{
	return config_file_edit(path, "tab mine", &change, 1, error);
}

static void assert_edited(const char *name, const char *expected)
{
	struct error error;

	if (edit(below(name), &error) < 0)
		fail_msg("%s", error.text);
	assert_file(name, expected);
}

static void assert_refused(const char *path, const char *foreign)
{
	char *part = memory_format("root writes nothing where another user controls %s; use sudo -H",
				   foreign);
	struct error error = {""};

	assert_int_equal(edit(path, &error), -EPERM);
	if (strstr(error.text, part) == NULL)
		fail_msg("%s: not '%s'", error.text, part);
	free(part);
}

static void test_own(void **state)
{
	(void)state;
	assert_edited("own/.config/ctop/ctop.conf", edited + 1);
	write_file("own/file", "a = 1\n");
	assert_int_equal(symlink("../own/file", below("own/link")), 0);
	assert_edited("own/link", "a = 1\n\n[tab mine]\ncolumns = CPU%\n");
	assert_int_equal(symlink(below("own"), below("road")), 0);
	write_file("own/file", "a = 2\n");
	assert_edited("road/link", "a = 2\n\n[tab mine]\ncolumns = CPU%\n");
	/* creates the target of a dangling link */
	assert_int_equal(symlink("new", below("own/to-new")), 0);
	assert_edited("own/to-new", edited + 1);
}

static void test_of_others(void **state)
{
	static const char text[] = "a = 1\n";
	struct stat status;

	(void)state;
	need_capability(CAP_CHOWN, "give files to another user");
	need_capability(CAP_DAC_OVERRIDE, "write into his directory");
	/* another user's home directory: plain, with the user's link to root's file, and as the target of
	 * root's link */
	assert_int_equal(mkdir(below("home"), 0755), 0);
	assert_int_equal(mkdir(below("etc"), 0755), 0);
	write_file("etc/file", text);
	assert_int_equal(chown(below("home"), ANOTHER_USER, ANOTHER_USER), 0);
	assert_refused(below("home/.config/ctop/ctop.conf"), below("home"));
	assert_int_equal(stat(below("home/.config"), &status), -1);
	assert_int_equal(symlink(below("etc/file"), below("home/ctop.conf")), 0);
	assert_int_equal(lchown(below("home/ctop.conf"), ANOTHER_USER, ANOTHER_USER), 0);
	assert_refused(below("home/ctop.conf"), below("home"));
	assert_refused("home/ctop.conf", below("home"));
	assert_int_equal(symlink("../home/ctop.conf", below("etc/link")), 0);
	assert_refused(below("etc/link"), below("etc/../home"));
	/* another user's link in a sticky directory: the kernel itself checks only the last component */
	assert_int_equal(mkdir(below("shared"), 0755), 0);
	assert_int_equal(chmod(below("shared"), 01777), 0);
	assert_int_equal(symlink(below("etc"), below("shared/road")), 0);
	assert_int_equal(lchown(below("shared/road"), ANOTHER_USER, ANOTHER_USER), 0);
	assert_refused(below("shared/road/file"), below("shared/road"));
	/* a directory where everyone may replace root's files */
	assert_int_equal(chmod(below("shared"), 0777), 0);
	write_file("shared/file", text);
	assert_refused(below("shared/file"), below("shared"));
	/* or everybody of a group, unless that is root's */
	assert_int_equal(chmod(below("shared"), 0775), 0);
	assert_int_equal(chown(below("shared"), 0, ANOTHER_USER), 0);
	assert_refused(below("shared/file"), below("shared"));
	assert_int_equal(chmod(below("etc"), 0775), 0);
	assert_file("etc/file", text);
	assert_file("shared/file", text);
	assert_edited("etc/file", "a = 1\n\n[tab mine]\ncolumns = CPU%\n");
}

/* Does not write a file that would be too large to read back. */
static void test_too_large(void **state)
{
	struct buffer text = {0};
	struct error error;
	struct stat status;
	FILE *file;

	(void)state;
	for (int i = 0; i < CONFIG_LINES_MAX; i++)
		buffer_append_text(&text, "a=1\n");
	file = fopen(below("large"), "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(edit(below("large"), &error), -EFBIG);
	assert_non_null(strstr(error.text, "large is not changed: only its first 10000 lines are read"));
	assert_int_equal(stat(below("large"), &status), 0);
	assert_int_equal(status.st_size, text.length);
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_of_others),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, make_base, remove_base);
}
