/* SPDX-License-Identifier: GPL-2.0-only */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "resolver.h"

enum {
	CPUS_UNKNOWN = 4, /* assumed then */
	LOADAVG_BYTES_MAX = 4096,
};

unsigned int resolver_headroom(unsigned int cpus, double load)
{
	const unsigned int bound = cpus / 2 + 1;
	const double free_cpus = (double)cpus - load;

	/* written so that a load that is no number counts as full */
	if (!(free_cpus >= 1))
		return 1;
	return free_cpus < (double)bound ? (unsigned int)free_cpus : bound;
}

double resolver_parse_load(const char *text)
{
	char *end;
	double load;

	/* "0.52 0.58 0.59 1/977 12345" (fs/proc/loadavg.c) */
	if (text[0] < '0' || text[0] > '9')
		return 0;
	load = strtod(text, &end);
	return *end == ' ' ? load : 0;
}

unsigned int resolver_headroom_now(void)
{
	struct buffer text = {0};
	unsigned int cpus = CPUS_UNKNOWN;
	double load = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		cpus = (unsigned int)CPU_COUNT(&set);
	if (file_read(AT_FDCWD, "/proc/loadavg", &text, LOADAVG_BYTES_MAX) >= 0 && text.data != NULL)
		load = resolver_parse_load(text.data);
	buffer_release(&text);
	return resolver_headroom(cpus, load);
}
