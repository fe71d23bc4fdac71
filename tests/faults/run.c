/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include "../wait.h"

enum {
	DEADLINE_S = 180,   /* of a run */
	LOOKS_MAX = 100,    /* until a key is taken to have done nothing */
	FIRST_BYTES = 1000, /* of a screen that has been drawn */
};

struct job job;
static bool is_ascii; /* the locale of the next run */

void die(const char *what)
{
	fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *path_of(const char *name)
{
	static char paths[4][512];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", job.directory, name);
	return path;
}

static char *read_text(const char *path, size_t *ret_length)
{
	FILE *file = fopen(path, "re");
	size_t length = 0;
	char *text = NULL;
	size_t capacity = 0;

	if (file == NULL)
		return NULL;
	do {
		capacity = capacity * 2 + 65536;
		text = realloc(text, capacity);
		length += fread(text + length, 1, capacity - length - 1, file);
	} while (length == capacity - 1);
	fclose(file);
	text[length] = '\0';
	if (ret_length != NULL)
		*ret_length = length;
	return text;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

void remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Runs a command without failures to its end, its output in `output`; the status of waitpid(). */
static int run_plainly(const char *output, const char *const *arguments)
{
	const pid_t child = fork();
	int status = -1;

	if (child == 0) {
		const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		dup2(null, 0);
		dup2(file, 1);
		dup2(null, 2);
		if (chdir(path_of("work")) == 0)
			execvp(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(126);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* What each run begins with: two snapshots, a history of three rounds, and what that dumps. */
void job_make_files(void)
{
	char number[16];
	const char *const commands[][12] = {
		{job.ctop, "capture", "-p", number, "-o", "before.ctprof.zst"},
		{job.ctop, "capture", "-p", number, "-o", "saved.ctprof.zst"},
		{job.ctop, "record", "-p", number, "--history", "history", "-d", "0.5", "-n", "3"},
		{job.ctop, "dump", "--history", "history", "--format", "csv", "--columns", "cpu_percent"},
	};

	snprintf(number, sizeof(number), "%d", (int)job.target);
	mkdir(path_of("work"), 0700);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (run_plainly(path_of("kept"), commands[i]) != 0)
			die(commands[i][1]);
	if (rename(path_of("work"), path_of("fixture")) != 0)
		die("fixture");
}

static void lay_out(void)
{
	const char *const copy[] = {"cp", "-a", "../fixture/.", ".", NULL};

	remove_tree(path_of("work"));
	if (mkdir(path_of("work"), 0700) != 0 || run_plainly("/dev/null", copy) != 0)
		die("work");
}

static void become_ctop(const struct subject *subject)
{
	const char *arguments[20] = {job.ctop};
	char number[16];
	char preload[512];
	char sanitizer[512];

	snprintf(number, sizeof(number), "%d", (int)job.target);
	for (size_t i = 0; i < 16 && subject->arguments[i] != NULL; i++)
		arguments[i + 1] = strcmp(subject->arguments[i], "@") == 0 ? number : subject->arguments[i];
	snprintf(preload, sizeof(preload), "%s", job.library);
	snprintf(sanitizer, sizeof(sanitizer),
		 "verify_asan_link_order=0:exitcode=99:fast_unwind_on_malloc=0:log_path=%s",
		 path_of("sanitizer"));
	setenv("LD_PRELOAD", preload, 1);
	setenv("FAULTS_STATE", path_of("state"), 1);
	setenv("ASAN_OPTIONS", sanitizer, 1);
	setenv("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1", 1);
	setenv("XDG_CONFIG_HOME", path_of("work"), 1);
	/* glibc loses memory where it has to write the name of the locale in another way, and has no more of
	 * it */
	setenv("LC_ALL", is_ascii ? "C" : "C.utf8", 1);
	setenv("TERM", "xterm", 1);
	if (chdir(path_of("work")) == 0)
		execv(job.ctop, (char *const *)(uintptr_t)arguments);
	_exit(126);
}

static pid_t start(const struct subject *subject, int *ret_terminal)
{
	struct winsize size = {.ws_row = 30, .ws_col = 120};
	int slave = -1;
	pid_t child;

	*ret_terminal = -1;
	if (subject->drive == SCREEN && openpty(ret_terminal, &slave, NULL, NULL, &size) != 0)
		die("openpty");
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		const int errors = open(path_of("errors"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		const int output = open(path_of("output"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (slave >= 0)
			login_tty(slave);
		else if (dup2(null, 0) < 0 || dup2(output, 1) < 0)
			_exit(126);
		dup2(errors, 2);
		become_ctop(subject);
	}
	if (slave >= 0)
		close(slave);
	if (*ret_terminal >= 0)
		fcntl(*ret_terminal, F_SETFD, FD_CLOEXEC);
	return child;
}

static bool has_ended(pid_t child, int *ret_status)
{
	return waitpid(child, ret_status, WNOHANG) == child;
}

static size_t count_saved(void)
{
	DIR *work = opendir(path_of("work"));
	struct dirent *entry;
	size_t count = 0;

	while (work != NULL && (entry = readdir(work)) != NULL)
		count += strstr(entry->d_name, ".ctprof.zst") != NULL;
	if (work != NULL)
		closedir(work);
	return count;
}

/* Takes in what was drawn; how many bytes that were. */
static size_t take_in(int terminal)
{
	struct pollfd ready = {.fd = terminal, .events = POLLIN};
	char bytes[65536];
	size_t count = 0;
	ssize_t length;

	while (poll(&ready, 1, 20) > 0 && (length = read(terminal, bytes, sizeof(bytes))) > 0)
		count += (size_t)length;
	return count;
}

static void type(int terminal, char key)
{
	if (write(terminal, &key, 1) < 0)
		return; /* it has ended */
}

/* Types the keys, each once the one before has done something, and q until it ends; false past the deadline.
 */
static bool drive_screen(const struct subject *subject, pid_t child, int terminal, int *ret_status)
{
	struct patience patience = patience_begin(DEADLINE_S);
	const size_t saved = count_saved();
	const char *key = subject->keys;
	size_t drawn = 0;
	size_t enough = FIRST_BYTES;
	bool is_saving = false;
	bool ended;
	int looks = 0;

	while (!(ended = has_ended(child, ret_status))) {
		drawn += take_in(terminal);
		if (++looks > LOOKS_MAX || (is_saving ? count_saved() > saved : drawn >= enough)) {
			is_saving = *key == 'S';
			type(terminal, *key != '\0' ? *key++ : 'q');
			drawn = 0;
			enough = 1;
			looks = 0;
		}
		if (!patience_pause(&patience))
			break;
	}
	return ended;
}

/* Asks for the page; true where all of one came. */
static bool scrape(void)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = 5};
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[65536] = "";
	bool is_good = false;
	ssize_t length;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path_of("work/socket"));
	setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(descriptor, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    send(descriptor, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0) {
		is_good = recv(descriptor, answer, sizeof(answer), MSG_PEEK) > 12 &&
			  memcmp(answer + 9, "200", 3) == 0;
		while ((length = recv(descriptor, answer, sizeof(answer), 0)) > 0)
			is_good = is_good && length > 0;
	}
	close(descriptor);
	return is_good;
}

/* Scrapes it until that works, once more, and tells it to end. */
static bool drive_server(pid_t child, int *ret_status, char *finding)
{
	struct patience patience = patience_begin(DEADLINE_S);
	int good = 0;
	bool ended = false;

	while (good < 3 && !(ended = has_ended(child, ret_status)) && patience_pause(&patience))
		good += scrape() ? 1 : 0;
	if (!ended && good < 3)
		snprintf(finding, FINDING_BYTES, "answers no scrape any more");
	if (!ended)
		kill(child, SIGTERM);
	return ended || wait_at_most(DEADLINE_S, has_ended(child, ret_status));
}

/* Appends a finding. */
static void find(char *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(char *finding, const char *format, ...)
{
	const size_t length = strlen(finding);
	va_list arguments;

	va_start(arguments, format);
	if (length + 3 < FINDING_BYTES) {
		strcpy(finding + length, length != 0 ? "; " : "");
		vsnprintf(finding + strlen(finding), FINDING_BYTES - strlen(finding), format, arguments);
	}
	va_end(arguments);
}

static bool reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* Waits for the end of all that the run has started, of which this process has become the parent. */
static void check_processes(char *finding)
{
	char children[256] = "";
	char path[64];
	char *list;

	if (wait_at_most(20, reap()))
		return;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	list = read_text(path, NULL);
	snprintf(children, sizeof(children), "%s", list != NULL ? list : "?");
	find(finding, "processes left: %s", children);
	for (char *next = strtok(children, " "); next != NULL; next = strtok(NULL, " "))
		kill((pid_t)atoi(next), SIGKILL);
	free(list);
	wait_at_most(20, reap());
}

static bool is_same_file(const char *one, const char *other)
{
	size_t lengths[2];
	char *texts[2] = {read_text(one, &lengths[0]), read_text(other, &lengths[1])};
	const bool is_same = texts[0] != NULL && texts[1] != NULL && lengths[0] == lengths[1] &&
			     memcmp(texts[0], texts[1], lengths[0]) == 0;

	free(texts[0]);
	free(texts[1]);
	return is_same;
}

/*
 * Every file there is as it was before, or a whole snapshot, or of the history; nothing else is left. True
 * where no file of the history has changed.
 */
static bool check_files(const char *folder, char *finding)
{
	bool is_as_before = true;
	char path[640];
	char former[640];
	struct dirent *entry;
	DIR *files;

	snprintf(path, sizeof(path), "%s/work/%s", job.directory, folder);
	files = opendir(path);
	while (files != NULL && (entry = readdir(files)) != NULL) {
		const char *const name = entry->d_name;
		const char *const show[] = {job.ctop, "show", "--no-config", "--limit", "1", path, NULL};

		if (name[0] == '.' && (name[1] == '\0' || strcmp(name, "..") == 0))
			continue;
		snprintf(path, sizeof(path), "%s/work/%s/%s", job.directory, folder, name);
		snprintf(former, sizeof(former), "%s/fixture/%s/%s", job.directory, folder, name);
		if (entry->d_type == DT_DIR || strcmp(name, "report") == 0 ||
		    strcmp(name, "page.prom") == 0 || is_same_file(path, former))
			continue;
		is_as_before = is_as_before && strstr(name, ".ctlog") == NULL;
		if (strstr(name, ".ctprof.zst") != NULL && strstr(name, ".ctprof.zst")[11] == '\0') {
			if (run_plainly("/dev/null", show) != 0)
				find(finding, "%s is broken", name);
		} else if (folder[0] == '\0' ||
			   (strstr(name, ".ctlog") == NULL && strcmp(name, "writer.lock") != 0)) {
			find(finding, "%s is left", name);
		}
	}
	if (files != NULL)
		closedir(files);
	snprintf(path, sizeof(path), "%s/fixture/%s", job.directory, folder);
	files = opendir(path);
	while (files != NULL && (entry = readdir(files)) != NULL) {
		snprintf(path, sizeof(path), "%s/work/%s/%s", job.directory, folder, entry->d_name);
		if (access(path, F_OK) != 0)
			find(finding, "%s is lost", entry->d_name);
	}
	if (files != NULL)
		closedir(files);
	return is_as_before;
}

/* The different times of a dump's lines. */
static size_t count_rounds(const char *dump)
{
	const char *last = "";
	size_t last_length = 0;
	size_t count = 0;

	for (const char *line = strchr(dump, '\n'); line != NULL && line[1] != '\0';
	     line = strchr(line + 1, '\n')) {
		const size_t length = strcspn(line + 1, ",");

		count += length != last_length || memcmp(line + 1, last, length) != 0;
		last = line + 1;
		last_length = length;
	}
	return count;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	while (text != NULL && (text = strchr(text, '\n')) != NULL) {
		text++;
		count++;
	}
	return count;
}

/* What was recorded before is read as before; the rounds that were recorded now, of which the usual number is
 * kept. */
static size_t check_history(char *finding)
{
	size_t rounds = 0;
	const char *const dump[] = {job.ctop, "dump",      "--history",   "history", "--format",
				    "csv",    "--columns", "cpu_percent", NULL};
	char *before;
	char *after = NULL;
	size_t length;

	before = read_text(path_of("kept"), &length);
	if (run_plainly(path_of("dumped"), dump) == 0)
		after = read_text(path_of("dumped"), NULL);
	if (after == NULL || strncmp(before, after, length) != 0)
		find(finding, "the history is not as it was");
	else
		rounds = count_rounds(after) - count_rounds(before);
	free(before);
	free(after);
	return rounds;
}

/* The kinds of descriptors that are open at the end, and no other run has more of. */
static void check_descriptors(const struct fault_state *usual, char *finding)
{
	for (uint32_t i = 0; job.state->ended && i < job.state->descriptor_count; i++) {
		const struct fault_descriptor *const now = &job.state->descriptors[i];
		uint32_t count = 0;

		for (uint32_t j = 0; j < usual->descriptor_count; j++)
			if (strcmp(usual->descriptors[j].kind, now->kind) == 0)
				count = usual->descriptors[j].count;
		if (now->count > count)
			find(finding, "%u descriptors of %s left instead of %u", now->count, now->kind,
			     count);
	}
}

static void check_sanitizer(char *finding)
{
	DIR *files = opendir(job.directory);
	struct dirent *entry;

	while (files != NULL && (entry = readdir(files)) != NULL) {
		char *text;
		char *line;

		if (strncmp(entry->d_name, "sanitizer.", 10) != 0)
			continue;
		text = read_text(path_of(entry->d_name), NULL);
		line = text != NULL ? strstr(text, "ERROR") : NULL;
		if (line == NULL && text != NULL)
			line = strstr(text, "runtime error");
		if (line != NULL)
			find(finding, "sanitizer: %.1500s", line);
		unlink(path_of(entry->d_name));
		free(text);
	}
	if (files != NULL)
		closedir(files);
}

/* Whether some line of what was said on the standard error is a sentence of ctop's. */
static bool says_something(const char *errors)
{
	return strncmp(errors, "ctop: ", 6) == 0 || strstr(errors, "\nctop: ") != NULL ||
	       strstr(errors, "Out of memory") != NULL; /* ncurses */
}

/* Whether a report says that something in it could not be read: in words, in a section for that, or in a
 * cell. */
static bool names_failure(const char *path, int number)
{
	const char *const words[] = {strerror(number), "cannot be read", "## damage", "\u00b7"};
	char *text = read_text(path, NULL);
	bool is_named = false;

	for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++)
		is_named = is_named || strstr(text, words[i]) != NULL;
	free(text);
	return is_named;
}

/* Whether it told the same as another run, on standard output and in its report where it makes one. */
static bool told(const char *output, const char *report)
{
	return is_same_file(path_of("output"), path_of(output)) &&
	       (access(path_of(report), F_OK) != 0 || is_same_file(path_of("work/report"), path_of(report)));
}

static void keep_told(const char *output, const char *report)
{
	rename(path_of("output"), path_of(output));
	unlink(path_of(report));
	rename(path_of("work/report"), path_of(report));
}

void run(const struct subject *subject, const struct fault_state *usual, uint64_t site, uint32_t call,
	 int number, char finding[static FINDING_BYTES])
{
	size_t rounds;
	size_t lines;
	char *errors;
	int status = 0;
	int terminal;
	pid_t child;
	bool ended;

	finding[0] = '\0';
	lay_out();
	memset(job.state, 0, sizeof(*job.state));
	job.state->failing_site = site;
	job.state->failing_call = call;
	job.state->failing_errno = number;
	child = start(subject, &terminal);
	switch (subject->drive) {
	case SCREEN:
		ended = drive_screen(subject, child, terminal, &status);
		close(terminal);
		break;
	case SERVER:
		ended = drive_server(child, &status, finding);
		break;
	default:
		ended = wait_at_most(DEADLINE_S, has_ended(child, &status));
		break;
	}
	if (!ended) {
		find(finding, "did not end in %d s", DEADLINE_S);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	} else if (WIFSIGNALED(status)) {
		find(finding, "ended by signal %d", WTERMSIG(status));
	} else if (WEXITSTATUS(status) > 1) {
		find(finding, "ended with %d", WEXITSTATUS(status));
	}
	check_processes(finding);
	errors = read_text(path_of("errors"), NULL);
	if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 1 && number != EPIPE &&
	    (errors == NULL || !says_something(errors)))
		find(finding, "ended with 1 without a sentence: %.200s", errors != NULL ? errors : "");
	if (ended && status == 0 && subject->is_fixed && usual != NULL &&
	    (errors == NULL || errors[0] == '\0') && number != ENOENT && !told("usual", "usual-report") &&
	    !told("ascii", "ascii-report") && !names_failure(path_of("output"), number))
		find(finding, "ended with 0 and told something else without a word");
	lines = count_lines(errors);
	free(errors);
	check_sanitizer(finding);
	check_files("", finding);
	rounds = check_files("history", finding) ? 0 : check_history(finding);
	if (usual == NULL) {
		job.rounds = rounds;
		job.lines = lines;
	} else if (ended && status == 0 && rounds < job.rounds && lines <= job.lines) {
		find(finding, "recorded %zu rounds instead of %zu without a word", rounds, job.rounds);
	}
	/* the screen leaves a round that is under way behind */
	if (usual != NULL && subject->drive != SCREEN)
		check_descriptors(usual, finding);
}

void job_begin(int number)
{
	static const char *const names[] = {"fixture",      "kept",  "usual",
					    "usual-report", "ascii", "ascii-report"};
	char own[sizeof(job.directory)];
	int file;

	snprintf(own, sizeof(own), "%s/%d", job.top, number);
	remove_tree(own); /* of another subject */
	mkdir(own, 0700);
	if (number != 0)
		mkdir(path_of("work"), 0700);
	for (size_t i = 0; number != 0 && i < sizeof(names) / sizeof(names[0]); i++)
		run_plainly("/dev/null", (const char *const[]){"cp", "-a", path_of(names[i]), own, NULL});
	strcpy(job.directory, own);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	file = open(path_of("state"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, sizeof(*job.state)) != 0)
		die("state");
	job.state = mmap(NULL, sizeof(*job.state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (job.state == MAP_FAILED)
		die("state");
	close(file);
}

void job_start_target(const char *program, int *ret_input)
{
	int input[2];
	int output[2];
	char byte;

	if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0 || (job.target = fork()) < 0)
		die(program);
	if (job.target == 0) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		if (program[0] == '\0')
			execlp("cat", "cat", NULL);
		execl(program, program, "park", "2", NULL);
		_exit(126);
	}
	close(input[0]);
	close(output[1]);
	while (program[0] != '\0' && read(output[0], &byte, 1) == 1 && byte != 'y')
		; /* until it is ready */
	*ret_input = input[1];
}

void run_keep_told(const struct subject *subject)
{
	char finding[FINDING_BYTES];

	keep_told("usual", "usual-report");
	if (!subject->is_fixed)
		return;
	is_ascii = true;
	run(subject, NULL, 0, 0, 0, finding);
	is_ascii = false;
	keep_told("ascii", "ascii-report");
}
