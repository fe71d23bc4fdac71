/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_MEASURE_H
#define CTOP_TEST_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Measurements that only scheduling can spoil, such as of numbers that two programs read one after the other.
 * A window in which one is out of its bounds is measured again; the bounds stay as they are.
 *
 *	for (struct measurement measurement = {0}; measure_again(&measurement);) {
 *		…
 *		measure_between(&measurement, "CPU time in us", value, low, high);
 *	}
 */

enum {
	MEASURE_WINDOWS = 3
};

/* What the CPUs of this host did since it started, proc_stat(5) and psi of the kernel's documentation. */
struct host_load {
	uint64_t ticks, stolen_ticks;
	uint64_t time_us, stalled_us; /* somebody waited for a CPU; 0 where the kernel does not tell */
};

struct measurement {
	unsigned int windows; /* begun so far */
	bool is_off;
	char what[256];          /* the first value that was out of its bounds in this window */
	struct host_load before; /* the window */
};

/*
 * Whether to measure: true at first, and while the window before was off, up to three windows. Then it fails
 * the test. It prints for each window that was off why, how much time the hypervisor took meanwhile (steal),
 * and how long threads waited for a CPU.
 */
bool measure_again(struct measurement *measurement);

/* The window is off where low <= value <= high does not hold. */
void measure_between(struct measurement *measurement, const char *what, double value, double low,
		     double high);

/*
 * Each name of a thread that runs takes room in every measurement of waits on the host, so tests that make
 * many names spoil those of other tests. measure_waits_beside_others() waits until no test makes many names;
 * measure_waits_alone(), before many are made, until no test measures. Each holds until the other or
 * measure_waits_end() is called, or the program ends.
 */
void measure_waits_beside_others(void);
void measure_waits_alone(void);
void measure_waits_end(void);

/*
 * Waits until no other test, of another build either, keeps threads from a CPU by a realtime policy, and
 * keeps others waiting until measure_starved_end().
 */
void measure_starved_begin(void);
void measure_starved_end(void);

#endif
