/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"
#include "report/json_text.h"

enum {
	SCHEMA_VERSION = 3
};

void probe_record_release(struct probe_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		for (size_t thread = 0; thread < record->snapshots[i].count; thread++)
			free(record->snapshots[i].names[thread]);
		free(record->snapshots[i].names);
		free(record->snapshots[i].threads);
	}
	free(record->snapshots);
	free(record->version);
	*record = (struct probe_record){0};
}

bool probe_record_all_failed(const struct probe_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		for (size_t thread = 0; thread < record->snapshots[i].count; thread++) {
			if (record->snapshots[i].threads[thread].tag == HEAP_TAG_NONE)
				return false;
		}
	}
	return record->count > 0;
}

/* "[ptrace-seize] could not be attached to: Operation not permitted" */
static void append_failure(struct buffer *buffer, const struct probe_thread *thread)
{
	buffer_append_text(buffer, heap_tags[thread->tag].words);
	if (thread->error_number != 0)
		buffer_append_format(buffer, ": %s", strerror(thread->error_number));
	else if (heap_tags[thread->tag].remedy != NULL)
		buffer_append_format(buffer, " (%s)", heap_tags[thread->tag].remedy);
}

static void append_json_thread(const struct probe_thread *thread, const char *name, struct buffer *buffer)
{
	buffer_append_format(buffer, "        {\n          \"tid\": %" PRIu32, thread->tid);
	if (name != NULL) {
		buffer_append_text(buffer, ",\n          \"comm\": ");
		json_append_text(buffer, name);
		buffer_append_format(buffer, ",\n          \"start_time_jiffies\": %" PRIu64,
				     thread->start_time);
	}
	if (thread->tag == HEAP_TAG_NONE) {
		buffer_append_format(buffer,
				     ",\n          \"allocated_bytes\": %" PRIu64
				     ",\n          \"deallocated_bytes\": %" PRIu64,
				     thread->allocated, thread->deallocated);
	} else {
		struct buffer text = {0};

		buffer_append_format(&text, "[%s] ", heap_tags[thread->tag].name);
		append_failure(&text, thread);
		buffer_append_text(buffer, ",\n          \"error\": ");
		json_append_text(buffer, text.data);
		buffer_append_text(buffer, ",\n          \"error_kind\": ");
		json_append_text(buffer, heap_tags[thread->tag].name);
		buffer_release(&text);
	}
	buffer_append_text(buffer, "\n        }");
}

static void append_json_snapshot(const struct probe_snapshot *snapshot, struct buffer *buffer)
{
	buffer_append_format(buffer,
			     "    {\n      \"timestamp_unix_sec\": %" PRId64
			     ",\n      \"elapsed_since_start_ns\": %" PRIu64 ",\n      \"threads\": [",
			     snapshot->unix_seconds, snapshot->elapsed_ns);
	for (size_t i = 0; i < snapshot->count; i++) {
		buffer_append_text(buffer, i == 0 ? "\n" : ",\n");
		append_json_thread(&snapshot->threads[i], snapshot->names[i], buffer);
	}
	buffer_append_text(buffer, snapshot->count == 0 ? "]\n    }" : "\n      ]\n    }");
}

void probe_record_append_json(const struct probe_record *record, struct buffer *buffer)
{
	buffer_append_format(buffer,
			     "{\n  \"schema_version\": %d,\n  \"pid\": %" PRIu32
			     ",\n  \"tool_version\": \"" CTOP_VERSION
			     "\",\n  \"started_at_unix_sec\": %" PRId64,
			     SCHEMA_VERSION, record->pid, record->started_unix_seconds);
	if (record->interval_ms != 0)
		buffer_append_format(buffer, ",\n  \"interval_ms\": %" PRIu64, record->interval_ms);
	buffer_append_format(buffer, ",\n  \"interrupted\": %s", record->interrupted ? "true" : "false");
	if (record->layout != NULL) {
		buffer_append_text(buffer, ",\n  \"layout\": ");
		json_append_text(buffer, record->layout);
	}
	if (record->version != NULL) {
		buffer_append_text(buffer, ",\n  \"jemalloc_version\": ");
		json_append_text(buffer, record->version);
	}
	buffer_append_text(buffer, ",\n  \"snapshots\": [");
	for (size_t i = 0; i < record->count; i++) {
		buffer_append_text(buffer, i == 0 ? "\n" : ",\n");
		append_json_snapshot(&record->snapshots[i], buffer);
	}
	buffer_append_text(buffer, record->count == 0 ? "]\n}\n" : "\n  ]\n}\n");
}

static void append_thread(const struct probe_thread *thread, const char *name, struct buffer *buffer)
{
	if (thread->tag != HEAP_TAG_NONE)
		buffer_append_format(buffer, "warning: tid %" PRIu32, thread->tid);
	else
		buffer_append_format(buffer, "tid=%" PRIu32, thread->tid);
	if (name != NULL) {
		buffer_append_text(buffer, " comm=");
		unicode_append_printable(buffer, name, strlen(name), "?");
	}
	if (thread->tag != HEAP_TAG_NONE) {
		buffer_append_format(buffer, " [%s]: ", heap_tags[thread->tag].name);
		append_failure(buffer, thread);
	} else {
		buffer_append_format(buffer, " allocated_bytes=%" PRIu64 " deallocated_bytes=%" PRIu64,
				     thread->allocated, thread->deallocated);
	}
	buffer_append_char(buffer, '\n');
}

void probe_record_append_text(const struct probe_record *record, struct buffer *output,
			      struct buffer *warnings)
{
	buffer_append_format(output, "pid=%" PRIu32 " tool_version=" CTOP_VERSION "\n", record->pid);
	for (size_t i = 0; i < record->count; i++) {
		const struct probe_snapshot *snapshot = &record->snapshots[i];

		buffer_append_format(output, "--- snapshot %zu/%" PRIu64 " @ %" PRId64 "s ---\n", i + 1,
				     record->wanted, snapshot->unix_seconds);
		for (size_t thread = 0; thread < snapshot->count; thread++) {
			append_thread(&snapshot->threads[thread], snapshot->names[thread],
				      snapshot->threads[thread].tag == HEAP_TAG_NONE ? output : warnings);
		}
	}
}
