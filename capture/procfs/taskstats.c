/* SPDX-License-Identifier: GPL-2.0-only */
#include "taskstats.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

enum {
	BATCH_MAX = 64,           /* requests in one send */
	RECEIVE_BUFFER = 1 << 20, /* bytes asked for; what was granted bounds the batch */
	REPLY_COST = 2560,        /* bytes a queued reply is charged, with room for growth of the struct */
	REPLY_SIZE = 2048,        /* version 17 takes 724 */
	RECEIVE_TIMEOUT_US = 500000,
	ATTRIBUTE_TYPE_MASK = 0x3fff, /* without NLA_F_NESTED and NLA_F_NET_BYTEORDER */
	TRIES = 3,                    /* how often a thread is asked for when answers were dropped */
};

/* include/uapi/linux/taskstats.h; one request as it lies on the wire. */
struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attribute;
	uint32_t tid;
};

_Static_assert(sizeof(struct request) == 28, "a query is 28 bytes");

struct taskstats_connection {
	struct nl_sock *socket; /* NULL over saved replies */
	int saved_directory;    /* -1 over the kernel */
	struct buffer saved;
	size_t batch;                   /* requests that may be outstanding */
	uint32_t sequence;              /* of the next request */
	bool refused;                   /* the kernel said EPERM */
	struct taskstats_layout layout; /* of the last payload; the size is 0 before the first */
	struct request requests[BATCH_MAX];
	struct mmsghdr messages[BATCH_MAX];
	struct iovec vectors[BATCH_MAX];
	unsigned char replies[BATCH_MAX][REPLY_SIZE];
};

static void prepare(struct taskstats_connection *taskstats, int family)
{
	for (size_t i = 0; i < BATCH_MAX; i++) {
		taskstats->requests[i] = (struct request){
			.header = {.nlmsg_len = sizeof(struct request),
				   .nlmsg_type = (uint16_t)family,
				   .nlmsg_flags = NLM_F_REQUEST},
			.generic = {.cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION},
			.attribute = {.nla_len = sizeof(struct nlattr) + sizeof(uint32_t),
				      .nla_type = TASKSTATS_CMD_ATTR_PID},
		};
		taskstats->vectors[i] = (struct iovec){.iov_base = taskstats->replies[i],
						       .iov_len = REPLY_SIZE};
		taskstats->messages[i].msg_hdr = (struct msghdr){.msg_iov = &taskstats->vectors[i],
								 .msg_iovlen = 1};
	}
}

/* libnl sets a small receive buffer when it connects, so ours is set afterwards. */
static int bound_batch(struct taskstats_connection *taskstats)
{
	int descriptor = nl_socket_get_fd(taskstats->socket);
	int wanted = RECEIVE_BUFFER, granted = 0;
	socklen_t length = sizeof(granted);
	struct timeval timeout = {.tv_usec = RECEIVE_TIMEOUT_US};

	if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) < 0)
		setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	if (getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &granted, &length) < 0 ||
	    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0)
		return -errno;
	taskstats->batch = (size_t)granted / REPLY_COST;
	if (taskstats->batch > BATCH_MAX)
		taskstats->batch = BATCH_MAX;
	if (taskstats->batch < 1)
		taskstats->batch = 1;
	return 0;
}

static int connect_family(struct taskstats_connection *taskstats, struct error *error)
{
	int result = genl_connect(taskstats->socket);
	int family;

	if (result < 0)
		return error_set(error, -EIO, "cannot open a generic netlink socket: %s",
				 nl_geterror(result));
	family = genl_ctrl_resolve(taskstats->socket, TASKSTATS_GENL_NAME);
	if (family == -NLE_OBJ_NOTFOUND)
		return error_set(error, -ENOENT, "this kernel has no taskstats family (CONFIG_TASKSTATS)");
	if (family < 0)
		return error_set(error, -EIO, "cannot look up the taskstats family: %s", nl_geterror(family));
	prepare(taskstats, family);
	result = bound_batch(taskstats);
	if (result < 0)
		return error_set(error, result, "cannot prepare the taskstats socket: %s", strerror(-result));
	return 0;
}

int taskstats_open(struct taskstats_connection **ret_connection, struct error *error)
{
	struct taskstats_connection *taskstats = memory_allocate_zero(1, sizeof(*taskstats));
	int result = -ENOMEM;

	taskstats->saved_directory = -1;
	taskstats->sequence = 1;
	taskstats->socket = nl_socket_alloc();
	if (taskstats->socket == NULL)
		error_set(error, result, "cannot allocate a netlink socket");
	else
		result = connect_family(taskstats, error);
	if (result < 0) {
		taskstats_close(taskstats);
		return result;
	}
	*ret_connection = taskstats;
	return 0;
}

int taskstats_open_saved(const char *directory, struct taskstats_connection **ret_connection,
			 struct error *error)
{
	int descriptor = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct taskstats_connection *taskstats;

	if (descriptor < 0)
		return error_set(error, -errno, "cannot open the saved taskstats replies in %s: %s",
				 directory, strerror(errno));
	taskstats = memory_allocate_zero(1, sizeof(*taskstats));
	taskstats->saved_directory = descriptor;
	*ret_connection = taskstats;
	return 0;
}

void taskstats_close(struct taskstats_connection *taskstats)
{
	if (taskstats == NULL)
		return;
	if (taskstats->socket != NULL)
		nl_socket_free(taskstats->socket);
	if (taskstats->saved_directory >= 0)
		close(taskstats->saved_directory);
	buffer_release(&taskstats->saved);
	free(taskstats);
}

/* The payload of the first attribute of `type` among `length` bytes of attributes, or NULL. */
static const unsigned char *find_attribute(const unsigned char *bytes, size_t length, unsigned int type,
					   size_t *ret_length)
{
	while (length >= sizeof(struct nlattr)) {
		struct nlattr attribute;
		size_t step;

		memcpy(&attribute, bytes, sizeof(attribute));
		if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > length)
			return NULL;
		if ((attribute.nla_type & ATTRIBUTE_TYPE_MASK) == type) {
			*ret_length = attribute.nla_len - sizeof(attribute);
			return bytes + sizeof(attribute);
		}
		step = (attribute.nla_len + NLA_ALIGNTO - 1U) & ~(NLA_ALIGNTO - 1U);
		if (step >= length)
			return NULL;
		bytes += step;
		length -= step;
	}
	return NULL;
}

static int parse_error(const unsigned char *bytes, size_t length)
{
	int32_t number;

	if (length < NLMSG_HDRLEN + sizeof(number))
		return -EBADMSG;
	memcpy(&number, bytes + NLMSG_HDRLEN, sizeof(number));
	/* 0 is a bare acknowledgement; nothing else but a negated errno makes sense here. */
	return number < 0 && number > -4096 ? number : -EBADMSG;
}

int taskstats_parse_record(const void *bytes, size_t length, uint32_t *ret_tid,
			   const unsigned char **ret_stats, size_t *ret_size)
{
	const unsigned char *aggregate, *pid, *stats;
	size_t aggregate_length, pid_length, stats_length;
	const size_t headers = NLMSG_HDRLEN + GENL_HDRLEN;
	struct nlmsghdr header;

	if (length < sizeof(header))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (header.nlmsg_len > length)
		return -EBADMSG;
	if (header.nlmsg_type == NLMSG_ERROR)
		return parse_error(bytes, length);
	if (length < headers || header.nlmsg_len < headers)
		return -EBADMSG;
	aggregate = find_attribute((const unsigned char *)bytes + headers, header.nlmsg_len - headers,
				   TASKSTATS_TYPE_AGGR_PID, &aggregate_length);
	if (aggregate == NULL)
		return -EBADMSG;
	pid = find_attribute(aggregate, aggregate_length, TASKSTATS_TYPE_PID, &pid_length);
	stats = find_attribute(aggregate, aggregate_length, TASKSTATS_TYPE_STATS, &stats_length);
	if (pid == NULL || stats == NULL || pid_length < sizeof(*ret_tid) || stats_length < sizeof(uint16_t))
		return -EBADMSG;
	memcpy(ret_tid, pid, sizeof(*ret_tid));
	*ret_stats = stats;
	*ret_size = stats_length;
	return 0;
}

int taskstats_parse_message(const void *bytes, size_t length, uint32_t tid, const unsigned char **ret_stats,
			    size_t *ret_size)
{
	uint32_t echoed;
	int result = taskstats_parse_record(bytes, length, &echoed, ret_stats, ret_size);

	return result == 0 && echoed != tid ? -EBADMSG : result;
}

/* Fills `reply` from a message for `tid`. The layout is worked out again only when version or size change. */
static void take_message(struct taskstats_connection *taskstats, const void *bytes, size_t length,
			 uint32_t tid, struct taskstats_reply *reply)
{
	const unsigned char *stats = NULL;
	uint16_t version;
	size_t size = 0;

	*reply = (struct taskstats_reply){.layout = &taskstats->layout};
	reply->error = taskstats_parse_message(bytes, length, tid, &stats, &size);
	if (reply->error != 0)
		return;
	memcpy(&version, stats, sizeof(version));
	if (taskstats->layout.version != version || taskstats->layout.size != size)
		taskstats_layout_resolve(&taskstats->layout, version, size);
	reply->stats = stats;
}

static void query_saved(struct taskstats_connection *taskstats, uint32_t tid, struct taskstats_reply *reply)
{
	char name[32];
	int result;

	snprintf(name, sizeof(name), "%u.bin", tid);
	result = file_read(taskstats->saved_directory, name, &taskstats->saved, UINT16_MAX);
	if (result < 0)
		*reply = (struct taskstats_reply){.error = -ESRCH, .layout = &taskstats->layout};
	else
		take_message(taskstats, taskstats->saved.data, taskstats->saved.length, tid, reply);
}

/* One batch in flight: `pending` lists the threads that have no answer yet. */
struct query_batch {
	struct taskstats_connection *taskstats;
	const uint32_t *tids; /* of the caller's whole list */
	size_t pending[BATCH_MAX];
	size_t count;
	size_t in_flight; /* the first so many of them were sent */
	uint32_t first_sequence;
	bool answered[BATCH_MAX];
	taskstats_receive *receive;
	void *context;
};

/*
 * Answers come in order, but some may have been dropped: the sequence number tells the request. A message of
 * an earlier batch, late because that one was given up, is none of ours.
 */
static void take_reply(struct query_batch *batch, const unsigned char *bytes, size_t length)
{
	struct taskstats_connection *taskstats = batch->taskstats;
	struct taskstats_reply reply;
	struct nlmsghdr header;
	uint32_t index;

	if (length < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	index = header.nlmsg_seq - batch->first_sequence;
	if (index >= batch->in_flight || batch->answered[index])
		return;
	take_message(taskstats, bytes, length, batch->tids[batch->pending[index]], &reply);
	if (reply.error == -EPERM)
		taskstats->refused = true;
	batch->answered[index] = true;
	batch->receive(batch->context, batch->pending[index], &reply);
}

static int send_requests(struct query_batch *batch)
{
	struct taskstats_connection *taskstats = batch->taskstats;
	int descriptor = nl_socket_get_fd(taskstats->socket);
	ssize_t sent;

	batch->first_sequence = taskstats->sequence;
	batch->in_flight = batch->count < taskstats->batch ? batch->count : taskstats->batch;
	memset(batch->answered, 0, sizeof(batch->answered));
	for (size_t i = 0; i < batch->in_flight; i++) {
		taskstats->requests[i].header.nlmsg_seq = taskstats->sequence++;
		taskstats->requests[i].tid = batch->tids[batch->pending[i]];
	}
	do {
		sent = send(descriptor, taskstats->requests, batch->in_flight * sizeof(struct request), 0);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/*
 * The kernel answers inside send(), so all answers are queued already; the socket's timeout only guards
 * against a kernel that does not. ENOBUFS tells that some were dropped: the batch is made smaller for good.
 */
static void receive_replies(struct query_batch *batch)
{
	struct taskstats_connection *taskstats = batch->taskstats;
	int descriptor = nl_socket_get_fd(taskstats->socket);
	size_t received = 0;
	bool dropped = false;

	while (received < batch->in_flight) {
		int flags = dropped ? MSG_DONTWAIT : MSG_WAITFORONE;
		int result = recvmmsg(descriptor, taskstats->messages,
				      (unsigned int)(batch->in_flight - received), flags, NULL);

		if (result < 0 && errno == EINTR)
			continue;
		if (result < 0 && errno == ENOBUFS && !dropped) {
			dropped = true;
			taskstats->batch = taskstats->batch > 1 ? taskstats->batch / 2 : 1;
			continue;
		}
		if (result <= 0)
			break;
		for (size_t slot = 0; slot < (size_t)result; slot++)
			take_reply(batch, taskstats->replies[slot], taskstats->messages[slot].msg_len);
		received += (size_t)result;
	}
}

/* Keeps those without an answer; returns how many had one. */
static size_t drop_answered(struct query_batch *batch)
{
	size_t left = 0, answered;

	for (size_t i = 0; i < batch->count; i++) {
		if (!batch->answered[i])
			batch->pending[left++] = batch->pending[i];
	}
	answered = batch->count - left;
	batch->count = left;
	return answered;
}

/* Gives the batch up: those without an answer get `error`. */
static void give_up(struct query_batch *batch, int error)
{
	struct taskstats_reply reply = {.error = error, .layout = &batch->taskstats->layout};

	for (size_t i = 0; i < batch->count; i++)
		batch->receive(batch->context, batch->pending[i], &reply);
	batch->count = 0;
}

void taskstats_query(struct taskstats_connection *taskstats, const uint32_t *tids, size_t count,
		     taskstats_receive *receive, void *context)
{
	struct query_batch batch = {
		.taskstats = taskstats, .tids = tids, .receive = receive, .context = context};
	struct taskstats_reply reply;
	int fruitless = 0;

	for (size_t i = 0; taskstats->socket == NULL && i < count; i++) {
		query_saved(taskstats, tids[i], &reply);
		receive(context, i, &reply);
	}
	for (size_t next = 0; taskstats->socket != NULL && (next < count || batch.count != 0);) {
		/* The first query of a socket goes alone: it tells whether more are worth sending. */
		const size_t room = taskstats->layout.size == 0 ? 1 : taskstats->batch;
		int error = taskstats->refused ? -EPERM : 0;

		while (batch.count < room && next < count)
			batch.pending[batch.count++] = next++;
		if (error == 0)
			error = send_requests(&batch);
		if (error == 0) {
			receive_replies(&batch);
			fruitless = drop_answered(&batch) == 0 ? fruitless + 1 : 0;
			error = fruitless == TRIES ? -ETIMEDOUT : 0;
		}
		if (error < 0) {
			give_up(&batch, error);
			fruitless = 0;
		}
	}
}

static void keep_error(void *context, size_t index, const struct taskstats_reply *reply)
{
	int *error = context;

	(void)index;
	*error = reply->error;
}

int taskstats_query_one(struct taskstats_connection *taskstats, uint32_t tid)
{
	int error = 0;

	taskstats_query(taskstats, &tid, 1, keep_error, &error);
	return error;
}

int taskstats_probe(void)
{
	struct taskstats_connection *taskstats;
	int result = taskstats_open(&taskstats, NULL);

	if (result < 0)
		return result;
	result = taskstats_query_one(taskstats, (uint32_t)gettid());
	taskstats_close(taskstats);
	return result;
}

const struct taskstats_layout *taskstats_layout(const struct taskstats_connection *taskstats)
{
	return &taskstats->layout;
}
