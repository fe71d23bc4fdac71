/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_FAULTS_STATE_H
#define CTOP_TESTS_FAULTS_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * What the interposing library (interpose.c) and the driver (faults.c) share: a file that both map, named by
 * FAULTS_STATE in the environment. All processes of a run have the same one.
 */

enum {
	FAULT_SITES = 1 << 14,
	FAULT_FRAMES = 16,
	FAULT_DESCRIPTORS = 128,
	FAULT_SHORT = -1, /* in place of an errno: half of the length */
};

/* A place that a call returns to: its object's file and the offset in it. */
struct fault_frame {
	char object[24];
	uint64_t offset;
};

/*
 * A call site: the chain of calls from the C library's function outwards, through whatever libraries are in
 * between, to the second function of ctop's own.
 */
struct fault_site {
	_Atomic uint64_t id; /* hash of the function and the chain; 0: none */
	_Atomic uint32_t calls;
	uint32_t function; /* row in functions.def */
	uint32_t frame_count;
	struct fault_frame frames[FAULT_FRAMES];
};

/* A kind of open descriptor, such as socket:[], at the end of the run's first process. */
struct fault_descriptor {
	char kind[100];
	uint32_t count;
};

struct fault_state {
	/* told by the driver */
	uint64_t failing_site; /* 0: none, sites are only counted */
	uint32_t failing_call; /* from 1 */
	int32_t failing_errno;

	_Atomic uint32_t failed; /* 1 once it has */
	_Atomic uint32_t lost;   /* calls for whose sites there was no room */
	_Atomic int32_t process; /* ctop's; others that have the library are a sanitizer's */
	uint32_t ended;          /* 1: what follows is known */
	uint32_t descriptor_count;
	struct fault_descriptor descriptors[FAULT_DESCRIPTORS];
	struct fault_site sites[FAULT_SITES];
};

#endif
