/* SPDX-License-Identifier: GPL-2.0-only */
#include "taskstats_exits.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "taskstats.h"

enum {
	/* Asked for; the kernel doubles it (socket(7)) and charges a record of 600 bytes some 1,280. */
	RECEIVE_BUFFER = 8 << 20,
	BATCH = 64,          /* messages in one call */
	MESSAGE_SIZE = 4096, /* version 17 takes twice 724: one thread, and its process */
	CPUS_SIZE = 1024,    /* of a list of CPUs; the kernel takes 100 + 6 for each at most */
};

/* How long the first record may take: it is there already unless none comes at all. */
#define FIRST_RECORD_NS (200 * NS_PER_MS)

struct taskstats_exits {
	struct nl_sock *socket;
	int family;
	uint32_t sequence;
	char cpus[CPUS_SIZE];
	uint32_t dropped; /* as the socket counted at the last reading */
	struct taskstats_layout layout;
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	unsigned char records[BATCH][MESSAGE_SIZE];
};

/* include/uapi/linux/taskstats.h; as it lies on the wire. */
struct registration {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attribute;
	char cpus[CPUS_SIZE];
};

/* The CPUs that there may be, as the kernel prints them; the file is small. */
static void find_cpus(struct taskstats_exits *exits)
{
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");

	if (file == NULL || fgets(exits->cpus, sizeof(exits->cpus), file) == NULL)
		snprintf(exits->cpus, sizeof(exits->cpus), "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	exits->cpus[strcspn(exits->cpus, "\n")] = '\0';
	if (file != NULL)
		fclose(file);
}

static int send_registration(struct taskstats_exits *exits, uint16_t attribute, uint16_t flags)
{
	const size_t length = strlen(exits->cpus) + 1;
	struct registration request = {
		.header = {.nlmsg_type = (uint16_t)exits->family,
			   .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
			   .nlmsg_seq = ++exits->sequence},
		.generic = {.cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION},
		.attribute = {.nla_len = (uint16_t)(sizeof(struct nlattr) + length), .nla_type = attribute},
	};

	memcpy(request.cpus, exits->cpus, length);
	request.header.nlmsg_len = (uint32_t)NLMSG_ALIGN(offsetof(struct registration, cpus) + length);
	return send(nl_socket_get_fd(exits->socket), &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* The kernel answers inside send(), but records may have come before the answer. */
static int receive_answer(struct taskstats_exits *exits)
{
	const int descriptor = nl_socket_get_fd(exits->socket);

	for (;;) {
		ssize_t length = recv(descriptor, exits->records[0], MESSAGE_SIZE, MSG_DONTWAIT);
		struct nlmsgerr answer;
		struct nlmsghdr header;

		if (length < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (length < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if ((size_t)length < NLMSG_HDRLEN + sizeof(answer))
			continue;
		memcpy(&header, exits->records[0], sizeof(header));
		memcpy(&answer, exits->records[0] + NLMSG_HDRLEN, sizeof(answer));
		if (header.nlmsg_type == NLMSG_ERROR && header.nlmsg_seq == exits->sequence)
			return answer.error;
	}
}

static int connect_family(struct taskstats_exits *exits, struct error *error)
{
	const int wanted = RECEIVE_BUFFER;
	int result = genl_connect(exits->socket), descriptor;

	if (result < 0)
		return error_set(error, -EIO, "cannot open a generic netlink socket: %s",
				 nl_geterror(result));
	exits->family = genl_ctrl_resolve(exits->socket, TASKSTATS_GENL_NAME);
	if (exits->family == -NLE_OBJ_NOTFOUND)
		return error_set(error, -ENOENT, "this kernel has no taskstats family (CONFIG_TASKSTATS)");
	if (exits->family < 0)
		return error_set(error, -EIO, "cannot look up the taskstats family: %s",
				 nl_geterror(exits->family));
	/* libnl sets a small receive buffer when it connects, so ours is set afterwards */
	descriptor = nl_socket_get_fd(exits->socket);
	if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) < 0)
		setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	result = send_registration(exits, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, NLM_F_ACK);
	if (result == 0)
		result = receive_answer(exits);
	if (result == -EPERM)
		return error_set(error, result, "needs CAP_NET_ADMIN");
	if (result == -EINVAL)
		return error_set(error, result, "needs the initial user and pid namespaces");
	if (result < 0)
		return error_set(error, result, "the kernel refused to tell of threads that end: %s",
				 strerror(-result));
	return 0;
}

/* A thread that ends, and whether its record has come. */
struct first_record {
	uint32_t tid;
	bool came;
};

static void *end_at_once(void *argument)
{
	struct first_record *first = argument;

	first->tid = (uint32_t)gettid();
	return NULL;
}

static void look_for_first(void *context, uint32_t tid, const unsigned char *stats,
			   const struct taskstats_layout *layout)
{
	struct first_record *first = context;

	(void)stats;
	(void)layout;
	first->came |= tid == first->tid;
}

/* The record of a thread is sent before it can be joined: do_exit() of kernel/exit.c. */
static int await_first_record(struct taskstats_exits *exits, struct error *error)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + FIRST_RECORD_NS;
	struct pollfd input = {.fd = nl_socket_get_fd(exits->socket), .events = POLLIN};
	struct first_record first = {0};
	pthread_t thread;
	int result = pthread_create(&thread, NULL, end_at_once, &first);

	if (result != 0)
		return error_set(error, -result, "cannot create a thread: %s", strerror(result));
	pthread_join(thread, NULL);
	for (;;) {
		taskstats_exits_read(exits, look_for_first, &first);
		if (first.came)
			return 0;
		if (clock_ns(CLOCK_MONOTONIC) >= deadline)
			return error_set(error, -ETIMEDOUT, "needs the initial network namespace");
		(void)poll(&input, 1, 10);
	}
}

int taskstats_exits_open(struct taskstats_exits **ret_exits, struct error *error)
{
	struct taskstats_exits *exits = memory_allocate_zero(1, sizeof(*exits));
	int result = -ENOMEM;

	for (size_t i = 0; i < BATCH; i++) {
		exits->vectors[i] = (struct iovec){.iov_base = exits->records[i], .iov_len = MESSAGE_SIZE};
		exits->messages[i].msg_hdr = (struct msghdr){.msg_iov = &exits->vectors[i], .msg_iovlen = 1};
	}
	find_cpus(exits);
	exits->socket = nl_socket_alloc();
	if (exits->socket == NULL)
		error_set(error, result, "cannot allocate a netlink socket");
	else
		result = connect_family(exits, error);
	if (result == 0)
		result = await_first_record(exits, error);
	if (result < 0) {
		taskstats_exits_close(exits);
		return result;
	}
	*ret_exits = exits;
	return 0;
}

void taskstats_exits_close(struct taskstats_exits *exits)
{
	if (exits == NULL)
		return;
	if (exits->socket != NULL) {
		if (exits->family > 0)
			(void)send_registration(exits, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK, 0);
		nl_socket_free(exits->socket);
	}
	free(exits);
}

static void take_record(struct taskstats_exits *exits, const struct mmsghdr *message,
			const unsigned char *bytes, taskstats_exit_receive *receive, void *context)
{
	const unsigned char *stats;
	uint16_t version;
	uint32_t tid;
	size_t size;

	if (taskstats_parse_record(bytes, message->msg_len, &tid, &stats, &size) < 0)
		return;
	memcpy(&version, stats, sizeof(version));
	if (exits->layout.version != version || exits->layout.size != size)
		taskstats_layout_resolve(&exits->layout, version, size);
	receive(context, tid, stats, &exits->layout);
}

/* Messages that the socket had no room for since the last call: Linux 4.12 and later tell. */
static uint64_t count_dropped(struct taskstats_exits *exits, bool some)
{
	uint32_t counts[SK_MEMINFO_VARS] = {0}, before = exits->dropped;
	socklen_t length = sizeof(counts);

	if (getsockopt(nl_socket_get_fd(exits->socket), SOL_SOCKET, SO_MEMINFO, counts, &length) < 0 ||
	    length <= SK_MEMINFO_DROPS * sizeof(counts[0]))
		return some;
	exits->dropped = counts[SK_MEMINFO_DROPS];
	return exits->dropped - before;
}

uint64_t taskstats_exits_read(struct taskstats_exits *exits, taskstats_exit_receive *receive, void *context)
{
	const int descriptor = nl_socket_get_fd(exits->socket);
	bool full = false;

	for (;;) {
		int count = recvmmsg(descriptor, exits->messages, BATCH, MSG_DONTWAIT, NULL);

		if (count < 0 && errno == ENOBUFS)
			full = true;
		if (count < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		for (int i = 0; i < count; i++)
			take_record(exits, &exits->messages[i], exits->records[i], receive, context);
		if (count < BATCH)
			break;
	}
	return count_dropped(exits, full);
}

const struct taskstats_layout *taskstats_exits_layout(const struct taskstats_exits *exits)
{
	return &exits->layout;
}
