/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_H
#define CTOP_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/string_pool.h"
#include "cpu_set.h"
#include "devices.h"
#include "futex.h"
#include "latency.h"
#include "metric/feature.h"
#include "metric/metric.h"
#include "metric/reason.h"
#include "metric/source.h"
#include "metric/wait_class.h"
#include "task_fields.h"

/*
 * One capture of a host: threads by columns, cgroups, pressure, host facts, and for every value whether it
 * was read. Made by capture/ or by the file reader; immutable once handed over, and shared by reference
 * count.
 */

/* Bits of snapshot.thread_flags. Those of what was measured are the file format's, written by its rules. */
enum {
	THREAD_KERNEL = 1 << 0,             /* a kernel thread (PF_KTHREAD) */
	THREAD_TASKSTATS_MEASURED = 1 << 1, /* its taskstats query succeeded */
	THREAD_CPU_DELAY_ACTIVE = 1 << 2,
	THREAD_DELAY_BLOCK_ACTIVE = 1 << 3,
	THREAD_XACCT_ACTIVE = 1 << 4,
	THREAD_JEMALLOC_MEASURED = 1 << 5,
	THREAD_WAIT_AT_LEAST = 1 << 6, /* its waiting_ns is a lower bound */
	/* the leader of a process that has called no execve(2) since it was forked: its memory began as that
	 * of its parent, with what an allocator had counted there */
	THREAD_FORKED = 1 << 7,
};

/*
 * A name. Names that ctop made up, such as `(ended)`, count their terminating NUL in `length`, which no name
 * of a thread or cgroup can contain. This mark distinguishes them from threads of that name, but both are
 * shown alike.
 */
struct name_text {
	const char *text; /* also NUL-terminated */
	size_t length;
};

/* Initialises a name that ctop made up. */
#define OWN_NAME(words)                                                                                      \
	{                                                                                                    \
		words, sizeof(words)                                                                         \
	}

/* A name of a thread, process or cgroup, without mark. */
static inline struct name_text name_text_of(const char *text)
{
	return (struct name_text){text, strlen(text)};
}

/* Whether ctop made a name up. */
static inline bool name_is_own(const char *text, size_t length)
{
	return length != 0 && text[length - 1] == '\0';
}

/* The made-up name with this text, for files whose version did not mark names; otherwise an empty name. */
struct name_text name_find_own(const char *text, size_t length);

/* The length of a name on the screen, without the mark. */
static inline size_t name_shown_length(const char *text, size_t length)
{
	return length - name_is_own(text, length);
}

/*
 * The process name of all processes of the ctop that captured: the viewer, its supervisor and what that
 * forked are one row. A capture of chosen processes has their own names.
 */
extern const struct name_text name_self;

/* Names of records without their own triple, of ended threads whose name is unknown, and of a cgroup that was
 * gone before its path was read. */
extern const struct name_text name_other, name_ended, name_gone;

/* The three names that grouping uses; ids in snapshot.strings. */
struct triple {
	uint32_t pcomm; /* name of the process (of its leader), or name_self */
	uint32_t comm;  /* name of the thread */
	uint32_t cgroup;
};

/* A named number: memory.stat, memory.events, smaps_rollup. */
struct key_value {
	uint32_t key; /* id in snapshot.strings */
	uint64_t value;
};

struct key_values {
	struct key_value *items; /* owned by the snapshot's arena */
	uint32_t count;
};

/* One row of a pressure file. Averages are hundredths of a percent. */
struct pressure_half {
	uint16_t avg10, avg60, avg300;
	uint64_t total_usec;
};

enum pressure_resource {
	PRESSURE_CPU,
	PRESSURE_MEMORY,
	PRESSURE_IO,
	PRESSURE_IRQ,
	PRESSURE_RESOURCE_COUNT,
};

extern const char *const pressure_resource_names[PRESSURE_RESOURCE_COUNT]; /* "cpu" "memory" "io" "irq" */

struct pressure {
	struct {
		struct pressure_half some, full;
	} resource[PRESSURE_RESOURCE_COUNT];
};

/* A number that a file may leave out. */
struct optional_u64 {
	uint64_t value;
	bool present;
};

struct optional_i32 {
	int32_t value;
	bool present;
};

/* The files of the kernel that a cgroup record is read from; `missing` is by them. */
enum cgroup_file {
	CGROUP_FILE_CPU_STAT,
	CGROUP_FILE_CPU_MAX,
	CGROUP_FILE_CPU_WEIGHT,
	CGROUP_FILE_CPU_WEIGHT_NICE,
	CGROUP_FILE_MEMORY_CURRENT,
	CGROUP_FILE_MEMORY_MAX,
	CGROUP_FILE_MEMORY_HIGH,
	CGROUP_FILE_MEMORY_LOW,
	CGROUP_FILE_MEMORY_MIN,
	CGROUP_FILE_MEMORY_STAT,
	CGROUP_FILE_MEMORY_EVENTS,
	CGROUP_FILE_PIDS_CURRENT,
	CGROUP_FILE_PIDS_MAX,
	CGROUP_FILE_CPU_PRESSURE,
	CGROUP_FILE_MEMORY_PRESSURE,
	CGROUP_FILE_IO_PRESSURE,
	CGROUP_FILE_IRQ_PRESSURE,
	CGROUP_FILE_IO_STAT,
	CGROUP_FILE_CPU_THROTTLING, /* the part of cpu.stat that the cpu controller adds */
	CGROUP_FILE_COUNT,
};

extern const char *const cgroup_file_names[CGROUP_FILE_COUNT]; /* "cpu.stat", "memory.current" … */

enum cgroup_type {
	CGROUP_TYPE_U64,
	CGROUP_TYPE_OPTIONAL_U64,
	CGROUP_TYPE_OPTIONAL_I32,
	CGROUP_TYPE_KEY_VALUES,
};

/* Rules that merge the records of one key. A floor or limit that one of them lacks is lacking. */
enum cgroup_merge {
	CGROUP_MERGE_SUM,
	CGROUP_MERGE_LARGEST,
	CGROUP_MERGE_SMALLEST,
	CGROUP_MERGE_GAUGES, /* of a list: keys that say how much there is now take the largest, the others
				add */
};

/* The fields of a cgroup record; the table is cgroup_field.def. */
enum cgroup_record_field {
#define CGROUP_FIELD(id, ...) CGROUP_RECORD_##id,
#include "cgroup_field.def"
#undef CGROUP_FIELD
	CGROUP_RECORD_FIELD_COUNT,
};

struct cgroup_record {
	uint32_t path; /* id in snapshot.strings, as the threads carry it */
#define CGROUP_C_TYPE_U64                  uint64_t
#define CGROUP_C_TYPE_OPTIONAL_U64         struct optional_u64
#define CGROUP_C_TYPE_OPTIONAL_I32         struct optional_i32
#define CGROUP_C_TYPE_KEY_VALUES           struct key_values
#define CGROUP_FIELD(id, field, type, ...) CGROUP_C_TYPE_##type field;
#include "cgroup_field.def"
#undef CGROUP_FIELD
	struct pressure pressure;
	struct optional_u64 id;               /* of two of the same path each has its own */
	struct optional_u64 there_since;      /* at the latest, ns since 1970 */
	struct optional_u64 read_at;          /* CLOCK_BOOTTIME ns */
	reason_id missing[CGROUP_FILE_COUNT]; /* REASON_READ where it was read */
};

struct cgroup_record_entry {
	size_t offset; /* in struct cgroup_record */
	enum cgroup_type type;
	enum cgroup_merge merge;
	enum cgroup_file file; /* that it is read from */
	enum section section;  /* of reports, SECTION_COUNT for none */
	bool limit;            /* unset means no limit */
	enum ladder ladder;
};

extern const struct cgroup_record_entry cgroup_record_fields[CGROUP_RECORD_FIELD_COUNT];

struct sched_ext {
	bool present;
	const char *state;
	uint64_t switch_all, nr_rejected, hotplug_seq, enable_seq;
};

struct probe_summary {
	bool present;
	uint64_t tgids_walked, jemalloc_detected, probed_ok, failed;
	const char *dominant_failure; /* NULL for none */
	bool privilege_dominant;
	bool stopped_known; /* not in the file, like the next: threads stopped in order to be read */
	uint64_t stopped;
};

/* Tokens of read_failures_by_file, in alphabetical order. */
enum parse_file {
	PARSE_FILE_CGROUP,
	PARSE_FILE_IO,
	PARSE_FILE_SCHED,
	PARSE_FILE_SCHEDSTAT,
	PARSE_FILE_SMAPS_ROLLUP,
	PARSE_FILE_STAT,
	PARSE_FILE_STATUS,
	PARSE_FILE_COUNT,
};

extern const char *const parse_file_names[PARSE_FILE_COUNT];

struct parse_summary {
	bool present;
	uint64_t tids_walked, read_failures;
	uint64_t read_failures_by_file[PARSE_FILE_COUNT];
	const char *dominant_read_failure; /* NULL for none */
	bool kernel_config_dominant;
	uint64_t negative_dotted_values;
};

struct taskstats_summary {
	bool present;
	uint64_t ok_count, eperm_count, esrch_count, other_err_count;
};

/* A string to string map: in the order of its keys, unless it says otherwise. */
struct text_pair {
	const char *key, *value;
};

struct text_pairs {
	bool present;
	struct text_pair *items;
	size_t count;
};

/* Facts about the host; a NULL string or absent number was not known. Strings are owned by the snapshot. */
struct host {
	bool present;
	const char *cpu_model, *cpu_vendor;
	struct optional_u64 total_memory_kib, hugepages_total, hugepages_free, hugepages_size_kib;
	const char *thp_enabled, *thp_defrag;
	struct text_pairs sched_tunables;
	struct optional_u64 online_cpus, numa_nodes;
	struct text_pairs cpufreq_governor; /* keys are decimal CPU ids, in numerical order */
	const char *kernel_name, *kernel_release, *arch, *kernel_cmdline;
	const char *task_delayacct;    /* "config_off", "runtime_off", "on" */
	const char *config_task_xacct; /* "on", "off", "unknown" */
	struct {
		bool present;
		struct optional_u64 active_bytes, allocated_bytes, resident_bytes, mapped_bytes, narenas;
	} heap_state;
};

/* Results of reading one source. */
struct tally {
	uint64_t read;
	uint64_t missed[UINT8_MAX + 1]; /* by reason id */
};

/* A process that has jemalloc, or may have it: the allocator probe cannot say. */
struct heap_process {
	uint32_t tgid;
	const char *layout;  /* "dwarf", "known-build" …, NULL where it failed */
	const char *version; /* NULL when unknown */
	const char *tag;     /* failure tag, NULL on success */
	const char *text;    /* detail, may be NULL */
};

/* The title that a process has given itself, or its command line (ctop record --titles all). */
struct process_title {
	uint32_t tgid;
	const char *text; /* UTF-8 */
};

enum namespace_kind {
	NAMESPACE_PID,
	NAMESPACE_USER,
	NAMESPACE_NET,
	NAMESPACE_MNT,
	NAMESPACE_CGROUP,
	NAMESPACE_TIME,
	NAMESPACE_COUNT,
};

extern const char *const namespace_names[NAMESPACE_COUNT];

enum root_kind {
	ROOT_PROC,
	ROOT_SYS,
	ROOT_CGROUP,
	ROOT_COUNT,
};

extern const char *const root_names[ROOT_COUNT];

enum {
	CPU_TICK_KINDS = 8
}; /* user nice system idle iowait irq softirq steal, as in /proc/stat */

/* The `ctop` object of a file: how the capture was made. Strings are owned by the snapshot; NULL when
 * unknown. */
struct provenance {
	bool present; /* false for files written by other programs: flags alone say what was measured */
	const char *program;
	const char *boot_id;
	uint64_t boottime_ns; /* CLOCK_BOOTTIME when the capture began */
	uint64_t duration_ns;
	struct optional_u64 uid;
	const char **capabilities; /* effective ones, without "cap_" */
	size_t capability_count;
	uint64_t namespaces[NAMESPACE_COUNT]; /* inode numbers, 0 when unknown */
	const char *roots[ROOT_COUNT];
	uint32_t *scope; /* process ids the capture was limited to */
	size_t scope_count;
	struct feature_result features[FEATURE_COUNT];
	struct tally *tallies; /* [SOURCE_COUNT], NULL when unknown */
	uint64_t ended;        /* threads that ended while being read */
	/* Lower bound of the host's threads that the kernel hides from BPF and that have no row; 0 also if
	 * unknown. */
	uint64_t hidden_threads;
	/*
	 * By how many bytes the resident memory of a process may be off, because it lacks what each CPU
	 * counts for itself; UINT64_MAX: by more than that. 0: it is exact, or nothing is known.
	 */
	uint64_t resident_error;
	struct heap_process *heap;
	size_t heap_count;
	struct text_pairs containers; /* names by id, ascending: container_names.h */
	struct process_title *titles; /* titles of processes that the recorder chose, ascending by tgid */
	size_t title_count;
	const char *hostname;
	uint64_t cpu_ticks[CPU_TICK_KINDS];
	bool cpu_ticks_known;
	uint64_t cpu_ticks_at_ns; /* CLOCK_BOOTTIME when they were read */
	struct devices devices;
	struct optional_u64 procs_running, procs_blocked, mem_available_kib;
	struct optional_u64 forks; /* threads that started since the host did */
	uint64_t load_centi[3];
	bool load_known;
};

/* A metric of one thread whose state differs from that of the source that fills it. */
struct metric_exception {
	uint32_t thread;
	uint16_t metric;
	reason_id reason; /* REASON_READ: read although its source was not */
};

/* Memory of a process by kind (smaps_rollup), kB as the kernel prints it. */
struct smaps_record {
	uint32_t thread; /* index of the leader */
	struct key_values kib;
};

/*
 * Resident memory of a process, as statm prints it: once, whichever of its threads it was read of.
 * Processes without an address space (kernel threads, zombies) have no record.
 */
struct resident_record {
	uint32_t tgid;
	uint64_t start_time; /* of its leader, USER_HZ ticks since boot: whose memory it is */
	uint64_t bytes;
	uint64_t read_at; /* CLOCK_BOOTTIME ns */
};

/*
 * State of a thread stopped by a cgroup freezer. procfs has no letter for it and shows D (cgroup v1) or S
 * (v2).
 */
#define SNAPSHOT_STATE_FROZEN 'F'

/* From when on a wait for a CPU or in D is more than the waits that threads have all the time. */
#define SNAPSHOT_STUCK_AFTER_NS UINT64_C(500000000)

struct snapshot_window;

struct snapshot {
	atomic_uint references;
	struct snapshot *whole; /* the original of snapshot_with_window() and the like; else NULL */
	struct arena arena;     /* strings and lists of this snapshot that are in no pool */
	struct string_pool strings;
	struct string_pool cpu_sets;

	/* Unique in this process, from 1 on. Not in files, like the seven after it. */
	uint64_t serial;
	/*
	 * Snapshots with the same number, which is not 0, name alike: the id of a string or triple stands for
	 * the same in all of them that have it. See snapshot_begin_names().
	 */
	uint64_t names_serial;
	size_t names_begun; /* strings and triples that the first of these snapshots had; 0 in that one */
	/*
	 * How the threads of a live round stand to those of an earlier one: `carried_serial` is that of the
	 * earlier, 0 for none. `carried_row` has the index there of each thread, UINT32_MAX for none; it
	 * ascends, and the process, id and start time of the two are the same (whether one thread took over
	 * what another was is for thread_match() to find). With `moved_known`, `moved` lists, ascending, the
	 * threads without such an index and all of which a value, a state, a wait, a reason or a flag is
	 * another one (stuck_ns, waiting_ns with its mark, ages and reading times apart): the others hold
	 * what they held, an id in a pool standing for the same text. A thread that waits for a CPU in either
	 * is always among them.
	 */
	uint64_t carried_serial;
	uint32_t *carried_row; /* NULL where carried_serial is 0 */
	uint32_t *moved;
	size_t moved_count;
	bool moved_known;

	uint64_t captured_at_unix_ns;
	struct provenance provenance;

	/* Threads by index, ascending by (tgid, tid) when captured; in a file's own order when read. */
	size_t thread_count;
	size_t thread_capacity;
	uint32_t *tid;
	uint32_t *tgid;
	uint32_t *triple; /* index into triples */
	uint32_t *uid;    /* real user id, UINT32_MAX when unknown */
	uint8_t *thread_flags;
	uint64_t *start_time; /* USER_HZ ticks since boot */
	/*
	 * NULL: no thread has a value other than 0; see metric_encoding. Other snapshots may have the same
	 * column (snapshot_share_column()): values are set by snapshot_store() or through snapshot_column().
	 */
	uint64_t *values[METRIC_COUNT];
	reason_id *source_reason[SOURCE_COUNT]; /* per thread; NULL: every thread has default_reason */
	reason_id default_reason[SOURCE_COUNT];
	uint64_t *read_at[SOURCE_COUNT]; /* CLOCK_BOOTTIME ns of each reading; NULL: all at boottime_ns */
	uint64_t *stuck_ns;              /* how long runnable without running or in D; NULL when not known */
	/*
	 * How long each thread's current wait had lasted when its values were read: for a CPU (METRIC_STATE
	 * is R without running), in D, or asleep (S, I). For a held thread (snapshot_is_held()), which does
	 * not wait, how long it has been held; 0 for running threads. Wall time, not counting host suspends;
	 * a lower bound with THREAD_WAIT_AT_LEAST. NULL: unknown, as from /proc, where `stuck_ns` has a lower
	 * bound. If set, `stuck_ns` has the same values for threads that have waited for a CPU or in D for
	 * SNAPSHOT_STUCK_AFTER_NS, or since the previous round if that is shorter, and 0 for all others.
	 */
	uint64_t *waiting_ns;
	/*
	 * What each thread was doing or waiting for (enum wait_class), and the object of the wait: id in
	 * `strings`, 0 for none. The text of an object makes sense after the name of the class, such as
	 * ":5432 postgres" of a socket. NULL, both at once: unknown. WAIT_CLASS_UNKNOWN: unknown for this
	 * thread, and source_reason of SOURCE_WAIT says why.
	 */
#define SNAPSHOT_WAIT_OBJECT_MAX 64 /* bytes of the text of an object; files have no longer one */
	uint8_t *wait_class;
	uint32_t *wait_object;

	reason_id metric_reason[METRIC_COUNT];   /* for all threads; REASON_READ: what the source says */
	enum source metric_source[METRIC_COUNT]; /* which of two equivalent sources filled it */
	struct metric_exception *exceptions;     /* ascending by thread, then metric */
	size_t exception_count;
	size_t exception_capacity;
	bool metric_has_exceptions[METRIC_COUNT];

	struct triple *triples;
	size_t triple_count;
	size_t triple_capacity;
	/* Until snapshot_finish(), and longer where later snapshots may begin with these names: */
	uint32_t *triple_slots; /* hash table of index + 1 */
	size_t triple_slot_count;
	size_t triples_hashed;   /* of them are in it: the first ones */
	uint32_t triple_last;    /* that was interned */
	uint32_t triple_highest; /* string id of any triple */

	struct smaps_record *smaps; /* ascending by thread */
	size_t smaps_count;
	size_t smaps_capacity;

	struct resident_record *resident; /* ascending by tgid; an excerpt has all of them */
	size_t resident_count;
	size_t resident_capacity;
	reason_id resident_missing; /* REASON_READ, or why no process has any */

	struct cgroup_record *cgroups; /* ascending by path bytes */
	size_t cgroup_count;
	size_t cgroup_capacity;

	struct latency latency;
	struct futexes futexes;   /* not in files */
	struct ended_set *ended;  /* what threads did that ended since the round before; NULL: not known */
	struct pressure pressure; /* host-wide */
	reason_id pressure_missing[PRESSURE_RESOURCE_COUNT];
	struct sched_ext sched_ext;
	struct task_fields task_fields;
	struct host host;
	struct snapshot *host_owner; /* owns the texts of `host`; NULL: this snapshot */
	struct probe_summary probe_summary;
	struct parse_summary parse_summary;
	struct taskstats_summary taskstats_summary;

	struct snapshot_window *window; /* of a file: what happened before; NULL: it is a single reading */

	/* Why a window that begins here differs in length from the one asked for, a sentence; or NULL. */
	const char *window_note;
	const char *format_notes; /* what an older generation of the file lacked, a sentence; NULL for none */
};

/* An empty snapshot with one reference and a serial of its own. Safe from any thread. */
struct snapshot *snapshot_create(void);

/* One more reference to a finished snapshot; returns it. Safe from any thread. */
struct snapshot *snapshot_reference(struct snapshot *snapshot);

/*
 * Gives an empty snapshot the names of a finished one (`from`, NULL for none), with their ids: what is
 * carried over from there keeps its names without looking any of them up. Triples that no thread has any more
 * stay until they are too many; then the snapshot begins without names, as it does without `from`. Only the
 * thread that adds names to the one snapshot after the other may call it.
 */
void snapshot_begin_names(struct snapshot *snapshot, const struct snapshot *from);

/* Shares the host facts of the finished snapshot `owner` with an unfinished one, which keeps a reference to
 * it. */
void snapshot_share_host(struct snapshot *snapshot, struct snapshot *owner);

/*
 * The same snapshot with another window, which is taken over and released with it. It shares everything else
 * with the other one and holds a reference to it. The caller releases it.
 */
struct snapshot *snapshot_with_window(struct snapshot *snapshot, struct snapshot_window *window);

/* Likewise with another set of ended threads. */
struct snapshot *snapshot_with_ended(struct snapshot *snapshot, struct ended_set *ended);

/* Gives one reference up; the last one frees everything. NULL is allowed. Safe from any thread. */
void snapshot_release(struct snapshot *snapshot);

/*
 * A snapshot of its own with the rows that are `kept` of a finished one, and in each what is counted from it:
 * values, reasons, reading times, waits under way and contexts; no names of threads, and not what they wait
 * for. Besides it has numbers of the host, pressure, cgroups and resident memory, and no times of waits.
 * `*ret_new_row` gets the new row of each old one, UINT32_MAX for none. The caller releases the one and frees
 * the other.
 */
struct snapshot *snapshot_excerpt(const struct snapshot *snapshot, const bool kept[], uint32_t **ret_new_row);

/* Whether something is counted from the values of a metric in a snapshot. */
bool snapshot_counts_from(const struct snapshot *snapshot, enum metric metric);

/* The sources of these metrics, and those that they are part of. */
source_set snapshot_sources_counted(const struct snapshot *snapshot);

/* Whether what holds for all threads holds in both: then what stands still is the same in all that is asked.
 */
bool snapshot_agrees(const struct snapshot *a, const struct snapshot *b);

/*
 * Marks the rows of which all was read when the snapshot was, with no wait for a CPU under way. The caller
 * frees the array.
 */
bool *snapshot_find_plain(const struct snapshot *snapshot);

/*
 * Appends rows of another snapshot to an excerpt that nobody else has: what can be counted from them, without
 * names and times of waits. What holds for all threads must be the same in both, and the rows must have no
 * exceptions.
 */
void snapshot_take_rows(struct snapshot *snapshot, const struct snapshot *from, const uint32_t rows[],
			size_t count);

/* Makes room for `capacity` threads in every column that exists. New elements are zero. */
void snapshot_reserve(struct snapshot *snapshot, size_t capacity);

/*
 * The first row that is not before a thread, by bisection; thread_count for none. Only for rows
 * that ascend by process and thread, as those of captures do.
 */
size_t snapshot_search_row(const struct snapshot *snapshot, uint32_t tgid, uint32_t tid);

#define SNAPSHOT_NO_ROW UINT32_MAX

/* The row of a thread, SNAPSHOT_NO_ROW where there is none; of the same rows. */
static inline uint32_t snapshot_find_row(const struct snapshot *snapshot, uint32_t tgid, uint32_t tid)
{
	const size_t row = snapshot_search_row(snapshot, tgid, tid);

	return row < snapshot->thread_count && snapshot->tgid[row] == tgid && snapshot->tid[row] == tid
		       ? (uint32_t)row
		       : SNAPSHOT_NO_ROW;
}

/*
 * Appends a thread whose columns are all zero, triple 0, uid UINT32_MAX, the default_reason of every source,
 * read at boottime_ns; returns its index. Amortised constant time. Columns may move: pointers into them are
 * stale afterwards unless snapshot_reserve() made room.
 */
size_t snapshot_add_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid);

/*
 * The column of a metric, to be written: made (zeroed, thread_capacity long) when it does not exist yet, and
 * copied when another snapshot has it as well. Not for thread_count.
 */
uint64_t *snapshot_column(struct snapshot *snapshot, enum metric metric);

/* The same, made anew for a caller that sets the value of every thread: those are undefined at first. */
uint64_t *snapshot_bare_column(struct snapshot *snapshot, enum metric metric);

/*
 * Takes the column of another snapshot, whose rows are the same threads, and which nobody writes any more.
 * Whichever of them is released last frees it. Returns false, and takes nothing, if `from` has none, or
 * `snapshot` has one or room for another number of threads.
 */
bool snapshot_share_column(struct snapshot *snapshot, const struct snapshot *from, enum metric metric);

/* Sets one value; the column is made or copied for the first number that it did not have. */
static inline void snapshot_store(struct snapshot *snapshot, size_t thread, enum metric metric,
				  uint64_t value)
{
	const uint64_t *values = snapshot->values[metric];

	if ((values != NULL ? values[thread] : 0) != value)
		snapshot_column(snapshot, metric)[thread] = value;
}

/* Forgets the column of a metric: no thread has a value. */
void snapshot_drop_column(struct snapshot *snapshot, enum metric metric);

/* The reason column of a source, made (filled with its default_reason) when it does not exist yet. */
reason_id *snapshot_source_reasons(struct snapshot *snapshot, enum source source);

/* Why a source was not read for a thread, or REASON_READ. */
static inline reason_id snapshot_source_reason(const struct snapshot *snapshot, size_t thread,
					       enum source source)
{
	return snapshot->source_reason[source] != NULL ? snapshot->source_reason[source][thread]
						       : snapshot->default_reason[source];
}

/* When a source itself was read for a thread, whatever it is part of; CLOCK_BOOTTIME, ns. */
static inline uint64_t snapshot_source_read_time(const struct snapshot *snapshot, size_t thread,
						 enum source source)
{
	return snapshot->read_at[source] != NULL ? snapshot->read_at[source][thread]
						 : snapshot->provenance.boottime_ns;
}

/* Makes the columns of what threads wait for, WAIT_CLASS_UNKNOWN for all; there must be none. */
void snapshot_make_wait_columns(struct snapshot *snapshot);

/* The time column of a source, made (filled with boottime_ns) when it does not exist yet. */
uint64_t *snapshot_read_times(struct snapshot *snapshot, enum source source);

/*
 * Interns a name of a process, thread or cgroup. Bytes outside valid UTF-8 become escapes, so that a name has
 * the same text in memory and in every file.
 */
uint32_t snapshot_intern_name(struct string_pool *pool, const char *name, size_t length);

/* Interns a name that ctop made up. */
static inline uint32_t snapshot_intern_own_name(struct string_pool *pool, struct name_text name)
{
	return string_pool_intern(pool, name.text, name.length);
}

/*
 * Returns a name with U+FFFD for each escape that snapshot_intern_name() made, and without the mark of
 * made-up names. The text is in `scratch` until the next call. Names of files without `ctop` objects are
 * returned unchanged.
 */
struct name_text snapshot_name_replaced(const struct snapshot *snapshot, uint32_t name,
					struct buffer *scratch);

/* Id of the triple of these three string ids, added when new; not for a finished snapshot. */
uint32_t snapshot_intern_triple(struct snapshot *snapshot, struct triple triple);

/* The same of a triple of strings of `from`. */
uint32_t snapshot_copy_triple(struct snapshot *snapshot, const struct string_pool *from,
			      const struct triple *triple);

/* Id of name_self in the strings of a snapshot, UINT32_MAX if they lack it: then no thread has this name. */
uint32_t snapshot_self_name(const struct snapshot *snapshot);

/* Id of a triple that is there already, or UINT32_MAX; not for a finished snapshot. */
uint32_t snapshot_find_triple(struct snapshot *snapshot, struct triple triple);

/* The same of a triple of strings of `from`. */
uint32_t snapshot_look_up_triple(struct snapshot *snapshot, const struct string_pool *from,
				 const struct triple *triple);

/* Id of the triple of this name, added when new. */
uint32_t snapshot_other_triple(struct snapshot *snapshot);

/*
 * As snapshot_copy_triple(), in a snapshot with room for so many triples: beyond that names are only looked
 * up, so that they do not grow either, and what is new is snapshot_other_triple().
 */
uint32_t snapshot_copy_triple_within(struct snapshot *snapshot, const struct string_pool *from,
				     const struct triple *triple, size_t room);

/* Notes that `metric` of `thread` has its own state. Any order; snapshot_finish() sorts. */
void snapshot_add_exception(struct snapshot *snapshot, size_t thread, enum metric metric, reason_id reason);

/* Appends a zeroed cgroup record (period 100000) for the path id and returns it; valid until the next one. */
struct cgroup_record *snapshot_add_cgroup(struct snapshot *snapshot, uint32_t path);

/* Appends an empty smaps record of a leader and returns it; valid until the next one. */
struct smaps_record *snapshot_add_smaps(struct snapshot *snapshot, size_t thread);

/* Appends the resident memory of a process, whose leader `thread` is. */
void snapshot_add_resident(struct snapshot *snapshot, size_t thread, uint64_t bytes, uint64_t read_at_ns);

/*
 * Sorts exceptions, cgroups, titles, smaps and resident records, and keeps only the last of repeated ones.
 * Frees what only adding needs, now or in a later snapshot. To be called once, at the end.
 */
void snapshot_finish(struct snapshot *snapshot);

/*
 * Copies titles of processes, in any order and one for each process, into a finished round without titles.
 * Meanwhile no other thread may use the round, except for the capture, which reads no titles.
 */
void snapshot_set_titles(struct snapshot *snapshot, const struct process_title titles[], size_t count);

/* The title of a process in a snapshot, owned by it; NULL if it has none. */
const char *snapshot_find_title(const struct snapshot *snapshot, uint32_t tgid);

/* Whether a sched_ext scheduler ran, by the state that the kernel tells (kernel/sched/ext.c,
 * scx_enable_state_str). */
bool snapshot_sched_ext_runs(const struct snapshot *snapshot);

/* Counts the results of reading a source over the threads to which it applies. */
void snapshot_tally(const struct snapshot *snapshot, enum source source, struct tally *ret_tally);

/* Appends the bytes of a category's value as the snapshot has them. */
void snapshot_append_category(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			      struct buffer *text);

/* The state of a value is REASON_READ, the reason why it is unavailable, or this. */
enum {
	STATE_ABSENT = 256 /* it does not apply, or was not measured in a file without `ctop` objects */
};

/*
 * The state of one metric of one thread. It comes from the snapshot's own record where there is one
 * (provenance.present), else from the format's five flags. For many threads see metric_reader.h.
 */
uint16_t snapshot_value_state(const struct snapshot *snapshot, size_t thread, enum metric metric);

/* The state by the format's five flags alone: REASON_READ or STATE_ABSENT. */
uint16_t snapshot_flagged_state(const struct snapshot *snapshot, size_t thread, enum metric metric);

/* The value of a metric of a thread as stored (0 where the column does not exist; 1 for thread_count). */
static inline uint64_t snapshot_value(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	if (metric == METRIC_THREAD_COUNT)
		return 1;
	return snapshot->values[metric] != NULL ? snapshot->values[metric][thread] : 0;
}

/*
 * How long the present wait of a thread has lasted, which no counter of such waits shows before it ends
 * (sched_info_arrive() in kernel/sched/stats.h): for a CPU (`state` R) or in D. At least that where only
 * `stuck_ns` is known; 0 where it does not wait so, or nothing is known of it.
 */
static inline uint64_t snapshot_wait_in(const struct snapshot *snapshot, size_t thread, char state)
{
	const uint64_t *ages = snapshot->waiting_ns != NULL ? snapshot->waiting_ns : snapshot->stuck_ns;

	return ages != NULL && snapshot_value(snapshot, thread, METRIC_STATE) == (uint64_t)state
		       ? ages[thread]
		       : 0;
}

/* Whether a thread in this state is stopped by a signal, a tracer or a freezer. */
static inline bool snapshot_is_held(uint64_t state)
{
	return state == 'T' || state == 't' || state == SNAPSHOT_STATE_FROZEN;
}

/*
 * Whether a thread waits for completions of an io_uring. It is in_iowait then without being in D
 * (io_cqring_wait_schedule() in io_uring/io_uring.c), so the kernel counts that as a wait for block I/O:
 * in blkio_delay_total, procs_blocked and the pressure of io. Workers of an io_uring wait for block I/O
 * itself.
 */
bool snapshot_waits_for_io_uring(const struct snapshot *snapshot, size_t thread);

static inline uint64_t snapshot_wait_under_way(const struct snapshot *snapshot, size_t thread)
{
	return snapshot_wait_in(snapshot, thread, 'R');
}

/* Whether the present wait of a thread may have begun earlier than that. */
static inline bool snapshot_wait_is_bound(const struct snapshot *snapshot, size_t thread)
{
	return snapshot->waiting_ns == NULL || (snapshot->thread_flags[thread] & THREAD_WAIT_AT_LEAST) != 0;
}

/* The exception for a metric of a thread, or NULL. */
const struct metric_exception *snapshot_find_exception(const struct snapshot *snapshot, size_t thread,
						       enum metric metric);

/* When the source of a metric was read for a thread (where it is part of another and has no time of its own:
 * that one), CLOCK_BOOTTIME ns. */
uint64_t snapshot_read_time(const struct snapshot *snapshot, size_t thread, enum metric metric);

/* The smaps record of a thread, or NULL. */
const struct smaps_record *snapshot_find_smaps(const struct snapshot *snapshot, size_t thread);

/*
 * The resident memory of the process of that id whose leader started at that tick, or NULL. `*hint` makes it
 * quick to ask for one process after the other; 0 at first.
 */
const struct resident_record *snapshot_find_resident(const struct snapshot *snapshot, uint32_t tgid,
						     uint64_t start_time, size_t *hint);

/*
 * The state of the resident memory of a thread: that of its process, which its leader has and no other
 * thread.
 * `*ret_bytes` is set for REASON_READ. `hint` as above.
 */
uint16_t snapshot_resident(const struct snapshot *snapshot, size_t thread, size_t *hint, uint64_t *ret_bytes);

/* The name of a string id. */
static inline struct name_text snapshot_name(const struct snapshot *snapshot, uint32_t id)
{
	return (struct name_text){string_pool_text(&snapshot->strings, id),
				  string_pool_length(&snapshot->strings, id)};
}

/* The text of a string id. */
static inline const char *snapshot_text(const struct snapshot *snapshot, uint32_t id)
{
	return string_pool_text(&snapshot->strings, id);
}

#endif
