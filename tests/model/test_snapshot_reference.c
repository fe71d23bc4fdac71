/* SPDX-License-Identifier: GPL-2.0-only */
/* Every snapshot of the reference program that lies in tests/data loads without a note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>

#include "model/snapshot_file.h"

static void test_reference_snapshots_load(void **state)
{
	glob_t files;

	(void)state;
	assert_int_equal(glob(TEST_DATA "/reference/snapshots/*.ctprof.zst", 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, 48);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct snapshot_file_notes notes;
		struct snapshot *snapshot = NULL;
		struct error error = {""};

		snapshot_file_read(files.gl_pathv[i], SNAPSHOT_FILE_DEFAULT_LIMIT, &snapshot, &notes, &error);
		assert_string_equal(error.text, "");
		assert_string_equal(notes.text, "");
		assert_non_null(snapshot);
		snapshot_release(snapshot);
	}
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference_snapshots_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
