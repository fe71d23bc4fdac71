/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_KEY_VALUES_H
#define CTOP_KEY_VALUES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/string_pool.h"
#include "snapshot/snapshot.h"

/* How the lines of such a file look. */
enum key_values_form {
	KEY_VALUES_COLON, /* smaps_rollup: `Key: 123 kB`; keys with white space or '-' (the address line) are
			     no keys */
	KEY_VALUES_FLAT,  /* flat keyed cgroup files: `key 123`; further words ignored */
};

/*
 * Every key with a decimal value of a text, in its order; a line without one is left out, a repeated key
 * keeps its last good value. Keys are interned into `strings`; the items are owned by `arena`.
 * Returns false if the text has none.
 */
bool key_values_parse(const char *text, size_t length, enum key_values_form form, struct string_pool *strings,
		      struct arena *arena, struct key_values *ret_values);

#endif
