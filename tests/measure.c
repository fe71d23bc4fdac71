/* SPDX-License-Identifier: GPL-2.0-only */
#include "measure.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "cmocka_include.h"

static struct host_load read_load(void)
{
	struct host_load load = {0};
	struct timespec now;
	uint64_t kinds[8] = {0};
	FILE *file;

	clock_gettime(CLOCK_MONOTONIC, &now);
	load.time_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	file = fopen("/proc/stat", "re");
	if (file != NULL) {
		/* user nice system idle iowait irq softirq steal */
		if (fscanf(file,
			   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64,
			   &kinds[0], &kinds[1], &kinds[2], &kinds[3], &kinds[4], &kinds[5], &kinds[6],
			   &kinds[7]) == 8)
			load.stolen_ticks = kinds[7];
		fclose(file);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		load.ticks += kinds[i];
	file = fopen("/proc/pressure/cpu", "re");
	if (file != NULL) {
		if (fscanf(file, "some avg10=%*f avg60=%*f avg300=%*f total=%" SCNu64, &load.stalled_us) != 1)
			load.stalled_us = 0;
		fclose(file);
	}
	return load;
}

static uint64_t thousandths(uint64_t part, uint64_t whole)
{
	return whole != 0 ? part * 1000 / whole : 0;
}

/* Says what the machine did in the window. */
static void tell_load(const struct measurement *measurement, char *text, size_t size)
{
	const struct host_load *before = &measurement->before, now = read_load();
	const uint64_t steal = thousandths(now.stolen_ticks - before->stolen_ticks,
					   now.ticks - before->ticks);
	const uint64_t stall = thousandths(now.stalled_us - before->stalled_us,
					   now.time_us - before->time_us);

	snprintf(text, size,
		 "steal %" PRIu64 ".%" PRIu64 " %%, threads waited for a CPU %" PRIu64 ".%" PRIu64
		 " %% of %.1f s",
		 steal / 10, steal % 10, stall / 10, stall % 10,
		 (double)(now.time_us - before->time_us) / 1e6);
}

bool measure_again(struct measurement *measurement)
{
	char load[128];

	if (measurement->windows != 0) {
		if (!measurement->is_off)
			return false;
		tell_load(measurement, load, sizeof(load));
		print_message("window %u of %d: %s; %s\n", measurement->windows, MEASURE_WINDOWS,
			      measurement->what, load);
		if (measurement->windows == MEASURE_WINDOWS)
			fail_msg("%s", measurement->what);
	}
	measurement->windows++;
	measurement->is_off = false;
	measurement->before = read_load();
	return true;
}

void measure_between(struct measurement *measurement, const char *what, double value, double low, double high)
{
	if (value >= low && value <= high)
		return;
	if (!measurement->is_off)
		snprintf(measurement->what, sizeof(measurement->what),
			 "%s: %.10g is not between %.10g and %.10g", what, value, low, high);
	measurement->is_off = true;
}

/* A lock of a directory that all builds on this host know. */
struct turn {
	const char *directory;
	int descriptor;
};

static struct turn waits = {"/tmp", -1}, starved = {"/sys/devices/system/cpu", -1};

static void take_turn(struct turn *turn, int operation)
{
	if (turn->descriptor < 0)
		turn->descriptor = open(turn->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (turn->descriptor < 0 || flock(turn->descriptor, operation) != 0)
		print_message("cannot wait for tests that measure the same at this time\n");
}

void measure_waits_beside_others(void)
{
	take_turn(&waits, LOCK_SH);
}

void measure_waits_alone(void)
{
	take_turn(&waits, LOCK_EX);
}

void measure_waits_end(void)
{
	take_turn(&waits, LOCK_UN);
}

void measure_starved_begin(void)
{
	take_turn(&starved, LOCK_EX);
}

void measure_starved_end(void)
{
	take_turn(&starved, LOCK_UN);
}
