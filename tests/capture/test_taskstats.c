/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "capture/procfs/taskstats.h"
#include "taskstats_structs.h"

/* One row per member: where each struct has it, and where each layout says it is. */
static void test_offsets_equal_the_compiled_structs(void **state)
{
	struct taskstats_layout v15, v16, v17;

	(void)state;
	assert_int_equal(sizeof(struct stats_v15), 560);
	assert_int_equal(sizeof(struct stats_v16), 560);
	assert_int_equal(sizeof(struct stats_v17), 688);
	taskstats_layout_resolve(&v15, 15, sizeof(struct stats_v15));
	taskstats_layout_resolve(&v16, 16, sizeof(struct stats_v16));
	taskstats_layout_resolve(&v17, 17, sizeof(struct stats_v17));
#define TASKSTATS_MEMBER(id, name, width, appended, interleaved, since)                                      \
	assert_int_equal(v15.offset[TASKSTATS_MEMBER_##id], offsetof(struct stats_v15, name));               \
	assert_int_equal(v16.offset[TASKSTATS_MEMBER_##id], offsetof(struct stats_v16, name));               \
	assert_int_equal(v17.offset[TASKSTATS_MEMBER_##id], offsetof(struct stats_v17, start.name));         \
	assert_int_equal(width, sizeof(((struct stats_v16 *)NULL)->name));
#include "capture/procfs/taskstats.def"
#undef TASKSTATS_MEMBER
}

/* Members that a payload of this version and size has: the number and the newest one. */
static size_t count_members(unsigned int version, size_t size)
{
	struct taskstats_layout layout;
	size_t count = 0;

	taskstats_layout_resolve(&layout, version, size);
	for (size_t i = 0; i < TASKSTATS_MEMBER_COUNT; i++)
		count += taskstats_has(&layout, (enum taskstats_member)i);
	return count;
}

static void test_members_by_version(void **state)
{
	static const struct {
		unsigned int version;
		size_t size, members;
	} rows[] = {
		{8, 328, 29},  {1, 328, 29},  {9, 344, 31},  {10, 352, 31}, {11, 368, 33}, {12, 400, 34},
		{13, 416, 36}, {14, 432, 38}, {15, 560, 54}, {16, 560, 54}, {17, 688, 54}, {18, 900, 54},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(count_members(rows[i].version, rows[i].size), rows[i].members);
}

/* 6.14.0 may say 14 and already use the layout of 15. */
static void test_version_14_of_560_bytes_is_interleaved(void **state)
{
	struct taskstats_layout layout;

	(void)state;
	taskstats_layout_resolve(&layout, 14, 560);
	assert_int_equal(layout.offset[TASKSTATS_MEMBER_BLKIO_COUNT], 48);
	assert_int_equal(layout.offset[TASKSTATS_MEMBER_CPU_DELAY_MAX], 32);
	taskstats_layout_resolve(&layout, 14, 432);
	assert_int_equal(layout.offset[TASKSTATS_MEMBER_BLKIO_COUNT], 32);
	assert_false(taskstats_has(&layout, TASKSTATS_MEMBER_CPU_DELAY_MAX));
}

/* An 80-byte payload has cpu, blkio and swapin; the rest reads 0 and is not there. */
static void test_short_payload(void **state)
{
	unsigned char stats[80];
	struct taskstats_layout layout;

	(void)state;
	memset(stats, 0x11, sizeof(stats));
	taskstats_layout_resolve(&layout, 13, sizeof(stats));
	assert_true(taskstats_u64(&layout, stats, TASKSTATS_MEMBER_SWAPIN_DELAY_TOTAL) == 0x1111111111111111);
	assert_true(taskstats_has(&layout, TASKSTATS_MEMBER_CPU_RUN_VIRTUAL_TOTAL));
	assert_false(taskstats_has(&layout, TASKSTATS_MEMBER_FREEPAGES_COUNT));
	assert_true(taskstats_u64(&layout, stats, TASKSTATS_MEMBER_FREEPAGES_COUNT) == 0);
	taskstats_layout_resolve(&layout, 13, 79);
	assert_false(taskstats_has(&layout, TASKSTATS_MEMBER_CPU_RUN_VIRTUAL_TOTAL));
}

static uint64_t metric_of(const struct stats_v16 *stats, enum metric metric)
{
	struct taskstats_layout layout;
	enum taskstats_member member = taskstats_member_of_metric(metric);

	assert_int_not_equal(member, TASKSTATS_MEMBER_NONE);
	taskstats_layout_resolve(&layout, 16, sizeof(*stats));
	return taskstats_metric_value(&layout, (const unsigned char *)stats, metric, member);
}

static void test_values(void **state)
{
	struct stats_v16 stats = {.version = 16};

	(void)state;
	stats.hiwater_rss = 512;
	assert_true(metric_of(&stats, METRIC_HIWATER_RSS_BYTES) == 524288);
	stats.hiwater_vm = UINT64_MAX;
	assert_true(metric_of(&stats, METRIC_HIWATER_VM_BYTES) == UINT64_MAX);
	stats.ac_nice = (uint8_t)-5;
	assert_true((int64_t)metric_of(&stats, METRIC_NICE) == -5);
	stats.ac_sched = 3;
	assert_true(metric_of(&stats, METRIC_POLICY) == 3);
	stats.nvcsw = 7;
	assert_true(metric_of(&stats, METRIC_VOLUNTARY_CSW) == 7);
	stats.cpu_run_virtual_total = 8;
	assert_true(metric_of(&stats, METRIC_RUN_TIME_NS) == 8);
	stats.irq_delay_min = 9;
	assert_true(metric_of(&stats, METRIC_IRQ_DELAY_MIN_NS) == 9);
	assert_int_equal(taskstats_member_of_metric(METRIC_SYSCR), TASKSTATS_MEMBER_NONE);
}

/* Every place that metrics.def names in struct taskstats is a member. */
static void test_places_are_members(void **state)
{
	size_t carried = 0;

	(void)state;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric_entry *entry = &metrics[i];
		bool own = entry->source == SOURCE_TASKSTATS || entry->source == SOURCE_DELAYS ||
			   entry->source == SOURCE_HIWATER;
		bool equal = entry->equivalent_source == SOURCE_TASKSTATS;

		if (own || equal) {
			assert_int_not_equal(taskstats_member_of_metric((enum metric)i),
					     TASKSTATS_MEMBER_NONE);
			carried++;
		}
	}
	assert_int_equal(carried, 34 + 9);
}

/* A message as the kernel makes it, for tid 0x1234, with a padding attribute in between. */
struct message {
	uint32_t length;
	uint16_t type, flags;
	uint32_t sequence, port;
	uint8_t command, version;
	uint16_t reserved;
	uint16_t aggregate_length, aggregate_type;
	uint16_t pid_length, pid_type;
	uint32_t pid;
	uint16_t null_length, null_type;
	uint16_t stats_length, stats_type;
	struct stats_v16 stats;
};

static struct message make_message(void)
{
	return (struct message){
		.length = sizeof(struct message),
		.type = 31,
		.command = 2,
		.version = 1,
		.aggregate_length = (uint16_t)(sizeof(struct message) -
					       offsetof(struct message, aggregate_length)),
		.aggregate_type = 4 | 0x8000,
		.pid_length = 8,
		.pid_type = 1,
		.pid = 0x1234,
		.null_length = 4,
		.null_type = 6,
		.stats_length = 4 + sizeof(struct stats_v16),
		.stats_type = 3,
		.stats = {.version = 16, .cpu_count = 77},
	};
}

static int parse(const void *bytes, size_t length)
{
	const unsigned char *stats;
	size_t size;

	return taskstats_parse_message(bytes, length, 0x1234, &stats, &size);
}

/* A message that is good but for one member. */
#define expect_bad(member, value)                                                                            \
	do {                                                                                                 \
		struct message bad = make_message();                                                         \
		bad.member = (value);                                                                        \
		assert_int_equal(parse(&bad, sizeof(bad)), -EBADMSG);                                        \
	} while (0)

static void test_message_checks(void **state)
{
	struct message good = make_message();
	struct {
		uint32_t length;
		uint16_t type, flags;
		uint32_t sequence, port;
		int32_t error;
	} refusal = {20, 2, 0, 0, 0, -1};

	(void)state;
	assert_int_equal(parse(&good, sizeof(good)), 0);
	assert_int_equal(parse(&good, 15), -EBADMSG);
	assert_int_equal(parse(&good, sizeof(good) - 1), -EBADMSG);
	expect_bad(pid, 0x1235);
	expect_bad(aggregate_type, 5);
	expect_bad(stats_type, 7);
	expect_bad(pid_length, 7);
	expect_bad(stats_length, 3);
	expect_bad(length, 19);

	assert_int_equal(parse(&refusal, 20), -EPERM);
	assert_int_equal(parse(&refusal, 19), -EBADMSG);
	refusal.error = 0;
	assert_int_equal(parse(&refusal, 20), -EBADMSG);
	refusal.error = -3;
	assert_int_equal(parse(&refusal, 20), -ESRCH);
}

/* Whatever the lengths say, nothing outside of the message is read (the sanitizers watch). */
static void test_hostile_lengths(void **state)
{
	struct message good = make_message();

	(void)state;
	for (size_t offset = 0; offset < offsetof(struct message, stats); offset++) {
		for (int value = 0; value < 256; value++) {
			unsigned char *copy = malloc(sizeof(good));

			memcpy(copy, &good, sizeof(good));
			copy[offset] = (unsigned char)value;
			parse(copy, sizeof(good));
			free(copy);
		}
	}
	for (size_t length = 0; length < sizeof(good); length++) {
		unsigned char *copy = malloc(length + 1);
		uint32_t said = (uint32_t)length;

		memcpy(copy, &good, length);
		if (length >= sizeof(said))
			memcpy(copy, &said, sizeof(said));
		parse(copy, length);
		free(copy);
	}
}

/* The message at the end of a process's last thread: the thread's record, and the sum of the process. */
struct last_message {
	struct message thread;
	uint16_t aggregate_length, aggregate_type;
	uint16_t pid_length, pid_type;
	uint32_t pid;
	uint16_t null_length, null_type;
	uint16_t stats_length, stats_type;
	struct stats_v16 stats;
};

/* The sum of a process is passed over, whether it comes behind the thread's record or alone. */
static void test_process_sums(void **state)
{
	struct last_message last = {
		.thread = make_message(),
		.aggregate_length = (uint16_t)(sizeof(last) -
					       offsetof(struct last_message, aggregate_length)),
		.aggregate_type = 5 | 0x8000,
		.pid_length = 8,
		.pid_type = 2,
		.pid = 0x1200,
		.null_length = 4,
		.null_type = 6,
		.stats_length = 4 + sizeof(struct stats_v16),
		.stats_type = 3,
		.stats = {.version = 16, .cpu_count = 99},
	};
	struct message sum = make_message();
	const unsigned char *stats;
	struct stats_v16 copy;
	uint32_t tid = 0;
	size_t size;

	(void)state;
	last.thread.length = sizeof(last);
	assert_int_equal(taskstats_parse_record(&last, sizeof(last), &tid, &stats, &size), 0);
	assert_int_equal(tid, 0x1234);
	assert_int_equal(size, sizeof(copy));
	memcpy(&copy, stats, sizeof(copy));
	assert_int_equal(copy.cpu_count, 77);
	sum.aggregate_type = 5 | 0x8000;
	sum.pid_type = 2;
	assert_int_equal(taskstats_parse_record(&sum, sizeof(sum), &tid, &stats, &size), -EBADMSG);
}

struct seen {
	size_t answers, good, ended;
	uint32_t wrong;
	const uint32_t *tids;
};

static void count_reply(void *context, size_t index, const struct taskstats_reply *reply)
{
	struct seen *seen = context;

	seen->answers++;
	seen->ended += reply->error == -ESRCH;
	if (reply->error != 0)
		return;
	seen->good++;
	if (taskstats_number(reply->layout, reply->stats, TASKSTATS_MEMBER_AC_PID) != seen->tids[index])
		seen->wrong++;
}

static struct taskstats_connection *open_taskstats(void)
{
	struct taskstats_connection *taskstats;
	struct error error;

	if (taskstats_open(&taskstats, &error) < 0) {
		skip_test("%s", error.text);
	}
	return taskstats;
}

/* More threads than a batch, dead ones between them: each is answered once, by its own reply. */
static void test_live_batches(void **state)
{
	uint32_t tids[1000];
	struct taskstats_connection *taskstats = open_taskstats();
	struct seen seen = {.tids = tids};

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		tids[i] = i % 10 == 9 ? 0x7ffffff0 : i % 2 == 0 ? (uint32_t)getpid() : 1;
	taskstats_query(taskstats, tids, 1000, count_reply, &seen);
	taskstats_close(taskstats);
	assert_int_equal(seen.answers, 1000);
	assert_int_equal(seen.good, 900);
	assert_int_equal(seen.ended, 100);
	assert_int_equal(seen.wrong, 0);
}

/* The netlink socket among our descriptors. */
static int find_socket(void)
{
	for (int descriptor = 3; descriptor < 64; descriptor++) {
		int protocol = 0;
		socklen_t length = sizeof(protocol);

		if (getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 &&
		    protocol == NETLINK_GENERIC)
			return descriptor;
	}
	return -1;
}

/* A buffer that holds few replies: what the kernel drops is asked for again. */
static void test_dropped_replies(void **state)
{
	uint32_t tids[500];
	struct taskstats_connection *taskstats = open_taskstats();
	struct seen seen = {.tids = tids};
	int size = 8192;

	(void)state;
	for (size_t i = 0; i < 500; i++)
		tids[i] = i % 2 == 0 ? (uint32_t)getpid() : 1;
	assert_int_equal(setsockopt(find_socket(), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	taskstats_query(taskstats, tids, 500, count_reply, &seen);
	taskstats_close(taskstats);
	assert_int_equal(seen.answers, 500);
	assert_int_equal(seen.good, 500);
	assert_int_equal(seen.wrong, 0);
}

enum {
	EXITS = 3 /* threads of a process, its leader among them */
};

/* Records of threads that ended, by those of one process. */
struct exits_seen {
	uint32_t tgid;
	size_t of_process, others;
};

static void count_exit(void *context, uint32_t tid, const unsigned char *stats,
		       const struct taskstats_layout *layout)
{
	struct exits_seen *seen = context;

	if (taskstats_number(layout, stats, TASKSTATS_MEMBER_AC_TGID) != seen->tgid) {
		seen->others++;
		return;
	}
	seen->of_process++;
	assert_int_equal(taskstats_number(layout, stats, TASKSTATS_MEMBER_AC_PID), tid);
}

static void *end(void *argument)
{
	return argument;
}

/* A process that ends with its threads, all of them one after the other. */
static pid_t start_process(void)
{
	pid_t child = fork();

	if (child == 0) {
		for (int i = 1; i < EXITS; i++) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, end, NULL) != 0)
				_exit(1);
			pthread_join(thread, NULL);
		}
		_exit(0);
	}
	return child;
}

static struct taskstats_exits *open_exits(void)
{
	struct taskstats_exits *exits;
	struct error error;

	if (taskstats_exits_open(&exits, &error) < 0) {
		skip_test("nothing is told of threads that end: %s", error.text);
	}
	return exits;
}

/* Each thread that ends is told of once: the sum of its process is no thread. */
static void test_exits(void **state)
{
	struct taskstats_exits *exits = open_exits();
	struct exits_seen seen = {0};

	(void)state;
	seen.tgid = (uint32_t)start_process();
	assert_int_equal(waitpid((pid_t)seen.tgid, NULL, 0), (pid_t)seen.tgid);
	assert_int_equal(taskstats_exits_read(exits, count_exit, &seen), 0);
	assert_int_equal(seen.of_process, EXITS);
	assert_int_equal(taskstats_exits_read(exits, count_exit, &seen), 0);
	assert_int_equal(seen.of_process, EXITS);
	taskstats_exits_close(exits);
}

/*
 * Records that did not fit are counted, and later ones are read. Everything else that ends here is
 * told of on the same socket: with the room of before, and in one of several tries, a process of ours is
 * among it.
 */
static void test_dropped_exits(void **state)
{
	enum {
		PROCESSES = 50,
		TRIES = 100
	};
	struct taskstats_exits *exits = open_exits();
	struct exits_seen seen = {0};
	uint64_t dropped;
	int small = 8192, large = 1 << 20;

	(void)state;
	assert_int_equal(setsockopt(find_socket(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	/* what came while there was room */
	taskstats_exits_read(exits, count_exit, &seen);
	seen = (struct exits_seen){0};
	for (int i = 0; i < PROCESSES; i++)
		waitpid(start_process(), NULL, 0);
	dropped = taskstats_exits_read(exits, count_exit, &seen);
	assert_true(seen.others < PROCESSES);
	assert_true(dropped + seen.others >= PROCESSES * EXITS);
	assert_int_equal(setsockopt(find_socket(), SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof(large)), 0);
	for (int i = 0; i < TRIES && seen.of_process != EXITS; i++) {
		taskstats_exits_read(exits, count_exit, &seen);
		seen = (struct exits_seen){.tgid = (uint32_t)start_process()};
		waitpid((pid_t)seen.tgid, NULL, 0);
		taskstats_exits_read(exits, count_exit, &seen);
	}
	assert_int_equal(seen.of_process, EXITS);
	taskstats_exits_close(exits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets_equal_the_compiled_structs),
		cmocka_unit_test(test_members_by_version),
		cmocka_unit_test(test_version_14_of_560_bytes_is_interleaved),
		cmocka_unit_test(test_short_payload),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_places_are_members),
		cmocka_unit_test(test_message_checks),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_process_sums),
		cmocka_unit_test(test_live_batches),
		cmocka_unit_test(test_dropped_replies),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_dropped_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
