/* SPDX-License-Identifier: GPL-2.0-only */
#include "host_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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
