/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_H
#define CTOP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap_tag.h"
#include "base/reader.h"
#include "probe/object/layout.h"

/*
 * From processes to the allocation counters of their threads. One probe belongs to one thread. It keeps what
 * makes the next reading cheap: resolved executables by (device, inode, size, change time), attached
 * processes, thread pointers.
 */
struct probe;

struct probe_options {
	struct reader *reader; /* that reads their memory (base/reader.h); not owned, may be NULL */
	bool allow_stop;       /* threads without another way may be stopped for at most 250 ms each */
};

struct probe *probe_create(const struct probe_options *options);
void probe_release(struct probe *probe);

enum probe_state {
	PROBE_STATE_RESOLVING, /* being resolved: ask again */
	PROBE_STATE_READY,     /* its threads can be read */
	PROBE_STATE_FAILED,    /* `tag` says why */
};

/* A process that was examined; owned by the probe, valid until it is dropped. */
struct probe_process {
	uint32_t tgid;
	enum probe_state state;
	enum heap_tag tag;         /* of PROBE_STATE_FAILED */
	const char *text;          /* detail, a sentence, "" for none */
	enum layout_origin origin; /* of PROBE_STATE_READY, like the next */
	const char *version;       /* of jemalloc, "" when unknown */
	bool cached;               /* the result was that of another process with the same executable */
};

/* What may have happened to a process since probe_look() or probe_is_due() was told last. */
enum probe_change {
	PROBE_STILL,    /* none of its threads ran, so it can have loaded no library */
	PROBE_RAN,      /* its threads may have done anything; execve(2) is not known */
	PROBE_EXECUTED, /* it executed a program, or is another process under the same id */
};

/*
 * Examines a process, or examines a known one again: starts to resolve its executable if that is new, and
 * attaches once that is done. Never waits for the resolver. `process_directory` is its open directory below a
 * proc root. If the address space has changed, it starts again. A process that failed is examined again at
 * the next look, then in pauses that grow from 5 s to a minute: one without jemalloc only if it ran, since it
 * may load jemalloc later.
 */
const struct probe_process *probe_look(struct probe *probe, uint32_t tgid, int process_directory,
				       enum probe_change change);

/*
 * Whether probe_look() would find out anything about a process that it has examined, if `change` is all that
 * happened to the process. Opens no file. Only PROBE_EXECUTED makes a process due that can be read.
 */
bool probe_is_due(struct probe *probe, const struct probe_process *process, enum probe_change change);

/*
 * Serves resolutions under way. With `deadline_ns` (CLOCK_MONOTONIC, 0: do not wait) waits until all are done
 * or the time has come. Returns the number still under way; probe_look() tells the outcome.
 */
size_t probe_serve(struct probe *probe, uint64_t deadline_ns);

/* A thread to be read. */
struct probe_thread {
	uint32_t tid;
	uint64_t start_time;     /* field 22 of its stat, ticks: tells a number used again */
	uint64_t thread_pointer; /* where the kernel saw it, 0 when unknown; proved like one that was found */
	/* Results: */
	enum heap_tag tag;               /* HEAP_TAG_NONE: both counters were read, whole in themselves */
	int error_number;                /* errno of a failed call, 0 for none */
	uint64_t allocated, deallocated; /* bytes over the life of the thread */
};

enum {
	PROBE_BATCH = 1023, /* threads that one process_vm_readv(2) reads */
};

/*
 * Reads `count` threads of a process that is PROBE_STATE_READY, PROBE_BATCH with one process_vm_readv(2),
 * whose last piece proves that all of it came from the address space that was examined. A process may be read
 * in parts. Nothing is stopped unless the options allow it and a thread has no other way; else its tag is
 * needs-stop. Returns 0, -EINTR when `stop_flag` (may be NULL) became non-zero on the way (threads that were
 * not reached have the tag needs-stop), or a negative errno when none can be read (-ESRCH: the process is
 * gone, or runs another program: look again; -ETIMEDOUT: its address space is locked).
 */
int probe_read(struct probe *probe, const struct probe_process *process, struct probe_thread *threads,
	       size_t count, const volatile int *stop_flag);

/* probe_drop_unseen() forgets all processes not seen by probe_look() or probe_keep() since its last call. */
void probe_keep(struct probe *probe, const struct probe_process *process);
void probe_drop_unseen(struct probe *probe);

/* The events since probe_create(), for evidence and tests. */
struct probe_counts {
	uint64_t robust_list_calls; /* get_robust_list(2) */
	uint64_t transfers;         /* process_vm_readv(2), and walks of a link map */
	uint64_t stops;             /* threads stopped */
	uint64_t cached_reads;      /* threads read with a thread pointer known from before */
};

struct probe_counts probe_counts(const struct probe *probe);

#endif
