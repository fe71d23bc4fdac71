/* SPDX-License-Identifier: GPL-2.0-only */
#include "golden.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cmocka_include.h"

static void write_golden(const char *path, const struct buffer *drawn)
{
	struct file_replacement file;
	struct error error;

	if (file_replacement_open(&file, path, 0666, true, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(file_write_all(file.descriptor, drawn->data, drawn->length), 0);
	assert_int_equal(file_replacement_commit(&file, &error), 0);
}

void golden_compare(const char *name, const struct buffer *drawn)
{
	char path[512];
	struct buffer golden = {0};

	snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
	if (getenv("WRITE_GOLDEN") != NULL) {
		write_golden(path, drawn);
		return;
	}
	if (file_read(AT_FDCWD, path, &golden, 1 << 20) < 0 || golden.length != drawn->length ||
	    memcmp(golden.data, drawn->data, golden.length) != 0) {
		printf("%s\n", drawn->data);
		fail_msg("%s differs from what is printed above", name);
	}
	buffer_release(&golden);
}
