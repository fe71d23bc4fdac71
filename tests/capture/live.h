/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_LIVE_H
#define CTOP_TEST_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/capture.h"

/* Helpers of the tests that capture processes of this host; all assert. */

enum {
	LIVE_NO_ROW = -1
};

/* The backend of live_open(); procfs at first. */
extern enum capture_backend live_backend;

/* From here on live_open() reads threads by BPF. False where that does not work, which counts as a skipped
 * case. */
bool live_choose_bpf(void);

/* A capture of these processes only (0 processes: of all). */
struct capture *live_open(const uint32_t *scope, size_t count);

struct snapshot *live_full(struct capture *capture);

/* Takes a round that needs every source; only those of `needed`; or those, plus others within the budget. */
struct snapshot *live_round(struct capture *capture);
struct snapshot *live_round_needed(struct capture *capture, source_set needed);
struct snapshot *live_round_budgeted(struct capture *capture, source_set needed);

/* The row of a thread, or LIVE_NO_ROW. */
long live_row(const struct snapshot *snapshot, uint32_t tgid, uint32_t tid);

/* Counts the threads of that name, zombies left out; the first one's row in `*ret_row`. */
size_t live_count_named(const struct snapshot *snapshot, const char *name, long *ret_row);

const char *live_comm(const struct snapshot *snapshot, long row);
const char *live_pcomm(const struct snapshot *snapshot, long row);
const char *live_cgroup(const struct snapshot *snapshot, long row);

/* The reason of a metric of a row: REASON_READ when it was read or does not apply. */
reason_id live_reason(const struct snapshot *snapshot, long row, enum metric metric);

/* From now on bpf(2) is refused to this thread and all that it starts, as before Linux 5.19 to who has
 * dropped CAP_BPF where kernel.unprivileged_bpf_disabled is set. False where that cannot be done. */
bool live_refuse_bpf(void);

/* Bytes of BPF maps that are mapped into this process. */
size_t live_bpf_map_bytes(void);

/* A child that has run `body` and sleeps until it is ended by live_end(). */
pid_t live_start(void (*body)(void *argument), void *argument);
void live_end(pid_t child);

/* Waits until the first thread of a process bears that name; false after a minute without. */
bool live_wait_for_name(pid_t pid, const char *name);

/* Waits until a thread sleeps, or until one that sleeps again and again has run; false after a minute. */
bool live_wait_for_sleep(pid_t process, pid_t thread);
bool live_wait_for_run(pid_t process, pid_t thread);

void live_sleep_ms(unsigned int milliseconds);

/* Uses the CPU for that long, of the calling thread's CPU clock. */
void live_spin_ms(unsigned int milliseconds);

bool live_has_taskstats(void);

/* The first two CPUs that we may use; false with a single one, which is the first then. */
bool live_find_cpus(int cpus[static 2]);

/* The exit status of a child that does `body`, and ends with 0 after it. */
int live_run(void (*body)(void));

#endif
