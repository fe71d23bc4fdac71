/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CGROUP_KEY_H
#define CTOP_CGROUP_KEY_H

#include <stddef.h>

#include "base/buffer.h"
#include "glob.h"
#include "grouping.h"

/* The rules that make keys of cgroup paths: compiled globs, then the normalising layers. */
struct cgroup_key_rules {
	const struct grouping_options *options;
	struct glob **globs; /* NULL where a pattern does not compile: it is ignored */
};

/* Compiles the globs; `options`, whose `rules` are chosen, must outlive the rules. */
void cgroup_key_rules_initialise(struct cgroup_key_rules *rules, const struct grouping_options *options);
void cgroup_key_rules_release(struct cgroup_key_rules *rules);

/* Appends the key of a raw cgroup path. */
void cgroup_key_append(const struct cgroup_key_rules *rules, const char *path, size_t length,
		       struct buffer *buffer);

/* Does the same for a path of a snapshot, as name_rules_text() spells it. */
void cgroup_key_append_name(const struct cgroup_key_rules *rules, const struct snapshot *snapshot,
			    uint32_t path, struct buffer *buffer);

#endif
