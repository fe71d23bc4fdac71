/* SPDX-License-Identifier: GPL-2.0-only */
#include "lookup_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reader.h"
#include "base/rights.h"
#include "base/worker.h"
#include "lookup_read.h"

/*
 * The capabilities that a file of another user's process takes. The process of a command line may be hidden
 * (hidepid in proc(5)).
 */
static const uint32_t kind_rights[LOOKUP_KIND_COUNT] = {
	[LOOKUP_COMMAND] = RIGHTS_BIT(CAP_SYS_PTRACE),
	[LOOKUP_SLEEP] = RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_SYS_ADMIN) |
			 RIGHTS_BIT(CAP_DAC_READ_SEARCH),
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

/* A reader_work: answers with a struct lookup_answer. */
static int look_up(int directory, const void *argument, size_t size, struct buffer *answer)
{
	struct lookup_request request;
	struct lookup_answer text = {0};

	(void)size;
	memcpy(&request, argument, sizeof(request));
	lookup_read(directory, &request, &text);
	buffer_append(answer, &text, sizeof(text));
	return 0;
}

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
