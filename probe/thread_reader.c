/* SPDX-License-Identifier: GPL-2.0-only */
#include "thread_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/living_thread.h"
#include "base/memory.h"
#include "probe/process/tls.h"
#include "probe/process/transfer.h"

/* --- thread pointers --- */

/*
 * Thread pointers without stopping a thread. A C library that supports robust mutexes tells the kernel where
 * a thread's list of them begins; get_robust_list(2) gives that address to whoever may read the process
 * (PTRACE_MODE_READ_REALCREDS, kernel/futex/syscalls.c). In glibc it lies in struct pthread, at a fixed
 * distance from the thread pointer. musl registers no list before a robust mutex is used.
 */

enum {
	/* Both in nptl/descr.h and sysdeps/x86_64/nptl/tls.h of glibc. */
	TID_BELOW_HEAD = 16,
	SELF_OFFSET = 16,   /* tcbhead_t.self of x86_64 */
	SCAN_SIZE = 4096,   /* bytes below a head that are searched for a thread control block */
	TCB_ALIGNMENT = 16, /* the least that any version asks for */
};

/*
 * The head of the robust list of thread `tid`, 0 when it has registered none. Returns 0 or a negative errno
 * (-ESRCH, -EPERM).
 */
static int robust_head(uint32_t tid, uint64_t *ret_head)
{
	void *head = NULL;
	size_t size;

	if (syscall(SYS_get_robust_list, (long)tid, &head, &size) < 0)
		return -errno;
	*ret_head = (uint64_t)(uintptr_t)head;
	return 0;
}

/* Searches `size` bytes at `address`, from the end, for a thread control block. */
static bool find_control_block(const char *bytes, uint64_t address, size_t size, uint64_t *ret_block)
{
	for (size_t at = (size - SELF_OFFSET - sizeof(uint64_t)) & ~(size_t)(TCB_ALIGNMENT - 1);;
	     at -= TCB_ALIGNMENT) {
		uint64_t first, self;

		memcpy(&first, bytes + at, sizeof(first));
		memcpy(&self, bytes + at + SELF_OFFSET, sizeof(self));
		if (first == address + at && self == first) {
			*ret_block = first;
			return true;
		}
		if (at < TCB_ALIGNMENT)
			return false;
	}
}

/*
 * Finds the distance between head and thread pointer in an attachment that does not know it, from the memory
 * below `head`: on x86_64 a thread control block begins with a pointer to itself and has another after one
 * word. Reads through `pid`. Does nothing where a machine has no such mark, or the memory shows none.
 */
static void calibrate(struct attachment *attachment, pid_t pid, uint64_t head, struct transfer_way *way)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t low = (head - SCAN_SIZE) & ~(uint64_t)(TCB_ALIGNMENT - 1);
	char bytes[SCAN_SIZE + TCB_ALIGNMENT];
	/* the pages below may not be there */
	const uint64_t starts[] = {low, head & ~(page - 1)};

	if (attachment->robust_known || attachment->c_library.kind == C_LIBRARY_MUSL ||
	    tls_native_variant() != TLS_VARIANT_2 || head < SCAN_SIZE)
		return;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const size_t size = (size_t)(head - starts[i]);
		uint64_t block;

		if (size < SELF_OFFSET + sizeof(uint64_t) || size > sizeof(bytes) ||
		    transfer_read(pid, starts[i], bytes, size, way) < 0)
			continue;
		if (!find_control_block(bytes, starts[i], size, &block))
			continue;
		attachment_set_robust_distance(attachment, head - block);
		return;
	}
}

/* Read together with a thread's counters, to prove that they are its own. */
struct proof {
	size_t piece, size; /* in the transfer; bytes of the piece */
	uint64_t thread_pointer;
	uint32_t own_number; /* tid in the thread's own pid namespace */
};

/*
 * Adds the piece of the proof to `transfer`: the tid field below `head` and, on x86_64, everything from the
 * pointer of the control block to itself up to there (some 700 bytes, cheaper than a second piece).
 */
static void add_proof(struct transfer *transfer, uint64_t head, uint64_t thread_pointer, uint32_t own_number,
		      struct proof *ret_proof)
{
	const uint64_t tid_end = head - TID_BELOW_HEAD + sizeof(uint32_t);
	const uint64_t start = tls_native_variant() == TLS_VARIANT_2 ? thread_pointer + SELF_OFFSET
								     : tid_end - sizeof(uint32_t);

	*ret_proof = (struct proof){
		.piece = transfer_add(transfer, start, tid_end - start),
		.size = tid_end - start,
		.thread_pointer = thread_pointer,
		.own_number = own_number,
	};
}

/*
 * Does the proof hold? `bytes` points to its piece in the buffer that the transfer filled. The piece comes
 * after the counters, and the kernel reads in order: a thread that ended before them fails here.
 */
static bool is_proved(const struct transfer *transfer, const struct proof *proof, const char *bytes)
{
	uint32_t tid;
	uint64_t self;

	if (!transfer->read[proof->piece])
		return false;
	memcpy(&tid, bytes + proof->size - sizeof(tid), sizeof(tid));
	if (tid != proof->own_number)
		return false;
	if (tls_native_variant() != TLS_VARIANT_2)
		return true;
	memcpy(&self, bytes, sizeof(self));
	return self == proof->thread_pointer;
}

/* --- reading --- */

enum {
	/* The last piece of a call is the mark of the address space. */
	WARM_MAX = PROBE_BATCH,
	COLD_MAX = (TRANSFER_MAX - 1) / 2, /* the counters and the proof */
	ENDED_MAX = 64,                    /* threads that have ended are not looked for before */
	BIRTH_WAITS = 3,                   /* for threads that have not registered their list yet */
	BIRTH_WAIT_NS = 1000 * 1000,
};

_Static_assert(PROBE_BATCH + 1 == TRANSFER_MAX, "a batch and its mark fill a call");

struct known_thread {
	uint64_t start_time;
	uint64_t address; /* of the first counter; 0: to be found */
	uint64_t allocated, deallocated;
	uint32_t tid;
	bool has_reading;   /* the counters are those of the last reading */
	bool is_headless;   /* it was waited for and registered no robust list */
	bool is_judged;     /* `is_worker` is known */
	bool is_worker;     /* see attachment_is_worker(); a thread remains what it is */
	uint64_t disproved; /* a thread pointer that was given for it and is not its own */
};

/* A thread whose pointer was found and has to be proved. */
struct candidate {
	size_t thread;
	size_t position; /* of its counters in the buffer */
	uint64_t address;
	struct proof proof;
};

struct thread_reader_memory {
	struct transfer transfer;
	char *bytes; /* what a transfer fills */
	size_t bytes_capacity;
	size_t warm[WARM_MAX]; /* thread of each piece */
	struct candidate candidates[COLD_MAX];
	/* Threads by number, as many as the largest process had: */
	uint32_t *entries; /* of each thread in known->threads */
	size_t entries_capacity;
	size_t *lists; /* room for the next three */
	size_t lists_capacity;
	size_t *cold, *unborn, *held;
	struct stop_thread *stops;
	size_t stops_capacity;
};

struct reading {
	struct thread_reader *reader;
	struct thread_reader_memory *memory;
	struct attachment *attachment;
	struct known_threads *known;
	struct probe_thread *threads;
	size_t count;
	pid_t pid; /* the thread through which the process is read (base/living_thread.h) */
	size_t cold_count, unborn_count, held_count;
	const volatile int *stop_flag;
};

void known_threads_clear(struct known_threads *known)
{
	hash_map_clear(&known->by_tid);
	known->count = 0;
	known->stayed = 0;
}

void known_threads_release(struct known_threads *known)
{
	hash_map_release(&known->by_tid);
	free(known->threads);
	*known = (struct known_threads){0};
}

void thread_reader_initialise(struct thread_reader *reader, bool allow_stop, struct reader *memory_reader)
{
	*reader = (struct thread_reader){.allow_stop = allow_stop, .way.reader = memory_reader};
	reader->memory = memory_allocate_zero(1, sizeof(*reader->memory));
}

void thread_reader_release(struct thread_reader *reader)
{
	struct thread_reader_memory *memory = reader->memory;

	transfer_way_release(&reader->way);
	if (memory == NULL)
		return;
	free(memory->bytes);
	free(memory->entries);
	free(memory->lists);
	free(memory->stops);
	free(memory);
	reader->memory = NULL;
}

/* The entry of a thread, new where its number is new or was used again. */
static uint32_t find_known(struct known_threads *known, const struct probe_thread *thread)
{
	uint32_t index;

	if (!hash_map_get(&known->by_tid, thread->tid, &index)) {
		index = (uint32_t)known->count;
		*MEMORY_APPEND(known->threads, known->count, known->capacity) = (struct known_thread){
			.tid = thread->tid, .start_time = thread->start_time};
		hash_map_set(&known->by_tid, thread->tid, index);
	}
	if (known->threads[index].start_time != thread->start_time)
		known->threads[index] = (struct known_thread){.tid = thread->tid,
							      .start_time = thread->start_time};
	return index;
}

/*
 * Forgets threads that have ended, once there may be more of them than of others. Quiet ones, which a caller
 * may ask for seldom, remain.
 */
static void forget_ended(struct known_threads *known, const struct attachment *attachment)
{
	size_t kept = 0;

	if (known->count <= 2 * known->stayed + ENDED_MAX)
		return;
	hash_map_clear(&known->by_tid);
	for (size_t i = 0; i < known->count; i++) {
		if (!attachment_has_thread(attachment, known->threads[i].tid))
			continue;
		known->threads[kept] = known->threads[i];
		hash_map_set(&known->by_tid, known->threads[kept].tid, (uint32_t)kept);
		kept++;
	}
	known->count = kept;
	known->stayed = kept;
}

static struct known_thread *known_thread(const struct reading *reading, size_t thread)
{
	return &reading->known->threads[reading->memory->entries[thread]];
}

static void fail(struct reading *reading, size_t thread, enum heap_tag tag, int error_number)
{
	reading->threads[thread].tag = tag;
	reading->threads[thread].error_number = error_number;
}

static void succeed(struct reading *reading, size_t thread, uint64_t allocated, uint64_t deallocated)
{
	struct known_thread *known = known_thread(reading, thread);

	known->allocated = allocated;
	known->deallocated = deallocated;
	known->has_reading = true;
	reading->threads[thread].allocated = allocated;
	reading->threads[thread].deallocated = deallocated;
	fail(reading, thread, HEAP_TAG_NONE, 0);
}

/* The tag of a thread that cannot be read for `error_number`. */
static enum heap_tag tag_of(int error_number)
{
	switch (error_number) {
	case EPERM:
	case EACCES:
		return HEAP_TAG_NOT_PERMITTED;
	case ETIMEDOUT:
		return HEAP_TAG_MEMORY_LOCKED;
	case EIO: /* of reader_call() alone */
		return HEAP_TAG_RESOLVER_ENDED;
	default:
		return HEAP_TAG_PROCESS_VM_READV;
	}
}

/* No thread has a result: `negative_errno` says why. */
static int fail_all(struct reading *reading, int negative_errno)
{
	for (size_t i = 0; i < reading->count; i++)
		fail(reading, i, tag_of(-negative_errno), -negative_errno);
	/* they are where they were once it is unlocked */
	if (negative_errno != -ETIMEDOUT)
		known_threads_clear(reading->known);
	return negative_errno;
}

static void find_living(struct reading *reading)
{
	const pid_t tgid = reading->attachment->tgid;
	char path[sizeof("/proc//task") + 11];
	int tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)tgid);
	tasks = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tasks < 0)
		return;
	reading->pid = (pid_t)living_thread_find(tasks, (uint32_t)tgid);
	close(tasks);
}

/* Retries through another thread if the one in use has ended: the leader may end first. */
static int run_through_living(struct reading *reading)
{
	struct thread_reader_memory *memory = reading->memory;
	struct transfer_way *way = &reading->reader->way;
	int r = transfer_run(&memory->transfer, reading->pid, memory->bytes, way);

	if (r != -ESRCH)
		return r;
	find_living(reading);
	return transfer_run(&memory->transfer, reading->pid, memory->bytes, way);
}

/*
 * Runs the transfer, whose pieces take `size` bytes, and proves by one more piece, read last, that all of it
 * came from the address space that we know: exec keeps the numbers of process and thread. -ESRCH if not.
 */
static int run_transfer(struct reading *reading, size_t size)
{
	const struct attachment *attachment = reading->attachment;
	struct thread_reader_memory *memory = reading->memory;
	size_t mark;
	int r;

	memory->bytes = memory_grow(memory->bytes, &memory->bytes_capacity, size + sizeof(attachment->random),
				    sizeof(char));
	mark = transfer_add(&memory->transfer, attachment->random_address, sizeof(attachment->random));
	r = run_through_living(reading);
	if (r < 0)
		return r;
	if (!memory->transfer.read[mark] ||
	    memcmp(memory->bytes + size, attachment->random, sizeof(attachment->random)) != 0)
		return -ESRCH;
	return 0;
}

static void add_cold(struct reading *reading, size_t thread)
{
	known_thread(reading, thread)->address = 0;
	reading->memory->cold[reading->cold_count++] = thread;
}

/* Reads the threads of a full batch by their known addresses; what cannot be right is looked for again. */
static int read_warm_batch(struct reading *reading)
{
	struct thread_reader_memory *memory = reading->memory;
	const size_t span = reading->attachment->span, count = memory->transfer.count;
	const int r = run_transfer(reading, count * span);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		const size_t thread = memory->warm[i];
		const struct known_thread *known = known_thread(reading, thread);
		uint64_t allocated, deallocated;

		attachment_take_counters(reading->attachment, memory->bytes + i * span, &allocated,
					 &deallocated);
		/* counters only grow: else the memory belongs to another thread by now */
		if (!memory->transfer.read[i] || (known->has_reading && (allocated < known->allocated ||
									 deallocated < known->deallocated))) {
			add_cold(reading, thread);
			continue;
		}
		succeed(reading, thread, allocated, deallocated);
		reading->reader->counts.cached_reads++;
	}
	transfer_clear(&memory->transfer);
	return 0;
}

static bool is_interrupted(const struct reading *reading)
{
	return reading->stop_flag != NULL && *reading->stop_flag != 0;
}

static int read_warm(struct reading *reading)
{
	struct thread_reader_memory *memory = reading->memory;
	int r = 0;

	transfer_clear(&memory->transfer);
	for (size_t i = 0; r == 0 && i < reading->count; i++) {
		const uint64_t address = known_thread(reading, i)->address;

		if (address == 0) {
			add_cold(reading, i);
			continue;
		}
		memory->warm[memory->transfer.count] = i;
		transfer_add(&memory->transfer, address, reading->attachment->span);
		if (memory->transfer.count == WARM_MAX)
			r = is_interrupted(reading) ? -EINTR : read_warm_batch(reading);
	}
	if (r == 0 && memory->transfer.count > 0)
		r = read_warm_batch(reading);
	return r;
}

/* The thread's number in its own pid namespace, which is the one that its C library keeps. */
static int find_own_number(const struct reading *reading, uint32_t tid, uint32_t *ret_number)
{
	size_t namespaces;
	char path[64];
	int r;

	*ret_number = tid;
	if (reading->attachment->directory < 0)
		return 0;
	snprintf(path, sizeof(path), "task/%u/status", tid);
	r = attachment_read_own_number(reading->attachment->directory, path, ret_number, &namespaces);
	return r == -ENOENT || r == -ENODATA ? -ESRCH : r;
}

/* A thread whose pointer nothing but a stop can tell, or that has ended. */
static void add_held(struct reading *reading, size_t thread)
{
	struct known_thread *known = known_thread(reading, thread);

	if (!attachment_has_thread(reading->attachment, reading->threads[thread].tid)) {
		fail(reading, thread, HEAP_TAG_PROCESS_VM_READV, ESRCH);
		return;
	}
	if (!known->is_judged)
		known->is_worker = attachment_is_worker(reading->attachment, reading->threads[thread].tid);
	known->is_judged = true;
	if (known->is_worker) {
		succeed(reading, thread, 0, 0);
		return;
	}
	fail(reading, thread, HEAP_TAG_NEEDS_STOP, 0);
	reading->memory->held[reading->held_count++] = thread;
}

/* A thread without storage has allocated nothing; it is looked at anew each time. */
static void take_address_failure(struct reading *reading, size_t thread, int r)
{
	if (r == -ENODATA)
		succeed(reading, thread, 0, 0);
	else if (r == -EOVERFLOW)
		fail(reading, thread, HEAP_TAG_TLS_ARITHMETIC, 0);
	else
		fail(reading, thread, tag_of(-r), -r);
}

/*
 * The address of a thread's robust list: by the thread pointer that was given, else by a system call. Returns
 * 0 or a negative errno; a head of 0 when it has none.
 */
static int find_head(struct reading *reading, size_t thread, uint64_t *ret_head)
{
	const struct probe_thread *asked = &reading->threads[thread];

	if (asked->thread_pointer != 0 && reading->attachment->robust_known &&
	    asked->thread_pointer != known_thread(reading, thread)->disproved) {
		*ret_head = asked->thread_pointer + reading->attachment->robust_distance;
		return 0;
	}
	reading->reader->counts.robust_list_calls++;
	return robust_head(asked->tid, ret_head);
}

/*
 * Adds a thread to the batch of candidates. Returns 1 when it was added, 0 when it was dealt with otherwise.
 */
static size_t add_candidate(struct reading *reading, size_t thread, size_t position,
			    struct candidate *candidate)
{
	struct attachment *attachment = reading->attachment;
	struct transfer *transfer = &reading->memory->transfer;
	const uint32_t tid = reading->threads[thread].tid;
	uint64_t head = 0, thread_pointer;
	uint32_t own_number;
	int r;

	r = find_head(reading, thread, &head);
	if (r == 0 && head == 0) {
		reading->memory->unborn[reading->unborn_count++] = thread;
		return 0;
	}
	if (r == 0)
		r = find_own_number(reading, tid, &own_number);
	if (r < 0) {
		fail(reading, thread, tag_of(-r), -r);
		return 0;
	}
	calibrate(attachment, reading->pid, head, &reading->reader->way);
	if (!attachment->robust_known) {
		add_held(reading, thread);
		return 0;
	}
	thread_pointer = head - attachment->robust_distance;
	r = attachment_counter_address(attachment, reading->pid, thread_pointer, &candidate->address,
				       &reading->reader->way);
	if (r < 0) {
		take_address_failure(reading, thread, r);
		return 0;
	}
	candidate->thread = thread;
	candidate->position = position;
	transfer_add(transfer, candidate->address, attachment->span);
	add_proof(transfer, head, thread_pointer, own_number, &candidate->proof);
	return 1;
}

/* One that was given may be that of a thread before; it is looked for by itself the next time. */
static void take_disproved(struct reading *reading, const struct candidate *candidate)
{
	const struct probe_thread *asked = &reading->threads[candidate->thread];
	struct known_thread *known = known_thread(reading, candidate->thread);

	if (asked->thread_pointer != candidate->proof.thread_pointer ||
	    known->disproved == asked->thread_pointer) {
		add_held(reading, candidate->thread);
		return;
	}
	known->disproved = asked->thread_pointer;
	reading->memory->unborn[reading->unborn_count++] = candidate->thread;
}

static int read_candidates(struct reading *reading, size_t count, size_t size)
{
	struct thread_reader_memory *memory = reading->memory;
	const size_t span = reading->attachment->span;
	const int r = count > 0 ? run_transfer(reading, size) : 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		const struct candidate *candidate = &memory->candidates[i];
		uint64_t allocated, deallocated;

		if (!is_proved(&memory->transfer, &candidate->proof,
			       memory->bytes + candidate->position + span)) {
			take_disproved(reading, candidate);
			continue;
		}
		if (!memory->transfer.read[candidate->proof.piece - 1]) {
			fail(reading, candidate->thread, HEAP_TAG_PROCESS_VM_READV, EFAULT);
			continue;
		}
		attachment_take_counters(reading->attachment, memory->bytes + candidate->position, &allocated,
					 &deallocated);
		known_thread(reading, candidate->thread)->address = candidate->address;
		succeed(reading, candidate->thread, allocated, deallocated);
	}
	return 0;
}

/* Finds and reads the `count` threads at `list` in one transfer. */
static int read_cold_batch(struct reading *reading, const size_t *list, size_t count)
{
	struct thread_reader_memory *memory = reading->memory;
	const struct transfer *transfer = &memory->transfer;
	size_t candidates = 0, size = 0, counted = 0;

	transfer_clear(&memory->transfer);
	for (size_t i = 0; i < count; i++) {
		candidates += add_candidate(reading, list[i], size, &memory->candidates[candidates]);
		for (; counted < transfer->count; counted++)
			size += transfer->pieces[counted].iov_len;
	}
	return read_candidates(reading, candidates, size);
}

static int read_cold(struct reading *reading, const size_t *list, size_t count)
{
	int r = 0;

	if (count > 0)
		find_living(reading);
	for (size_t first = 0; r == 0 && first < count; first += COLD_MAX)
		r = is_interrupted(reading)
			    ? -EINTR
			    : read_cold_batch(reading, &list[first],
					      count - first < COLD_MAX ? count - first : COLD_MAX);
	return r;
}

/* Those of the threads without a robust list that may be about to register one. */
static size_t take_newborn(struct reading *reading, size_t *ret_list)
{
	const bool never = reading->attachment->c_library.kind == C_LIBRARY_MUSL;
	size_t count = 0;

	for (size_t i = 0; i < reading->unborn_count; i++) {
		const size_t thread = reading->memory->unborn[i];

		if (never || known_thread(reading, thread)->is_headless)
			add_held(reading, thread);
		else
			ret_list[count++] = thread;
	}
	reading->unborn_count = 0;
	return count;
}

/* A thread registers its list in its first microseconds: waits for those that we met before. */
static int read_unborn(struct reading *reading)
{
	size_t *list = reading->memory->cold; /* read to its end */
	size_t count = take_newborn(reading, list);
	struct timespec period = {.tv_nsec = BIRTH_WAIT_NS};
	int r = 0;

	for (unsigned int i = 0; r == 0 && count > 0 && i < BIRTH_WAITS; i++) {
		nanosleep(&period, NULL);
		period.tv_nsec *= 2;
		r = read_cold(reading, list, count);
		count = take_newborn(reading, list);
	}
	for (size_t i = 0; i < count; i++) {
		known_thread(reading, list[i])->is_headless = true;
		add_held(reading, list[i]);
	}
	return r;
}

static void take_stopped(struct reading *reading, size_t thread, const struct stop_thread *stopped)
{
	if (!stopped->done)
		return;
	reading->reader->counts.stops += stopped->was_stopped;
	if (stopped->tag != HEAP_TAG_NONE) {
		fail(reading, thread, stopped->tag, stopped->error_number);
		return;
	}
	known_thread(reading, thread)->address = stopped->has_address ? stopped->address : 0;
	succeed(reading, thread, stopped->allocated, stopped->deallocated);
}

/* Threads that only a stop can tell about. */
static int read_held(struct reading *reading)
{
	struct thread_reader_memory *memory = reading->memory;
	int r, proof;

	memory->stops = memory_grow(memory->stops, &memory->stops_capacity, reading->held_count,
				    sizeof(memory->stops[0]));
	for (size_t i = 0; i < reading->held_count; i++)
		memory->stops[i] = (struct stop_thread){.tid = reading->threads[memory->held[i]].tid};
	r = stop_read(reading->attachment, memory->stops, reading->held_count, reading->stop_flag);
	for (size_t i = 0; i < reading->held_count; i++)
		take_stopped(reading, memory->held[i], &memory->stops[i]);
	transfer_clear(&memory->transfer);
	proof = run_transfer(reading, 0);
	return proof < 0 ? proof : r;
}

static void prepare(struct reading *reading)
{
	struct thread_reader_memory *memory = reading->memory;
	const size_t count = reading->count;

	memory->entries = memory_grow(memory->entries, &memory->entries_capacity, count,
				      sizeof(memory->entries[0]));
	memory->lists = memory_grow(memory->lists, &memory->lists_capacity, 3 * count,
				    sizeof(memory->lists[0]));
	memory->cold = memory->lists;
	memory->unborn = memory->cold + count;
	memory->held = memory->unborn + count;
	forget_ended(reading->known, reading->attachment);
	for (size_t i = 0; i < count; i++) {
		memory->entries[i] = find_known(reading->known, &reading->threads[i]);
		fail(reading, i, HEAP_TAG_NEEDS_STOP, 0);
	}
}

int thread_reader_read(struct thread_reader *reader, struct attachment *attachment,
		       struct known_threads *known, struct probe_thread *threads, size_t count,
		       const volatile int *stop_flag)
{
	struct reading reading = {
		.reader = reader,
		.memory = reader->memory,
		.attachment = attachment,
		.known = known,
		.threads = threads,
		.count = count,
		.pid = attachment->tgid,
		.stop_flag = stop_flag,
	};
	int r;

	if (count == 0)
		return 0;
	prepare(&reading);
	r = read_warm(&reading);
	if (r == 0)
		r = read_cold(&reading, reading.memory->cold, reading.cold_count);
	if (r == 0 && reading.unborn_count > 0)
		r = read_unborn(&reading);
	if (r == 0 && reading.held_count > 0 && reader->allow_stop)
		r = read_held(&reading);
	return r == 0 || r == -EINTR ? r : fail_all(&reading, r);
}
