/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking up command lines, where threads sleep and in which call, by a reader that may hang. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/supervisor_fixture.h"
#include "tests/wait.h"

#include "base/clock.h"
#include "capture/lookup_thread.h"

static char directory[] = "/tmp/ctop-lookup-XXXXXX";

/* Start time of a process, field 22 of stat; its name has no blank here. */
static uint64_t start_of(uint32_t pid)
{
	unsigned long long start = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file,
				"%*u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %llu",
				&start),
			 1);
	fclose(file);
	return start;
}

static struct lookup_answer ask(struct lookup_thread *lookups, struct lookup_request request)
{
	struct lookup_answer answer;

	assert_true(lookup_thread_ask(lookups, &request));
	await("an answer", lookup_thread_receive(lookups, &answer));
	assert_int_equal(answer.request.tgid, request.tgid);
	return answer;
}

/* The same about a process that does not hang: a busy host may be late with a process that reads it. */
static struct lookup_answer find_out(struct lookup_thread *lookups, struct lookup_request request)
{
	struct lookup_answer answer;

	await("it is read", (answer = ask(lookups, request)).reason != REASON_NOT_READ);
	return answer;
}

static struct lookup_request command_of(uint32_t pid, uint64_t start_time)
{
	return (struct lookup_request){
		.kind = LOOKUP_COMMAND, .tgid = pid, .tid = pid, .start_time = start_time};
}

static struct lookup_thread *start(const char *proc_root)
{
	struct lookup_thread *lookups;
	struct error error;

	assert_int_equal(lookup_thread_start(proc_root, &lookups, &error), 0);
	return lookups;
}

/* Whether its arguments end with this one; execve(2) sets the name of a process before it has arguments. */
static bool has_argument(pid_t pid, const char *argument)
{
	char path[64], text[64] = "";
	FILE *file;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	return length > strlen(argument) && strcmp(text + length - 1 - strlen(argument), argument) == 0;
}

/* A process that sleeps, under a name in its arguments that no terminal should get. */
static uint32_t start_sleeper(void)
{
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sleep", "slee\033[2Jp\n", "600", NULL);
		_exit(127);
	}
	await("the sleeper is executed", has_argument(pid, "600"));
	return (uint32_t)pid;
}

static void end_sleeper(uint32_t pid)
{
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
}

/* What is asked of another process than the one that has the number now is not answered with its text. */
static void test_command(void **state)
{
	struct lookup_thread *lookups = start(NULL);
	const uint32_t pid = start_sleeper();
	const uint64_t start_time = start_of(pid);
	struct lookup_answer answer = find_out(lookups, command_of(pid, start_time));

	(void)state;
	assert_int_equal(answer.reason, REASON_READ);
	assert_string_equal(answer.text, "slee\xef\xbf\xbd[2Jp\xef\xbf\xbd 600");
	assert_int_equal(answer.length, strlen(answer.text));
	assert_false(answer.is_title);
	answer = find_out(lookups, command_of(pid, start_time + 1));
	assert_int_equal(answer.reason, REASON_ENDED);
	assert_int_equal(answer.length, 0);
	kill((pid_t)pid, SIGKILL);
	waitid(P_PID, pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	answer = find_out(lookups, command_of(pid, start_time));
	assert_string_equal(answer.text, "[sleep] <defunct>");
	end_sleeper(pid);
	assert_int_equal(find_out(lookups, command_of(pid, start_time)).reason, REASON_ENDED);
	lookup_thread_stop(lookups);
}

/* Text that a process writes over its arguments, as setproctitle() does, is a title unless it is one word. */
static void test_title(void **state)
{
	static const struct {
		const char *text;
		bool is_title;
	} cases[] = {{"db: idle", true}, {"db:", false}};
	struct lookup_thread *lookups = start(NULL);
	/* points to argv[0], the path of this program, which is long enough for the texts */
	char *argument = program_invocation_name;
	const size_t room = strlen(argument);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const pid_t pid = fork();
		struct lookup_answer answer;

		assert_true(pid >= 0);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			memset(argument, 0, room);
			memcpy(argument, cases[i].text, strlen(cases[i].text));
			for (;;)
				pause();
		}
		await("it has its title",
		      strcmp((answer = find_out(lookups, command_of((uint32_t)pid, start_of((uint32_t)pid))))
				     .text,
			     cases[i].text) == 0);
		assert_int_equal(answer.is_title, cases[i].is_title);
		end_sleeper((uint32_t)pid);
	}
	lookup_thread_stop(lookups);
}

static void *wait_for_end(void *argument)
{
	pause();
	return argument;
}

/* If the main thread has ended, only the other threads still show the command line. */
static void test_ended_leader(void **state)
{
	struct lookup_thread *lookups = start(NULL);
	const pid_t pid = fork();
	char path[64], link[8];
	pthread_t thread;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
			_exit(1);
		syscall(SYS_exit, 0);
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	await("the leader has ended", readlink(path, link, sizeof(link)) < 0);
	assert_non_null(strstr(find_out(lookups, command_of((uint32_t)pid, start_of((uint32_t)pid))).text,
			       program_invocation_short_name));
	end_sleeper((uint32_t)pid);
	lookup_thread_stop(lookups);
}

/* The function that a thread sleeps in, by wchan or, where that may not be known, why not. */
static void test_sleep(void **state)
{
	struct lookup_thread *lookups = start(NULL);
	const uint32_t pid = start_sleeper();
	const struct lookup_request request = {
		.kind = LOOKUP_SLEEP, .tgid = pid, .tid = pid, .start_time = start_of(pid)};
	struct lookup_answer answer;

	(void)state;
	/* it takes a moment until it sleeps where it is going to stay; its stack has more lines than one */
	await("it sleeps in nanosleep",
	      (answer = find_out(lookups, request)).reason != REASON_READ ||
		      (strstr(answer.text, "nanosleep") != NULL &&
		       (answer.detail_reason != REASON_READ || strchr(answer.text, '\n') != NULL)));
	if (answer.reason != REASON_READ)
		assert_int_equal(answer.reason, REASON_NOT_PERMITTED);
	end_sleeper(pid);
	lookup_thread_stop(lookups);
}

enum {
	PIPE_DESCRIPTOR = 40, /* what children read from, below */
	EPOLL_DESCRIPTOR = 41,
};

static uint32_t futex_word = 2;

static void read_pipe(void)
{
	char byte;

	(void)!read(PIPE_DESCRIPTOR, &byte, 1);
}

static void wait_for_futex(void)
{
	syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void wait_for_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	epoll_ctl(EPOLL_DESCRIPTOR, EPOLL_CTL_ADD, PIPE_DESCRIPTOR, &event);
	epoll_wait(EPOLL_DESCRIPTOR, &event, 1, -1);
}

/* A child that sleeps in a call. */
static uint32_t start_caller(void (*call)(void))
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[0], PIPE_DESCRIPTOR);
		dup2(epoll_create1(0), EPOLL_DESCRIPTOR);
		call();
		_exit(0);
	}
	close(ends[0]);
	close(ends[1]);
	return (uint32_t)pid;
}

/* The call of a thread, with its descriptors and what it waits for; or why not. */
static void test_call(void **state)
{
	char mutex[128];
	const struct {
		void (*call)(void);
		const char *text, *object;
	} cases[] = {
		{read_pipe, "read(40<pipe:[", ", 1)"},
		{wait_for_futex, mutex, " (rw-p)"},
		{wait_for_epoll, "epoll_", "\nwatches 40<pipe:["},
	};
	struct lookup_thread *lookups = start(NULL);

	(void)state;
	snprintf(mutex, sizeof(mutex), "futex(0x%lx, FUTEX_WAIT_PRIVATE, 2, 0", (unsigned long)&futex_word);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t pid = start_caller(cases[i].call);
		const struct lookup_request request = {
			.kind = LOOKUP_CALL, .tgid = pid, .tid = pid, .start_time = start_of(pid)};
		struct lookup_answer answer;

		await("it sleeps in its call", (answer = find_out(lookups, request)).reason != REASON_READ ||
						       (strstr(answer.text, cases[i].text) == answer.text &&
							strstr(answer.text, cases[i].object) != NULL));
		if (answer.reason != REASON_READ)
			assert_int_equal(answer.reason, REASON_NOT_PERMITTED);
		end_sleeper(pid);
	}
	lookup_thread_stop(lookups);
}

/* --- the other end --- */

static void write_pipe(void)
{
	static const char bytes[1 << 21];

	(void)!write(PIPE_DESCRIPTOR, bytes, sizeof(bytes));
}

static void open_reader(int ret_ends[2])
{
	assert_int_equal(pipe(ret_ends), 0);
}

static void open_writer(int ret_ends[2])
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	ret_ends[0] = ends[1];
	ret_ends[1] = ends[0];
}

/* Nobody has the other end: it is on its way in a socket, which stays. */
static void open_unheld(int ret_ends[2])
{
	static int way[2];
	char control[CMSG_SPACE(sizeof(int))] = {0};
	char byte = 0;
	struct iovec vector = {&byte, 1};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	assert_int_equal(pipe(ret_ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, way), 0);
	*header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(header), &ret_ends[1], sizeof(int));
	assert_int_equal(sendmsg(way[0], &message, 0), 1);
	close(ret_ends[1]);
	ret_ends[1] = way[0];
}

static void open_unix(int ret_ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ret_ends), 0);
}

static void connect_to(int listener, uint16_t port, int ret_ends[2])
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	assert_int_equal(listen(listener, 1), 0);
	ret_ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(ret_ends[0], (struct sockaddr *)&address, sizeof(address)), 0);
	ret_ends[1] = accept(listener, NULL, NULL);
	assert_true(ret_ends[1] >= 0);
	close(listener);
}

static void open_tcp(int ret_ends[2])
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	connect_to(listener, address.sin_port, ret_ends);
}

/* The other end is a socket of IPv6. */
static void open_mapped_tcp(int ret_ends[2])
{
	const int listener = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_in6 address = {.sin6_family = AF_INET6};
	socklen_t length = sizeof(address);

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0) {
		print_message("no IPv6 here\n");
		open_tcp(ret_ends);
		return;
	}
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	connect_to(listener, address.sin6_port, ret_ends);
}

/* A child that sleeps in a call about its end; the other end stays here. */
static uint32_t start_peer(const int ends[2], void (*call)(void))
{
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[0], PIPE_DESCRIPTOR);
		close(ends[0]);
		close(ends[1]);
		call();
		_exit(0);
	}
	return (uint32_t)pid;
}

/* The processes at the other end of what a thread reads or writes. */
static void test_peer(void **state)
{
	static const struct {
		void (*open)(int ret_ends[2]);
		void (*call)(void);
		const char *format; /* of the answer, by link, id and name of this process */
	} cases[] = {
		{open_reader, read_pipe, "%s\nfrom %d %s"},
		{open_writer, write_pipe, "%s\nto %d %s"},
		{open_tcp, read_pipe, "%s\nwith %d %s"},
		{open_mapped_tcp, read_pipe, "%s\nwith %d %s"},
		{open_unheld, read_pipe, "%s\nother end not found"},
		{open_unix, read_pipe, ""},
	};
	struct lookup_thread *lookups = start(NULL);
	char name[16], path[64], expected[160];

	(void)state;
	prctl(PR_GET_NAME, name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lookup_request request = {.kind = LOOKUP_PEER};
		struct lookup_answer answer;
		char link[64] = "";
		int ends[2];

		cases[i].open(ends);
		request.tgid = request.tid = start_peer(ends, cases[i].call);
		request.start_time = start_of(request.tgid);
		snprintf(path, sizeof(path), "/proc/%u/fd/%d", request.tgid, PIPE_DESCRIPTOR);
		await("it has its end", readlink(path, link, sizeof(link) - 1) > 0);
		snprintf(expected, sizeof(expected), cases[i].format, link, getpid(), name);
		/* other users' processes may not be looked into */
		await("its peer", (answer = find_out(lookups, request)).reason != REASON_READ ||
					  (strncmp(answer.text, expected, strlen(expected)) == 0 &&
					   (answer.text[strlen(expected)] == '\0' ||
					    answer.text[strlen(expected)] == ':')));
		if (answer.reason != REASON_READ)
			assert_int_equal(answer.reason, REASON_NOT_PERMITTED);
		close(ends[0]);
		close(ends[1]);
		end_sleeper(request.tgid);
	}
	lookup_thread_stop(lookups);
}

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Who does not answer is given up, in a process that is killed for it; the next one is answered. */
static void test_deadline(void **state)
{
	static const char facts[] = "7 (odd) name) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 555 0 0\n";
	struct lookup_thread *lookups;
	struct lookup_answer answer;
	char path[128];
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	(void)state;
	assert_non_null(mkdtemp(directory));
	for (int pid = 7; pid <= 8; pid++) {
		snprintf(path, sizeof(path), "%s/%d", directory, pid);
		assert_int_equal(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%d/stat", pid);
		write_file(path, facts);
	}
	/* nobody ever opens the other end */
	snprintf(path, sizeof(path), "%s/7/cmdline", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	write_file("8/cmdline", "");
	lookups = start(directory);
	for (int turn = 0; turn < 12; turn++) {
		answer = ask(lookups, command_of(7, 555));
		assert_int_equal(answer.reason, REASON_NOT_READ);
	}
	assert_true(clock_ns(CLOCK_MONOTONIC) - begun_ns >= LOOKUP_DEADLINE_NS);
	answer = find_out(lookups, command_of(8, 555));
	assert_int_equal(answer.reason, REASON_READ);
	assert_string_equal(answer.text, "[odd) name]");
	assert_int_equal(find_out(lookups, command_of(9, 555)).reason, REASON_ENDED);
	lookup_thread_stop(lookups);
	unlink(path);
	snprintf(path, sizeof(path), "rm -rf %s", directory);
	assert_int_equal(system(path), 0);
}

/* What is remembered: asked once, again when it is old, and who did not answer much later. */
static void test_cache(void **state)
{
	struct lookup_cache cache = {0};
	struct lookup_answer answer = {.request = command_of(1, 2), .length = 4, .text = "text"};
	struct lookup_entry *entry = lookup_cache_entry(&cache, &answer.request, NS_PER_S);

	(void)state;
	assert_true(lookup_is_due(entry, NS_PER_S));
	entry->asked_ns = NS_PER_S;
	assert_false(lookup_is_due(entry, NS_PER_S + 1));
	assert_true(lookup_cache_take(&cache, &answer));
	assert_string_equal(entry->text, "text");
	/* the same answer changes nothing, each other one does */
	assert_false(lookup_cache_take(&cache, &answer));
	answer.text[3] = 's';
	assert_true(lookup_cache_take(&cache, &answer));
	assert_string_equal(entry->text, "texs");
	answer.is_title = true;
	assert_true(lookup_cache_take(&cache, &answer));
	assert_false(lookup_cache_take(&cache, &answer));
	assert_false(lookup_is_due(entry, 5 * NS_PER_S));
	assert_true(lookup_is_due(entry, 12 * NS_PER_S));
	/* another process of that number is another entry */
	answer.request.start_time = 3;
	assert_null(lookup_cache_entry(&cache, &answer.request, NS_PER_S)->text);
	answer.reason = REASON_NOT_READ;
	assert_true(lookup_cache_take(&cache, &answer));
	assert_false(lookup_cache_take(&cache, &answer));
	entry = lookup_cache_entry(&cache, &answer.request, NS_PER_S);
	entry->asked_ns = NS_PER_S;
	assert_false(lookup_is_due(entry, 12 * NS_PER_S));
	assert_true(lookup_is_due(entry, 32 * NS_PER_S));
	/* it does not grow without end */
	for (uint32_t i = 0; i < 10000; i++) {
		answer.request.tgid = 100 + i;
		lookup_cache_entry(&cache, &answer.request, 100 * NS_PER_S + i);
	}
	assert_in_range(cache.count, 1, 4096);
	lookup_cache_release(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command), cmocka_unit_test(test_ended_leader),
		cmocka_unit_test(test_sleep),   cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_cache),   cmocka_unit_test(test_title),
		cmocka_unit_test(test_call),    cmocka_unit_test(test_peer),
	};

	return cmocka_run_group_tests(tests, start_supervisor, stop_supervisor);
}
