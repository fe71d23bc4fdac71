/* SPDX-License-Identifier: GPL-2.0-only */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"
#include "harness.h"

enum {
	HELPER_TIMEOUT_S = 10,
	PAUSE_TRIES = 4, /* each with twice the interval */
	REST_LOOKS = 10,
	REST_NS = 20000000, /* between them */
};

static char scratch[64];

static void stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void stop(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fail_msg("%s", text);
	abort(); /* not reached: fail_msg leaves the test */
}

void check_between(const char *file, int line, const char *what, uint64_t value, uint64_t low, uint64_t high)
{
	if (value >= low && value <= high)
		return;
	print_error("%s: %llu is not between %llu and %llu\n", what, (unsigned long long)value,
		    (unsigned long long)low, (unsigned long long)high);
	_fail(file, line);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_scratch(void)
{
	nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *scratch_directory(void)
{
	if (scratch[0] == '\0') {
		snprintf(scratch, sizeof scratch, "/tmp/ctop-test-XXXXXX");
		if (!mkdtemp(scratch) || chmod(scratch, 0755) < 0)
			stop("cannot make %s: %s", scratch, strerror(errno));
		atexit(remove_scratch);
	}
	return scratch;
}

const char *scratch_path(const char *name)
{
	static char paths[8][256];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", scratch_directory(), name);
	return path;
}

void write_file(const char *path, const void *bytes, size_t length)
{
	FILE *file = fopen(path, "wbe");

	if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
		stop("cannot write %s: %s", path, strerror(errno));
}

void write_compressed(const char *path, const char *text, size_t length)
{
	size_t bound = ZSTD_compressBound(length);
	char *bytes = malloc(bound);
	size_t size = ZSTD_compress(bytes, bound, text, length, 1);

	if (ZSTD_isError(size))
		stop("cannot compress: %s", ZSTD_getErrorName(size));
	write_file(path, bytes, size);
	free(bytes);
}

/* Reads a descriptor to its end; used for files and for pipes. */
static char *read_all(int descriptor, size_t *ret_length)
{
	size_t capacity = 65536;
	size_t length = 0;
	char *bytes = malloc(capacity);

	for (;;) {
		ssize_t count = read(descriptor, bytes + length, capacity - length - 1);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		length += (size_t)count;
		if (capacity - length < 32768)
			bytes = realloc(bytes, capacity *= 2);
	}
	bytes[length] = '\0';
	if (ret_length)
		*ret_length = length;
	return bytes;
}

char *read_file(const char *path, size_t *ret_length)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes;

	if (file < 0)
		return NULL;
	bytes = read_all(file, ret_length);
	close(file);
	return bytes;
}

/* A build directory may be out of another user's reach: he gets a copy. */
static const char *reachable_copy(const char *program)
{
	const char *path = scratch_path("program");

	if (access(path, X_OK) < 0) {
		size_t length;
		char *bytes = read_file(program, &length);

		if (!bytes)
			stop("cannot read %s", program);
		write_file(path, bytes, length);
		free(bytes);
		if (chmod(path, 0755) < 0)
			stop("cannot make %s executable: %s", path, strerror(errno));
	}
	return path;
}

bool find_cgroup2(char path[static 256])
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[4096];
	bool found = false;

	while (mounts && !found && fgets(line, sizeof line, mounts))
		found = strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %*s %255s", path) == 1;
	if (mounts)
		fclose(mounts);
	return found;
}

static void write_state(const char *directory, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "mkdir -p %s", directory);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	write_file(path, text, strlen(text));
}

bool write_container_states(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/var/lib", "tmpfs", 0, NULL) != 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL) != 0)
		return false;
	write_state("/var/lib/docker/containers/" DOCKER_ID, "config.v2.json",
		    "{\"State\":{\"Running\":true},\"ID\":\"" DOCKER_ID "\",\"Name\":\"/shop-web-1\"}");
	write_state("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" POD_ID, "config.json",
		    "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
		    "\"io.kubernetes.cri.sandbox-name\":\"cart-0\",\"io.kubernetes.cri.sandbox-namespace\":"
		    "\"shop\"}}");
	return true;
}

static int temporary_file(void)
{
	char path[] = "/tmp/ctop-test-output-XXXXXX";
	int file = mkostemp(path, O_CLOEXEC);

	if (file < 0)
		stop("cannot make a file in /tmp: %s", strerror(errno));
	unlink(path);
	return file;
}

static _Noreturn void become_program(const struct run_options *options, const char *const *arguments,
				     const char *program, int output, int errors)
{
	int input = open(options->input ? options->input : "/dev/null", O_RDONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0)
		_exit(126);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1); /* nobody's own settings */
	for (size_t i = 0; i < 4 && options->environment[i]; i++) {
		if (strchr(options->environment[i], '='))
			putenv((char *)(uintptr_t)options->environment[i]);
		else
			unsetenv(options->environment[i]);
	}
	if (options->user &&
	    (setgroups(0, NULL) < 0 || setgid(options->user) < 0 || setuid(options->user) < 0))
		_exit(126);
	execv(program, (char *const *)(uintptr_t)arguments);
	_exit(127);
}

/* Waits for the child, at most `seconds`; kills it past that. Returns false then. */
static bool wait_child(pid_t child, unsigned int seconds, int *ret_status, struct rusage *usage)
{
	if (wait_at_most(seconds, wait4(child, ret_status, WNOHANG, usage) != 0))
		return true;
	kill(child, SIGKILL);
	wait4(child, ret_status, 0, usage);
	return false;
}

void run_start(struct running *running, const struct run_options *options, const char *const *arguments)
{
	const char *program = options->user ? reachable_copy(arguments[0]) : arguments[0];

	*running = (struct running){.output = temporary_file(), .errors = temporary_file()};
	running->child = fork();
	if (running->child < 0)
		stop("cannot fork: %s", strerror(errno));
	if (running->child == 0)
		become_program(options, arguments, program, running->output, running->errors);
}

void run_finish(struct running *running, struct run *run, const struct run_options *options)
{
	unsigned int timeout = options->timeout_s ? options->timeout_s : WAIT_AT_MOST_S;
	struct rusage usage = {0};
	int status = 0;
	bool in_time = wait_child(running->child, timeout, &status, &usage);

	lseek(running->output, 0, SEEK_SET);
	lseek(running->errors, 0, SEEK_SET);
	*run = (struct run){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			    .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
			    .cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
				      usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
			    .peak_memory_kib = usage.ru_maxrss};
	run->output = read_all(running->output, &run->output_length);
	run->errors = read_all(running->errors, NULL);
	close(running->output);
	close(running->errors);
	if (!in_time)
		stop("the program did not end within %u s; it said: %s", timeout, run->errors);
}

/* Lines of the output so far that begin with a digit or are JSON. */
static size_t count_lines(int output)
{
	char bytes[4096];
	char before = '\n';
	size_t count = 0;
	off_t length = 0;
	ssize_t got;

	while ((got = pread(output, bytes, sizeof bytes, length)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			count += before == '\n' && (bytes[i] == '{' || (bytes[i] >= '0' && bytes[i] <= '9'));
			before = bytes[i];
		}
		length += got;
	}
	return count;
}

void run_wait_for_lines(struct running *running, size_t count)
{
	if (!wait_until(count_lines(running->output) >= count))
		stop("no %zu lines within %d s", count, WAIT_AT_MOST_S);
}

bool run_pause(const struct running *running)
{
	siginfo_t info;

	kill(running->child, SIGSTOP);
	return waitid(P_PID, (id_t)running->child, &info, WSTOPPED | WEXITED | WNOWAIT) == 0 &&
	       info.si_code == CLD_STOPPED;
}

void run_continue(const struct running *running)
{
	kill(running->child, SIGCONT);
}

void run_start_paused(struct running *running, const char *const *arguments, char interval[static 16],
		      double seconds)
{
	static const struct run_options ordinary;
	struct run run;

	for (int i = 0; i < PAUSE_TRIES; i++, seconds *= 2) {
		snprintf(interval, 16, "%g", seconds);
		run_start(running, &ordinary, arguments);
		run_wait_for_lines(running, 1);
		if (run_pause(running))
			return;
		run_finish(running, &run, &ordinary);
		run_expect(&run, 0);
		run_release(&run);
	}
	stop("the program ended early %d times", PAUSE_TRIES);
}

/* The letter behind the last ')' of a stat file, and the parent (proc_pid_stat(5)); 0 where it is gone. */
static char read_state(const char *path, int *ret_parent)
{
	char bytes[512];
	const char *name_end = NULL;
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, bytes, sizeof bytes - 1) : -1;
	char state;

	if (file >= 0)
		close(file);
	if (length > 0) {
		bytes[length] = '\0';
		name_end = strrchr(bytes, ')');
	}
	return name_end && sscanf(name_end + 1, " %c %d", &state, ret_parent) == 2 ? state : '\0';
}

void wait_for_state(int pid, int tid, char state)
{
	char path[64];
	char found = '\0';
	int parent;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	if (!wait_until((found = read_state(path, &parent)) == state))
		stop("thread %d is not in %c but in '%c' after %d s", tid, state, found, WAIT_AT_MOST_S);
}

/* Calls `look` with the path below which the stat file of each entry that is a number lies. */
static bool all_entries(const char *directory, bool (*look)(const char *path, int id, int context),
			int context)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;
	bool result = true;

	while (entries && result && (entry = readdir(entries))) {
		char path[300];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		result = look(path, atoi(entry->d_name), context);
	}
	if (entries)
		closedir(entries);
	return result;
}

static bool thread_rests(const char *path, int id, int context)
{
	char stat[320];
	char state;
	int parent;

	(void)id;
	(void)context;
	snprintf(stat, sizeof stat, "%s/stat", path);
	state = read_state(stat, &parent);
	/* what has ended and is not waited for does nothing more */
	return state == 'S' || state == 'Z' || state == '\0';
}

static bool process_rests(int pid);

static bool child_rests(const char *path, int id, int context)
{
	char stat[320];
	int parent;

	snprintf(stat, sizeof stat, "%s/stat", path);
	return read_state(stat, &parent) == '\0' || parent != context || process_rests(id);
}

/* Whether all threads of a process and of its children sleep. */
static bool process_rests(int pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	return all_entries(path, thread_rests, 0) && all_entries("/proc", child_rests, pid);
}

/* Nothing tells from outside that a program has no more to do until a time or somebody comes: it sleeps,
 * however often one looks. */
static bool rests_on(int pid)
{
	for (int i = 0; i < REST_LOOKS; i++) {
		nanosleep(&(const struct timespec){0, REST_NS}, NULL);
		if (!process_rests(pid))
			return false;
	}
	return true;
}

void run_wait_for_rest(const struct running *running)
{
	if (!wait_until(rests_on(running->child)))
		stop("the program does not come to rest within %d s", WAIT_AT_MOST_S);
}

void run_program(struct run *run, const struct run_options *options, const char *const *arguments)
{
	static const struct run_options ordinary;
	struct running running;

	if (!options)
		options = &ordinary;
	run_start(&running, options, arguments);
	run_finish(&running, run, options);
}

void run_ctop(struct run *run, const struct run_options *options, const char *const *arguments)
{
	const char *whole[64] = {CTOP_PROGRAM};

	for (size_t i = 0; arguments[i] && i < 62; i++)
		whole[i + 1] = arguments[i];
	run_program(run, options, whole);
}

void run_release(struct run *run)
{
	free(run->output);
	free(run->errors);
	*run = (struct run){0};
}

void run_expect(const struct run *run, int status)
{
	if (run->status == status)
		return;
	print_error("exit status %d, signal %d, wanted %d\nstderr: %s\nstdout: %.4000s\n", run->status,
		    run->signal, status, run->errors, run->output);
	fail();
}

void run_ctop_well(struct run *run, const char *const *arguments)
{
	run_ctop(run, NULL, arguments);
	run_expect(run, 0);
}

void helper_start(struct helper *helper, const char *const *arguments, unsigned int user)
{
	int commands[2];
	int answers[2];

	if (pipe2(commands, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
		stop("cannot make pipes: %s", strerror(errno));
	helper->child = fork();
	if (helper->child < 0)
		stop("cannot fork: %s", strerror(errno));
	if (helper->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(commands[0], 0) < 0 || dup2(answers[1], 1) < 0)
			_exit(126);
		if (user != 0 && (setgid(user) < 0 || setuid(user) < 0))
			_exit(126);
		execv(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close(commands[0]);
	close(answers[1]);
	helper->commands = fdopen(commands[1], "we");
	helper->answers = fdopen(answers[0], "re");
	setvbuf(helper->commands, NULL, _IOLBF, BUFSIZ);
}

void helper_tell(struct helper *helper, const char *line)
{
	fprintf(helper->commands, "%s\n", line);
}

bool helper_answer(struct helper *helper, char *line, size_t size)
{
	if (!fgets(line, (int)size, helper->answers))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

void helper_expect(struct helper *helper, const char *answer)
{
	char line[512];

	if (!helper_answer(helper, line, sizeof line))
		stop("the helper ended instead of saying '%s'", answer);
	if (strncmp(line, answer, strlen(answer)) != 0)
		stop("the helper said '%s' instead of '%s'", line, answer);
}

int helper_end(struct helper *helper)
{
	struct rusage usage;
	int status;

	/* it ends with its input; one with a thread that runs at a realtime priority may need to be killed */
	fclose(helper->commands);
	wait_child(helper->child, HELPER_TIMEOUT_S, &status, &usage);
	fclose(helper->answers);
	*helper = (struct helper){0};
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_answer(struct worker *worker, char *line, size_t size)
{
	if (!helper_answer(&worker->helper, line, size))
		stop("the worker ended");
}

bool test_worker_try(struct worker *worker, const char *const *arguments)
{
	const char *whole[600] = {WORKER_PROGRAM};
	char line[512];

	*worker = (struct worker){0};
	for (size_t i = 0; arguments[i]; i++) {
		whole[i + 1] = arguments[i];
		worker->thread_count += strchr(arguments[i], '=') != NULL;
	}
	helper_start(&worker->helper, whole, 0);
	read_answer(worker, line, sizeof line);
	if (sscanf(line, "ready %d", &worker->pid) == 1)
		return true;
	print_message("SKIP: %s\n", strncmp(line, "skip ", 5) == 0 ? line + 5 : line);
	worker_end(worker);
	return false;
}

void test_worker_start(struct worker *worker, const char *const *arguments)
{
	if (!test_worker_try(worker, arguments))
		skip();
}

void need_feature(const char *name)
{
	char start[64], detail[256] = "";
	const char *feature;
	struct run run;
	bool is_on;

	run_ctop_well(&run, (const char *[]){"doctor", "--format", "json", NULL});
	snprintf(start, sizeof(start), "{\"name\":\"%s\",", name);
	feature = strstr(run.output, start);
	if (feature == NULL)
		stop("ctop doctor has no '%s'", name);
	is_on = strncmp(feature + strlen(start), "\"state\":\"on\"", strlen("\"state\":\"on\"")) == 0;
	sscanf(strstr(feature, "\"detail\":"), "\"detail\":\"%255[^\"]", detail);
	run_release(&run);
	if (!is_on)
		skip_test("%s: %s", name, detail);
}

void worker_go(struct worker *worker, bool wait)
{
	helper_tell(&worker->helper, "go");
	helper_expect(&worker->helper, "going");
	if (wait)
		worker_wait(worker);
}

void worker_wait(struct worker *worker)
{
	helper_expect(&worker->helper, "done");
}

void worker_release(struct worker *worker)
{
	if (kill(worker->pid, SIGUSR1) < 0)
		stop("cannot signal the worker: %s", strerror(errno));
	worker_wait(worker);
}

static uint64_t line_number(const char *line, const char *name)
{
	char wanted[64];
	const char *place;

	snprintf(wanted, sizeof wanted, " %s=", name);
	place = strstr(line, wanted);
	if (!place)
		stop("the worker did not report %s", name);
	return strtoull(place + strlen(wanted), NULL, 10);
}

void worker_report(struct worker *worker, struct worker_thread *threads)
{
	char line[1024];

	helper_tell(&worker->helper, "report");
	for (size_t i = 0; i < worker->thread_count; i++) {
		struct worker_thread *thread = &threads[i];
		size_t index;

		read_answer(worker, line, sizeof line);
		if (sscanf(line, "thread %zu %d", &index, &thread->tid) != 2 || index != i)
			stop("the worker said '%s' instead of the report of thread %zu", line, i);
		thread->cpu_ns = line_number(line, "cpu_ns");
		thread->voluntary = line_number(line, "voluntary");
		thread->involuntary = line_number(line, "involuntary");
		thread->minor_faults = line_number(line, "minor_faults");
		thread->major_faults = line_number(line, "major_faults");
		thread->written_bytes = line_number(line, "written_bytes");
		thread->read_bytes = line_number(line, "read_bytes");
		thread->storage_written_bytes = line_number(line, "storage_written_bytes");
		thread->storage_read_bytes = line_number(line, "storage_read_bytes");
		thread->write_calls = line_number(line, "write_calls");
		thread->read_calls = line_number(line, "read_calls");
		thread->copied_pages = line_number(line, "copied_pages");
		thread->began_ns = line_number(line, "began_ns");
	}
	read_answer(worker, line, sizeof line);
	worker->cpu_ns = line_number(line, "process_cpu_ns");
}

void worker_end(struct worker *worker)
{
	helper_end(&worker->helper);
	*worker = (struct worker){0};
}

yajl_val load_snapshot(const char *path)
{
	size_t length;
	char *bytes = read_file(path, &length);
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t capacity = 1 << 20;
	char *text = malloc(capacity);
	ZSTD_inBuffer in = {bytes, length, 0};
	ZSTD_outBuffer out = {text, capacity - 1, 0};
	char reason[256] = "";
	yajl_val tree;

	if (!bytes)
		stop("cannot read %s", path);
	for (;;) {
		size_t left = ZSTD_decompressStream(stream, &out, &in);

		if (ZSTD_isError(left))
			stop("%s: %s", path, ZSTD_getErrorName(left));
		if (left == 0 && in.pos == in.size)
			break;
		if (in.pos == in.size && out.pos < out.size)
			stop("%s: the frame is cut", path);
		if (out.pos == out.size) {
			text = realloc(text, capacity *= 2);
			out.dst = text;
			out.size = capacity - 1;
		}
	}
	ZSTD_freeDStream(stream);
	free(bytes);
	text[out.pos] = '\0';
	tree = yajl_tree_parse(text, reason, sizeof reason);
	if (!tree)
		stop("%s: %s", path, reason);
	free(text);
	return tree;
}

yajl_val capture_snapshot(int pid)
{
	const char *path = scratch_path("capture.ctprof.zst");
	char number[16];
	const char *arguments[] = {"capture", "-o", path, pid ? "-p" : NULL, number, NULL};
	struct run run;

	snprintf(number, sizeof number, "%d", pid);
	run_ctop_well(&run, arguments);
	run_release(&run);
	return load_snapshot(path);
}

yajl_val json_member(yajl_val object, const char *name)
{
	const char *path[] = {name, NULL};

	return object ? yajl_tree_get(object, path, yajl_t_any) : NULL;
}

uint64_t json_u64(yajl_val object, const char *name)
{
	yajl_val value = json_member(object, name);

	if (!value || !YAJL_IS_NUMBER(value))
		stop("no number %s in the record", name);
	return strtoull(YAJL_GET_NUMBER(value), NULL, 10);
}

const char *json_text(yajl_val object, const char *name)
{
	yajl_val value = json_member(object, name);

	if (!value || !YAJL_IS_STRING(value))
		stop("no text %s in the record", name);
	return YAJL_GET_STRING(value);
}

yajl_val snapshot_thread(yajl_val snapshot, int tid)
{
	yajl_val threads = json_member(snapshot, "threads");

	for (size_t i = 0; threads && YAJL_IS_ARRAY(threads) && i < YAJL_GET_ARRAY(threads)->len; i++) {
		yajl_val thread = YAJL_GET_ARRAY(threads)->values[i];

		if (json_u64(thread, "tid") == (uint64_t)tid)
			return thread;
	}
	return NULL;
}

const char *missing_reason(yajl_val snapshot, yajl_val thread, const char *key)
{
	yajl_val places[] = {thread, snapshot};

	for (size_t i = 0; i < 2; i++) {
		yajl_val missing = json_member(json_member(places[i], "ctop"), "missing");
		const char *reason = YAJL_GET_STRING(json_member(missing, key));

		if (reason)
			return strcmp(reason, "read") == 0 ? NULL : reason;
	}
	return NULL;
}
