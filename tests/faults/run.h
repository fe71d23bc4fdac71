/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_FAULTS_RUN_H
#define CTOP_TESTS_FAULTS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "state.h"

/* One run of ctop with a failure or without, and what is wrong with what it left. */

enum {
	FINDING_BYTES = 4096,
};

/* How a run is brought to its end. */
enum drive {
	ALONE,  /* it ends */
	SCREEN, /* in a terminal, with keys */
	SERVER, /* asked for its page, and told to end */
};

struct subject {
	const char *name;
	enum drive drive;
	bool is_fixed; /* the same output each time: that of another run with status 0 and no words differs */
	const char *keys; /* of SCREEN, before q; S is waited for */
	const char *arguments[16];
};

/* What all runs of a job have in common. */
struct job {
	const char *ctop, *library; /* paths */
	pid_t target;               /* a program whose threads are read */
	const char *top;            /* directory of all jobs */
	char directory[128];        /* of this one */
	struct fault_state *state;  /* that the last run left */

	/* of the runs without a failure */
	size_t rounds; /* recorded */
	size_t lines;  /* on standard error */
};

extern struct job job;

/* Ends with a sentence. */
void die(const char *what) __attribute__((noreturn));

/* Makes a directory for a job, with copies of what the job before has there where this one is not the first.
 */
void job_begin(int number);

/* Starts the target, which ends at the end of its input, *ret_input; an empty name: one without allocations.
 */
void job_start_target(const char *program, int *ret_input);

/* Makes the files that each run begins with: two snapshots and a history of three rounds. */
void job_make_files(void);

void remove_tree(const char *path);

/*
 * Runs the subject to its end with a failure of a call of a site; `usual` has the descriptors of runs without
 * a failure, and is NULL for such a run itself. What is wrong is written to `finding`: nothing if it is
 * empty.
 */
void run(const struct subject *subject, const struct fault_state *usual, uint64_t site, uint32_t call,
	 int number, char finding[static FINDING_BYTES]);

/*
 * Keeps what the last run told, for runs with a failure to be compared with, which also may tell what is told
 * where the locale cannot be read.
 */
void run_keep_told(const struct subject *subject);

#endif
