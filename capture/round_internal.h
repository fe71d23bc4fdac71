/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROUND_INTERNAL_H
#define CTOP_ROUND_INTERNAL_H

/*
 * Shared by the files that make a snapshot: the capture, the round under way, and the functions of each file.
 * See docs/dev/live-round.md.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/reader.h"
#include "base/statm.h"
#include "capture/bpf/bpf_tasks.h"
#include "capture/bpf/task_decode.h"
#include "capture/host/feature.h"
#include "capture/procfs/process_list.h"
#include "capture/procfs/root.h"
#include "capture/procfs/taskstats.h"
#include "capture/procfs/procfs.h"
#include "capture/scx/scx_watch.h"
#include "snapshot/snapshot.h"

enum {
	ROTATION_ROUNDS = 10, /* nothing known about a living thread is older than this many rounds */
	UNKNOWN_TEXT = UINT32_MAX,
	POLICY_NAMES = 8, /* policies 0 … 7 have string ids known beforehand */
};

#define AWAKE UINT64_MAX

/* Flags of struct thread_state. */
enum {
	ROW_NEW = 1 << 0,        /* first seen in this round */
	ROW_MOVED = 1 << 1,      /* ran, or changed its name, since the last round */
	ROW_ENDED = 1 << 2,      /* ended while it was read: its row goes */
	ROW_IDENTIFIED = 1 << 3, /* name and start time were read */
	ROW_SUSPECT = 1 << 4,    /* may be another thread under a number used again */
	ROW_DELAYED = 1 << 5,    /* has counted a delay that needs the switch */
	ROW_ODD = 1 << 6,        /* has metric exceptions */
	ROW_WAITED = 1 << 7,     /* its wait for a CPU grew; it need not have run */
	ROW_CHANGED = 1 << 8,    /* a cell differs from the previous snapshot; kept by passes only */
	ROW_IO_WORKER = 1 << 9,  /* a worker of io_uring: its registers are a copy of another thread's */
};

struct ended_watch;

/* The counters that show whether a thread ran. */
struct thread_counters {
	uint64_t run_ns, timeslices, voluntary, nonvoluntary, wait_ns;
};

/* A task as a pass saw it, to tell whether it changed. */
struct thread_seen {
	uint64_t task;           /* address of its structure */
	uint64_t fingerprint;    /* of all from which its row was made */
	uint64_t slept_from;     /* its exec_start, if it was in D or asleep; else AWAKE */
	uint64_t cgroup;         /* id */
	uint64_t thread_pointer; /* 0 when unknown */
	uint32_t exec_id;        /* of a leader: grows with each execve(2) */
	struct task_slept slept;
};

/* State of a thread that the next round needs besides its columns; parallel to the rows of the snapshot. */
struct thread_state {
	union {
		struct thread_counters counters; /* of the last reading */
		struct thread_seen seen;         /* where threads are read in passes */
	};
	uint64_t start_us;      /* by ac_etime, CLOCK_MONOTONIC us: the same for one thread but for jitter */
	uint64_t blocked_since; /* CLOCK_BOOTTIME ns of the first reading that found it runnable or in D,
				   with nothing counted since; 0 when it is neither */
	source_set stale;       /* sources not read since it last moved */
	source_set refused;     /* sources it takes other rights to read: tried again in rotation only */
	char name[TASK_COMM_SIZE]; /* ac_comm */
	uint8_t policy, nice;      /* ac_sched, ac_nice */
	char state;                /* 0 until read */
	uint8_t heap_failure;      /* 1 + enum heap_tag of the probe's last try; 0 where it did not fail */
	uint16_t flags;
	int16_t called; /* number of the system call that it was seen in last, restart_syscall(2) apart */
};

/* Metrics that a source fills, by metric_source of the snapshots of this capture. */
struct metric_list {
	uint8_t metrics[METRIC_COUNT];
	uint8_t count;
};

/* The allocator probe as a capture uses it. */
struct heap {
	struct probe *probe;   /* or NULL */
	reason_id none_reason; /* why `probe` is NULL */
	bool off;              /* switched off by the user */
	bool allow_stop;
	const atomic_bool *hurry; /* of the options */
	uint64_t patience_ns;     /* how long a full capture waits for resolutions */
	unsigned int rounds;      /* rounds that examined processes, modulo 2^32 */
	uint32_t resume_tgid;     /* process at which the budget ended */
	struct probe_thread *threads;
	size_t *rows;
};

/* Whether a round reads allocation counters. */
enum heap_use {
	HEAP_USE_NONE,
	HEAP_USE_EXTRA, /* while the budget lasts */
	HEAP_USE_NEEDED,
};

/* Whether statm has the memory of a process with what each CPU counts for itself, which stat leaves out. */
enum statm_use {
	STATM_UNKNOWN,
	STATM_EXACT,
	STATM_AS_STAT,
};

enum {
	UNSEEN_SIZE = 160, /* of the sentence about threads that passes do not see */
};

/* Reading threads in passes of a BPF program instead of from procfs and taskstats. */
struct task_passes {
	struct bpf_tasks *tasks; /* NULL: threads are read from procfs */
	struct feature_result result;
	struct arena arena;          /* of the words of the result */
	bool required;               /* no other way is wanted */
	int failure;                 /* negative errno of the pass that could not be taken; 0: none */
	bool sees_others;            /* I/O and thread pointers of other users' processes may be shown */
	uint32_t parts;              /* of the last pass */
	bool saw_delays;             /* some thread has a record of its delays */
	bool tells_resident;         /* the kernel keeps the memory of processes in a way that is known */
	bool resident_is_exact;      /* with what each CPU counts for itself */
	bool kept_delays;            /* they stand still, and the last snapshot has them */
	bool is_current;             /* the last pass made the rows of the last snapshot */
	bool decode_again;           /* a row lacks its CPU set: the next round decodes all rows */
	uint64_t checked_ns;         /* CLOCK_BOOTTIME of the last full pass */
	uint64_t missed;             /* changes that only full passes found */
	struct string_pool cpu_sets; /* of `cpus` */
	struct known_cpus *cpus;
	size_t cpus_count, cpus_capacity;
	struct string_pool paths; /* of `cgroups` */
	struct known_cgroup *cgroups;
	size_t cgroup_count, cgroup_capacity;
	struct hash_map cgroup_index;
	uint64_t cpus_checked;    /* round in which the sets were read last */
	uint64_t census_round;    /* in which threads were counted last; 0: not yet */
	char unseen[UNSEEN_SIZE]; /* the sentence about what passes do not see; empty: they see all */
	uint64_t hidden;          /* least number of threads that were not seen */
};

/*
 * Whether threads are runnable without having been seen so (nr_running of the host against the states read).
 */
struct runnable_watch {
	uint64_t looks, found; /* of the last round: the least that the host counted; what we found */
	uint64_t paused_until; /* round */
	bool look_at_all;      /* in the next round */
};

struct capture {
	struct roots roots;
	uint32_t own_tgid;
	uint32_t *scope;
	size_t scope_count;
	double budget_percent;
	uint64_t run_time_lag_ns; /* by which the run time of a running thread may be late */

	struct feature_checks checks;
	struct taskstats_connection *taskstats; /* NULL without replies */
	reason_id taskstats_reason;             /* why `taskstats` is NULL */
	bool counters_in_taskstats; /* run time, wait and timeslices too (CONFIG_TASK_DELAY_ACCT) */
	enum source metric_source[METRIC_COUNT];
	source_set replaced; /* sources that nobody reads, since others carry the same */
	struct metric_list fills[SOURCE_COUNT];
	enum taskstats_member member[METRIC_COUNT]; /* that fills a metric, or TASKSTATS_MEMBER_NONE */

	struct task_passes passes;
	struct reader *reader; /* that reads what may hang, or NULL; not owned */
	struct heap heap;
	struct latency_watch *latency; /* NULL: it cannot be measured, or nobody is going to ask for it */
	struct feature_result latency_result; /* why, in words that `arena` owns */
	struct bpf_futex *futex;              /* NULL: waits at futexes are not measured */
	struct feature_result futex_result;   /* why, in words that `arena` owns */
	bool has_futexes;                     /* snapshots list futexes */
	bool once;                            /* no rounds follow: see capture_options */
	bool full_is_round;                   /* see capture_options */
	bool latency_is_to_load;              /* nobody has tried yet, but capture_load_latency() is to */
	struct scx_watch *scx;
	struct arena arena;
	const char *notice;                 /* for the user, not fetched yet; NULL for none */
	struct ended_watch *ended;          /* NULL: what ends is not watched */
	struct feature_result ended_result; /* why, in words that `arena` owns */
	struct process_list processes;
	enum statm_use statm;
	struct metric_set seen; /* metrics that some text had */

	/* The last snapshot and what goes with its rows. */
	struct snapshot *previous;
	struct thread_state *states;

	uint64_t round;                   /* of captures taken */
	uint64_t last_started_ns;         /* CLOCK_BOOTTIME */
	uint64_t last_interval_ns;        /* between the starts of the last two rounds */
	uint64_t last_clock_ns;           /* see struct round */
	uint32_t resume_tgid, resume_tid; /* where the sources that are not needed ran out of budget */
	uint32_t resume_smaps;            /* process where smaps_rollup did */
	bool rows_are_current;            /* first_row of the processes speaks of `previous` */
	struct runnable_watch runnable;
	uint64_t delays_off_ns; /* CLOCK_BOOTTIME of the last check that found delay accounting off */
	struct snapshot *host;  /* the host's facts alone, shared by all rounds; NULL until read */
	uint64_t host_read_ns;  /* CLOCK_BOOTTIME of that reading */
	uint64_t host_rights;   /* effective rights at that reading */

	atomic_uint *progress;               /* of the options */
	struct buffer text;                  /* of the file being read */
	unsigned char *affinity, *last_mask; /* CPU masks of sched_getaffinity(2) */
	size_t affinity_size;
};

/* One snapshot in the making. */
struct round {
	struct capture *capture;
	struct snapshot *snapshot;
	const struct snapshot *previous; /* whose values are carried over; NULL in a full capture */
	const atomic_bool *cancel;
	bool full;
	bool smaps, cgroup_records; /* the expensive ones are wanted */
	const uint32_t *limits_of;  /* for cgroup_read_limits(); NULL: nobody asks for them */
	bool task_fields;           /* and contexts of a sched_ext scheduler */
	bool schedstats_turned;     /* its switch was turned since the last round */
	bool heap_is_on;            /* the allocator probe is there and not switched off */
	enum heap_use heap;         /* what it reads */
	uint64_t heap_until_ns;     /* until when to wait for it, CLOCK_MONOTONIC; 0: not */
	size_t looked;              /* processes that it examined in advance */
	source_set shown,
		asked;      /* what something shows, and that with all else wanted, as it was asked for */
	bool all_states;    /* every thread's state is read */
	source_set rotated; /* read per thread, and may change while it does not run */
	source_set needed;  /* read for every thread that is stale in them */
	source_set extra;   /* the same while the budget lasts */
	uint64_t cpu_start_ns, budget_ns, expensive_budget_ns, expensive_start_ns;
	uint64_t now_ns;       /* CLOCK_BOOTTIME, of the reading under way */
	uint64_t read_from_ns; /* when the last file began to be read: it is no older than that */
	uint64_t clock_ns;     /* to which waits are counted: the scheduler's clock; 0: not known */
	bool watches_runnable;
	uint64_t runnable;     /* the least that the host counted during the round; UINT64_MAX unknown */
	uint64_t unseen_found; /* runnable threads that stood still and were not known to be runnable */

	bool same_rows;               /* the pass met exactly the threads of the previous snapshot */
	uint32_t *old_row;            /* by row: of the previous snapshot, or SNAPSHOT_NO_ROW */
	struct thread_state *states;  /* by row */
	uint32_t *comm;               /* by row: string id in this snapshot, UNKNOWN_TEXT: as before */
	uint32_t *cgroup;             /* by row, of threads with a cgroup of their own; else UNKNOWN_TEXT */
	size_t last_mask_length;      /* of capture->last_mask */
	uint32_t last_mask_id;        /* its set */
	struct hash_map cgroup_types; /* string id of a path: whether threads of a process there may differ */
	struct hash_map frozen; /* whether a cgroup is frozen; key: 2 * string id of its path, + 1 on v1 */

	struct thread_reading reading;
	struct statm leader_statm;           /* of the thread in `reading`, if it is a leader; else zeros */
	uint64_t failures[PARSE_FILE_COUNT]; /* of a full capture */
	uint64_t negative_values;
	uint64_t listed, ended;
};

static inline bool round_is_cancelled(const struct round *round)
{
	return round->cancel != NULL && atomic_load_explicit(round->cancel, memory_order_relaxed);
}

/* Says the same of a source for all threads. */
static inline void round_set_source(struct snapshot *snapshot, enum source source, enum reason reason)
{
	free(snapshot->source_reason[source]);
	snapshot->source_reason[source] = NULL;
	snapshot->default_reason[source] = (reason_id)reason;
}

/* The row of a process's leader, or its first row where the leader has none. It must have rows. */
static inline size_t round_leader_row(const struct round *round, const struct process *process)
{
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		if (round->snapshot->tid[row] == process->tgid)
			return row;
	}
	return process->first_row;
}

/* The CPU time of this thread and of the process that reads for it. */
static inline uint64_t capture_cpu_ns(const struct capture *capture)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + reader_cpu_ns(capture->reader);
}

/* Whether sources that are not needed have had their time. */
static inline bool round_is_over_budget(const struct round *round)
{
	return capture_cpu_ns(round->capture) - round->cpu_start_ns > round->budget_ns;
}

/* --- rows.c: the rows of a round, and how readings become their cells --- */

/* Works out which source fills which metric, after the features were checked. */
void capture_choose_sources(struct capture *capture);

/*
 * Makes the arrays parallel to the rows that were added, and finds each row in the previous snapshot, by
 * process and id. The caller may correct round->old_row, and makes the columns of times, before
 * round_settle_rows().
 */
void round_begin_rows(struct round *round);

/*
 * Rows of threads in the previous snapshot start as copies of it; every source of new rows is marked as not
 * read, with the reason that holds until it is.
 */
void round_settle_rows(struct round *round);

/* The id of a policy's name in the strings of the snapshot; its column holds such ids. */
uint64_t round_policy_text(struct round *round, int64_t policy);

/* The file format's flags of a thread whose counters were read, by its rules. */
uint8_t round_measured_flags(const struct feature_checks *checks);

/* The flags that say what a thread is, by those that the kernel has of it (PF_… of include/linux/sched.h). */
uint8_t round_kind_flags(uint64_t task_flags, bool is_leader);

/* Stores the metrics that `source` fills from round->reading and notes that it was read at round->now_ns. */
void round_apply(struct round *round, size_t row, enum source source);

/* Notes why `source` was not read; the metrics that it fills become 0. */
void round_apply_failure(struct round *round, size_t row, enum source source, enum reason reason);

/* Forgets the row's allocation counters. */
void round_forget_heap(struct round *round, size_t row);

/* Forgets what the row's thread waits for. */
void round_forget_wait(struct round *round, size_t row);

/* The row now belongs to another thread: clears everything but what came with the counters. */
void round_reset_row(struct round *round, size_t row);

/* Removes the rows of ended threads. */
void round_drop_ended(struct round *round);

/* --- threads.c: reading threads one by one, from procfs and taskstats --- */

/* Lists all threads and reads those that ran. Returns 0 or a negative errno. */
int round_read_threads(struct round *round);

/*
 * Reads the files of round->extra of threads that ran since, while the budget lasts; in turn over the rounds.
 * Returns 0 or -ECANCELED.
 */
int round_read_extra(struct round *round);

/* The CPUs that a thread may run on, by system call, as an id of the snapshot's pool; or a negative errno. */
int round_read_cpus(struct round *round, uint32_t tid, uint32_t *ret_id);

/* --- thread_waits.c: what threads wait for, by procfs --- */

/* Makes the columns, if the round wants them; before round_settle_rows(). */
void round_begin_waits(struct round *round);

/*
 * Stores the class of a thread if its state says it without its system call, as of one that runs or is
 * stopped and of all kernel threads. Returns whether it does.
 */
bool round_wait_by_state(struct round *round, size_t row);

/*
 * Stores what a thread waits for by the text of its `syscall`; `tasks` is the task directory of its process.
 * Returns REASON_READ, or why it is not known.
 */
enum reason round_wait_by_call(struct round *round, size_t row, int tasks, struct text text);

/* When all is read: waits of threads that moved since they were read are over. */
void round_settle_waits(struct round *round);

/* --- futexes.c: the futexes of the process in scope, on request --- */

/* Begins measuring waits, with the rights of the caller. Without these, only threads are known. */
void futexes_open(struct capture *capture);

/* Gives a snapshot with all of its threads the futexes, if futexes_open() was called. */
void futexes_read(struct round *round);

/* --- pass.c: reading all threads at once by a pass of a BPF program --- */

/* Opens what it needs, with the rights of the caller. */
void passes_open(struct capture *capture);

/* A process of the scope that procfs shows but the kernel hides from passes; 0 if none. */
uint32_t passes_find_hidden(struct capture *capture);
void passes_close(struct task_passes *passes);

/* Lists the threads and fills their rows. Returns 0 or a negative errno. */
int round_read_pass(struct round *round);

/* Lists the threads that changed since the previous snapshot; after round_finish(). */
void round_list_moved(struct round *round);

/* Tries whether passes of these roots work, with the rights of the caller; its words are owned by `arena`. */
void passes_check(const struct roots *roots, struct arena *arena, struct feature_result *ret_result);

/* The row of the process with that task, by the address of its structure; SNAPSHOT_NO_ROW: it has none there.
 */
uint32_t round_find_task(const struct snapshot *snapshot, const struct thread_state *states, uint32_t tgid,
			 uint64_t task);

/* --- pass_ids.c: what ids of passes stand for --- */

/* The path of a cgroup that passes have met, by its id; NULL for others. */
const char *round_known_cgroup(const struct round *round, uint64_t id);

/* --- process_facts.c: what threads have from their process: its name, its cgroup, its memory --- */

/* Whether a process is this program, its supervisor or one that the supervisor forked. */
bool round_is_own(const struct round *round, uint32_t tgid);

/* The string id of the name in `comm` of a thread (or process, below the proc root), or UNKNOWN_TEXT. */
uint32_t round_read_name(struct round *round, int directory, uint32_t id);

/*
 * Reads the path of a thread's cgroup into capture->text, where `*ret_path` points: the v2 path, or the v1
 * path if only v1 has the container. `tasks` is the task directory of the thread's process.
 */
enum reason round_read_cgroup_path(struct round *round, int tasks, uint32_t tid, struct text *ret_path);

/* Names and cgroups of processes, then the triples of all rows. */
void round_name_threads(struct round *round);

/* Reads a process's cgroup if `due` or unknown, in its directory `tasks`. Returns whether it was read. */
bool round_read_process_cgroup(struct round *round, struct process *process, int tasks, bool due);

/* Whether the v1 or v2 freezer stops all tasks in the cgroup of a process. */
bool round_is_frozen(struct round *round, const struct process *process);

/*
 * Sets the cgroups of a process's threads to the process's own, or reads them if they may differ: for all
 * threads when `due`, else for new ones. `was_read`: the process's own cgroup was read in this round.
 */
void round_read_cgroups(struct round *round, struct process *process, int tasks, bool due, bool was_read);

/* The resident memory of processes, as it was read last. */
void round_store_resident(struct round *round);

/* smaps_rollup of leaders, until the budget of expensive sources is spent. */
void round_read_smaps(struct round *round);

/* --- ended_watch.c: the work of threads that ended between two rounds --- */

/*
 * Begins to watch all processes, or those of `scope`, whose list the caller keeps: by BPF programs, or by
 * taskstats without them (ended_records.h). A thread of the round before is listed with its lifetime
 * counters; threads that came and went between two rounds are summed up. The rights that bpf_check() and
 * taskstats_exits_open() ask for are not needed afterwards. `*ret_result` is on, partial by taskstats, or
 * tells why nothing is watched; its words are owned by `arena`. If it is off beforehand, it tells why BPF is
 * not tried. Returns the watch, to be ended with ended_watch_close(), or NULL, which all calls accept.
 */
struct ended_watch *ended_watch_open(const struct roots *roots, const uint32_t *scope, size_t scope_count,
				     struct arena *arena, struct feature_result *ret_result);
void ended_watch_close(struct ended_watch *watch);

/* A round begins: it may have seen whatever ends from now on. */
void ended_watch_begin(struct ended_watch *watch);

/*
 * Reads records between two rounds to make room for more. Returns the time of the next call, CLOCK_MONOTONIC:
 * UINT64_MAX for never.
 */
uint64_t ended_watch_serve(const struct capture *capture);

/* Gives the snapshot, which has all of its rows by now, the threads that ended since the round before. */
void ended_watch_read(const struct round *round);

/* --- heap.c: which processes the allocator probe examines, what it reads of them, and why it does not --- */

/* Opens the probe where it is wanted, after the roots, whose ids must mean something to system calls. */
void heap_open(struct capture *capture, bool is_wanted);
void heap_close(struct heap *heap);

/* Decides whether the round reads counters always, within the budget or not at all; sets heap_is_on too. */
void heap_choose_use(struct round *round);

/* The reason of what is not read in this round. */
enum reason heap_default_reason(const struct capture *capture);

/* When the rows are made: sets what they hold while the probe is off, or until they are read. */
void heap_begin(struct round *round);

/*
 * Starts examining a process, so that its executable is resolved while others are read. `tasks` is its task
 * directory.
 */
void heap_look_ahead(struct round *round, struct process *process, int tasks);

/* Reads the counters of all threads that ran since they were last read. Returns 0 or -ECANCELED. */
int heap_read(struct round *round);

/* Fills in the snapshot's summary of the probe, by the rules of the file format, and the list of processes.
 */
void heap_summarize(struct round *round);

/*
 * --- finish.c: what a snapshot says besides its threads: host-wide sources, expensive sources, reasons,
 * tallies, summaries. To be called once, when all rows are read ---
 */
void round_finish(struct round *round);

/* Reads what is counted for the host: to be called right after the counters of threads. */
void round_read_host_counters(struct round *round);

#endif
