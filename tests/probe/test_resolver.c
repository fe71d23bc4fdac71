/* SPDX-License-Identifier: GPL-2.0-only */
/* The resolver with children that crash, hang, lie or try to get out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"
#include "tests/supervisor_fixture.h"
#include "tests/wait.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/supervisor.h"
#include "probe/resolver/resolution_cache.h"
#include "probe/resolver/resolver_internal.h"
#include "probe/resolver/sandbox.h"

#define NS_PER_S     UINT64_C(1000000000)
#define PATIENCE_NS  (100 * NS_PER_S) /* no test that passes waits so long */
#define NO_WAIT_NS   (NS_PER_S / 5)
#define LIBRARY_PATH "/usr/lib/libexample.so.1"

static const struct resolution sound = {
	.tag = HEAP_TAG_NONE,
	.layout = {.version = "5.3.0",
		   .object = LAYOUT_EXECUTABLE,
		   .tls = {.size = 4096, .alignment = 16},
		   .symbol = 16,
		   .allocated = 64,
		   .deallocated = 80},
};

enum {
	LIBRARIES_MAX = 16,
};

/* As many as a test wants its process to have; the files do not exist. */
static size_t library_count = 1;

static struct resolve_job *submit(resolver_work *work, uint64_t patience_ns)
{
	struct mapped_object libraries[LIBRARIES_MAX];
	const struct process_map map = {.objects = libraries, .count = library_count};
	int directory = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct resolve_job *job;

	for (size_t i = 0; i < library_count; i++)
		libraries[i] = (struct mapped_object){
			.path = (char *)LIBRARY_PATH, .start = 4096, .end = 8192};
	assert_true(directory >= 0);
	job = resolver_submit_for(work, patience_ns, directory, "/proc/self/exe", &map);
	close(directory);
	return job;
}

static struct resolution wait_for(struct resolve_job *job)
{
	while (!resolve_job_poll(job)) {
		struct pollfd poll_entry = {.fd = job->socket, .events = POLLIN};

		poll(&poll_entry, 1, 20);
	}
	return job->resolution;
}

/*
 * The same, with another job of that work in its place where a file could not be opened in time, as no file
 * system hangs here.
 */
static struct resolution wait_for_another(struct resolve_job **job, resolver_work *work, uint64_t patience_ns)
{
	struct resolution resolution = wait_for(*job);

	for (int i = 0; i < 3 && resolution.tag == HEAP_TAG_FILE_SYSTEM_HANGS; i++) {
		resolve_job_release(*job);
		*job = submit(work, patience_ns);
		resolution = wait_for(*job);
	}
	return resolution;
}

/* Runs one job of that work. */
static struct resolution run(resolver_work *work, uint64_t patience_ns)
{
	struct resolve_job *job = submit(work, patience_ns);
	const struct resolution resolution = wait_for_another(&job, work, patience_ns);

	resolve_job_release(job);
	return resolution;
}

static void assert_panic(resolver_work *work, const char *words)
{
	const struct resolution resolution = run(work, PATIENCE_NS);

	assert_int_equal(resolution.tag, HEAP_TAG_WORKER_PANIC);
	if (strstr(resolution.text, words) == NULL)
		fail_msg("'%s' does not say '%s'", resolution.text, words);
}

/* Reads the executable as far as a sandboxed child may. */
static void read_executable(const struct resolve_source *source, struct resolution *resolution)
{
	const int file = source->open(source->context, LAYOUT_EXECUTABLE, RESOLVE_FILE_OBJECT, NULL, 0);
	char magic[4] = "";
	const char *bytes;

	*resolution = sound;
	if (file < 0 || pread(file, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, "\177ELF", 4) != 0)
		resolution->tag = HEAP_TAG_JEMALLOC_NOT_FOUND;
	bytes = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	if (bytes == MAP_FAILED || memcmp(bytes, magic, sizeof(magic)) != 0)
		resolution->tag = HEAP_TAG_JEMALLOC_NOT_FOUND;
	if (source->object_count != 1 ||
	    source->open(source->context, LAYOUT_EXECUTABLE, RESOLVE_FILE_OBJECT, NULL, 1) != -ENOENT)
		resolution->tag = HEAP_TAG_JEMALLOC_NOT_FOUND;
	close(file);
}

static void test_result(void **state)
{
	const struct resolution resolution = run(read_executable, PATIENCE_NS);

	(void)state;
	assert_int_equal(resolution.tag, HEAP_TAG_NONE);
	assert_int_equal(resolution.layout.allocated, 64);
	assert_string_equal(resolution.layout.version, "5.3.0");
}

static void crash(const struct resolve_source *source, struct resolution *resolution)
{
	(void)source;
	(void)resolution;
	abort();
}

static void leave(const struct resolve_source *source, struct resolution *resolution)
{
	(void)source;
	(void)resolution;
	_exit(7);
}

static void hang(const struct resolve_source *source, struct resolution *resolution)
{
	(void)source;
	(void)resolution;
	for (;;)
		__asm__ volatile("");
}

static void allocate(const struct resolve_source *source, struct resolution *resolution)
{
	(void)source;
	(void)resolution;
	for (;;)
		memset(memory_allocate(1 << 20), 1, 4096);
}

static void test_crash(void **state)
{
	(void)state;
	assert_panic(crash, "SIGABRT");
	assert_panic(leave, "status 7");
	if (!ADDRESS_SANITIZER)
		assert_panic(allocate, "status 1");
}

static void test_hang(void **state)
{
	const struct resolution resolution = run(hang, NO_WAIT_NS);

	(void)state;
	assert_int_equal(resolution.tag, HEAP_TAG_WORKER_PANIC);
	assert_string_equal(resolution.text, "it did not end in time");
}

/* System calls that nobody in there has any business with. */
enum {
	FILES = INT_MIN, /* stands for the socket over which the child asks for files */
};

static const long forbidden[][6] = {
	{SYS_socket, AF_INET, SOCK_STREAM},
	{SYS_connect, FILES},
	{SYS_execve, (long)"/bin/true"},
	{SYS_ptrace, PTRACE_SEIZE, 1},
	{SYS_clone, SIGCHLD},
	{SYS_kill, 1},
	{SYS_tgkill, 1, 1},
	{SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1},
	{SYS_mprotect, 0, 4096, PROT_EXEC},
	{SYS_process_vm_readv, 1},
	{SYS_write, FILES, (long)"x", 1},
	{SYS_openat2, AT_FDCWD, (long)"/etc/passwd"},
	{SYS_prlimit64},
};

/* Makes the call whose number in the table the libraries of the process tell. */
static void call_forbidden(const struct resolve_source *source, struct resolution *resolution)
{
	const long *call = forbidden[source->object_count];

	*resolution = sound;
	syscall(call[0], call[1] == FILES ? *(int *)source->context : call[1], call[2], call[3], call[4],
		call[5]);
}

static void test_system_calls(void **state)
{
	(void)state;
	_Static_assert(sizeof(forbidden) / sizeof(forbidden[0]) <= LIBRARIES_MAX, "each has its number");
	for (library_count = 0; library_count < sizeof(forbidden) / sizeof(forbidden[0]); library_count++)
		assert_panic(call_forbidden, "SIGSYS");
	library_count = 1;
}

/* Libraries may try; they get nothing. */
static void call_open(const struct resolve_source *source, struct resolution *resolution)
{
	char link[64];
	struct stat status;

	(void)source;
	*resolution = sound;
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
		resolution->tag = HEAP_TAG_DWARF_PARSE_FAILURE;
	if (readlink("/proc/self/exe", link, sizeof(link)) >= 0)
		resolution->tag = HEAP_TAG_DWARF_PARSE_FAILURE;
	/* lstat(2), where that is no call */
	if (syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &status, AT_SYMLINK_NOFOLLOW) >= 0 ||
	    errno != EACCES)
		resolution->tag = HEAP_TAG_DWARF_PARSE_FAILURE;
}

static void test_open(void **state)
{
	const struct resolution resolution = run(call_open, PATIENCE_NS);

	(void)state;
	assert_int_equal(resolution.tag, HEAP_TAG_NONE);
}

static void send_noise(const struct resolve_source *source, struct resolution *resolution)
{
	struct iovec part = {.iov_base = (char *)"noise", .iov_len = 5};
	const struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	*resolution = sound;
	sendmsg(*(int *)source->context, &header, 0);
}

static void send_bad_object(const struct resolve_source *source, struct resolution *resolution)
{
	(void)source;
	*resolution = sound;
	resolution->layout.object = 1;
}

static void ask_forever(const struct resolve_source *source, struct resolution *resolution)
{
	(void)resolution;
	for (;;)
		source->open(source->context, 0, RESOLVE_FILE_DEBUG, NULL, 1000);
}

/* Everything that is asked for is refused, or the answer is another one than expected. */
static void ask_wrongly(const struct resolve_source *source, struct resolution *resolution)
{
	static const struct {
		uint32_t object, file;
		const char *name;
		int result;
	} questions[] = {
		{1, RESOLVE_FILE_OBJECT, NULL, -EINVAL},
		{UINT32_MAX - 1, RESOLVE_FILE_PACKAGE, NULL, -EINVAL},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_COUNT, NULL, -EINVAL},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_DEBUGLINK, "../../../../etc/passwd", -ENOENT},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_DEBUGLINK, "/etc/passwd", -ENOENT},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_DEBUGLINK, NULL, -ENOENT},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_BUILD_ID, "/.passwd", -ENOENT},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_BUILD_ID, "../../../etc/passwd", -ENOENT},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_ALTERNATE, "..", -ENOENT},
		{LAYOUT_EXECUTABLE, RESOLVE_FILE_ALTERNATE_LINK, "../passwd", -ENOENT},
		{0, RESOLVE_FILE_OBJECT, NULL, -ENOENT}, /* the library of the map does not exist */
	};

	*resolution = sound;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const int result = source->open(source->context, questions[i].object, questions[i].file,
						questions[i].name, 0);

		if (result == questions[i].result)
			continue;
		resolution->tag = HEAP_TAG_DWARF_PARSE_FAILURE;
		snprintf(resolution->text, sizeof(resolution->text), "question %zu: %d", i, result);
		break;
	}
}

static void test_nonsense(void **state)
{
	struct resolution resolution;

	(void)state;
	assert_panic(send_noise, "it sent an invalid message");
	assert_panic(send_bad_object, "invalid");
	assert_panic(ask_forever, "asked for more than");
	resolution = run(ask_wrongly, PATIENCE_NS);
	assert_string_equal(resolution.text, "");
	assert_int_equal(resolution.tag, HEAP_TAG_NONE);
}

/* A child that holds more files than it may. */
static void keep_files(const struct resolve_source *source, struct resolution *resolution)
{
	*resolution = sound;
	for (int i = 0; i < SANDBOX_DESCRIPTORS; i++) {
		const int file = source->open(source->context, LAYOUT_EXECUTABLE, RESOLVE_FILE_OBJECT, NULL,
					      0);

		if (file < 0) {
			if (file != -EMFILE)
				resolution->tag = HEAP_TAG_DWARF_PARSE_FAILURE;
			return;
		}
	}
	resolution->tag = HEAP_TAG_DWARF_PARSE_FAILURE;
}

static void test_too_many_files(void **state)
{
	(void)state;
	assert_int_equal(run(keep_files, PATIENCE_NS).tag, HEAP_TAG_NONE);
}

static size_t count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(directory);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static void test_many_jobs(void **state)
{
	enum {
		JOBS = 64
	};
	const size_t descriptors = count_descriptors();
	struct resolve_job *jobs[JOBS];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < JOBS; i++)
			jobs[i] = submit(read_executable, PATIENCE_NS);
		for (size_t i = 0; i < JOBS; i++) {
			assert_int_equal(wait_for_another(&jobs[i], read_executable, PATIENCE_NS).tag,
					 HEAP_TAG_NONE);
			/* asking again gives the same */
			assert_true(resolve_job_poll(jobs[i]));
			assert_int_equal(jobs[i]->resolution.tag, HEAP_TAG_NONE);
			assert_int_equal(jobs[i]->socket, -1);
			resolve_job_release(jobs[i]);
		}
	}
	/* given up at once */
	for (size_t i = 0; i < JOBS; i++)
		resolve_job_release(submit(read_executable, PATIENCE_NS));
	assert_int_equal(count_descriptors(), descriptors);
}

/* The children of a process, as its procfs directory lists them. Returns how many. */
static size_t read_children(pid_t pid, pid_t *children, size_t room)
{
	char path[64];
	size_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	while (count < room && fscanf(file, "%d", &children[count]) == 1)
		count++;
	fclose(file);
	return count;
}

static bool has_children(pid_t pid)
{
	pid_t child;

	return read_children(pid, &child, 1) != 0;
}

/* A kernel may be without CONFIG_PROC_CHILDREN. */
static void need_children(void)
{
	if (access("/proc/thread-self/children", R_OK) == 0)
		return;
	skip_test("the kernel has no CONFIG_PROC_CHILDREN");
}

/* The state letter and the parent of a process; 0 for one that has gone. */
static char read_stat(pid_t pid, int *ret_parent)
{
	char path[64], state = 0;
	FILE *file;

	*ret_parent = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	/* it may have ended since it was opened */
	if (fscanf(file, "%*d (%*[^)]) %c %d", &state, ret_parent) != 2)
		state = 0;
	fclose(file);
	return state;
}

static pid_t parent_of(pid_t pid)
{
	int parent;

	return read_stat(pid, &parent) != 0 ? parent : 0;
}

/* Whether a process has a child that ended and was not collected now. */
static bool has_zombie_now(pid_t pid)
{
	pid_t children[16];
	const size_t count = read_children(pid, children, 16);
	bool found = false;
	int parent;

	for (size_t i = 0; i < count; i++)
		found = found || read_stat(children[i], &parent) == 'Z';
	return found;
}

static void await_no_zombie(pid_t pid)
{
	await("all children that ended are collected", !has_zombie_now(pid));
}

/* Whether a line stands in the status of a process. */
static bool status_has(pid_t pid, const char *line)
{
	char path[64];
	struct buffer text = {0};
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	found = file_read(AT_FDCWD, path, &text, 65536) == 0 && text.length != 0 &&
		strstr(text.data, line) != NULL;
	buffer_release(&text);
	return found;
}

/* The number of a process's seccomp filters; its seccomp mode before Linux 5.9, which has no such count. */
static int count_filters(pid_t pid)
{
	int mode = 0, filters = -1;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		sscanf(line, "Seccomp: %d", &mode);
		sscanf(line, "Seccomp_filters: %d", &filters);
	}
	if (file != NULL)
		fclose(file);
	return filters >= 0 ? filters : mode;
}

/* Whether a process has more filters than this one, which may itself run in a container. */
static bool is_sandboxed(pid_t pid)
{
	return count_filters(pid) > count_filters(getpid());
}

/* The supervisor, or a child in the sandbox. 0: there is none. */
static pid_t find_process(bool in_sandbox)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	assert_non_null(proc);
	while (found == 0 && (entry = readdir(proc)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid != 0 && supervisor_owns(pid) &&
		    (in_sandbox ? parent_of(pid) != getpid() && is_sandboxed(pid)
				: parent_of(pid) == getpid()))
			found = pid;
	}
	closedir(proc);
	return found;
}

static pid_t wait_for_child(void)
{
	pid_t found;

	await("the job is under way", (found = find_process(true)) != 0);
	return found;
}

/* A child that somebody kills is told from one that ends, and the next one is not concerned. */
static void test_child_killed(void **state)
{
	const pid_t supervisor = find_process(false);
	struct resolve_job *job = submit(hang, PATIENCE_NS);
	struct resolution resolution;

	(void)state;
	assert_int_equal(kill(wait_for_child(), SIGKILL), 0);
	resolution = wait_for(job);
	assert_int_equal(resolution.tag, HEAP_TAG_WORKER_PANIC);
	assert_non_null(strstr(resolution.text, "SIGKILL"));
	resolve_job_release(job);
	assert_int_equal(run(read_executable, PATIENCE_NS).tag, HEAP_TAG_NONE);
	await_no_zombie(supervisor);
}

/* Where no supervisor could be forked in the first place, nobody has killed one. */
static void test_no_supervisor(void **state)
{
	struct resolution resolution;
	struct error error;

	(void)state;
	supervisor_stop();
	resolution = run(read_executable, PATIENCE_NS);
	assert_int_equal(supervisor_start(&error), 0);
	assert_int_equal(resolution.tag, HEAP_TAG_WORKER_PANIC);
	assert_non_null(strstr(resolution.text, "no supervisor could be forked"));
}

static void test_supervisor_killed(void **state)
{
	const pid_t supervisor = find_process(false);

	(void)state;
	kill(supervisor, SIGKILL);
	assert_int_equal(run(read_executable, PATIENCE_NS).tag, HEAP_TAG_RESOLVER_ENDED);
	await("the supervisor is known to be gone",
	      run(read_executable, PATIENCE_NS).tag == HEAP_TAG_RESOLVER_ENDED &&
		      !supervisor_owns(supervisor));
	await_no_zombie(getpid());
	resolve_job_release(NULL);
}

/* A program with jobs under way that is killed. */
static void run_program(int report)
{
	struct error error;
	pid_t supervisor;

	if (supervisor_start(&error) < 0)
		_exit(1);
	submit(hang, PATIENCE_NS);
	submit(hang, PATIENCE_NS);
	supervisor = find_process(false);
	if (write(report, &supervisor, sizeof(supervisor)) != sizeof(supervisor))
		_exit(1);
	for (;;)
		pause();
}

static void await_end(pid_t pid)
{
	/* its own parent may have collected it before it ended itself */
	await("a process ends", waitpid(pid, NULL, WNOHANG) == pid || (kill(pid, 0) < 0 && errno == ESRCH));
}

static void test_program_killed(void **state)
{
	pid_t program, parent, children[8];
	size_t count = 0;
	int report[2];

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(pipe(report), 0);
	program = fork();
	assert_true(program >= 0);
	if (program == 0)
		run_program(report[1]);
	close(report[1]);
	assert_int_equal(read(report[0], &parent, sizeof(parent)), sizeof(parent));
	close(report[0]);
	need_children();
	/* each has an opener and a child */
	await("both jobs are under way", (count = read_children(parent, children, 8)) >= 4);
	assert_int_equal(count, 4);
	kill(program, SIGKILL);
	await_end(program);
	await_end(parent);
	for (size_t i = 0; i < count; i++)
		await_end(children[i]);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/* Released jobs take their processes with them. */
static void test_release_kills(void **state)
{
	const pid_t supervisor = find_process(false);
	struct resolve_job *job = submit(hang, PATIENCE_NS);

	(void)state;
	need_children();
	wait_for_child();
	resolve_job_release(job);
	await("the job is ended", !has_children(supervisor));
}

/* What a child may still do. */
static void test_rights(void **state)
{
	static const char *const lines[] = {
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n",
	};
	struct resolve_job *job = submit(hang, PATIENCE_NS);
	const pid_t child = wait_for_child();

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_true(status_has(child, lines[i]));
	resolve_job_release(job);
}

/* A resolution holds for the libraries it was made of, not for what they were rewritten to. */
static void test_rewritten_library(void **state)
{
	struct mapped_object library = {.path = (char *)LIBRARY_PATH, .inode = 7, .state.size = 1};
	const struct process_map map = {.objects = &library, .count = 1};
	struct resolution_cache *cache = resolution_cache_create();
	struct resolution_entry *entries[4];
	/* first, the same again, rewritten, replaced while it is mapped */
	static const uint64_t sizes[] = {1, 1, 2, 0};
	const int directory = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct executable executable;
	bool known[4];

	(void)state;
	assert_int_equal(executable_identify(directory, &executable), 0);
	for (size_t i = 0; i < 4; i++) {
		library.state.size = sizes[i];
		entries[i] = resolution_cache_find(cache, directory, "/proc/self/exe", &executable, &map,
						   &known[i]);
		assert_non_null(entries[i]);
		assert_int_equal(known[i], i % 2 != 0);
	}
	assert_ptr_equal(entries[1], entries[0]);
	assert_ptr_not_equal(entries[2], entries[0]);
	assert_ptr_equal(entries[3], entries[2]);
	resolution_cache_release(cache);
	close(directory);
}

static void test_headroom(void **state)
{
	(void)state;
	assert_int_equal(resolution_headroom(16, 0), 9);
	assert_int_equal(resolution_headroom(16, 12), 4);
	assert_int_equal(resolution_headroom(16, 11.5), 4);
	assert_int_equal(resolution_headroom(16, 40), 1);
	assert_int_equal(resolution_headroom(1, 0), 1);
	assert_int_equal(resolution_headroom(2, 0), 2);
	assert_int_equal(resolution_headroom(2, 0.01), 1);
	assert_int_equal(resolution_headroom(4, 0), 3);
	assert_int_equal(resolution_headroom(0, 0), 1);
}

/* The pauses before retries grow while a file system hangs. */
static void test_pauses(void **state)
{
	const uint64_t minute_ns = UINT64_C(60000000000);

	(void)state;
	assert_int_equal(resolution_pause_ns(1), minute_ns);
	assert_int_equal(resolution_pause_ns(2), 2 * minute_ns);
	assert_int_equal(resolution_pause_ns(7), 64 * minute_ns);
	assert_int_equal(resolution_pause_ns(1000), 64 * minute_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_result, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_crash, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_hang, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_system_calls, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_open, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_nonsense, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_too_many_files, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_many_jobs, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_child_killed, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_no_supervisor, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_supervisor_killed, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_program_killed, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_release_kills, start_supervisor, stop_supervisor),
		cmocka_unit_test_setup_teardown(test_rights, start_supervisor, stop_supervisor),
		cmocka_unit_test(test_rewritten_library),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test_setup_teardown(test_headroom, start_supervisor, stop_supervisor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
