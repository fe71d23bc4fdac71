/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CLOCK_H
#define CTOP_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Clocks in nanoseconds, and the units of time. */

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

/* Clock ticks of procfs, per second: the same on every architecture but alpha and ia64 (asm/param.h). */
#define USER_HZ     100
#define NS_PER_TICK (NS_PER_S / USER_HZ)

/* 0 before 1970. */
static inline uint64_t clock_timespec_ns(struct timespec time)
{
	return time.tv_sec < 0 ? 0 : (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

/* The time of `clock` (clock_gettime(2)); 0 for a clock of a process that ended and before 1970. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) == 0 ? clock_timespec_ns(now) : 0;
}

static inline struct timespec clock_timespec(uint64_t nanoseconds)
{
	return (struct timespec){(time_t)(nanoseconds / NS_PER_S), (long)(nanoseconds % NS_PER_S)};
}

/* A time since 1970 by the local clock, in a format of strftime(3). Returns false when it has none. */
__attribute__((format(strftime, 3, 0))) static inline bool
clock_format_local(char *text, size_t size, const char *format, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	struct tm local;

	return localtime_r(&seconds, &local) != NULL && strftime(text, size, format, &local) != 0;
}

#endif
