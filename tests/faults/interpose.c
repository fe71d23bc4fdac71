/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loaded before all other libraries (LD_PRELOAD): counts the call sites of the functions in functions.def,
 * and makes one call of one of them fail. Under a sanitizer its runtime has to be a shared library, which
 * comes behind this one.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "state.h"

#define SHORT FAULT_SHORT

/* Registers carry at most six arguments, whatever their types: one signature does for all rows. */
typedef long (*function)(long, long, long, long, long, long);

enum how {
	MINUS,
	POINTER,
	MAPPING,
	NUMBER,
	AFTER
};

enum row {
#define FUNCTION(name, how, ...) ROW_##name,
#include "functions.def"
#undef FUNCTION
	ROW_COUNT
};

static const struct {
	const char *name;
	enum how how;
} rows[] = {
#define FUNCTION(name, how, ...) {#name, how},
#include "functions.def"
#undef FUNCTION
};

static function originals[ROW_COUNT];
static struct fault_state *state;
static uintptr_t own_base;
static _Thread_local bool is_inside __attribute__((tls_model("initial-exec")));

/* The search for originals may allocate before there is an allocator. */
static char early[4096];
static size_t early_used;

/* A walk outwards. */
struct walk {
	struct fault_site site;
	uint64_t hash;
	uint32_t own_frames; /* of ctop itself */
};

static void hash_bytes(uint64_t *hash, const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		*hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	const uintptr_t address = _Unwind_GetIP(context);
	struct fault_frame *frame = &walk->site.frames[walk->site.frame_count];
	struct dl_find_object object;
	const char *name;

	if (_dl_find_object((void *)(address - 1), &object) != 0)
		return _URC_END_OF_STACK;
	if (object.dlfo_link_map->l_addr == own_base)
		return _URC_NO_REASON;
	/* the program itself has no name */
	name = object.dlfo_link_map->l_name;
	name = strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name;
	strncpy(frame->object, name, sizeof(frame->object) - 1);
	frame->offset = address - object.dlfo_link_map->l_addr;
	hash_bytes(&walk->hash, frame->object, sizeof(frame->object));
	hash_bytes(&walk->hash, &frame->offset, sizeof(frame->offset));
	if (name[0] == '\0')
		walk->own_frames++;
	walk->site.frame_count++;
	return walk->own_frames == 2 || walk->site.frame_count == FAULT_FRAMES ? _URC_END_OF_STACK
									       : _URC_NO_REASON;
}

/* Counts the call: its site, and in *ret_call how often that has called now; NULL where it is none of ctop's.
 */
static struct fault_site *count(enum row row, uint32_t *ret_call)
{
	struct walk walk = {.hash = UINT64_C(14695981039346656037)};

	hash_bytes(&walk.hash, &row, sizeof(row));
	_Unwind_Backtrace(visit, &walk);
	if (walk.own_frames == 0)
		return NULL;
	for (uint32_t i = 0; i < FAULT_SITES; i++) {
		struct fault_site *site = &state->sites[(walk.hash + i) % FAULT_SITES];
		uint64_t id = 0;

		if (atomic_compare_exchange_strong(&site->id, &id, walk.hash)) {
			site->function = row;
			site->frame_count = walk.site.frame_count;
			memcpy(site->frames, walk.site.frames, sizeof(site->frames));
			id = walk.hash;
		}
		if (id == walk.hash) {
			*ret_call = atomic_fetch_add(&site->calls, 1) + 1;
			return site;
		}
	}
	atomic_fetch_add(&state->lost, 1);
	return NULL;
}

/* Whether this call is the one that fails; `operation` is its second argument. */
static bool is_failing(enum row row, long operation)
{
	const int kept = errno;
	struct fault_site *site;
	uint32_t none = 0;
	uint32_t call = 0;
	bool result;

	/* only adding takes memory */
	if (state == NULL || is_inside || (row == ROW_epoll_ctl && operation != EPOLL_CTL_ADD))
		return false;
	is_inside = true;
	site = count(row, &call);
	result = site != NULL && site->id == state->failing_site && call == state->failing_call &&
		 atomic_compare_exchange_strong(&state->failed, &none, 1);
	is_inside = false;
	errno = kept;
	return result;
}

static function original(enum row row)
{
	if (originals[row] == NULL)
		originals[row] = (function)dlsym(RTLD_NEXT, rows[row].name);
	return originals[row];
}

static long fail(enum row row, const long *a)
{
	const int number = state->failing_errno;

	if (number == FAULT_SHORT)
		return original(row)(a[0], a[1], a[2] > 1 ? a[2] / 2 : a[2], a[3], a[4], a[5]);
	switch (rows[row].how) {
	case AFTER:
		original(row)(a[0], a[1], a[2], a[3], a[4], a[5]);
		break;
	case POINTER:
		errno = number;
		return 0;
	case NUMBER:
		return number;
	case MINUS:
	case MAPPING:
		break;
	}
	errno = number;
	return -1;
}

static long call(enum row row, const long *a)
{
	static bool is_searching;
	void *piece;

	if (is_failing(row, a[1]))
		return fail(row, a);
	if (originals[row] == NULL && row == ROW_calloc) {
		if (is_searching) {
			piece = early + early_used;
			early_used += ((size_t)a[0] * (size_t)a[1] + 15) / 16 * 16;
			return early_used <= sizeof(early) ? (long)piece : 0;
		}
		is_searching = true;
		original(row);
		is_searching = false;
	}
	return original(row)(a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define FUNCTION(name, how, ...)                                                                             \
	long __attribute__((visibility("default")))                                                          \
	faulty_##name(long a, long b, long c, long d, long e, long f) __asm__(#name);                        \
	long faulty_##name(long a, long b, long c, long d, long e, long f)                                   \
	{                                                                                                    \
		return call(ROW_##name, (const long[]){a, b, c, d, e, f});                                   \
	}
#include "functions.def"
#undef FUNCTION

/* A descriptor's kind: its name without the digits, of which those of processes, sockets and files differ. */
static void describe(const char *name, char *ret_kind, size_t size)
{
	size_t length = 0;

	for (; *name != '\0' && length + 1 < size; name++)
		if (*name < '0' || *name > '9')
			ret_kind[length++] = *name;
	ret_kind[length] = '\0';
}

static void note_descriptors(void)
{
	for (int descriptor = 0; descriptor < 1024; descriptor++) {
		char path[40];
		char name[256];
		char kind[sizeof(state->descriptors[0].kind)];
		ssize_t length;
		uint32_t i = 0;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
		length = readlink(path, name, sizeof(name) - 1);
		if (length < 0)
			continue;
		name[length] = '\0';
		describe(name, kind, sizeof(kind));
		while (i < state->descriptor_count && strcmp(state->descriptors[i].kind, kind) != 0)
			i++;
		if (i == FAULT_DESCRIPTORS)
			continue;
		strcpy(state->descriptors[i].kind, kind);
		state->descriptors[i].count++;
		if (i == state->descriptor_count)
			state->descriptor_count++;
	}
	state->ended = 1;
}

static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("FAULTS_STATE");
	struct dl_find_object object;
	int32_t none = 0;
	void *mapping;
	int descriptor;

	for (int row = 0; row < ROW_COUNT; row++)
		original((enum row)row);
	if (path == NULL || _dl_find_object((void *)(uintptr_t)begin, &object) != 0)
		return;
	own_base = object.dlfo_link_map->l_addr;
	descriptor = open(path, O_RDWR | O_CLOEXEC);
	mapping = descriptor < 0
			  ? MAP_FAILED
			  : mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	if (mapping == MAP_FAILED) {
		fprintf(stderr, "faults: cannot map %s\n", path);
		_exit(125);
	}
	close(descriptor);
	state = mapping;
	atomic_compare_exchange_strong(&state->process, &none, getpid());
}

static void __attribute__((destructor)) end(void)
{
	if (state == NULL || getpid() != state->process)
		return;
	is_inside = true;
	note_descriptors();
}
