/* SPDX-License-Identifier: GPL-2.0-only */
#include "round_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/release.h"
#include "capture/bpf/bpf_exits.h"
#include "capture/host/cgroup.h"
#include "capture/procfs/taskstats.h"
#include "ended_records.h"

enum {
	FILE_ID_KERNFS = 0xfe, /* FILEID_KERNFS of include/linux/exportfs.h: the id is the handle */
	/* After so long the kernel has freed a task without telling: Linux 6.18 does so now and then. */
	FREE_LATE_NS = 60 * UINT64_C(1000000000),
	/* Records beyond these are added up before a round where they can be. */
	WAITING_MAX = 4096,
};

/* Messages are read this often: the socket holds those of more than 50,000 threads a second. */
#define SERVE_INTERVAL_NS (250 * NS_PER_MS)

/* A task that has ended, has no row any more and is not freed yet. */
struct tracked_exit {
	struct exit_identity identity;
	uint64_t since_ns;            /* CLOCK_BOOTTIME of the round that found it so */
	bool told, listed;            /* it was counted; it was listed in this round */
	struct ended_amounts amounts; /* as counted */
};

struct ended_watch {
	/* By taskstats, or NULL: */
	struct taskstats_exits *messages;
	struct ended_records *records;
	uint64_t served_ns;     /* CLOCK_BOOTTIME of the last reading */
	uint64_t next_serve_ns; /* CLOCK_MONOTONIC */

	/* By BPF: */
	struct bpf_exits *exits;
	struct tracked_exit *tracked; /* that are not freed yet */
	size_t tracked_count, tracked_capacity;
	struct hash_map tracked_index;
	struct cgroup_paths cgroups;
	uint64_t lost;         /* tasks, as the programs counted them at the last reading */
	uint64_t since_before; /* CLOCK_BOOTTIME of the round before the last, of the only one; 0 for none */
};

/* One of the two snapshots around the threads that ended. */
struct side {
	const struct snapshot *snapshot;
	const struct thread_state *states; /* with addresses of tasks; NULL where they are not known */
};

struct reading {
	struct ended_watch *watch;
	const struct round *round;
	struct side now, before; /* `before` has no threads in the first round */
	struct ended_set *set;
	bool *counted; /* [before]: rows of tasks that were met among the ended */
};

/* Falls back to taskstats, or tells why nothing is watched: first why not by BPF. */
static struct ended_watch *open_messages(const uint32_t *scope, size_t scope_count, struct arena *arena,
					 struct feature_result *result)
{
	static const char no_detail[] = "not tried";
	const char *by_bpf = result->detail != NULL ? result->detail : no_detail;
	struct taskstats_exits *messages;
	struct ended_watch *watch;
	struct utsname kernel;
	struct error error;

	if (taskstats_exits_open(&messages, &error) < 0) {
		result->detail = arena_format(arena, "BPF: %s; taskstats: %s", by_bpf, error.text);
		return NULL;
	}
	result->state = FEATURE_STATE_PARTIAL;
	result->reason = REASON_LOWER_BOUND;
	/* ac_tgid came with version 12 (include/uapi/linux/taskstats.h) */
	result->detail = arena_format(arena, "told by taskstats, without the last moments%s; BPF: %s",
				      uname(&kernel) == 0 && release_is_older(kernel.release, 5, 19)
					      ? ", and before Linux 5.19 not always of which process"
					      : "",
				      by_bpf);
	watch = memory_allocate_zero(1, sizeof(*watch));
	watch->messages = messages;
	watch->records = ended_records_create(scope, scope_count);
	watch->served_ns = clock_ns(CLOCK_BOOTTIME);
	return watch;
}

struct ended_watch *ended_watch_open(const struct roots *roots, const uint32_t *scope, size_t scope_count,
				     struct arena *arena, struct feature_result *ret_result)
{
	struct ended_watch *watch;
	struct bpf_exits *exits = NULL;

	/* ids of the kernel have to be those of the proc root */
	if (!roots->initial_pid_namespace) {
		*ret_result = feature_of_other_pids(roots, arena);
		return NULL;
	}
	if (ret_result->state != FEATURE_STATE_OFF)
		exits = bpf_exits_open(scope, scope_count, arena, ret_result);
	if (exits == NULL)
		return open_messages(scope, scope_count, arena, ret_result);
	watch = memory_allocate_zero(1, sizeof(*watch));
	watch->exits = exits;
	return watch;
}

void ended_watch_close(struct ended_watch *watch)
{
	if (watch == NULL)
		return;
	taskstats_exits_close(watch->messages);
	ended_records_release(watch->records);
	bpf_exits_close(watch->exits);
	cgroup_paths_release(&watch->cgroups);
	free(watch->tracked);
	hash_map_release(&watch->tracked_index);
	free(watch);
}

void ended_watch_begin(struct ended_watch *watch)
{
	if (watch != NULL && watch->exits != NULL)
		bpf_exits_set_known(watch->exits, UINT64_MAX);
}

/* --- messages --- */

/* The records that are being read, and since when they may have come. */
struct serving {
	struct ended_watch *watch;
	struct ended_record_span span;
};

static void take_record(void *context, uint32_t tid, const unsigned char *stats,
			const struct taskstats_layout *layout)
{
	struct serving *serving = context;

	serving->span.to_ns = clock_ns(CLOCK_BOOTTIME);
	ended_records_add(serving->watch->records, &serving->span, tid, stats, layout);
}

static void read_messages(struct ended_watch *watch)
{
	const uint64_t now = clock_ns(CLOCK_BOOTTIME), monotonic = clock_ns(CLOCK_MONOTONIC);
	struct serving serving = {
		.watch = watch,
		.span = {.from_ns = watch->served_ns, .suspended_ns = now > monotonic ? now - monotonic : 0}};

	ended_records_lose(watch->records, taskstats_exits_read(watch->messages, take_record, &serving));
	watch->served_ns = now;
	watch->next_serve_ns = monotonic + SERVE_INTERVAL_NS;
}

uint64_t ended_watch_serve(const struct capture *capture)
{
	struct ended_watch *watch = capture->ended;

	if (watch == NULL || watch->messages == NULL)
		return UINT64_MAX;
	if (clock_ns(CLOCK_MONOTONIC) < watch->next_serve_ns)
		return watch->next_serve_ns;
	read_messages(watch);
	if (ended_records_waiting(watch->records) > WAITING_MAX)
		ended_records_add_up(watch->records, capture->previous, &capture->checks);
	return watch->next_serve_ns;
}

/* --- names --- */

/* The path that a descriptor has, in `room`: of the option that it was opened by this may be another one. */
static bool read_descriptor_path(int descriptor, char room[static PATH_MAX])
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	length = readlink(link, room, PATH_MAX - 1);
	room[length < 0 ? 0 : length] = '\0';
	return length >= 0;
}

/*
 * The path of a cgroup in the file system that shows them, in `room`; NULL where it is there no more.
 */
static const char *find_shown_cgroup(const struct roots *roots, uint64_t id, char room[static PATH_MAX])
{
	union {
		struct file_handle handle;
		unsigned char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} request = {.handle = {.handle_bytes = sizeof(id), .handle_type = FILE_ID_KERNFS}};
	char mount[PATH_MAX];
	size_t mount_length;
	int descriptor;
	bool is_found;

	if (roots->path[ROOT_CGROUP] == NULL || strcmp(roots->cgroup_mount_root, "/") != 0 ||
	    !read_descriptor_path(roots->descriptor[ROOT_CGROUP], mount))
		return NULL;
	memcpy(request.handle.f_handle, &id, sizeof(id));
	descriptor = open_by_handle_at(roots->descriptor[ROOT_CGROUP], &request.handle,
				       O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (descriptor < 0)
		return NULL;
	is_found = read_descriptor_path(descriptor, room);
	close(descriptor);
	mount_length = strcmp(mount, "/") == 0 ? 0 : strlen(mount);
	if (!is_found || strncmp(room, mount, mount_length) != 0)
		return NULL;
	if (room[mount_length] == '\0')
		return "/";
	return room[mount_length] == '/' ? room + mount_length : NULL;
}

/* The path of a cgroup, looked up once; NULL where nobody knows it. */
static const char *find_cgroup(struct reading *reading, uint64_t id)
{
	struct cgroup_paths *known = &reading->watch->cgroups;
	const char *path = cgroup_paths_find(known, id);
	char room[PATH_MAX];

	if (path != NULL)
		return path;
	/* what passes found of a pair is likely, and may be found to be another one */
	if ((id & TASK_CGROUP_PAIR) != 0)
		return round_known_cgroup(reading->round, id);
	path = find_shown_cgroup(&reading->round->capture->roots, id, room);
	if (path == NULL)
		path = round_known_cgroup(reading->round, id);
	return path != NULL ? cgroup_paths_add(known, id, path, strlen(path)) : NULL;
}

/* The names of a key in the set; a cgroup that is gone is where `row` was, of the round before. */
static uint32_t triple_of(struct reading *reading, const struct exit_key *key, uint32_t row)
{
	const struct snapshot *previous = reading->before.snapshot;
	const struct triple *names = row != SNAPSHOT_NO_ROW ? &previous->triples[previous->triple[row]]
							    : NULL;
	char process[ENDED_NAME_ROOM], thread[ENDED_NAME_ROOM];
	const char *path = find_cgroup(reading, key->cgroup);
	const bool is_own = names != NULL && names->pcomm == snapshot_self_name(previous);
	struct name_text cgroup = name_gone;

	if (path != NULL)
		cgroup = name_text_of(path);
	else if (names != NULL)
		cgroup = snapshot_name(previous, names->cgroup);
	return ended_set_triple(reading->set, is_own ? name_self : ended_name(process, key->process),
				ended_name(thread, key->thread), cgroup);
}

/* --- amounts --- */

static struct ended_amounts thread_amounts(const struct exit_thread *thread)
{
	return ended_amounts_of(thread->amounts, thread->delayed, thread->previous_user_time,
				thread->previous_system_time);
}

/* Why amounts of a source are known of no ended thread, or REASON_READ. */
static enum reason reason_of(const struct feature_checks *checks, enum source source)
{
	const struct feature_result *results = checks->results;

	if (source == SOURCE_IO && results[FEATURE_OTHERS_IO].state != FEATURE_STATE_ON)
		return REASON_NOT_PERMITTED;
	if (source != SOURCE_DELAYS || checks->task_delayacct == TASK_DELAYACCT_ON)
		return REASON_READ;
	return feature_delays_reason(checks);
}

static void set_reasons(struct reading *reading)
{
	uint32_t kernel = bpf_exits_kernel(reading->watch->exits);

	/* until a task has ended nothing is known of the kernel, nor is there anything to tell */
	if ((kernel & TASK_KERNEL_KNOWN) == 0)
		kernel = UINT32_MAX;

	for (size_t i = 0; i < ENDED_METRICS; i++) {
		enum source source = metrics[ended_metrics[i]].source;

		reading->set->reasons[i] =
			(reason_id)((kernel & ended_sources[i].needs) == ended_sources[i].needs
					    ? reason_of(&reading->round->capture->checks, source)
					    : REASON_NOT_IN_KERNEL);
	}
}

/* --- what was told --- */

static uint32_t intern_parent(struct ended_set *set, const char parent[TASK_COMM_SIZE])
{
	char room[ENDED_NAME_ROOM];
	const struct name_text name = ended_name(room, parent);

	return string_pool_intern(&set->names->strings, name.text, name.length);
}

static void add_groups(struct reading *reading)
{
	const struct bpf_exit_group *groups;
	size_t count;

	if (bpf_exits_read_groups(reading->watch->exits, &groups, &count) < 0)
		reading->set->unread = true;
	for (size_t i = 0; i < count; i++) {
		const struct exit_sum *sum = &groups[i].sum;
		const struct ended_amounts amounts = ended_amounts_of(sum->amounts, sum->delayed, 0, 0);
		struct ended_group *group = ended_set_group(
			reading->set, triple_of(reading, &groups[i].key, SNAPSHOT_NO_ROW),
			groups[i].key.kernel != 0);

		group->threads += sum->threads;
		group->processes += sum->processes;
		if (sum->parent_votes != 0 && sum->processes != 0)
			started_by_add(&group->started_by,
				       (struct started_by){intern_parent(reading->set, sum->parent),
							   sum->processes});
		ended_amounts_add(&group->amounts, &amounts);
	}
}

static bool has_row(const struct snapshot *snapshot, uint32_t tgid)
{
	const size_t row = snapshot_search_row(snapshot, tgid, 0);

	return row < snapshot->thread_count && snapshot->tgid[row] == tgid;
}

/*
 * Whether the ended task may be the one that a pass saw. A thread that takes over the leader's id in
 * execve(2) may have the memory of an earlier leader. The earlier leader has executed fewer programs.
 */
static bool may_be_seen(const struct thread_seen *seen, const struct exit_identity *identity)
{
	return seen->task == identity->task && (uint32_t)identity->self_exec_id >= seen->exec_id;
}

/*
 * The row of a task in one of the two snapshots, or SNAPSHOT_NO_ROW. Where the address of its structure is
 * not known, its start decides.
 */
static uint32_t find_row(const struct side *side, const struct bpf_exit_item *item)
{
	const struct snapshot *snapshot = side->snapshot;
	const uint32_t tgid = item->thread.tgid, tid = item->thread.tid;
	uint32_t row = snapshot_find_row(snapshot, tgid, tid);

	if (row != SNAPSHOT_NO_ROW &&
	    snapshot->start_time[row] == item->identity.start_boottime / NS_PER_TICK &&
	    (side->states == NULL || may_be_seen(&side->states[row].seen, &item->identity)))
		return row;
	if (tgid != tid || side->states == NULL)
		return SNAPSHOT_NO_ROW;
	/* it may have had another id then, which it gave up for the leader's in execve(2) */
	row = round_find_task(snapshot, side->states, tgid, item->identity.task);
	if (row == SNAPSHOT_NO_ROW || !may_be_seen(&side->states[row].seen, &item->identity))
		return SNAPSHOT_NO_ROW;
	/* a thread that began since may have got the memory of its structure */
	return snapshot->start_time[row] * NS_PER_TICK > item->thread.ended_boottime ? SNAPSHOT_NO_ROW : row;
}

static uint64_t tracking_key(const struct exit_identity *identity)
{
	return hash_u64(hash_u64(identity->start_boottime) + identity->task) + identity->self_exec_id;
}

static struct tracked_exit *find_tracked(struct ended_watch *watch, const struct exit_identity *identity)
{
	uint32_t place;

	if (!hash_map_get(&watch->tracked_index, tracking_key(identity), &place) ||
	    memcmp(&watch->tracked[place].identity, identity, sizeof(*identity)) != 0)
		return NULL;
	return &watch->tracked[place];
}

static struct tracked_exit *track(struct reading *reading, const struct exit_identity *identity)
{
	struct ended_watch *watch = reading->watch;
	struct tracked_exit *tracked;

	hash_map_set(&watch->tracked_index, tracking_key(identity), (uint32_t)watch->tracked_count);
	tracked = MEMORY_APPEND(watch->tracked, watch->tracked_count, watch->tracked_capacity);
	*tracked = (struct tracked_exit){
		.identity = *identity,
		.since_ns = reading->now.snapshot->provenance.boottime_ns,
		.listed = true,
	};
	return tracked;
}

/* Forgets the tasks that are listed no more. */
static void prune_tracked(struct ended_watch *watch)
{
	size_t kept = 0;

	/* to clear the index takes as long as when it was largest */
	if (watch->tracked_count == 0)
		return;
	hash_map_clear(&watch->tracked_index);
	for (size_t i = 0; i < watch->tracked_count; i++) {
		if (!watch->tracked[i].listed)
			continue;
		watch->tracked[kept] = watch->tracked[i];
		watch->tracked[kept].listed = false;
		hash_map_set(&watch->tracked_index, tracking_key(&watch->tracked[kept].identity),
			     (uint32_t)kept);
		kept++;
	}
	watch->tracked_count = kept;
}

/* Adds the work that a task did after it was reported. */
static void add_rest(struct reading *reading, const struct exit_thread *thread,
		     const struct ended_amounts *told)
{
	struct ended_amounts rest = thread_amounts(thread);
	struct ended_group *group = ended_set_group(
		reading->set, triple_of(reading, &thread->key, SNAPSHOT_NO_ROW), thread->key.kernel != 0);

	for (size_t i = 0; i < ENDED_METRICS; i++)
		rest.of[i] = rest.of[i] > told->of[i] ? rest.of[i] - told->of[i] : 0;
	rest.delayed = 0;
	ended_amounts_add(&group->amounts, &rest);
}

/* `amounts`: what it did, in all. */
static void add_known(struct reading *reading, const struct bpf_exit_item *item, uint32_t row,
		      const struct ended_amounts *amounts)
{
	bool kernel = item->thread.key.kernel != 0;
	struct ended_thread *thread = ended_set_add_thread(
		reading->set, triple_of(reading, &item->thread.key, row), kernel);

	reading->counted[row] = true;
	if (thread == NULL)
		return;
	/* as it was when it had the row */
	thread->tgid = reading->before.snapshot->tgid[row];
	thread->tid = reading->before.snapshot->tid[row];
	thread->start_time = reading->before.snapshot->start_time[row];
	thread->amounts = *amounts;
}

/*
 * The counters of a task at its end, before the kernel frees it. It still closes files before it becomes a
 * zombie, and a round may have read that: then the row counts, so that nothing is counted twice.
 */
static struct ended_amounts ending_amounts(const struct reading *reading, const struct exit_thread *thread,
					   uint32_t row)
{
	const struct thread_state *states = reading->before.states;
	const struct task_slept none = {0}, *of = states != NULL && row != SNAPSHOT_NO_ROW
							  ? &states[row].seen.slept
							  : &none;
	const uint64_t slept = of->counted + of->pending;
	struct ended_amounts amounts = thread_amounts(thread);

	for (size_t i = 0; row != SNAPSHOT_NO_ROW && i < ENDED_METRICS; i++) {
		uint64_t seen = 0;

		if (metric_is_run_queue_wait(ended_metrics[i]))
			amounts.of[i] = amounts.of[i] > slept ? amounts.of[i] - slept : 0;
		if (snapshot_value_state(reading->before.snapshot, row, ended_metrics[i]) == REASON_READ)
			seen = snapshot_value(reading->before.snapshot, row, ended_metrics[i]);
		amounts.of[i] = seen > amounts.of[i] ? seen : amounts.of[i];
	}
	return amounts;
}

/*
 * Whether a process ended with this thread. A leader whose id another thread took over in execve(2) is known
 * as such once it is free; before that, by the rows that the process still has.
 */
static bool ends_process(const struct reading *reading, const struct exit_thread *thread)
{
	return thread->tid == thread->tgid && thread->replaced == 0 &&
	       (thread->is_free != 0 || !has_row(reading->now.snapshot, thread->tgid));
}

/*
 * Whether a task without a row in the last round started since then. One that took over a leader's id in
 * execve(2) has the leader's start; it is new if the last round met the process without it.
 */
static bool is_young(const struct reading *reading, const struct bpf_exit_item *item)
{
	const struct snapshot *before = reading->before.snapshot;
	uint32_t leader;

	if (reading->now.states == NULL && item->thread.replaced)
		return item->identity.start_boottime >= before->provenance.boottime_ns;
	if (item->identity.start_boottime >= reading->watch->since_before)
		return true;
	if (reading->before.states == NULL || item->thread.tid != item->thread.tgid)
		return false;
	leader = snapshot_find_row(before, item->thread.tgid, item->thread.tgid);
	return leader != SNAPSHOT_NO_ROW &&
	       before->start_time[leader] == item->identity.start_boottime / NS_PER_TICK;
}

/* One that is in no snapshot. It has to be young: an older one was missed, and what it did when is unknown.
 */
static void add_unknown(struct reading *reading, const struct bpf_exit_item *item)
{
	const bool young = is_young(reading, item);
	struct ended_group *group = ended_set_group(reading->set,
						    triple_of(reading, &item->thread.key, SNAPSHOT_NO_ROW),
						    item->thread.key.kernel != 0);

	group->threads++;
	group->processes += ends_process(reading, &item->thread);
	if (young) {
		const struct ended_amounts amounts = thread_amounts(&item->thread);

		ended_amounts_add(&group->amounts, &amounts);
	} else {
		group->unknown++;
	}
}

/* One that is freed: all that it did is known. */
static void add_free(struct reading *reading, const struct bpf_exit_item *item, struct tracked_exit *tracked,
		     uint32_t row)
{
	struct bpf_exit_item last = *item;

	if (!bpf_exits_take(reading->watch->exits, &item->identity, &last.thread))
		return;
	if (tracked != NULL && tracked->told)
		add_rest(reading, &last.thread, &tracked->amounts);
	else if (row != SNAPSHOT_NO_ROW) {
		const struct ended_amounts amounts = thread_amounts(&last.thread);

		add_known(reading, &last, row, &amounts);
	} else
		add_unknown(reading, &last);
	if (tracked != NULL)
		tracked->listed = false;
}

/*
 * Whether a task ended before the first round reached it. Windows begin with that round, so the task has no
 * part in them. A task that started during the round does.
 */
static bool ended_before_all(const struct reading *reading, const struct bpf_exit_item *item)
{
	return reading->round->capture->previous == NULL &&
	       item->identity.start_boottime < reading->now.snapshot->provenance.boottime_ns;
}

/*
 * One that is not freed yet, but has no row any more: counted with what it had done when it ended. One that
 * had none before either may still come to have one if it ended while the round was under way: it can wait
 * for the next.
 */
static void add_ending(struct reading *reading, const struct bpf_exit_item *item,
		       struct tracked_exit *tracked, uint32_t row)
{
	uint64_t now_ns = reading->now.snapshot->provenance.boottime_ns;

	if (tracked == NULL)
		tracked = track(reading, &item->identity);
	tracked->listed = true;
	if (!tracked->told && (row != SNAPSHOT_NO_ROW || item->thread.ended_boottime < now_ns ||
			       ended_before_all(reading, item))) {
		tracked->amounts = ending_amounts(reading, &item->thread, row);
		if (row != SNAPSHOT_NO_ROW)
			add_known(reading, item, row, &tracked->amounts);
		else
			add_unknown(reading, item);
		tracked->told = true;
	} else if (now_ns > tracked->since_ns + FREE_LATE_NS) {
		add_free(reading, item, tracked, row);
	}
}

static void add_item(struct reading *reading, const struct bpf_exit_item *item)
{
	struct tracked_exit *tracked = find_tracked(reading->watch, &item->identity);
	/* nobody knows whether a row is that of a former leader or of the thread that took its id over */
	const bool ambiguous = item->thread.replaced != 0 && reading->now.states == NULL;
	uint32_t row = SNAPSHOT_NO_ROW;

	if (!ambiguous && find_row(&reading->now, item) != SNAPSHOT_NO_ROW)
		return; /* its row goes in another round, and it with it */
	if (!ambiguous)
		row = find_row(&reading->before, item);
	/* one that took over a leader's id later may have the same memory: a row counts once */
	if (row != SNAPSHOT_NO_ROW && reading->counted[row])
		row = SNAPSHOT_NO_ROW;
	if (item->thread.is_free != 0)
		add_free(reading, item, tracked, row);
	else
		add_ending(reading, item, tracked, row);
}

static void add_items(struct reading *reading)
{
	const struct bpf_exit_item *items;
	size_t count;

	const bool whole = bpf_exits_list(reading->watch->exits, &items, &count) == 0;

	for (size_t i = 0; i < count; i++)
		add_item(reading, &items[i]);
	/* what was not listed this time may be yet, and was told of already */
	if (whole)
		prune_tracked(reading->watch);
	else
		reading->set->unread = true;
}

static void read_exits(struct ended_watch *watch, const struct round *round, struct ended_set *set)
{
	static const struct snapshot nothing;
	uint64_t lost;
	const struct capture *capture = round->capture;
	const bool knows_tasks = capture->passes.tasks != NULL;
	struct reading reading = {
		.watch = watch,
		.round = round,
		.now = {round->snapshot, knows_tasks ? round->states : NULL},
		.before = {capture->previous != NULL ? capture->previous : &nothing,
			   knows_tasks ? capture->states : NULL},
		.set = set,
	};

	if (watch->since_before == 0)
		watch->since_before = reading.before.snapshot->provenance.boottime_ns;
	reading.counted = memory_allocate_zero(reading.before.snapshot->thread_count + 1, sizeof(bool));
	bpf_exits_set_known(watch->exits, clock_ns(CLOCK_BOOTTIME));
	set_reasons(&reading);
	add_groups(&reading);
	add_items(&reading);
	free(reading.counted);
	/* those for which the programs had no room; a group of none says that something was not read */
	lost = bpf_exits_lost(watch->exits);
	set->lost = lost - watch->lost;
	watch->lost = lost;
	if (set->lost != 0 || set->unread)
		ended_add_unknown(set, set->lost);
	watch->since_before = reading.before.snapshot->provenance.boottime_ns;
}

void ended_watch_read(const struct round *round)
{
	const struct capture *capture = round->capture;
	struct ended_watch *watch = capture->ended;
	struct ended_set *set;

	if (watch == NULL)
		return;
	set = ended_set_create();
	if (watch->messages != NULL) {
		read_messages(watch);
		ended_records_read(watch->records, round->snapshot, capture->previous, &capture->checks, set);
	} else {
		read_exits(watch, round, set);
	}
	if (capture->previous != NULL)
		round->snapshot->ended = set;
	else
		ended_set_release(set); /* before the first round nothing counts */
}
