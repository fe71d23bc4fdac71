/* SPDX-License-Identifier: GPL-2.0-only */
#include "host_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

/* Two columns of a CPU's line in /proc/stat (proc_stat(5)). */
enum {
	TICK_IDLE = 3,
	TICK_IOWAIT = 4
};

double host_busy_share(const struct snapshot *now, const struct snapshot *before)
{
	uint64_t busy = 0, all = 0;

	if (now == NULL || before == NULL || !now->provenance.cpu_ticks_known ||
	    !before->provenance.cpu_ticks_known)
		return NAN;
	for (int i = 0; i < CPU_TICK_KINDS; i++) {
		uint64_t ticks = now->provenance.cpu_ticks[i] - before->provenance.cpu_ticks[i];

		/* iowait may go backwards (Documentation/filesystems/proc.rst) */
		if (now->provenance.cpu_ticks[i] < before->provenance.cpu_ticks[i])
			continue;
		all += ticks;
		if (i != TICK_IDLE && i != TICK_IOWAIT)
			busy += ticks;
	}
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

double host_pressure_percent(const struct snapshot *now, const struct snapshot *before,
			     enum pressure_resource resource)
{
	const double share = host_pressure_share(now, before, resource);

	return isnan(share) ? (double)now->pressure.resource[resource].some.avg10 / 100 : share * 100;
}

bool host_memory(const struct snapshot *now, double *ret_percent, uint64_t *ret_total_kib)
{
	struct optional_u64 total = now->host.total_memory_kib;
	struct optional_u64 available = now->provenance.mem_available_kib;

	if (!total.present || !available.present || total.value == 0 || available.value > total.value)
		return false;
	*ret_percent = (double)(total.value - available.value) * 100 / (double)total.value;
	*ret_total_kib = total.value;
	return true;
}

/* --- devices --- */

double *host_cpu_shares(const struct snapshot *now, const struct snapshot *before, size_t *ret_count)
{
	const struct devices *to, *from;
	struct cpu_ticks *last; /* by number */
	size_t count;
	double *shares;

	*ret_count = 0;
	if (now == NULL || before == NULL)
		return NULL;
	to = &now->provenance.devices;
	from = &before->provenance.devices;
	if (to->cpu_count == 0 || from->cpu_count == 0)
		return NULL;
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

		if (start->all != 0 && cpu->all > start->all)
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

static void append_gap(struct buffer *buffer, size_t start)
{
	if (buffer->length != start)
		buffer_append_text(buffer, "  ");
}

static void append_uptime(struct buffer *buffer, uint64_t boottime_ns)
{
	const uint64_t minutes = boottime_ns / NS_PER_S / 60;

	if (minutes >= 24 * 60)
		buffer_append_format(buffer, "up %" PRIu64 "d", minutes / (24 * 60));
	else if (minutes >= 60)
		buffer_append_format(buffer, "up %" PRIu64 "h", minutes / 60);
	else
		buffer_append_format(buffer, "up %" PRIu64 "m", minutes);
}

static void append_count(struct buffer *buffer, size_t start, const char *name, struct optional_u64 count)
{
	char digits[28];

	if (!count.present)
		return;
	append_gap(buffer, start);
	buffer_append_format(buffer, "%s %s", name, number_group_digits(count.value, digits));
}

static void append_pressure(struct buffer *buffer, size_t start, const struct snapshot *now,
			    const struct snapshot *before)
{
	static const struct {
		enum pressure_resource resource;
		const char *name;
	} shown[] = {{PRESSURE_CPU, "cpu"}, {PRESSURE_MEMORY, "mem"}, {PRESSURE_IO, "io"}};
	bool any = false;

	for (size_t i = 0; i < ARRAY_COUNT(shown); i++) {
		double percent;

		if (now->pressure_missing[shown[i].resource] != REASON_READ)
			continue;
		if (!any) {
			append_gap(buffer, start);
			buffer_append_text(buffer, "psi");
		}
		any = true;
		percent = host_pressure_percent(now, before, shown[i].resource);
		buffer_append_format(buffer, " %s %.*f", shown[i].name,
				     percent == 0 || percent >= 9.95 ? 0 : 1, percent);
	}
}

void host_append_line(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer)
{
	const struct provenance *provenance = &now->provenance;
	const uint64_t *load = provenance->load_centi;
	const double busy = host_busy_share(now, before);
	const size_t start = buffer->length;
	uint64_t total_kib;
	double percent;

	if (provenance->hostname != NULL)
		buffer_append_text(buffer, provenance->hostname);
	if (provenance->boottime_ns != 0) {
		append_gap(buffer, start);
		append_uptime(buffer, provenance->boottime_ns);
	}
	if (provenance->load_known) {
		append_gap(buffer, start);
		buffer_append_format(buffer, "load %.1f %.1f %.1f", (double)load[0] / 100,
				     (double)load[1] / 100, (double)load[2] / 100);
	}
	if (!isnan(busy)) {
		append_gap(buffer, start);
		buffer_append_format(buffer, "cpu %.0f%%", busy * 100);
		if (now->host.online_cpus.present)
			buffer_append_format(buffer, " of %" PRIu64, now->host.online_cpus.value);
	}
	append_count(buffer, start, "runnable", provenance->procs_running);
	append_count(buffer, start, "blocked", provenance->procs_blocked);
	append_pressure(buffer, start, now, before);
	if (host_memory(now, &percent, &total_kib)) {
		const double gib = (double)total_kib / (1 << 20);

		append_gap(buffer, start);
		buffer_append_format(buffer, "mem %.0f%% of %.*fG", percent, gib < 9.95 ? 1 : 0, gib);
	}
}
