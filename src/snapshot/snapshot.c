/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/unicode.h"

const struct name_text name_self = OWN_NAME("ctop (self)");
const struct name_text name_other = OWN_NAME("(other)");
const struct name_text name_ended = OWN_NAME("(ended)");
const struct name_text name_gone = OWN_NAME("(gone)");

const char *const pressure_resource_names[PRESSURE_RESOURCE_COUNT] = {
	[PRESSURE_CPU] = "cpu",
	[PRESSURE_MEMORY] = "memory",
	[PRESSURE_IO] = "io",
	[PRESSURE_IRQ] = "irq",
};

const struct cgroup_record_entry cgroup_record_fields[CGROUP_RECORD_FIELD_COUNT] = {
#define CGROUP_FIELD(id, field, type, name, merge, file, section, limit, ladder)                             \
	{offsetof(struct cgroup_record, field),                                                              \
	 CGROUP_TYPE_##type,                                                                                 \
	 CGROUP_MERGE_##merge,                                                                               \
	 CGROUP_FILE_##file,                                                                                 \
	 SECTION_##section,                                                                                  \
	 limit,                                                                                              \
	 LADDER_##ladder},
#include "cgroup_field.def"
#undef CGROUP_FIELD
};

const char *const cgroup_file_names[CGROUP_FILE_COUNT] = {
	[CGROUP_FILE_CPU_STAT] = "cpu.stat",
	[CGROUP_FILE_CPU_MAX] = "cpu.max",
	[CGROUP_FILE_CPU_WEIGHT] = "cpu.weight",
	[CGROUP_FILE_CPU_WEIGHT_NICE] = "cpu.weight.nice",
	[CGROUP_FILE_MEMORY_CURRENT] = "memory.current",
	[CGROUP_FILE_MEMORY_MAX] = "memory.max",
	[CGROUP_FILE_MEMORY_HIGH] = "memory.high",
	[CGROUP_FILE_MEMORY_LOW] = "memory.low",
	[CGROUP_FILE_MEMORY_MIN] = "memory.min",
	[CGROUP_FILE_MEMORY_STAT] = "memory.stat",
	[CGROUP_FILE_MEMORY_EVENTS] = "memory.events",
	[CGROUP_FILE_PIDS_CURRENT] = "pids.current",
	[CGROUP_FILE_PIDS_MAX] = "pids.max",
	[CGROUP_FILE_CPU_PRESSURE] = "cpu.pressure",
	[CGROUP_FILE_MEMORY_PRESSURE] = "memory.pressure",
	[CGROUP_FILE_IO_PRESSURE] = "io.pressure",
	[CGROUP_FILE_IRQ_PRESSURE] = "irq.pressure",
	[CGROUP_FILE_IO_STAT] = "io.stat",
	[CGROUP_FILE_CPU_THROTTLING] = "cpu.stat throttling",
};

const char *const parse_file_names[PARSE_FILE_COUNT] = {
	[PARSE_FILE_CGROUP] = "cgroup",
	[PARSE_FILE_IO] = "io",
	[PARSE_FILE_SCHED] = "sched",
	[PARSE_FILE_SCHEDSTAT] = "schedstat",
	[PARSE_FILE_SMAPS_ROLLUP] = "smaps_rollup",
	[PARSE_FILE_STAT] = "stat",
	[PARSE_FILE_STATUS] = "status",
};

const char *const namespace_names[NAMESPACE_COUNT] = {
	[NAMESPACE_PID] = "pid", [NAMESPACE_USER] = "user",     [NAMESPACE_NET] = "net",
	[NAMESPACE_MNT] = "mnt", [NAMESPACE_CGROUP] = "cgroup", [NAMESPACE_TIME] = "time",
};

const char *const root_names[ROOT_COUNT] = {
	[ROOT_PROC] = "proc",
	[ROOT_SYS] = "sys",
	[ROOT_CGROUP] = "cgroup",
};

enum {
	FIRST_CAPACITY = 64,
	DEFAULT_PERIOD_US = 100000, /* of cpu.max where it says nothing (kernel/sched/core.c) */
	/* Strings and triples that snapshots go on with, whatever their threads have. */
	NAMES_SPARE = 1024,
	NAMES_GROWTH = 2,     /* above that, times as many as they began with */
	NAMES_OF_THREAD = 10, /* and for each thread: four strings and a triple, twice */
};

struct snapshot *snapshot_create(void)
{
	static atomic_uint_fast64_t serials;
	struct snapshot *snapshot = memory_allocate_zero(1, sizeof(*snapshot));

	atomic_init(&snapshot->references, 1);
	snapshot->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	snapshot->resident_missing = REASON_NOT_IN_FILE;
	return snapshot;
}

struct snapshot *snapshot_reference(struct snapshot *snapshot)
{
	atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
	return snapshot;
}

void snapshot_share_host(struct snapshot *snapshot, struct snapshot *owner)
{
	snapshot->host = owner->host;
	snapshot->host_owner = snapshot_reference(owner);
}

static struct snapshot *share(struct snapshot *snapshot)
{
	struct snapshot *other = memory_allocate(sizeof(*other));

	memcpy(other, snapshot, sizeof(*other));
	atomic_init(&other->references, 1);
	other->whole = snapshot_reference(snapshot);
	return other;
}

struct snapshot *snapshot_with_window(struct snapshot *snapshot, struct snapshot_window *window)
{
	struct snapshot *other = share(snapshot);

	other->window = window;
	return other;
}

struct snapshot *snapshot_with_ended(struct snapshot *snapshot, struct ended_set *ended)
{
	struct snapshot *other = share(snapshot);

	other->ended = ended;
	return other;
}

/* A column of values, as snapshots that share it count it. */
struct column {
	atomic_size_t references;
	uint64_t values[];
};

_Static_assert(sizeof(struct column) == sizeof(uint64_t), "a column takes the room of one value more");

static struct column *column_of(uint64_t *values)
{
	return (struct column *)(void *)(values - 1);
}

/* Values of one snapshot, undefined at first or zero. */
static uint64_t *make_values(size_t capacity, bool is_zero)
{
	const size_t size = sizeof(uint64_t);
	struct column *column = is_zero ? memory_allocate_zero(capacity + 1, size)
					: memory_allocate((capacity + 1) * size);

	atomic_init(&column->references, 1);
	return column->values;
}

/* A larger column of `size`-byte elements. What is new is zero, and of a large one takes no memory yet. */
static void *enlarge(void *column, size_t old_capacity, size_t capacity, size_t size)
{
	void *larger = memory_allocate_zero(capacity, size);

	if (column != NULL)
		memcpy(larger, column, old_capacity * size);
	free(column);
	return larger;
}

/* The same for a column that a snapshot need not have. */
static void *enlarge_optional(void *column, size_t old_capacity, size_t capacity, size_t size)
{
	return column != NULL ? enlarge(column, old_capacity, capacity, size) : NULL;
}

/* Gives a metric that has a column one of the snapshot's own, with the values it has. */
static void copy_values(struct snapshot *snapshot, enum metric metric, size_t capacity)
{
	uint64_t *values;

	if (snapshot->values[metric] == NULL)
		return;
	values = make_values(capacity, capacity != snapshot->thread_capacity);
	memcpy(values, snapshot->values[metric], snapshot->thread_capacity * sizeof(*values));
	snapshot_drop_column(snapshot, metric);
	snapshot->values[metric] = values;
}

void snapshot_reserve(struct snapshot *snapshot, size_t capacity)
{
	size_t old = snapshot->thread_capacity;

	if (capacity <= old)
		return;
	snapshot->tid = enlarge(snapshot->tid, old, capacity, sizeof(uint32_t));
	snapshot->tgid = enlarge(snapshot->tgid, old, capacity, sizeof(uint32_t));
	snapshot->triple = enlarge(snapshot->triple, old, capacity, sizeof(uint32_t));
	snapshot->uid = enlarge(snapshot->uid, old, capacity, sizeof(uint32_t));
	snapshot->thread_flags = enlarge(snapshot->thread_flags, old, capacity, sizeof(uint8_t));
	snapshot->start_time = enlarge(snapshot->start_time, old, capacity, sizeof(uint64_t));
	snapshot->stuck_ns = enlarge_optional(snapshot->stuck_ns, old, capacity, sizeof(uint64_t));
	snapshot->waiting_ns = enlarge_optional(snapshot->waiting_ns, old, capacity, sizeof(uint64_t));
	snapshot->wait_class = enlarge_optional(snapshot->wait_class, old, capacity, sizeof(uint8_t));
	snapshot->wait_object = enlarge_optional(snapshot->wait_object, old, capacity, sizeof(uint32_t));
	for (size_t i = 0; i < METRIC_COUNT; i++)
		copy_values(snapshot, (enum metric)i, capacity);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		snapshot->source_reason[i] = enlarge_optional(snapshot->source_reason[i], old, capacity,
							      sizeof(reason_id));
		snapshot->read_at[i] = enlarge_optional(snapshot->read_at[i], old, capacity,
							sizeof(uint64_t));
	}
	snapshot->thread_capacity = capacity;
}

size_t snapshot_add_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid)
{
	size_t thread = snapshot->thread_count;

	if (thread == snapshot->thread_capacity)
		snapshot_reserve(snapshot, thread != 0 ? thread * 2 : FIRST_CAPACITY);
	snapshot->tid[thread] = tid;
	snapshot->tgid[thread] = tgid;
	snapshot->uid[thread] = UINT32_MAX;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->source_reason[i] != NULL)
			snapshot->source_reason[i][thread] = snapshot->default_reason[i];
		if (snapshot->read_at[i] != NULL)
			snapshot->read_at[i][thread] = snapshot->provenance.boottime_ns;
	}
	snapshot->thread_count++;
	return thread;
}

size_t snapshot_search_row(const struct snapshot *snapshot, uint32_t tgid, uint32_t tid)
{
	size_t low = 0, high = snapshot->thread_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (snapshot->tgid[middle] < tgid ||
		    (snapshot->tgid[middle] == tgid && snapshot->tid[middle] < tid))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t *snapshot_column(struct snapshot *snapshot, enum metric metric)
{
	uint64_t *values = snapshot->values[metric];

	if (values == NULL)
		snapshot->values[metric] = make_values(snapshot->thread_capacity, true);
	else if (atomic_load_explicit(&column_of(values)->references, memory_order_acquire) != 1)
		copy_values(snapshot, metric, snapshot->thread_capacity);
	return snapshot->values[metric];
}

uint64_t *snapshot_bare_column(struct snapshot *snapshot, enum metric metric)
{
	const size_t count = snapshot->thread_count, capacity = snapshot->thread_capacity;
	uint64_t *values = make_values(capacity, false);

	memset(values + count, 0, (capacity - count) * sizeof(*values));
	snapshot_drop_column(snapshot, metric);
	snapshot->values[metric] = values;
	return values;
}

bool snapshot_share_column(struct snapshot *snapshot, const struct snapshot *from, enum metric metric)
{
	uint64_t *values = from->values[metric];

	if (values == NULL || snapshot->values[metric] != NULL ||
	    snapshot->thread_count != from->thread_count ||
	    snapshot->thread_capacity != from->thread_capacity)
		return false;
	atomic_fetch_add_explicit(&column_of(values)->references, 1, memory_order_relaxed);
	snapshot->values[metric] = values;
	return true;
}

void snapshot_drop_column(struct snapshot *snapshot, enum metric metric)
{
	uint64_t *values = snapshot->values[metric];

	snapshot->values[metric] = NULL;
	if (values != NULL &&
	    atomic_fetch_sub_explicit(&column_of(values)->references, 1, memory_order_acq_rel) == 1)
		free(column_of(values));
}

reason_id *snapshot_source_reasons(struct snapshot *snapshot, enum source source)
{
	if (snapshot->source_reason[source] == NULL) {
		reason_id *column = memory_allocate(snapshot->thread_capacity);

		memset(column, snapshot->default_reason[source], snapshot->thread_capacity);
		snapshot->source_reason[source] = column;
	}
	return snapshot->source_reason[source];
}

uint64_t *snapshot_read_times(struct snapshot *snapshot, enum source source)
{
	if (snapshot->read_at[source] == NULL) {
		uint64_t *column = memory_allocate(snapshot->thread_capacity * sizeof(*column));

		for (size_t i = 0; i < snapshot->thread_capacity; i++)
			column[i] = snapshot->provenance.boottime_ns;
		snapshot->read_at[source] = column;
	}
	return snapshot->read_at[source];
}

void snapshot_make_wait_columns(struct snapshot *snapshot)
{
	snapshot->wait_class = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint8_t));
	snapshot->wait_object = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint32_t));
}

bool snapshot_waits_for_io_uring(const struct snapshot *snapshot, size_t thread)
{
	/* io_wq_worker() and io_sq_thread() of io_uring: iou-wrk-PID, iou-sqp-PID */
	static const char worker[] = "iou-";

	return snapshot->wait_class != NULL && snapshot->wait_class[thread] == WAIT_CLASS_IO_URING &&
	       snapshot_value(snapshot, thread, METRIC_STATE) == 'S' &&
	       strncmp(snapshot_text(snapshot, snapshot->triples[snapshot->triple[thread]].comm), worker,
		       strlen(worker)) != 0;
}

/* Whether most of the names of a snapshot may be those of its threads. */
static bool names_are_worth_keeping(const struct snapshot *snapshot, size_t begun)
{
	const size_t count = snapshot->strings.count + snapshot->triple_count;

	return count <= NAMES_GROWTH * begun + NAMES_SPARE &&
	       count <= NAMES_OF_THREAD * snapshot->thread_count + NAMES_SPARE;
}

void snapshot_begin_names(struct snapshot *snapshot, const struct snapshot *from)
{
	size_t begun;

	snapshot->names_serial = snapshot->serial;
	if (from == NULL || from->names_serial == 0)
		return;
	begun = from->names_begun != 0 ? from->names_begun : from->strings.count + from->triple_count;
	if (!names_are_worth_keeping(from, begun))
		return;
	snapshot->names_serial = from->names_serial;
	snapshot->names_begun = begun;
	string_pool_continue(&snapshot->strings, &from->strings);
	snapshot->triples = memory_copy(from->triples, from->triple_count, from->triple_capacity,
					sizeof(*from->triples));
	snapshot->triple_count = from->triple_count;
	snapshot->triple_capacity = from->triple_capacity;
	snapshot->triple_highest = from->triple_highest;
	snapshot->triple_slots = memory_copy(from->triple_slots, from->triple_slot_count,
					     from->triple_slot_count, sizeof(*from->triple_slots));
	snapshot->triple_slot_count = from->triple_slot_count;
	snapshot->triples_hashed = from->triples_hashed;
}

static bool triples_are_equal(const struct triple *left, const struct triple *right)
{
	return left->pcomm == right->pcomm && left->comm == right->comm && left->cgroup == right->cgroup;
}

/* The place of the triple in the hash table, or the free one for it. */
static uint32_t *find_triple_slot(const struct snapshot *snapshot, const struct triple *triple)
{
	size_t mask = snapshot->triple_slot_count - 1, i = hash_bytes(triple, sizeof(*triple)) & mask;

	while (snapshot->triple_slots[i] != 0 &&
	       !triples_are_equal(&snapshot->triples[snapshot->triple_slots[i] - 1], triple))
		i = (i + 1) & mask;
	return &snapshot->triple_slots[i];
}

/* Brings all triples into the hash table; most hosts hardly ever need it. */
static void hash_triples(struct snapshot *snapshot)
{
	size_t count = snapshot->triple_slot_count != 0 ? snapshot->triple_slot_count : FIRST_CAPACITY;

	while (snapshot->triple_count * 2 > count)
		count *= 2;
	if (count != snapshot->triple_slot_count) {
		free(snapshot->triple_slots);
		snapshot->triple_slots = memory_allocate_zero(count, sizeof(*snapshot->triple_slots));
		snapshot->triple_slot_count = count;
		snapshot->triples_hashed = 0;
	}
	for (; snapshot->triples_hashed < snapshot->triple_count; snapshot->triples_hashed++)
		*find_triple_slot(snapshot, &snapshot->triples[snapshot->triples_hashed]) =
			(uint32_t)snapshot->triples_hashed + 1;
}

static uint32_t highest_string(const struct triple *triple)
{
	uint32_t highest = triple->pcomm > triple->comm ? triple->pcomm : triple->comm;

	return highest > triple->cgroup ? highest : triple->cgroup;
}

/* The triple that was interned last or that came behind it: processes have threads of the same names. */
static bool follows_last(const struct snapshot *snapshot, const struct triple *triple, uint32_t *ret_id)
{
	for (*ret_id = snapshot->triple_last; *ret_id < snapshot->triple_last + 2; ++*ret_id) {
		if (*ret_id < snapshot->triple_count &&
		    triples_are_equal(&snapshot->triples[*ret_id], triple))
			return true;
	}
	return false;
}

uint32_t snapshot_intern_triple(struct snapshot *snapshot, struct triple triple)
{
	uint32_t id;

	if (follows_last(snapshot, &triple, &id))
		return snapshot->triple_last = id;
	/* one with a string that none has is new */
	if (snapshot->triple_count == 0 || highest_string(&triple) > snapshot->triple_highest) {
		id = UINT32_MAX;
		snapshot->triple_highest = highest_string(&triple);
	} else {
		hash_triples(snapshot);
		id = *find_triple_slot(snapshot, &triple) - 1;
	}
	if (id == UINT32_MAX) {
		id = (uint32_t)snapshot->triple_count;
		*MEMORY_APPEND(snapshot->triples, snapshot->triple_count, snapshot->triple_capacity) = triple;
	}
	return snapshot->triple_last = id;
}

uint32_t snapshot_find_triple(struct snapshot *snapshot, struct triple triple)
{
	hash_triples(snapshot);
	return *find_triple_slot(snapshot, &triple) - 1;
}

uint32_t snapshot_copy_triple(struct snapshot *snapshot, const struct string_pool *from,
			      const struct triple *triple)
{
	return snapshot_intern_triple(
		snapshot, (struct triple){
				  .pcomm = string_pool_copy(&snapshot->strings, from, triple->pcomm),
				  .comm = string_pool_copy(&snapshot->strings, from, triple->comm),
				  .cgroup = string_pool_copy(&snapshot->strings, from, triple->cgroup),
			  });
}

struct name_text name_find_own(const char *text, size_t length)
{
	static const struct name_text *const names[] = {&name_self, &name_other, &name_ended, &name_gone};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (length == names[i]->length - 1 && memcmp(names[i]->text, text, length) == 0)
			return *names[i];
	}
	return (struct name_text){0};
}

uint32_t snapshot_intern_name(struct string_pool *pool, const char *name, size_t length)
{
	struct buffer escaped = {0};
	uint32_t id;

	if (unicode_is_valid(name, length))
		return string_pool_intern(pool, name, length);
	unicode_append_escaped(&escaped, name, length);
	id = string_pool_intern(pool, escaped.data, escaped.length);
	buffer_release(&escaped);
	return id;
}

/*
 * Returns the length of the escape that `text` begins with if it encodes a byte outside valid UTF-8, else 0.
 * systemd escapes all bytes of a character: together such escapes are valid UTF-8 and part of the kernel's
 * name; `*ret_valid` is their length.
 */
static size_t invalid_escape(const char *text, size_t length, size_t *ret_valid)
{
	char bytes[4];
	size_t count = 0, at = 0;
	uint32_t scalar;

	while (count < sizeof(bytes)) {
		unsigned char byte;
		const size_t used = unicode_decode_escape(text + at, length - at, &byte);

		if (used == 0 || byte < 0x80)
			break;
		bytes[count++] = (char)byte;
		at += used;
	}
	*ret_valid = count != 0 ? unicode_decode(bytes, count, &scalar) * (at / count) : 0;
	return count != 0 && *ret_valid == 0 ? at / count : 0;
}

struct name_text snapshot_name_replaced(const struct snapshot *snapshot, uint32_t name,
					struct buffer *scratch)
{
	const struct name_text whole = snapshot_name(snapshot, name);
	const char *text = whole.text;
	size_t length = name_shown_length(text, whole.length);

	if (!snapshot->provenance.present)
		return whole;
	buffer_clear(scratch);
	buffer_append_text(scratch, "");
	while (length != 0) {
		size_t valid, used = invalid_escape(text, length, &valid);

		if (used != 0) {
			buffer_append_text(scratch, "\uFFFD");
		} else {
			used = valid != 0 ? valid : 1;
			buffer_append(scratch, text, used);
		}
		text += used;
		length -= used;
	}
	return (struct name_text){scratch->data, scratch->length};
}

uint32_t snapshot_self_name(const struct snapshot *snapshot)
{
	return string_pool_find(&snapshot->strings, name_self.text, name_self.length);
}

uint32_t snapshot_look_up_triple(struct snapshot *snapshot, const struct string_pool *from,
				 const struct triple *triple)
{
	const uint32_t ids[3] = {triple->pcomm, triple->comm, triple->cgroup};
	uint32_t own[3];

	for (size_t i = 0; i < 3; i++)
		own[i] = string_pool_find(&snapshot->strings, string_pool_text(from, ids[i]),
					  string_pool_length(from, ids[i]));
	return snapshot_find_triple(snapshot, (struct triple){own[0], own[1], own[2]});
}

uint32_t snapshot_other_triple(struct snapshot *snapshot)
{
	const uint32_t name = snapshot_intern_own_name(&snapshot->strings, name_other);

	return snapshot_intern_triple(snapshot, (struct triple){name, name, name});
}

uint32_t snapshot_copy_triple_within(struct snapshot *snapshot, const struct string_pool *from,
				     const struct triple *triple, size_t room)
{
	uint32_t id;

	if (snapshot->triple_count < room)
		return snapshot_copy_triple(snapshot, from, triple);
	id = snapshot_look_up_triple(snapshot, from, triple);
	return id != UINT32_MAX ? id : snapshot_other_triple(snapshot);
}

void snapshot_add_exception(struct snapshot *snapshot, size_t thread, enum metric metric, reason_id reason)
{
	*MEMORY_APPEND(snapshot->exceptions, snapshot->exception_count,
		       snapshot->exception_capacity) = (struct metric_exception){
		.thread = (uint32_t)thread,
		.metric = (uint16_t)metric,
		.reason = reason,
	};
	snapshot->metric_has_exceptions[metric] = true;
}

struct cgroup_record *snapshot_add_cgroup(struct snapshot *snapshot, uint32_t path)
{
	struct cgroup_record *record = MEMORY_APPEND(snapshot->cgroups, snapshot->cgroup_count,
						     snapshot->cgroup_capacity);

	*record = (struct cgroup_record){.path = path, .max_period_us = DEFAULT_PERIOD_US};
	return record;
}

struct smaps_record *snapshot_add_smaps(struct snapshot *snapshot, size_t thread)
{
	struct smaps_record *record = MEMORY_APPEND(snapshot->smaps, snapshot->smaps_count,
						    snapshot->smaps_capacity);

	*record = (struct smaps_record){.thread = (uint32_t)thread};
	return record;
}

bool snapshot_sched_ext_runs(const struct snapshot *snapshot)
{
	const char *state = snapshot->sched_ext.present ? snapshot->sched_ext.state : NULL;

	return state != NULL && strcmp(state, "enabled") == 0;
}

void snapshot_append_category(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			      struct buffer *text)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_CHARACTER:
		unicode_append(text, (uint32_t)value);
		break;
	case METRIC_ENCODING_BOOLEAN:
		buffer_append_text(text, value != 0 ? "true" : "false");
		break;
	default:
		buffer_append(text, string_pool_text(&snapshot->strings, (uint32_t)value),
			      string_pool_length(&snapshot->strings, (uint32_t)value));
		break;
	}
}
