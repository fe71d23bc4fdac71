/* SPDX-License-Identifier: GPL-2.0-only */
/* Resident memory of processes: by process, since all threads of one share it. */
#include "base/memory.h"
#include "snapshot.h"

void snapshot_add_resident(struct snapshot *snapshot, size_t thread, uint64_t bytes, uint64_t read_at_ns)
{
	*MEMORY_APPEND(snapshot->resident, snapshot->resident_count,
		       snapshot->resident_capacity) = (struct resident_record){
		.tgid = snapshot->tgid[thread],
		.start_time = snapshot->start_time[thread],
		.bytes = bytes,
		.read_at = read_at_ns,
	};
}

/* The first record from `low` on that is not below the process. */
static size_t search(const struct snapshot *snapshot, uint32_t tgid, size_t low)
{
	size_t high = snapshot->resident_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (snapshot->resident[middle].tgid < tgid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct resident_record *snapshot_find_resident(const struct snapshot *snapshot, uint32_t tgid,
						     uint64_t start_time, size_t *hint)
{
	const struct resident_record *records = snapshot->resident;
	size_t at = *hint;

	/* threads mostly ascend by process, and then it is the one asked for last or the next */
	if (at >= snapshot->resident_count || records[at].tgid > tgid)
		at = search(snapshot, tgid, 0);
	else if (records[at].tgid < tgid && (++at == snapshot->resident_count || records[at].tgid < tgid))
		at = search(snapshot, tgid, at);
	*hint = at;
	return at < snapshot->resident_count && records[at].tgid == tgid &&
			       records[at].start_time == start_time
		       ? &records[at]
		       : NULL;
}

uint16_t snapshot_resident(const struct snapshot *snapshot, size_t thread, size_t *hint, uint64_t *ret_bytes)
{
	const uint32_t tgid = snapshot->tgid[thread];
	const struct resident_record *record;
	reason_id reason = snapshot->resident_missing;

	if (snapshot->tid[thread] != tgid || (snapshot->thread_flags[thread] & THREAD_KERNEL) != 0)
		return STATE_ABSENT;
	record = snapshot_find_resident(snapshot, tgid, snapshot->start_time[thread], hint);
	if (record != NULL) {
		*ret_bytes = record->bytes;
		return REASON_READ;
	}
	if (!snapshot->provenance.present)
		return STATE_ABSENT;
	if (reason == REASON_READ)
		reason = snapshot_source_reason(snapshot, thread, SOURCE_STAT);
	return reason != REASON_READ ? reason : STATE_ABSENT;
}
