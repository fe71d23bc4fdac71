/* SPDX-License-Identifier: GPL-2.0-only */
#include "taskstats.h"

#include <errno.h>
#include <fcntl.h>
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
#include <sys/time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

/* --- the layout of struct taskstats --- */

struct member_entry {
	const char *name;
	uint16_t width;
	uint16_t appended;
	uint16_t interleaved;
	uint16_t since;
};

static const struct member_entry members[TASKSTATS_MEMBER_COUNT] = {
#define TASKSTATS_MEMBER(id, name, width, appended, interleaved, since)                                      \
	[TASKSTATS_MEMBER_##id] = {#name, width, appended, interleaved, since},
#include "taskstats.def"
#undef TASKSTATS_MEMBER
};

enum {
	INTERLEAVED_VERSION = 15,
	INTERLEAVED_SIZE = 560,
	OLDEST_VERSION = 8, /* everything before is laid out as this one */
};

void taskstats_layout_resolve(struct taskstats_layout *layout, unsigned int version, size_t size)
{
	bool interleaved = version == INTERLEAVED_VERSION ||
			   (version == INTERLEAVED_VERSION - 1 && size >= INTERLEAVED_SIZE);
	unsigned int known = version < OLDEST_VERSION ? OLDEST_VERSION : version;

	if (interleaved)
		known = INTERLEAVED_VERSION;
	layout->version = (uint16_t)version;
	layout->size = (uint16_t)size;
	for (size_t i = 0; i < TASKSTATS_MEMBER_COUNT; i++) {
		const struct member_entry *entry = &members[i];
		uint16_t offset = interleaved ? entry->interleaved : entry->appended;

		if (entry->since > known || (size_t)offset + entry->width > size)
			offset = TASKSTATS_NOT_THERE;
		layout->offset[i] = offset;
	}
}

static enum taskstats_member find_member(const char *name)
{
	size_t i;

	for (i = 0; i < TASKSTATS_MEMBER_COUNT; i++) {
		if (strcmp(members[i].name, name) == 0)
			break;
	}
	return (enum taskstats_member)i;
}

enum taskstats_member taskstats_member_of_metric(enum metric metric)
{
	const struct metric_entry *entry = &metrics[metric];
	enum source source = entry->source;

	if (source_is_of(source, SOURCE_TASKSTATS))
		return find_member(entry->key);
	if (entry->equivalent_source == SOURCE_TASKSTATS)
		return find_member(entry->equivalent_key);
	return TASKSTATS_MEMBER_NONE;
}

uint64_t taskstats_number(const struct taskstats_layout *layout, const unsigned char *stats,
			  enum taskstats_member member)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;

	if (!taskstats_has(layout, member))
		return 0;
	stats += layout->offset[member];
	switch (members[member].width) {
	case sizeof(byte):
		return *stats;
	case sizeof(half):
		memcpy(&half, stats, sizeof(half));
		return half;
	case sizeof(word):
		memcpy(&word, stats, sizeof(word));
		return word;
	default:
		stats -= layout->offset[member];
		return taskstats_u64(layout, stats, member);
	}
}

uint64_t taskstats_metric_value(const struct taskstats_layout *layout, const unsigned char *stats,
				enum metric metric, enum taskstats_member member)
{
	uint64_t number = taskstats_number(layout, stats, member);

	if (metrics[metric].form == METRIC_FORM_KIBIBYTES)
		return number_multiply_saturating(number, 1024);
	if (metric_type(metric)->encoding == METRIC_ENCODING_I32)
		return (uint64_t)(int64_t)(int8_t)number;
	return number;
}

/* --- messages --- */

enum {
	ATTRIBUTE_TYPE_MASK = 0x3fff, /* without NLA_F_NESTED and NLA_F_NET_BYTEORDER */
};

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

/* The layout is worked out again only when version or size change. */
static void follow_layout(struct taskstats_layout *layout, const unsigned char *stats, size_t size)
{
	uint16_t version;

	memcpy(&version, stats, sizeof(version));
	if (layout->version != version || layout->size != size)
		taskstats_layout_resolve(layout, version, size);
}

/*
 * Connects a socket to generic netlink, with a receive buffer of so many bytes where the kernel grants them,
 * and finds the family. The socket is the caller's in any case; NULL for none.
 */
static int connect_family(int receive_buffer, struct nl_sock **ret_socket, int *ret_family,
			  struct error *error)
{
	struct nl_sock *socket = *ret_socket = nl_socket_alloc();
	int result, descriptor;

	if (socket == NULL)
		return error_set(error, -ENOMEM, "cannot allocate a netlink socket");
	result = genl_connect(socket);
	if (result < 0)
		return error_set(error, -EIO, "cannot open a generic netlink socket: %s",
				 nl_geterror(result));
	*ret_family = genl_ctrl_resolve(socket, TASKSTATS_GENL_NAME);
	if (*ret_family == -NLE_OBJ_NOTFOUND)
		return error_set(error, -ENOENT, "this kernel has no taskstats family (CONFIG_TASKSTATS)");
	if (*ret_family < 0)
		return error_set(error, -EIO, "cannot look up the taskstats family: %s",
				 nl_geterror(*ret_family));
	/* libnl sets a small receive buffer when it connects, so ours is set afterwards */
	descriptor = nl_socket_get_fd(socket);
	if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof(receive_buffer)) < 0)
		setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
	return 0;
}

/* --- queries --- */

enum {
	BATCH_MAX = 64,           /* requests in one send */
	RECEIVE_BUFFER = 1 << 20, /* bytes asked for; what was granted bounds the batch */
	REPLY_COST = 2560,        /* bytes a queued reply is charged, with room for growth of the struct */
	REPLY_SIZE = 2048,        /* version 17 takes 724 */
	RECEIVE_TIMEOUT_US = 500000,
	TRIES = 3, /* how often a thread is asked for when answers were dropped */
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

/* The receive buffer that the kernel granted bounds the batch. */
static int bound_batch(struct taskstats_connection *taskstats)
{
	int descriptor = nl_socket_get_fd(taskstats->socket), granted = 0;
	socklen_t length = sizeof(granted);
	struct timeval timeout = {.tv_usec = RECEIVE_TIMEOUT_US};

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

/* Fills `reply` from a message for `tid`. */
static void take_message(struct taskstats_connection *taskstats, const void *bytes, size_t length,
			 uint32_t tid, struct taskstats_reply *reply)
{
	const unsigned char *stats = NULL;
	size_t size = 0;

	*reply = (struct taskstats_reply){.layout = &taskstats->layout};
	reply->error = taskstats_parse_message(bytes, length, tid, &stats, &size);
	if (reply->error != 0)
		return;
	follow_layout(&taskstats->layout, stats, size);
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

int taskstats_open(struct taskstats_connection **ret_connection, struct error *error)
{
	struct taskstats_connection *taskstats = memory_allocate_zero(1, sizeof(*taskstats));
	int family = 0, result = connect_family(RECEIVE_BUFFER, &taskstats->socket, &family, error);
	const uint32_t self = (uint32_t)gettid();

	taskstats->saved_directory = -1;
	taskstats->sequence = 1;
	if (result == 0) {
		prepare(taskstats, family);
		result = bound_batch(taskstats);
		if (result < 0)
			error_set(error, result, "cannot prepare the taskstats socket: %s",
				  strerror(-result));
	}
	if (result == 0) {
		taskstats_query(taskstats, &self, 1, keep_error, &result);
		if (result < 0)
			error_set(error, result, "the kernel gives no taskstats replies: %s",
				  strerror(-result));
	}
	if (result < 0) {
		taskstats_close(taskstats);
		return result;
	}
	*ret_connection = taskstats;
	return 0;
}

const struct taskstats_layout *taskstats_layout(const struct taskstats_connection *taskstats)
{
	return &taskstats->layout;
}

/* --- threads that end --- */

enum {
	/* Asked for; the kernel doubles it (socket(7)) and charges a record of 600 bytes some 1,280. */
	EXIT_RECEIVE_BUFFER = 8 << 20,
	EXIT_BATCH = 64,     /* messages in one call */
	MESSAGE_SIZE = 4096, /* version 17 takes twice 724: one thread, and its process */
	CPUS_SIZE = 1024,    /* of a list of CPUs; the kernel takes 100 + 6 for each at most */
};

/* Timeout of the first record: it has arrived already unless none comes at all. */
#define FIRST_RECORD_NS (200 * NS_PER_MS)

struct taskstats_exits {
	struct nl_sock *socket;
	int family;
	uint32_t sequence;
	char cpus[CPUS_SIZE];
	uint32_t dropped; /* as the socket counted at the last reading */
	struct taskstats_layout layout;
	struct mmsghdr messages[EXIT_BATCH];
	struct iovec vectors[EXIT_BATCH];
	unsigned char records[EXIT_BATCH][MESSAGE_SIZE];
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

static int register_cpus(struct taskstats_exits *exits, struct error *error)
{
	int result = connect_family(EXIT_RECEIVE_BUFFER, &exits->socket, &exits->family, error);

	if (result < 0)
		return result;
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
	int result;

	for (size_t i = 0; i < EXIT_BATCH; i++) {
		exits->vectors[i] = (struct iovec){.iov_base = exits->records[i], .iov_len = MESSAGE_SIZE};
		exits->messages[i].msg_hdr = (struct msghdr){.msg_iov = &exits->vectors[i], .msg_iovlen = 1};
	}
	find_cpus(exits);
	result = register_cpus(exits, error);
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

static void take_exit(struct taskstats_exits *exits, const struct mmsghdr *message,
		      const unsigned char *bytes, taskstats_exit_receive *receive, void *context)
{
	const unsigned char *stats;
	uint32_t tid;
	size_t size;

	if (taskstats_parse_record(bytes, message->msg_len, &tid, &stats, &size) < 0)
		return;
	follow_layout(&exits->layout, stats, size);
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
		int count = recvmmsg(descriptor, exits->messages, EXIT_BATCH, MSG_DONTWAIT, NULL);

		if (count < 0 && errno == ENOBUFS)
			full = true;
		if (count < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		for (int i = 0; i < count; i++)
			take_exit(exits, &exits->messages[i], exits->records[i], receive, context);
		if (count < EXIT_BATCH)
			break;
	}
	return count_dropped(exits, full);
}
