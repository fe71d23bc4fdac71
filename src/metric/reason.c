/* SPDX-License-Identifier: GPL-2.0-only */
#include "reason.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "name.h"

static const struct reason_entry {
	const char *name;  /* in files */
	const char *words; /* on the screen */
} reasons[REASON_COUNT] = {
	[REASON_READ] = {"read", "read"},
#define REASON(id, name, words) [REASON_##id] = {name, words},
#include "reason.def"
#undef REASON
};

enum {
	UNKNOWN_MAX = UINT8_MAX + 1 - REASON_COUNT,
};

/* Names of reasons known only from files. Entries below `count` never change and need no lock. */
static struct {
	pthread_mutex_t lock;
	atomic_size_t count;
	const char *names[UNKNOWN_MAX]; /* never freed */
} unknown = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool reason_is_name(const char *name, size_t length)
{
	return length != 0 && length <= REASON_NAME_MAX && memchr(name, '\0', length) == NULL &&
	       unicode_is_valid(name, length);
}

/* The index of the name in unknown.names, or `count`. */
static size_t find_unknown(const char *name, size_t length, size_t count)
{
	return name_find(unknown.names, count, sizeof(*unknown.names), name, length);
}

/* Adds a name unless another thread just did. Returns its index, or UNKNOWN_MAX if no index is left. */
static size_t add_unknown(const char *name, size_t length)
{
	size_t count, index;

	pthread_mutex_lock(&unknown.lock);
	count = atomic_load_explicit(&unknown.count, memory_order_relaxed);
	index = find_unknown(name, length, count);
	if (index == count && count < UNKNOWN_MAX) {
		unknown.names[count] = memory_duplicate_bytes(name, length);
		/* a reader that sees the new count also sees the name */
		atomic_store_explicit(&unknown.count, count + 1, memory_order_release);
	}
	pthread_mutex_unlock(&unknown.lock);
	return index;
}

reason_id reason_intern(const char *name, size_t length)
{
	const size_t known = name_find(reasons, REASON_COUNT, sizeof(reasons[0]), name, length);
	const size_t count = atomic_load_explicit(&unknown.count, memory_order_acquire);
	size_t index;

	if (known != REASON_COUNT)
		return (reason_id)known;
	if (!reason_is_name(name, length))
		return REASON_UNREADABLE;
	index = find_unknown(name, length, count);
	if (index == count)
		index = add_unknown(name, length);
	return index < UNKNOWN_MAX ? (reason_id)(REASON_COUNT + index) : REASON_UNREADABLE;
}

static const char *unknown_name(size_t reason)
{
	const size_t index = reason - REASON_COUNT;

	return index < atomic_load_explicit(&unknown.count, memory_order_acquire) ? unknown.names[index]
										  : NULL;
}

const char *reason_name(size_t reason)
{
	const char *name = reason < REASON_COUNT ? reasons[reason].name : unknown_name(reason);

	return name != NULL ? name : reasons[REASON_UNREADABLE].name;
}

const char *reason_words(size_t reason)
{
	const char *words = reason < REASON_COUNT ? reasons[reason].words : unknown_name(reason);

	return words != NULL ? words : reasons[REASON_UNREADABLE].words;
}

enum reason reason_of_errno(int result)
{
	switch (result) {
	case 0:
		return REASON_READ;
	case -EACCES:
	case -EPERM:
		return REASON_NOT_PERMITTED;
	case -ESRCH:
		return REASON_ENDED;
	case -EXDEV:
		return REASON_OTHER_NAMESPACE;
	case -EOPNOTSUPP: /* psi_open() of kernel/sched/psi.c, with PSI switched off */
		return REASON_SWITCHED_OFF;
	default:
		return REASON_UNREADABLE;
	}
}
