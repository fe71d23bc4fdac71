/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FEATURE_H
#define CTOP_FEATURE_H

#include <stddef.h>

#include "base/buffer.h"
#include "reason.h"

/* The features that host and privilege allow; the table is feature.def. */
enum feature {
#define FEATURE(id, ...) FEATURE_##id,
#include "feature.def"
#undef FEATURE
	FEATURE_COUNT,
	FEATURE_NONE = FEATURE_COUNT,
};

enum feature_state {
	FEATURE_STATE_UNKNOWN,
	FEATURE_STATE_ON,
	FEATURE_STATE_PARTIAL, /* on for some threads or processes */
	FEATURE_STATE_OFF,
};

extern const char *const feature_state_names[]; /* "unknown", "on", "partial", "off" */

struct feature_entry {
	const char *name;
	const char *words;
	enum feature part_of; /* without which this one cannot be, or FEATURE_NONE */
};

extern const struct feature_entry features[FEATURE_COUNT];

/* The outcome of one check. */
struct feature_result {
	enum feature_state state;
	reason_id reason;   /* REASON_READ when on */
	const char *detail; /* what was found, a sentence; static or owned by the snapshot; may be NULL */
	const char *remedy; /* the exact command that provides this feature alone; NULL for none */
};

static inline struct feature_result feature_on(void)
{
	return (struct feature_result){.state = FEATURE_STATE_ON, .reason = REASON_READ};
}

static inline struct feature_result feature_off(enum reason reason, const char *detail, const char *remedy)
{
	return (struct feature_result){FEATURE_STATE_OFF, (reason_id)reason, detail, remedy};
}

/*
 * The feature to be remedied first where `feature` is missing: itself, or the outermost one that it is part
 * of and that is missing too.
 */
enum feature feature_cause(const struct feature_result results[FEATURE_COUNT], enum feature feature);

/*
 * Appends the remedies that `feature` needs: first the outermost containing feature's, last its own.
 * Remedies already in the text are left out. Appends nothing if one of these features cannot be provided.
 */
void feature_append_remedy(const struct feature_result results[FEATURE_COUNT], enum feature feature,
			   struct buffer *text);

/* The feature of that name (`length` bytes), or FEATURE_COUNT. */
enum feature feature_find(const char *name, size_t length);

#endif
