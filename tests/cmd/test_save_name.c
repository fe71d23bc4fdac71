/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of saved snapshots: no file that is there is replaced. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/live/save_name.h"
#include "snapshot/snapshot.h"

enum {
	FILES = 3
};

static void test_taken_names(void **state)
{
	static const char suffix[] = ".ctprof.zst";
	char directory[] = "/tmp/ctop-save-XXXXXX", *paths[FILES];
	struct snapshot *snapshot = snapshot_create();
	struct buffer kept = {0};
	struct error error;
	size_t stem;
	FILE *first;

	(void)state;
	snapshot_finish(snapshot);
	assert_non_null(mkdtemp(directory));
	assert_int_equal(save_name_write(snapshot, NULL, directory, &paths[0], NULL, &error), 0);
	stem = strlen(paths[0]) - strlen(suffix);
	assert_string_equal(paths[0] + stem, suffix);
	first = fopen(paths[0], "w");
	assert_non_null(first);
	fputs("first", first);
	assert_int_equal(fclose(first), 0);
	for (int i = 1; i < FILES; i++) {
		char *wanted = memory_format("%.*s-%d%s", (int)stem, paths[0], i + 1, suffix);

		assert_int_equal(save_name_write(snapshot, NULL, directory, &paths[i], NULL, &error), 0);
		assert_string_equal(paths[i], wanted);
		free(wanted);
	}
	assert_int_equal(file_read(AT_FDCWD, paths[0], &kept, 100), 0);
	assert_string_equal(kept.data, "first");
	buffer_release(&kept);
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(unlink(paths[i]), 0);
		free(paths[i]);
	}
	assert_int_equal(rmdir(directory), 0);
	snapshot_release(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
