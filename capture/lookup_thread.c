/* SPDX-License-Identifier: GPL-2.0-only */
#include "lookup_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/living_thread.h"
#include "base/memory.h"
#include "base/reader.h"
#include "base/rights.h"
#include "base/unicode.h"
#include "base/worker.h"
#include "call_text.h"
#include "capture/procfs/procfs.h"

enum {
	STAT_MAX = 1024,       /* a line of numbers, and a name of 64 bytes at most */
	STACK_MAX = 8192,      /* 64 frames (MAX_STACK_TRACE_DEPTH in fs/proc/base.c) */
	FRAMES_MAX = 24,       /* that are shown */
	KERNEL_NAME_MAX = 128, /* of a function with its module */
	PATH_SIZE = 80,
};

/* --- reading the text of a request, in a reader's process: it may hang --- */

/* Reads a file, cut to about `limit` bytes. Returns why it was not read, or REASON_READ. */
static reason_id read_file(int proc, const char *path, size_t limit, struct buffer *text)
{
	const int descriptor = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int result = -errno;

	if (descriptor >= 0) {
		result = file_read_descriptor(descriptor, text, limit);
		close(descriptor);
	}
	if (result == -EFBIG)
		result = 0;
	return (reason_id)(result == -ENOENT ? REASON_ENDED : reason_of_errno(result));
}

/* Reads stat of the task that is meant, and not of another one that has its number since. */
static reason_id read_facts(int proc, const char *path, uint64_t start_time, struct thread_reading *ret_facts)
{
	struct buffer text = {0};
	reason_id reason = read_file(proc, path, STAT_MAX, &text);

	thread_reading_begin(ret_facts, 0, 0);
	if (reason == REASON_READ &&
	    (!procfs_parse_stat(ret_facts, text.data, text.length) ||
	     !metric_set_has(&ret_facts->present, METRIC_STATE) || !ret_facts->start_time_known))
		reason = REASON_BAD_VALUE;
	else if (reason == REASON_READ && ret_facts->start_time != start_time)
		reason = REASON_ENDED;
	buffer_release(&text);
	return reason;
}

/* Cuts the text to the room that there is, not within a character. */
static void set_text(struct lookup_answer *answer, const struct buffer *printable)
{
	size_t length = printable->length;

	if (length > LOOKUP_TEXT_MAX) {
		length = LOOKUP_TEXT_MAX;
		while (length != 0 && (printable->data[length] & 0xc0) == 0x80)
			length--;
	}
	answer->length = (uint16_t)length;
	if (length != 0)
		memcpy(answer->text, printable->data, length);
	answer->text[length] = '\0';
}

/* Kernel threads, zombies and who has erased its own have none: the name stands for it, as ps(1) shows it. */
static void append_name(struct buffer *text, const struct thread_reading *facts)
{
	buffer_append_format(text, "[%.*s]%s", (int)facts->name_length, facts->name,
			     facts->value[METRIC_STATE] == 'Z' ? " <defunct>" : "");
}

/* The id of a living thread, whose command line is the process's. */
static uint32_t find_teller(int proc, uint32_t tgid)
{
	char path[PATH_SIZE];
	uint32_t tid = tgid;
	int tasks;

	snprintf(path, sizeof(path), "%u/task", tgid);
	tasks = openat(proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tasks >= 0) {
		tid = living_thread_find(tasks, tgid);
		close(tasks);
	}
	return tid;
}

/*
 * Whether a command line has blanks but no NUL between its words. Each argument of execve(2) ends with a NUL;
 * setproctitle() of PostgreSQL, nginx and others overwrites the arguments with one text.
 */
static bool is_title(const struct buffer *text)
{
	return text->length != 0 && memchr(text->data, ' ', text->length) != NULL &&
	       memchr(text->data, '\0', text->length) == NULL;
}

static void read_command(int proc, const struct lookup_request *request, struct lookup_answer *answer)
{
	const uint32_t tid = find_teller(proc, request->tgid);
	char path[PATH_SIZE], stat[PATH_SIZE];
	struct buffer text = {0}, printable = {0};
	struct thread_reading facts;

	snprintf(stat, sizeof(stat), "%u/stat", request->tgid);
	if (tid == request->tgid)
		snprintf(path, sizeof(path), "%u/cmdline", tid);
	else
		snprintf(path, sizeof(path), "%u/task/%u/cmdline", request->tgid, tid);
	answer->reason = read_facts(proc, stat, request->start_time, &facts);
	if (answer->reason == REASON_READ && !thread_reading_is_kernel(&facts)) {
		answer->reason = read_file(proc, path, LOOKUP_TEXT_MAX, &text);
		if (answer->reason == REASON_READ)
			answer->reason = read_facts(proc, stat, request->start_time, &facts);
	}
	while (text.length != 0 && (text.data[text.length - 1] == '\0' || text.data[text.length - 1] == ' '))
		text.length--;
	answer->is_title = is_title(&text);
	for (size_t i = 0; i < text.length; i++) {
		if (text.data[i] == '\0')
			text.data[i] = ' ';
	}
	if (text.length == 0)
		append_name(&text, &facts);
	unicode_append_printable(&printable, text.data, text.length, "\xef\xbf\xbd");
	set_text(answer, &printable);
	buffer_release(&text);
	buffer_release(&printable);
}

/* Appends the functions of `stack`, "[<0>] name+0x1/0x2 [module]" in each line, in lines of their own. */
static void append_frames(struct buffer *lines, struct text stack)
{
	struct text line;

	for (int i = 0; i < FRAMES_MAX && text_next_line(&stack, &line); i++) {
		const char *blank = memchr(line.data, ' ', line.length);
		const char *name = blank != NULL ? blank + 1 : line.data;
		const char *end = memchr(name, '+', (size_t)(line.data + line.length - name));
		const size_t length = (size_t)((end != NULL ? end : line.data + line.length) - name);

		buffer_append_char(lines, '\n');
		unicode_append_printable(lines, name, length < KERNEL_NAME_MAX ? length : KERNEL_NAME_MAX,
					 "?");
	}
}

/*
 * wchan: "0" for a thread that runs or may not be looked at (proc_pid_wchan() in fs/proc/base.c, which asks
 * for PTRACE_MODE_READ_FSCREDS). stack: only with CAP_SYS_ADMIN (proc_pid_stack() there), and what attaching
 * to the process takes.
 */
static void read_sleep(int proc, const struct lookup_request *request, struct lookup_answer *answer)
{
	struct buffer wchan = {0}, stack = {0}, lines = {0};
	char directory[48], path[PATH_SIZE];
	struct thread_reading facts;
	char state;

	snprintf(directory, sizeof(directory), "%u/task/%u", request->tgid, request->tid);
	snprintf(path, sizeof(path), "%s/stat", directory);
	answer->reason = read_facts(proc, path, request->start_time, &facts);
	if (answer->reason != REASON_READ)
		return;
	state = (char)facts.value[METRIC_STATE];
	snprintf(path, sizeof(path), "%s/wchan", directory);
	answer->reason = read_file(proc, path, KERNEL_NAME_MAX, &wchan);
	if (text_equals(text_of(&wchan), "0"))
		buffer_clear(&wchan);
	snprintf(path, sizeof(path), "%s/stack", directory);
	if (answer->reason == REASON_READ && state != 'R')
		answer->detail_reason = read_file(proc, path, STACK_MAX, &stack);
	if (wchan.length == 0 && state != 'R' && state != 'Z' && answer->detail_reason != REASON_READ)
		answer->reason = REASON_NOT_PERMITTED;
	unicode_append_printable(&lines, wchan.data, wchan.length, "?");
	append_frames(&lines, text_of(&stack));
	set_text(answer, &lines);
	buffer_release(&wchan);
	buffer_release(&stack);
	buffer_release(&lines);
}

/*
 * The call, or its peer. syscall: proc_pid_syscall() in fs/proc/base.c, which asks for what attaching to the
 * process takes.
 */
static void read_call(int proc, const struct lookup_request *request, struct lookup_answer *answer)
{
	struct buffer text = {0}, lines = {0};
	struct thread_reading facts;
	struct procfs_syscall call;
	char path[PATH_SIZE];
	bool is_known;
	int task;

	snprintf(path, sizeof(path), "%u/task/%u", request->tgid, request->tid);
	task = openat(proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (task < 0) {
		answer->reason = REASON_ENDED;
		return;
	}
	answer->reason = read_facts(task, "stat", request->start_time, &facts);
	/* registers of a worker of io_uring are a copy of its creator's */
	if (answer->reason == REASON_READ && !thread_reading_is_kernel(&facts) &&
	    (facts.flags & PROCFS_PF_IO_WORKER) == 0) {
		answer->reason = read_file(task, "syscall", STAT_MAX, &text);
		is_known = answer->reason == REASON_READ &&
			   procfs_parse_syscall(text.data, text.length, &call);
		if (is_known && request->kind == LOOKUP_CALL)
			call_text_append(&lines, &call, task);
		else if (is_known)
			call_text_append_peer(&lines, &call, task, proc);
	}
	set_text(answer, &lines);
	close(task);
	buffer_release(&text);
	buffer_release(&lines);
}

/* A reader_work: answers with a struct lookup_answer. */
static int look_up(int directory, const void *argument, size_t size, struct buffer *answer)
{
	struct lookup_answer text = {.reason = REASON_READ, .detail_reason = REASON_READ};
	struct lookup_request request;

	(void)size;
	memcpy(&request, argument, sizeof(request));
	text.request = request;
	if (request.kind == LOOKUP_COMMAND)
		read_command(directory, &request, &text);
	else if (request.kind == LOOKUP_SLEEP)
		read_sleep(directory, &request, &text);
	else
		read_call(directory, &request, &text);
	if (text.reason != REASON_READ)
		text.length = 0;
	text.text[text.length] = '\0';
	buffer_append(answer, &text, sizeof(text));
	return 0;
}

/* --- the thread --- */

/*
 * The capabilities that a file of another user's process takes. The process of a command line may be hidden
 * (hidepid in proc(5)).
 */
static const uint64_t kind_rights[LOOKUP_KIND_COUNT] = {
	[LOOKUP_COMMAND] = RIGHTS_BIT(CAP_SYS_PTRACE),
	[LOOKUP_SLEEP] = RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_SYS_ADMIN) |
			 RIGHTS_BIT(CAP_DAC_READ_SEARCH),
	[LOOKUP_CALL] = RIGHTS_BIT(CAP_SYS_PTRACE),
	[LOOKUP_PEER] = RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_DAC_READ_SEARCH),
};

struct lookup_thread {
	int socket;
};

/* The thread's own, which it releases at its end. */
struct lookups {
	int socket; /* requests come in, answers go out */
	int proc;
	struct reader *readers[LOOKUP_KIND_COUNT];
};

static void answer_request(const struct lookups *lookups, const struct lookup_request *request,
			   struct buffer *text, struct lookup_answer *ret_answer)
{
	const int result = request->kind < LOOKUP_KIND_COUNT
				   ? reader_call(lookups->readers[request->kind], (pid_t)request->tgid,
						 look_up, lookups->proc, request, sizeof(*request), text)
				   : -EINVAL;

	*ret_answer = (struct lookup_answer){
		.request = *request, .reason = REASON_NOT_READ, .detail_reason = REASON_NOT_READ};
	if (result == 0 && text->length == sizeof(*ret_answer))
		memcpy(ret_answer, text->data, sizeof(*ret_answer));
}

/* The size of a message with an answer: no more than its text. */
static size_t answer_size(const struct lookup_answer *answer)
{
	return offsetof(struct lookup_answer, text) + answer->length + 1U;
}

static void *run(void *context)
{
	struct lookups *lookups = context;
	struct lookup_request request;
	struct lookup_answer answer;
	struct buffer text = {0};

	while (recv(lookups->socket, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		answer_request(lookups, &request, &text, &answer);
		if (send(lookups->socket, &answer, answer_size(&answer), MSG_NOSIGNAL) < 0)
			break;
	}
	buffer_release(&text);
	for (size_t i = 0; i < LOOKUP_KIND_COUNT; i++)
		reader_release(lookups->readers[i]);
	close(lookups->proc);
	close(lookups->socket);
	free(lookups);
	return NULL;
}

/* Opens what the thread needs. Returns 0 or a negative errno. */
static int open_lookups(const char *proc_root, int socket, struct lookups **ret_lookups)
{
	const char *path = proc_root != NULL ? proc_root : "/proc";
	const int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct lookups *lookups;

	if (proc < 0)
		return -errno;
	lookups = memory_allocate(sizeof(*lookups));
	*lookups = (struct lookups){.socket = socket, .proc = proc};
	/* in a tree that the user names links may lead anywhere: nothing there is read with rights of ctop's
	 */
	for (size_t i = 0; i < LOOKUP_KIND_COUNT; i++)
		lookups->readers[i] = reader_create(
			&(struct reader_options){.rights = proc_root == NULL ? kind_rights[i] : 0});
	*ret_lookups = lookups;
	return 0;
}

int lookup_thread_start(const char *proc_root, struct lookup_thread **ret_lookups, struct error *error)
{
	struct lookups *lookups = NULL;
	int sockets[2], result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_set(error, -errno, "cannot create a socket: %s", strerror(errno));
	result = open_lookups(proc_root, sockets[1], &lookups);
	if (result < 0) {
		close(sockets[0]);
		close(sockets[1]);
		return error_set(error, result, "cannot open %s: %s", proc_root != NULL ? proc_root : "/proc",
				 strerror(-result));
	}
	result = worker_start(NULL, run, lookups);
	if (result < 0) {
		/* the thread's part does nothing but clean up, with nobody at the other end */
		close(sockets[0]);
		(void)run(lookups);
		return error_set(error, result, "cannot start a thread: %s", strerror(-result));
	}
	*ret_lookups = memory_allocate(sizeof(**ret_lookups));
	(*ret_lookups)->socket = sockets[0];
	return 0;
}

void lookup_thread_stop(struct lookup_thread *lookups)
{
	if (lookups == NULL)
		return;
	close(lookups->socket);
	free(lookups);
}

int lookup_thread_descriptor(const struct lookup_thread *lookups)
{
	return lookups->socket;
}

bool lookup_thread_ask(struct lookup_thread *lookups, const struct lookup_request *request)
{
	return send(lookups->socket, request, sizeof(*request), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(*request);
}

bool lookup_thread_receive(struct lookup_thread *lookups, struct lookup_answer *ret_answer)
{
	return recv(lookups->socket, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT) >
	       (ssize_t)offsetof(struct lookup_answer, text);
}
