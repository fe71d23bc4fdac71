/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory maps, checks of results, files that are laid out as traps below a target's root, and whose rights
 * open them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rights.h"
#include "nobody.h"
#include "probe/resolver/object_files.h"
#include "probe/object/layout.h"

static char base[] = "/tmp/ctop-object-files-XXXXXX";

/* A file in the temporary directory, where the tests run. */
static void write_file(const char *name, const char *content)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void make_directory(const char *name)
{
	assert_int_equal(mkdir(name, 0755), 0);
}

static void make_link(const char *target, const char *name)
{
	assert_int_equal(symlink(target, name), 0);
}

static void close_to_others(const char *name)
{
	assert_int_equal(chmod(name, 0700), 0);
}

static int open_process(void)
{
	int directory = open("process", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(directory >= 0);
	return directory;
}

static int set_up(void **state)
{
	(void)state;
	if (mkdtemp(base) == NULL || chdir(base) != 0)
		return -1;
	make_directory("outside");
	write_file("outside/secret", "secret");
	make_directory("process");
	write_file("process/exe", "executable");
	make_directory("process/root");
	make_directory("process/root/app");
	make_directory("process/root/app/.debug");
	write_file("process/root/app/library.so", "library");
	return 0;
}

static int tear_down(void **state)
{
	char *command = memory_format("rm -rf %s", base);
	const int result = system(command);

	(void)state;
	free(command);
	return result;
}

/* What is read from a question: the file's content, or NULL and the negative errno. */
static const char *ask(const struct object_files *files, uint32_t object, enum resolve_file file,
		       const char *name, uint32_t ordinal, int *ret_error)
{
	static char content[64];
	const int descriptor = object_files_ask(files, object, file, name != NULL ? name : "", ordinal);
	ssize_t length;

	*ret_error = descriptor < 0 ? descriptor : 0;
	if (descriptor < 0)
		return NULL;
	assert_true((fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY);
	assert_true((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
	length = read(descriptor, content, sizeof(content) - 1);
	assert_true(length >= 0);
	content[length] = '\0';
	close(descriptor);
	return content;
}

static void assert_content(const struct object_files *files, enum resolve_file file, const char *name,
			   uint32_t ordinal, const char *expected)
{
	int error;
	const char *content = ask(files, LAYOUT_EXECUTABLE, file, name, ordinal, &error);

	assert_non_null(content);
	assert_string_equal(content, expected);
}

static void assert_error(const struct object_files *files, enum resolve_file file, const char *name,
			 uint32_t ordinal, int expected)
{
	int error;

	assert_null(ask(files, LAYOUT_EXECUTABLE, file, name, ordinal, &error));
	assert_int_equal(error, expected);
}

static void test_candidates(void **state)
{
	const struct process_map map = {0};
	struct object_files files;
	int directory = open_process();
	char *executable = memory_format("%s/host/prog", base);

	(void)state;
	object_files_open(&files, directory, "/app/prog", &map);
	assert_content(&files, RESOLVE_FILE_OBJECT, NULL, 0, "executable");
	assert_error(&files, RESOLVE_FILE_OBJECT, NULL, 1, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUG, NULL, 0, -ENOENT);
	write_file("process/root/app/prog.debug", "debug");
	assert_content(&files, RESOLVE_FILE_DEBUG, NULL, 0, "debug");
	assert_error(&files, RESOLVE_FILE_DEBUG, NULL, 1, -ENOENT);
	/* beside the executable, then in .debug; an empty file is none; the same file again is none */
	write_file("process/root/app/.debug/link.debug", "second");
	assert_content(&files, RESOLVE_FILE_DEBUGLINK, "link.debug", 0, "second");
	write_file("process/root/app/link.debug", "");
	assert_content(&files, RESOLVE_FILE_DEBUGLINK, "link.debug", 0, "second");
	write_file("process/root/app/link.debug", "first");
	assert_content(&files, RESOLVE_FILE_DEBUGLINK, "link.debug", 0, "first");
	assert_content(&files, RESOLVE_FILE_DEBUGLINK, "link.debug", 1, "second");
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, "link.debug", 2, -ENOENT);
	process_root_close(&files.root);

	/* on the host only */
	make_directory("host");
	write_file("host/prog.dwp", "package");
	write_file("host/prog.debug", "another program's");
	object_files_open(&files, directory, executable, &map);
	assert_content(&files, RESOLVE_FILE_PACKAGE, NULL, 0, "package");
	assert_error(&files, RESOLVE_FILE_PACKAGE, NULL, 1, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUG, NULL, 0, -ENOENT);
	process_root_close(&files.root);

	/* a path without a slash in front has no place on the host, wherever this program was started */
	object_files_open(&files, directory, "host/prog", &map);
	assert_error(&files, RESOLVE_FILE_PACKAGE, NULL, 0, -ENOENT);
	process_root_close(&files.root);
	close(directory);
	free(executable);
}

static void test_traps(void **state)
{
	const struct process_map map = {0};
	struct object_files files;
	int directory = open_process();
	char *path;
	char *secret = memory_format("%s/outside/secret", base);

	(void)state;
	assert_int_equal(mkfifo("process/root/app/fifo.debuginfo", 0644), 0);
	/* links that lead out of the root end below it */
	make_link("../../../../../../../../../../outside/secret", "process/root/app/relative.debug");
	make_link(secret, "process/root/app/absolute.debug");
	make_link("/proc/self/root/etc/passwd", "process/root/app/magic.debug");
	make_link("loop.debug", "process/root/app/loop.debug");
	make_directory("process/root/app/directory.debug");

	object_files_open(&files, directory, "/app/fifo", &map);
	assert_error(&files, RESOLVE_FILE_DEBUGINFO, NULL, 0, -EINVAL);
	assert_error(&files, RESOLVE_FILE_DEBUGINFO, NULL, 1, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, "relative.debug", 0, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, "absolute.debug", 0, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, "magic.debug", 0, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, "loop.debug", 0, -ELOOP);
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, "directory.debug", 0, -EINVAL);
	process_root_close(&files.root);

	/* links of procfs are not followed on the host either */
	path = memory_format("%s/outside/prog", base);
	make_link("/proc/self/exe", "outside/prog.dwp");
	object_files_open(&files, directory, path, &map);
	assert_error(&files, RESOLVE_FILE_PACKAGE, NULL, 0, -ELOOP);
	process_root_close(&files.root);
	close(directory);
	free(path);
	free(secret);
}

static void test_cache(void **state)
{
	const char *build_id = "abcdef0123456789";
	const struct process_map map = {0};
	struct object_files files;
	int directory = open_process();
	char *cache = memory_format("%s/cache", base);

	(void)state;
	make_directory("cache");
	make_directory("cache/abcdef0123456789");
	write_file("cache/abcdef0123456789/debuginfo", "cached");
	object_files_open(&files, directory, "/app/prog", &map);
	assert_int_equal(setenv("DEBUGINFOD_CACHE_PATH", cache, 1), 0);
	assert_content(&files, RESOLVE_FILE_BUILD_ID, build_id, 0, "cached");
	assert_content(&files, RESOLVE_FILE_ALTERNATE, build_id, 0, "cached");
	assert_error(&files, RESOLVE_FILE_BUILD_ID, build_id, 1, -ENOENT);
	assert_error(&files, RESOLVE_FILE_BUILD_ID, "ABCDEF0123456789", 0, -ENOENT);
	assert_error(&files, RESOLVE_FILE_DEBUGLINK, build_id, 0, -ENOENT);
	assert_int_equal(unsetenv("DEBUGINFOD_CACHE_PATH"), 0);
	make_directory("xdg");
	free(cache);
	cache = memory_format("%s/xdg", base);
	make_link("../cache", "xdg/debuginfod_client");
	assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
	assert_content(&files, RESOLVE_FILE_BUILD_ID, build_id, 0, "cached");
	assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
	process_root_close(&files.root);
	close(directory);
	free(cache);
}

static void test_library(void **state)
{
	struct mapped_object object = {.path = (char *)"/app/library.so", .start = 0x1000, .end = 0x2000};
	const struct process_map map = {.objects = &object, .count = 1};
	struct object_files files;
	int directory = open_process();
	struct stat status;
	int error;

	(void)state;
	assert_int_equal(stat("process/root/app/library.so", &status), 0);
	object.device = status.st_dev;
	object.inode = status.st_ino;
	object_files_open(&files, directory, "/app/prog", &map);
	assert_string_equal(ask(&files, 0, RESOLVE_FILE_OBJECT, NULL, 0, &error), "library");
	process_root_close(&files.root);
	/* replaced since the process has mapped it */
	object.inode++;
	object_files_open(&files, directory, "/app/prog", &map);
	assert_null(ask(&files, 0, RESOLVE_FILE_OBJECT, NULL, 0, &error));
	assert_int_equal(error, -ESTALE);
	/* as the kernel names the mapped file itself */
	make_directory("process/map_files");
	write_file("process/map_files/1000-2000", "mapped");
	assert_string_equal(ask(&files, 0, RESOLVE_FILE_OBJECT, NULL, 0, &error), "mapped");
	process_root_close(&files.root);
	close(directory);
}

static bool is_refused(const struct object_files *files, enum resolve_file file, const char *name)
{
	return object_files_ask(files, LAYOUT_EXECUTABLE, file, name, 0) == -EACCES;
}

/* Which of the steps goes wrong, 0 for none. */
static int look_as_nobody(void)
{
	const struct process_map map = {0};
	struct object_files files;
	struct rights rights;
	int directory, descriptor;

	nobody_become_with_capabilities();
	directory = open_process();
	object_files_open(&files, directory, "/app/closed", &map);
	if (!is_refused(&files, RESOLVE_FILE_DEBUG, "") || !is_refused(&files, RESOLVE_FILE_PACKAGE, ""))
		return 4;
	if (!is_refused(&files, RESOLVE_FILE_DEBUGLINK, "one.debug") ||
	    !is_refused(&files, RESOLVE_FILE_DEBUGLINK, "none.debug"))
		return 5;
	/* what the process runs is readable all the same, and so is everything after it */
	descriptor = object_files_ask(&files, LAYOUT_EXECUTABLE, RESOLVE_FILE_OBJECT, "", 0);
	if (descriptor < 0 || open("process/root/app/closed.debug", O_RDONLY) < 0)
		return 6;
	/* the user's own rights suffice for what everybody may read */
	if (object_files_ask(&files, LAYOUT_EXECUTABLE, RESOLVE_FILE_DEBUGLINK, "open.debug", 0) < 0)
		return 7;
	rights_lower(&rights);
	return rights.effective != 0 ? 0 : 8;
}

static void test_own_rights(void **state)
{
	int status;
	pid_t child;

	(void)state;
	nobody_need_capabilities();
	write_file("process/root/app/closed.debug", "of root alone");
	write_file("process/root/app/closed.dwp", "of root alone");
	write_file("process/root/app/open.debug", "for everybody");
	make_directory("process/root/app/hidden");
	write_file("process/root/app/hidden/one.debug", "in a directory of root");
	make_link("hidden/one.debug", "process/root/app/one.debug");
	make_link("hidden/none.debug", "process/root/app/none.debug");
	close_to_others("process/exe");
	close_to_others("process/root/app/closed.debug");
	close_to_others("process/root/app/closed.dwp");
	close_to_others("process/root/app/hidden");
	child = fork();
	if (child == 0)
		_exit(look_as_nobody());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_map(void **state)
{
	struct process_map map, copy;
	struct error error;
	int directory = open_process();

	(void)state;
	assert_int_equal(process_map_read(NULL, 1, directory, 0, 0, &map, &error), -ENOENT);
	assert_int_equal(map.count, 0);
	write_file("process/maps",
		   "5583e6f79000-5583e6f7a000 r--p 00000000 fe:00 12345   /usr/bin/example\n"
		   "5583e6f7a000-5583e6f7b000 r-xp 00001000 fe:00 12345   /usr/bin/example\n"
		   "7f0000000000-7f0000001000 r--p 00000000 fe:00 7       /lib/data only.so\n"
		   /* a library that the process has also mapped to look into it */
		   "7f0000001000-7f0000002000 r--p 00000000 fe:00 9       /lib/two words.so\n"
		   "7f0000004000-7f0000005000 r--p 00000000 fe:00 9       /lib/two words.so\n"
		   "7f0000005000-7f0000006000 r-xp 00001000 fe:00 9       /lib/two words.so\n"
		   "7f0000006000-7f0000007000 r-xp 00002000 fe:00 9       /lib/two words.so\n"
		   "7f0000007000-7f0000008000 rw-p 00000000 00:00 0\n"
		   "7f0000008000-7f0000009000 r-xp 00000000 00:00 0\n"
		   "7f0000009000-7f000000a000 r-xp 00000000 fd:02 11      /lib/gone.so (deleted)\n"
		   "7f000000b000-7f000000b000 r-xp 00000000 fd:02 12      /lib/empty.so\n"
		   "7f000000c000-7f000000d000 r-xp 0000000g fd:02 13      /lib/odd.so\n"
		   "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0       [vdso]\n"
		   "not a line\n"
		   "7f000000e000-7f000000f000 r-xp 00000000 fd:02 14      /lib/last.so");
	assert_int_equal(process_map_read(NULL, 1, directory, makedev(0xfe, 0), 12345, &map, &error), 0);
	assert_int_equal(map.count, 3);
	assert_string_equal(map.objects[0].path, "/lib/two");
	assert_true(map.objects[0].start == 0x7f0000005000 && map.objects[0].end == 0x7f0000006000);
	assert_true(map.objects[0].first == 0x7f0000004000);
	assert_true(map.objects[0].device == makedev(0xfe, 0) && map.objects[0].inode == 9);
	assert_string_equal(map.objects[1].path, "/lib/gone.so");
	assert_true(map.objects[1].device == makedev(0xfd, 2) && map.objects[1].inode == 11);
	assert_true(map.objects[1].first == 0x7f0000009000);
	assert_string_equal(map.objects[2].path, "/lib/last.so");
	process_map_copy(&map, &copy);
	process_map_release(&map);
	assert_string_equal(copy.objects[2].path, "/lib/last.so");
	process_map_release(&copy);
	/* the executable counts where it is not named */
	assert_int_equal(process_map_read(NULL, 1, directory, makedev(0xfe, 0), 1, &map, &error), 0);
	assert_int_equal(map.count, 4);
	assert_string_equal(map.objects[0].path, "/usr/bin/example");
	process_map_release(&map);
	close(directory);
}

/* Maps a page of a file as data, and behind it another time for execution. */
static void *map_twice(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	char *start = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(descriptor >= 0 && start != MAP_FAILED);
	assert_true(mmap(start, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0) == start);
	assert_true(mmap(start + 4096, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, descriptor, 0) ==
		    start + 4096);
	close(descriptor);
	return start;
}

/* What the kernel says when it is asked for one mapping after the other is what its text says. */
static void test_map_by_queries(void **state)
{
	struct process_map asked, read;
	struct buffer text = {0};
	struct error error;
	int own = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC), saved = open_process();
	void *mapped;

	(void)state;
	write_file("process/two words.so", "words");
	mapped = map_twice("process/two words.so");
	assert_int_equal(file_read(own, "maps", &text, 1 << 20), 0);
	write_file("process/maps", text.data);
	assert_int_equal(process_map_read(NULL, 1, saved, 0, 0, &read, &error), 0);
	assert_int_equal(process_map_read(NULL, 1, own, 0, 0, &asked, &error), 0);
	assert_true(asked.count >= 3); /* the program, the C library, what was mapped */
	assert_int_equal(asked.count, read.count);
	for (size_t i = 0; i < asked.count; i++) {
		assert_string_equal(asked.objects[i].path, read.objects[i].path);
		assert_true(asked.objects[i].start == read.objects[i].start &&
			    asked.objects[i].end == read.objects[i].end &&
			    asked.objects[i].first == read.objects[i].first &&
			    asked.objects[i].device == read.objects[i].device &&
			    asked.objects[i].inode == read.objects[i].inode);
	}
	munmap(mapped, 8192);
	process_map_release(&asked);
	process_map_release(&read);
	buffer_release(&text);
	close(saved);
	close(own);
}

/* The state of the library of that name in the map of this process. */
static struct file_state find_state(const char *name)
{
	struct process_map map;
	struct file_state state = {0};
	struct error error;
	int own = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	assert_int_equal(process_map_read(NULL, getpid(), own, 0, 0, &map, &error), 0);
	for (size_t i = 0; i < map.count; i++) {
		if (strstr(map.objects[i].path, name) == NULL)
			continue;
		state = map.objects[i].state;
		found = true;
	}
	assert_true(found);
	process_map_release(&map);
	close(own);
	return state;
}

/* A library that is rewritten in place is another one; of one that was replaced nothing is known. */
static void test_library_state(void **state)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = 0x20 /* RESOLVE_CACHED */};
	const int root = (int)syscall(__NR_openat2, AT_FDCWD, "/", &how, sizeof(how));
	void *mapped;

	(void)state;
	if (root < 0) {
		skip_test("needs RESOLVE_CACHED of openat2(2)");
	}
	close(root);
	write_file("state.so", "words");
	mapped = map_twice("state.so");
	assert_int_equal(find_state("/state.so").size, strlen("words"));
	write_file("state.so", "other words");
	assert_int_equal(find_state("/state.so").size, strlen("other words"));
	write_file("new.so", "new");
	assert_int_equal(rename("new.so", "state.so"), 0);
	assert_int_equal(find_state("/state.so").size, 0);
	munmap(mapped, 8192);
}

static const struct resolution sound = {
	.tag = HEAP_TAG_NONE,
	.layout = {.origin = LAYOUT_ORIGIN_KNOWN_BUILD,
		   .version = "5.3.0",
		   .object = 2,
		   .tls = {.size = 2632, .alignment = 16},
		   .symbol = 0,
		   .allocated = 824,
		   .deallocated = 840},
	.c_library = {.kind = C_LIBRARY_GLIBC,
		      .threads_known = true,
		      .pthread_size = 2368,
		      .tid_offset = 720,
		      .dtv_pointer_offset = 8,
		      .links_known = true,
		      .link_tls_offset = 1136,
		      .link_tls_module = 1144,
		      .dtv_entry_size = 16},
};

/* Whether the sound resolution with other bytes at one place passes. */
static bool passes_with(size_t offset, const void *value, size_t size)
{
	unsigned char bytes[sizeof(struct resolution)];
	struct resolution checked;

	memcpy(bytes, &sound, sizeof(bytes));
	memcpy(bytes + offset, value, size);
	return resolution_check(bytes, 3, &checked);
}

static bool passes_with_u64(size_t offset, uint64_t value)
{
	return passes_with(offset, &value, sizeof(value));
}

static bool passes_with_u32(size_t offset, uint32_t value)
{
	return passes_with(offset, &value, sizeof(value));
}

static void test_check(void **state)
{
	const size_t layout = offsetof(struct resolution, layout);
	const size_t library = offsetof(struct resolution, c_library);
	const unsigned char two = 2;
	char text[LAYOUT_TEXT_SIZE];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_true(passes_with(0, &sound, 0));
	assert_false(passes_with_u32(offsetof(struct resolution, tag), HEAP_TAG_NONE + 1));
	assert_false(passes_with_u32(offsetof(struct resolution, tag), HEAP_TAG_SELF_PROBE_REJECTED));
	assert_false(passes_with_u32(offsetof(struct resolution, tag), HEAP_TAG_PTRACE_SEIZE));
	assert_true(passes_with_u32(offsetof(struct resolution, tag), HEAP_TAG_ARCH_MISMATCH));
	assert_false(passes_with(offsetof(struct resolution, text), text, LAYOUT_TEXT_SIZE));
	assert_true(passes_with(offsetof(struct resolution, text), text, LAYOUT_TEXT_SIZE - 1));
	assert_false(passes_with(offsetof(struct resolution, is_static), &two, 1));
	assert_false(passes_with_u32(layout + offsetof(struct heap_layout, origin), LAYOUT_ORIGIN_COUNT));
	assert_false(passes_with(layout + offsetof(struct heap_layout, version), text, LAYOUT_VERSION_SIZE));
	assert_false(passes_with_u32(layout + offsetof(struct heap_layout, object), 3));
	assert_true(passes_with_u32(layout + offsetof(struct heap_layout, object), LAYOUT_EXECUTABLE));
	assert_false(passes_with_u64(layout + offsetof(struct heap_layout, tls.size), 847));
	assert_true(passes_with_u64(layout + offsetof(struct heap_layout, tls.size), 848));
	assert_false(passes_with_u64(layout + offsetof(struct heap_layout, tls.alignment), 24));
	assert_false(passes_with_u64(layout + offsetof(struct heap_layout, symbol), 2632 - 847));
	assert_false(passes_with_u64(layout + offsetof(struct heap_layout, symbol), UINT64_MAX - 16));
	assert_false(passes_with_u64(layout + offsetof(struct heap_layout, allocated), 840));
	assert_false(passes_with_u64(layout + offsetof(struct heap_layout, deallocated), 824 + 4096));
	assert_false(passes_with_u32(library + offsetof(struct c_library, kind), C_LIBRARY_MUSL + 1));
	assert_false(passes_with(library + offsetof(struct c_library, threads_known), &two, 1));
	assert_false(passes_with(library + offsetof(struct c_library, links_known), &two, 1));
	assert_false(passes_with_u32(library + offsetof(struct c_library, pthread_size), 1 << 20));
	assert_false(passes_with_u32(library + offsetof(struct c_library, tid_offset), 2368));
	assert_true(passes_with_u32(library + offsetof(struct c_library, dtv_pointer_offset), 2368));
	assert_false(passes_with_u32(library + offsetof(struct c_library, dtv_pointer_offset), 2369));
	assert_false(passes_with_u32(library + offsetof(struct c_library, link_tls_offset), 1 << 20));
	assert_false(passes_with_u32(library + offsetof(struct c_library, dtv_entry_size), 65));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),           cmocka_unit_test(test_map_by_queries),
		cmocka_unit_test(test_library_state), cmocka_unit_test(test_check),
		cmocka_unit_test(test_candidates),    cmocka_unit_test(test_traps),
		cmocka_unit_test(test_cache),         cmocka_unit_test(test_library),
		cmocka_unit_test(test_own_rights),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
