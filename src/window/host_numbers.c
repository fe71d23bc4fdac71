/* SPDX-License-Identifier: GPL-2.0-only */
#include "host_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/number.h"

/* Two columns of a CPU's line in /proc/stat (proc_stat(5)). */
enum {
	TICK_IDLE = 3,
	TICK_IOWAIT = 4
};

/*
 * Ticks that a CPU may count beyond the elapsed time. Each column is rounded down, and busy time is sampled
 * while idle time is measured (get_idle_time() of fs/proc/stat.c). One CPU can be off by more than the
 * average of many.
 */
enum {
	EXCESS_TICKS = 2,       /* per CPU */
	EXCESS_TICKS_LEAST = 4, /* minimum for a host */
};

uint64_t host_online_cpus(const struct snapshot *round)
{
	return round->provenance.devices.cpu_count != 0 ? round->provenance.devices.cpu_count
							: round->host.online_cpus.value;
}

/* Whether the same CPUs were online in two rounds; true if unknown. */
static bool has_same_cpus(const struct snapshot *now, const struct snapshot *before)
{
	const struct devices *to = &now->provenance.devices, *from = &before->provenance.devices;
	const uint64_t count = host_online_cpus(now), earlier = host_online_cpus(before);

	if (count == 0 || earlier == 0)
		return true;
	for (size_t i = 0; i < to->cpu_count && i < from->cpu_count; i++) {
		if (to->cpus[i].number != from->cpus[i].number)
			return false;
	}
	return count == earlier;
}

/* The most ticks that `cpus` CPUs can count between two rounds, UINT64_MAX if unknown. */
static uint64_t most_ticks(const struct snapshot *now, const struct snapshot *before, uint64_t cpus)
{
	const uint64_t to = now->provenance.cpu_ticks_at_ns, from = before->provenance.cpu_ticks_at_ns;
	const uint64_t excess = cpus * EXCESS_TICKS;

	if (cpus == 0 || from == 0 || to <= from || (to - from) / NS_PER_TICK > UINT64_MAX / 2 / cpus)
		return UINT64_MAX;
	return (uint64_t)((double)(to - from) / NS_PER_TICK * (double)cpus) +
	       (excess > EXCESS_TICKS_LEAST ? excess : EXCESS_TICKS_LEAST);
}

/*
 * Busy share of CPU time between two rounds, as a fraction. NAN if unknown; `*ret_reason` then has the reason
 * if the ticks were read. The kernel counts idle time of offline CPUs differently, so the sum jumps by
 * seconds when a CPU goes offline or online (get_idle_time() of fs/proc/stat.c).
 */
static double busy_share(const struct snapshot *now, const struct snapshot *before, const char **ret_reason)
{
	uint64_t busy = 0, all = 0;

	*ret_reason = NULL;
	if (before == NULL || !now->provenance.cpu_ticks_known || !before->provenance.cpu_ticks_known)
		return NAN;
	*ret_reason = "CPU hotplug";
	if (!has_same_cpus(now, before))
		return NAN;
	for (int i = 0; i < CPU_TICK_KINDS; i++) {
		uint64_t ticks = now->provenance.cpu_ticks[i] - before->provenance.cpu_ticks[i];

		if (now->provenance.cpu_ticks[i] < before->provenance.cpu_ticks[i]) {
			/* iowait may go backwards (Documentation/filesystems/proc.rst) */
			if (i == TICK_IDLE)
				return NAN;
			continue;
		}
		all = number_add_saturating(all, ticks);
		if (i != TICK_IDLE && i != TICK_IOWAIT)
			busy = number_add_saturating(busy, ticks);
	}
	*ret_reason = "more ticks than time";
	if (all > most_ticks(now, before, host_online_cpus(now)))
		return NAN;
	*ret_reason = NULL;
	return all != 0 ? (double)busy / (double)all : NAN;
}

double host_pressure_share(const struct snapshot *now, const struct snapshot *before,
			   enum pressure_resource resource)
{
	const uint64_t to = now->pressure.resource[resource].some.total_usec;
	uint64_t from, span_ns;

	if (before == NULL || before->pressure_missing[resource] != REASON_READ ||
	    now->pressure_missing[resource] != REASON_READ ||
	    now->provenance.boottime_ns <= before->provenance.boottime_ns)
		return NAN;
	from = before->pressure.resource[resource].some.total_usec;
	span_ns = now->provenance.boottime_ns - before->provenance.boottime_ns;
	/* the clock was read a little before or after the file */
	return to >= from ? fmin(1, (double)(to - from) * NS_PER_US / (double)span_ns) : NAN;
}

/* --- devices --- */

double *host_cpu_shares(const struct snapshot *now, const struct snapshot *before, size_t *ret_count)
{
	const struct devices *to, *from;
	struct cpu_ticks *last; /* by number */
	uint64_t most;
	size_t count;
	double *shares;

	*ret_count = 0;
	if (now == NULL || before == NULL)
		return NULL;
	to = &now->provenance.devices;
	from = &before->provenance.devices;
	if (to->cpu_count == 0 || from->cpu_count == 0)
		return NULL;
	most = most_ticks(now, before, 1);
	count = to->cpu_end;
	for (size_t i = 0; i < to->cpu_count; i++)
		count = to->cpus[i].number >= count ? to->cpus[i].number + 1 : count;
	shares = memory_allocate((count + 1) * sizeof(*shares));
	for (size_t i = 0; i < count; i++)
		shares[i] = NAN;
	last = memory_allocate_zero(DEVICES_CPUS_MAX, sizeof(*last));
	for (size_t i = 0; i < from->cpu_count; i++)
		last[from->cpus[i].number] = from->cpus[i];
	for (size_t i = 0; i < to->cpu_count; i++) {
		const struct cpu_ticks *cpu = &to->cpus[i], *start = &last[cpu->number];
		const uint64_t all = cpu->all - start->all;
		/* iowait may go backwards (Documentation/filesystems/proc.rst) */
		const uint64_t idle = cpu->idle > start->idle ? cpu->idle - start->idle : 0;

		/* a CPU that was offline in between switched its idle counting */
		if (start->all != 0 && cpu->all > start->all && all <= most)
			shares[cpu->number] = idle < all ? (double)(all - idle) / (double)all : 0;
	}
	free(last);
	*ret_count = count;
	return shares;
}

static const struct device *find_device(const struct device devices[], size_t count, const char *name,
					size_t likely)
{
	if (likely < count && strcmp(devices[likely].name, name) == 0)
		return &devices[likely];
	for (size_t i = 0; i < count; i++) {
		if (strcmp(devices[i].name, name) == 0)
			return &devices[i];
	}
	return NULL;
}

static double bytes_of(const struct host_device_rate *rate)
{
	return rate->read_per_s + rate->write_per_s;
}

static bool is_busier(const struct host_device_rate *a, const struct host_device_rate *b)
{
	return a->busy != b->busy ? a->busy > b->busy : bytes_of(a) > bytes_of(b);
}

/* Since it was there: of devices that are idle now the one that is used is shown. */
static bool has_done_more(const struct device *a, const struct device *b)
{
	return (double)a->read_bytes + (double)a->write_bytes >
	       (double)b->read_bytes + (double)b->write_bytes;
}

/* The busiest of some devices, `seconds` after those of `before`. A counter that went backwards is another
 * device's. */
static bool find_busiest(const struct device devices[], size_t count, const struct device before[],
			 size_t before_count, double seconds, struct host_device_rate *ret_rate)
{
	const struct device *busiest = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct device *to = &devices[i], *from = find_device(before, before_count, to->name, i);
		struct host_device_rate rate;

		if (from == NULL || to->read_bytes < from->read_bytes || to->write_bytes < from->write_bytes)
			continue;
		rate = (struct host_device_rate){
			.name = to->name,
			/* printed as an unsigned int: diskstats_show() of block/genhd.c */
			.busy = fmin(1, (double)(uint32_t)(to->busy_ms - from->busy_ms) / 1e3 / seconds),
			.read_per_s = (double)(to->read_bytes - from->read_bytes) / seconds,
			.write_per_s = (double)(to->write_bytes - from->write_bytes) / seconds,
		};
		if (busiest != NULL && (is_busier(ret_rate, &rate) ||
					(!is_busier(&rate, ret_rate) && !has_done_more(to, busiest))))
			continue;
		busiest = to;
		*ret_rate = rate;
	}
	return busiest != NULL;
}

/* The time between the readings of devices in two rounds; 0 where they are not known. */
static double device_seconds(const struct snapshot *now, const struct snapshot *before)
{
	uint64_t to, from;

	if (now == NULL || before == NULL)
		return 0;
	to = now->provenance.devices.read_at_ns;
	from = before->provenance.devices.read_at_ns;
	return from != 0 && to > from ? (double)(to - from) / 1e9 : 0;
}

bool host_busiest_disk(const struct snapshot *now, const struct snapshot *before,
		       struct host_device_rate *ret_rate)
{
	const double seconds = device_seconds(now, before);

	return seconds > 0 && find_busiest(now->provenance.devices.disks, now->provenance.devices.disk_count,
					   before->provenance.devices.disks,
					   before->provenance.devices.disk_count, seconds, ret_rate);
}

bool host_busiest_network(const struct snapshot *now, const struct snapshot *before,
			  struct host_device_rate *ret_rate)
{
	const double seconds = device_seconds(now, before);

	return seconds > 0 &&
	       find_busiest(now->provenance.devices.networks, now->provenance.devices.network_count,
			    before->provenance.devices.networks, before->provenance.devices.network_count,
			    seconds, ret_rate);
}

/* --- the line --- */

void host_append_uptime(const struct snapshot *now, struct buffer *buffer)
{
	if (now->provenance.boottime_ns == 0)
		return;
	buffer_append_text(buffer, "up ");
	humanize_compact_truncated(buffer, (double)now->provenance.boottime_ns, HUMANIZE_TIME);
}

void host_append_load(const struct snapshot *now, struct buffer *buffer)
{
	const uint64_t *load = now->provenance.load_centi;

	if (now->provenance.load_known)
		buffer_append_format(buffer, "load %.1f %.1f %.1f", (double)load[0] / 100,
				     (double)load[1] / 100, (double)load[2] / 100);
}

void host_append_busy(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer)
{
	const char *reason;
	const double busy = busy_share(now, before, &reason);

	if (isnan(busy)) {
		if (reason != NULL)
			buffer_append_format(buffer, "cpu unknown (%s)", reason);
		return;
	}
	buffer_append_format(buffer, "cpu %.0f%%", busy * 100);
	if (now->host.online_cpus.present)
		buffer_append_format(buffer, " of %" PRIu64, now->host.online_cpus.value);
}

void host_append_pressure(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer)
{
	static const struct {
		enum pressure_resource resource;
		const char *name;
	} shown[] = {{PRESSURE_CPU, "cpu"}, {PRESSURE_MEMORY, "mem"}, {PRESSURE_IO, "io"}};
	const char *word = "psi ";

	for (size_t i = 0; i < ARRAY_COUNT(shown); i++) {
		const double share = host_pressure_share(now, before, shown[i].resource);
		double percent = share * 100;

		if (now->pressure_missing[shown[i].resource] != REASON_READ)
			continue;
		if (isnan(share))
			percent = (double)now->pressure.resource[shown[i].resource].some.avg10 / 100;
		buffer_append_format(buffer, "%s%s %.*f", word, shown[i].name,
				     percent == 0 || percent >= 9.95 ? 0 : 1, percent);
		word = " ";
	}
}

void host_append_memory(const struct snapshot *now, bool brief, struct buffer *buffer)
{
	const struct optional_u64 total = now->host.total_memory_kib;
	const struct optional_u64 available = now->provenance.mem_available_kib;
	const double gib = (double)total.value / (1 << 20);

	if (!total.present || !available.present || total.value == 0 || available.value > total.value)
		return;
	buffer_append_format(buffer, "mem %.0f%%",
			     (double)(total.value - available.value) * 100 / (double)total.value);
	if (!brief)
		buffer_append_format(buffer, " of %.*fG", gib < 9.95 ? 1 : 0, gib);
}

static void append_count(struct buffer *buffer, const char *name, struct optional_u64 count)
{
	if (!count.present)
		return;
	buffer_append_format(buffer, "%s ", name);
	humanize_count(buffer, count.value);
}

/* Moves a piece, which may be empty, to the end of a line that began at `start`. */
static void append_piece(struct buffer *line, size_t start, struct buffer *piece)
{
	if (piece->length != 0 && line->length != start)
		buffer_append_text(line, "  ");
	buffer_append(line, piece->data, piece->length);
	buffer_clear(piece);
}

void host_append_line(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer)
{
	const size_t start = buffer->length;
	struct buffer piece = {0};

	if (now->provenance.hostname != NULL)
		buffer_append_text(buffer, now->provenance.hostname);
	host_append_uptime(now, &piece);
	append_piece(buffer, start, &piece);
	host_append_load(now, &piece);
	append_piece(buffer, start, &piece);
	host_append_busy(now, before, &piece);
	append_piece(buffer, start, &piece);
	append_count(&piece, "runnable", now->provenance.procs_running);
	append_piece(buffer, start, &piece);
	append_count(&piece, "blocked", now->provenance.procs_blocked);
	append_piece(buffer, start, &piece);
	host_append_pressure(now, before, &piece);
	append_piece(buffer, start, &piece);
	host_append_memory(now, false, &piece);
	append_piece(buffer, start, &piece);
	buffer_release(&piece);
}
