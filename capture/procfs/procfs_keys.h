/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROCFS_KEYS_H
#define CTOP_PROCFS_KEYS_H

#include "text_scan.h"
#include "thread_reading.h"

/* The keys of one file of `key: value` lines and the metrics they fill: a hash table from metrics.def. */

enum {
	PROCFS_KEY_SLOTS = 128, /* a power of two, at least twice the keys of any one file */
};

struct procfs_key {
	const char *text; /* NULL in a free slot */
	uint8_t length;
	uint8_t metric;
	uint8_t form;   /* enum metric_form */
	uint8_t source; /* enum source that gets read with it */
};

struct procfs_keys {
	struct procfs_key slots[PROCFS_KEY_SLOTS];
};

/* Adds every metric that `source` defines or may fill instead. */
void procfs_keys_add(struct procfs_keys *keys, enum source source);

static inline size_t procfs_key_hash(struct text key)
{
	size_t first = (unsigned char)key.data[0], last = (unsigned char)key.data[key.length - 1];
	size_t middle = (unsigned char)key.data[key.length / 2];

	return (first * 7 + middle * 31 + last * 3 + key.length * 13) & (PROCFS_KEY_SLOTS - 1);
}

/* The entry of exactly that key, or NULL. */
static inline const struct procfs_key *procfs_keys_find(const struct procfs_keys *keys, struct text key)
{
	size_t slot;

	if (key.length == 0)
		return NULL;
	for (slot = procfs_key_hash(key); keys->slots[slot].text != NULL;
	     slot = (slot + 1) & (PROCFS_KEY_SLOTS - 1)) {
		if (keys->slots[slot].length == key.length &&
		    memcmp(keys->slots[slot].text, key.data, key.length) == 0)
			return &keys->slots[slot];
	}
	return NULL;
}

/*
 * Parses a value by the form of its key into the reading: present, bad, and the count of negative
 * dotted values. CPU lists are the caller's.
 */
void procfs_read_value(struct thread_reading *reading, const struct procfs_key *key, struct text value);

#endif
