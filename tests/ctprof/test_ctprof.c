/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshot files from outside: what zstd, the file system and the user can get wrong. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "tests/needs.h"
#include "snapshot_compare.h"
#include "snapshot_example.h"

static const char minimal[] = EXAMPLE_SNAPSHOT("", "");

/* A folder that is removed with all that is in it. */
static char directory[] = "/tmp/ctop-test-XXXXXX";

static int create_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) == NULL ? -1 : 0;
}

static int remove_directory(void **state)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;

	(void)state;
	while (stream != NULL && (entry = readdir(stream)) != NULL)
		unlinkat(dirfd(stream), entry->d_name, entry->d_type == DT_DIR ? AT_REMOVEDIR : 0);
	closedir(stream);
	return rmdir(directory);
}

static size_t count_entries(void)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(stream)) != NULL)
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(stream);
	return count;
}

/* "DIRECTORY/NAME", valid until the next call. */
static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void create_file(const char *path, const void *bytes, size_t length)
{
	int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(descriptor >= 0);
	assert_int_equal(file_write_all(descriptor, bytes, length), 0);
	close(descriptor);
}

/* Reading fails with this number and a sentence that names the file and holds `words`. */
static void refuse_path(const char *path, uint64_t limit, int result, const char *words)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	assert_int_equal(ctprof_read(path, limit, &snapshot, &error), result);
	if (strstr(error.text, words) == NULL || strstr(error.text, path) == NULL)
		fail_msg("\"%s\" does not say \"%s\" of %s", error.text, words, path);
	assert_null(snapshot);
}

static void refuse_bytes(const void *bytes, size_t length, const char *words)
{
	const char *path = path_of("bad");

	create_file(path, bytes, length);
	refuse_path(path, CTPROF_DEFAULT_LIMIT, -EBADMSG, words);
	unlink(path);
}

static size_t compress(const char *json, size_t length, char *bytes, size_t size)
{
	size_t compressed = ZSTD_compress(bytes, size, json, length, 1);

	assert_false(ZSTD_isError(compressed));
	return compressed;
}

static void test_files_that_cannot_be_opened(void **state)
{
	(void)state;
	refuse_path(path_of("none"), CTPROF_DEFAULT_LIMIT, -ENOENT, "does not exist; check the name");
	refuse_path(directory, CTPROF_DEFAULT_LIMIT, -EISDIR, "is a directory; name a snapshot file in it");
	refuse_path(path_of("none/x"), CTPROF_DEFAULT_LIMIT, -ENOENT, "does not exist");
}

/* Runs as another user if this one may read everything. */
static void test_permission_denied(void **state)
{
	const char *path = path_of("closed");
	pid_t child;
	int status;

	(void)state;
	create_file(path, "x", 1);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(directory, 0755), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct error error = {""};
		struct snapshot *snapshot;

		if (access(path, R_OK) == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		if (ctprof_read(path, 1000, &snapshot, &error) != -EACCES)
			_exit(3);
		_exit(strstr(error.text, "cannot be read: Permission denied; ask its owner or root") == NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	unlink(path);
}

static void test_fifo_without_writer_does_not_block(void **state)
{
	const char *path = path_of("fifo");

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	refuse_path(path, CTPROF_DEFAULT_LIMIT, -EBADMSG, "is a pipe that nobody writes to");
	alarm(0);
	unlink(path);
}

static void test_foreign_files(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *words;
	} cases[] = {
		{"", 0, "is empty; capture it again"},
		{"hello", 5, "is not a snapshot: it does not begin like a zstd file"},
		{"{\"a\":1}", 7, "is not a snapshot: it is plain JSON: compress it with `zstd FILE`"},
		{"\x1f\x8b\x08\x00", 4, "it is a gzip file"},
		{"\x7f"
		 "ELF\x02",
		 5, "it is a program"},
		{"\x28\xb5\x2f", 3, "is cut off: it ends after 3 bytes"},
		{"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 20,
		 "is damaged: zstd says"},
		/* a frame without content that asks for a window of 256 MiB */
		{"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9,
		 "asks for a zstd window above the limit of 128 MiB; compress it again"},
		/* the same with 128 KiB, which is allowed: the JSON is empty */
		{"\x28\xb5\x2f\xfd\x00\x38\x01\x00\x00", 9,
		 "does not hold a snapshot that can be read: byte 0"},
		/* a frame that is skipped and nothing behind it */
		{"\x50\x2a\x4d\x18\x01\x00\x00\x00x", 9, "does not hold a snapshot"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_bytes(cases[i].bytes, cases[i].length, cases[i].words);
}

static void test_content_that_is_no_snapshot(void **state)
{
	static const char *const texts[] = {"", "[]", "{}",
					    "{\"captured_at_unix_ns\":1,\"threads\":[{\"tid\":-1}]}"};
	char bytes[256];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refuse_bytes(bytes, compress(texts[i], strlen(texts[i]), bytes, sizeof(bytes)),
			     "does not hold a snapshot that can be read: byte ");
	refuse_bytes(
		bytes, compress(texts[3], strlen(texts[3]), bytes, sizeof(bytes)),
		"threads[0].tid must be a whole number from 0 to 4294967295, not -1; capture it again with "
		"`ctop capture -o FILE`");
}

static void read_bytes(const char *bytes, size_t length, int expected)
{
	int descriptor = example_file(bytes, length);
	struct snapshot *snapshot = NULL;
	struct error error = {""};
	int result = ctprof_read_descriptor(descriptor, "example", CTPROF_DEFAULT_LIMIT, &snapshot, &error);

	if (result != expected)
		fail_msg("%s: %d instead of %d at %zu bytes", error.text, result, expected, length);
	snapshot_release(snapshot);
	close(descriptor);
}

static void test_every_truncation_is_refused(void **state)
{
	char bytes[4096];
	char *json = example_with_record(example_record);
	size_t length = compress(json, strlen(json), bytes, sizeof(bytes));

	(void)state;
	for (size_t i = 0; i < length; i++)
		read_bytes(bytes, i, -EBADMSG);
	read_bytes(bytes, length, 0);
	free(json);
}

/* What ctop writes carries a checksum: no flipped bit goes unnoticed, but those that zstd ignores. */
static void test_flipped_bits(void **state)
{
	struct snapshot *original = example_snapshot();
	int descriptor = example_written(original);
	struct buffer bytes = {0};

	(void)state;
	assert_int_equal(file_read_descriptor(descriptor, &bytes, 1 << 20), 0);
	close(descriptor);
	for (size_t i = 0; i < bytes.length; i++) {
		struct snapshot *snapshot = NULL;

		bytes.data[i] = (char)(bytes.data[i] ^ (1 << (i % 8)));
		descriptor = example_file(bytes.data, bytes.length);
		if (ctprof_read_descriptor(descriptor, "flipped", CTPROF_DEFAULT_LIMIT, &snapshot, NULL) == 0)
			assert_snapshots_equal(original, snapshot);
		snapshot_release(snapshot);
		close(descriptor);
		bytes.data[i] = (char)(bytes.data[i] ^ (1 << (i % 8)));
	}
	buffer_release(&bytes);
	snapshot_release(original);
}

static void test_frames_in_a_row(void **state)
{
	static const char skipped[] = "\x5f\x2a\x4d\x18\x04\x00\x00\x00"
				      "skip";
	char bytes[4096];
	size_t half = strlen(minimal) / 2, length = sizeof(skipped) - 1;

	(void)state;
	memcpy(bytes, skipped, length);
	length += compress(minimal, half, bytes + length, sizeof(bytes) - length);
	length += compress("", 0, bytes + length, sizeof(bytes) - length);
	length += compress(minimal + half, strlen(minimal) - half, bytes + length, sizeof(bytes) - length);
	read_bytes(bytes, length, 0);
	memcpy(bytes + length, "trailing", 8);
	read_bytes(bytes, length + 8, -EBADMSG);
	length += compress("  \n", 3, bytes + length, sizeof(bytes) - length);
	read_bytes(bytes, length, 0);
	length += compress("x", 1, bytes + length, sizeof(bytes) - length);
	read_bytes(bytes, length, -EBADMSG);
}

static void test_limit(void **state)
{
	const char *path = path_of("limit");
	struct snapshot *snapshot = NULL;
	char bytes[4096], *large;

	(void)state;
	create_file(path, bytes, compress(minimal, strlen(minimal), bytes, sizeof(bytes)));
	assert_int_equal(ctprof_read(path, strlen(minimal), &snapshot, NULL), 0);
	snapshot_release(snapshot);
	snapshot = NULL;
	refuse_path(path, strlen(minimal) - 1, -EFBIG, "raise it with --max-bytes N");
	/* blank space in pieces that the guard against long tokens allows, far beyond the buffers */
	large = memory_format("%800000s%s", "", minimal);
	create_file(path, bytes, compress(large, strlen(large), bytes, sizeof(bytes)));
	refuse_path(path, 700000, -EFBIG, "holds more than 700,000 bytes of JSON");
	assert_int_equal(ctprof_read(path, strlen(large), &snapshot, NULL), 0);
	snapshot_release(snapshot);
	free(large);
	unlink(path);
}

/* A small file that takes a minute to decompress is refused at once, unless the user raises the limit. */
static void test_bomb(void **state)
{
	const size_t size = (size_t)24 << 20;
	char *json = memory_allocate(size + 2 * sizeof(minimal)), *bytes = memory_allocate(1 << 20);
	const char *path = path_of("bomb");
	struct snapshot *snapshot = NULL;
	size_t length = strlen("{\"unknown\":[0"), compressed;

	(void)state;
	memcpy(json, "{\"unknown\":[0", length);
	while (length < size) {
		memcpy(json + length, ",0", 2);
		length += 2;
	}
	memcpy(json + length, "],", 2);
	memcpy(json + length + 2, minimal + 1, strlen(minimal) - 1);
	length += 2 + strlen(minimal) - 1;
	compressed = compress(json, length, bytes, 1 << 20);
	assert_true(compressed < length / 1000);
	create_file(path, bytes, compressed);
	refuse_path(path, CTPROF_DEFAULT_LIMIT, -EFBIG, "set a limit with --max-bytes N");
	assert_int_equal(ctprof_read(path, (uint64_t)4 << 30, &snapshot, NULL), 0);
	snapshot_release(snapshot);
	unlink(path);
	free(json);
	free(bytes);
}

static void test_standard_input(void **state)
{
	int saved = dup(STDIN_FILENO), descriptor = example_compressed(minimal, strlen(minimal));
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	(void)state;
	assert_int_equal(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(ctprof_read("-", 1000, &snapshot, &error), 0);
	snapshot_release(snapshot);
	assert_int_equal(ctprof_read("-", 1000, &snapshot, &error), -EBADMSG);
	assert_string_equal(error.text,
			    "standard input is empty; capture it again with `ctop capture -o FILE`");
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(descriptor);
}

static void test_mode_and_replacement(void **state)
{
	struct snapshot *snapshot = example_snapshot(), *copy = NULL;
	const char *path = path_of("new.ctprof.zst");
	struct error error = {""};
	struct stat status;
	uint64_t bytes = 0;

	(void)state;
	umask(027);
	assert_int_equal(ctprof_write(snapshot, snapshot->window, path, false, &bytes, &error), 0);
	assert_true(bytes > 4 * 2000);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, geteuid() == 0 ? 0600 : 0640);
	create_file(path, "old", 3);
	assert_int_equal(ctprof_write(snapshot, snapshot->window, path, false, NULL, &error), -EEXIST);
	assert_non_null(strstr(error.text, path));
	refuse_path(path, 1000, -EBADMSG, "is not a snapshot");
	assert_int_equal(ctprof_write(snapshot, snapshot->window, path, true, NULL, &error), 0);
	assert_int_equal(ctprof_read(path, CTPROF_DEFAULT_LIMIT, &copy, &error), 0);
	assert_snapshots_equal(snapshot, copy);
	assert_int_equal(count_entries(), 1);
	assert_int_equal(ctprof_write(snapshot, snapshot->window, directory, true, NULL, &error), -EISDIR);
	assert_int_equal(ctprof_write(snapshot, snapshot->window, path_of("none/x"), true, NULL, &error),
			 -ENOENT);
	snapshot_release(copy);
	snapshot_release(snapshot);
	unlink(path_of("new.ctprof.zst"));
}

/* A file that was written elsewhere is copied whole, from its beginning, and more than once. */
static void test_copy(void **state)
{
	struct snapshot *snapshot = example_snapshot();
	const int written = memfd_create("written", MFD_CLOEXEC);
	const char *path = path_of("copy.ctprof.zst");
	struct error error = {""};
	struct stat status;

	(void)state;
	umask(027);
	assert_int_equal(ctprof_write_descriptor(snapshot, snapshot->window, written, NULL, &error), 0);
	create_file(path, "old", 3);
	for (int i = 0; i < 2; i++) {
		struct snapshot *copy = NULL;

		assert_int_equal(ctprof_copy(written, path, &error), 0);
		assert_int_equal(ctprof_read(path, CTPROF_DEFAULT_LIMIT, &copy, &error), 0);
		assert_snapshots_equal(snapshot, copy);
		snapshot_release(copy);
	}
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, geteuid() == 0 ? 0600 : 0640);
	assert_int_equal(count_entries(), 1);
	assert_int_equal(ctprof_copy(written, directory, &error), -EISDIR);
	close(written);
	snapshot_release(snapshot);
	unlink(path);
}

static void test_closed_pipe(void **state)
{
	struct snapshot *snapshot = example_snapshot();
	struct error error = {""};
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(ctprof_write_descriptor(snapshot, snapshot->window, ends[1], NULL, &error), -EPIPE);
	assert_string_equal(error.text, "cannot write the snapshot: Broken pipe");
	close(ends[1]);
	snapshot_release(snapshot);
}

/* A snapshot whose file is larger than any limit below: its counters do not compress. */
static struct snapshot *large_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();
	uint64_t random = 1;

	snapshot_reserve(snapshot, 500);
	for (uint32_t i = 0; i < 500; i++) {
		size_t thread = snapshot_add_thread(snapshot, i, i);

		snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){0});
		for (size_t j = METRIC_MINFLT; j < METRIC_HIWATER_RSS_BYTES; j++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			snapshot_column(snapshot, (enum metric)j)[thread] = random;
		}
	}
	snapshot_finish(snapshot);
	return snapshot;
}

/* Writing fails for lack of room, says so, and leaves the old file and nothing else. */
static int write_without_room(int expected)
{
	struct snapshot *snapshot = large_snapshot();
	const char *path = path_of("full");
	struct error error = {""};
	struct buffer kept = {0};
	int result;

	result = ctprof_write(snapshot, snapshot->window, path, true, NULL, &error);
	snapshot_release(snapshot);
	if (result != expected || strstr(error.text, "free some space or name another file") == NULL ||
	    strstr(error.text, path) == NULL)
		return 10;
	if (file_read(AT_FDCWD, path, &kept, 100) != 0 || strcmp(kept.data, "old") != 0)
		return 11;
	buffer_release(&kept);
	return count_entries() == 1 ? 0 : 12;
}

enum {
	NO_MOUNT = 77,
};

static int write_on_full_disk(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", directory, "tmpfs", 0, "size=64k") < 0)
		return NO_MOUNT;
	create_file(path_of("full"), "old", 3);
	return write_without_room(-ENOSPC);
}

static int write_beyond_limit(void)
{
	struct rlimit limit = {20000, 20000};

	signal(SIGXFSZ, SIG_IGN);
	create_file(path_of("full"), "old", 3);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 13;
	return write_without_room(-EFBIG);
}

static int run_in_child(int (*function)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(function());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_full_disk(void **state)
{
	const int status = run_in_child(write_on_full_disk);

	(void)state;
	if (status == NO_MOUNT)
		skip_test("needs CAP_SYS_ADMIN to mount a small file system");
	assert_int_equal(status, 0);
}

static void test_file_size_limit(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(write_beyond_limit), 0);
	unlink(path_of("full"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_that_cannot_be_opened),
		cmocka_unit_test(test_permission_denied),
		cmocka_unit_test(test_fifo_without_writer_does_not_block),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_content_that_is_no_snapshot),
		cmocka_unit_test(test_every_truncation_is_refused),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_frames_in_a_row),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_standard_input),
		cmocka_unit_test(test_mode_and_replacement),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_file_size_limit),
	};

	return cmocka_run_group_tests(tests, create_directory, remove_directory);
}
