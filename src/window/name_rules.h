/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NAME_RULES_H
#define CTOP_NAME_RULES_H

#include <stdbool.h>

#include "snapshot/snapshot.h"

/* How the names of threads, processes and cgroups become groups. */
struct name_rules {
	const char *separators; /* ASCII characters between tokens, in addition to white space */
	bool knows_escapes;     /* \xHH from systemd or for bytes outside valid UTF-8 is one character */
	bool knows_ids;         /* the letters before a systemd id stay in the pattern */
	bool keeps_hashes;      /* a name that would become `{H}` is its own pattern */
	bool keeps_containers;  /* the cgroup of a container is a group by itself */
	/* Keys are patterns, and a pattern of one name has that name as its label. Otherwise the key is the
	 * label, and a pattern of one thread is its name. */
	bool keeps_patterns;
	bool joins_own;      /* the threads of ctop itself are one group on the axes of thread names, too */
	bool replaces_bytes; /* a byte outside valid UTF-8 is U+FFFD, and made-up names have no mark */
};

/* ctop's own, and those of ktstr's ctprof. */
extern const struct name_rules name_rules_ctop, name_rules_ktstr;

/* A name of a snapshot, which may be in `scratch` until the next call. */
struct name_text name_rules_text(const struct name_rules *rules, const struct snapshot *snapshot,
				 uint32_t name, struct buffer *scratch);

#endif
