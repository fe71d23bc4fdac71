/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns that cannot have a number here, and why. */
#include "session_internal.h"

#include "table/evidence.h"
#include "window/column.h"

/* Why something cannot be read; `feature` would tell the remedy, FEATURE_NONE for none. */
struct refusal {
	reason_id reason; /* REASON_READ: it can */
	enum feature feature;
};

const char session_by_name_remedy[] = "group by process, cgroup or thread (g), without a filter of threads";

static const struct refusal nothing_refused = {.feature = FEATURE_NONE};

/* Whether a reason holds until something is changed, not only in this round or for this thread. */
static bool is_lasting(reason_id reason)
{
	switch (reason) {
	case REASON_NOT_PERMITTED:
	case REASON_NOT_IN_KERNEL:
	case REASON_SWITCHED_OFF:
	case REASON_OFF_AT_FORK:
	case REASON_OTHER_NAMESPACE:
	case REASON_NEEDS_STOP:
	case REASON_NOT_IN_FILE:
	case REASON_NOT_BUILT:
	case REASON_OTHER_BACKEND:
		return true;
	default:
		return reason >= REASON_COUNT; /* of another program's file */
	}
}

static struct refusal refusal_of(enum source source, reason_id reason)
{
	if (!is_lasting(reason))
		return nothing_refused;
	/* nothing that is done here adds to a file */
	if (source == SOURCE_NONE || reason == REASON_NOT_IN_FILE || reason >= REASON_COUNT)
		return (struct refusal){reason, FEATURE_NONE};
	return (struct refusal){reason, evidence_feature(source, reason)};
}

/* The commonest reason why a source was read for no thread. */
static struct refusal refusal_of_source(const struct snapshot *now, enum source source)
{
	const struct tally *tally = now->provenance.tallies != NULL ? &now->provenance.tallies[source] : NULL;
	struct tally own;
	reason_id reason = REASON_READ;
	uint64_t most = 0;

	if (tally == NULL) {
		snapshot_tally(now, source, &own);
		tally = &own;
	}
	if (tally->read != 0)
		return nothing_refused;
	for (unsigned int i = 1; i <= UINT8_MAX; i++) {
		/* what may be read later has not been refused */
		if (tally->missed[i] != 0 && !is_lasting((reason_id)i))
			return nothing_refused;
		if (tally->missed[i] > most) {
			most = tally->missed[i];
			reason = (reason_id)i;
		}
	}
	return refusal_of(source, reason);
}

/* Refuses a metric that is missing although its source may be there. */
static struct refusal refusal_of_reason(enum metric metric, reason_id reason)
{
	const bool is_irq = metric >= METRIC_IRQ_DELAY_COUNT && metric <= METRIC_IRQ_DELAY_MIN_NS;

	return (struct refusal){reason, is_irq ? FEATURE_IRQ_DELAY : FEATURE_NONE};
}

static struct refusal refusal_of_metric(const struct snapshot *now, const struct view *view,
					enum metric metric)
{
	const enum source source = now->metric_source[metric];
	struct refusal refusal = nothing_refused;

	/* files of other programs have flags, by which each thread is judged */
	if (metric == METRIC_THREAD_COUNT || !now->provenance.present || source == SOURCE_NONE)
		return refusal;
	if (view->mode != WINDOW_MODE_TOTAL && metric_type(metric)->kind == METRIC_KIND_COUNTER &&
	    window_is_frozen(now, metric) && !is_lasting(now->metric_reason[metric]))
		return refusal_of(SOURCE_DELAYS, REASON_SWITCHED_OFF);
	if (is_lasting(now->metric_reason[metric]))
		refusal = refusal_of_reason(metric, now->metric_reason[metric]);
	else
		refusal = refusal_of_source(now, source);
	if (refusal.reason == REASON_READ && sources[source].part_of != SOURCE_NONE)
		return refusal_of_source(now, sources[source].part_of);
	return refusal;
}

/* Judges several numbers: a ratio lacks a value if one is missing, a sum if all are. */
static struct refusal refusal_of_metrics(const struct snapshot *now, const struct view *view,
					 const struct column_entry *entry)
{
	const bool any = column_has(entry, COLUMN_NEEDS_ALL);
	struct refusal refusal = nothing_refused;

	for (size_t i = 0; i < entry->input_count; i++) {
		refusal = refusal_of_metric(now, view, (enum metric)entry->inputs[i]);
		if ((refusal.reason != REASON_READ) == any)
			return refusal;
	}
	return refusal;
}

static struct refusal refusal_of_feature(const struct snapshot *now, enum feature feature)
{
	const struct feature_result *result = &now->provenance.features[feature];
	struct refusal refusal = {.feature = feature};

	if (now->provenance.present && result->state == FEATURE_STATE_OFF &&
	    is_lasting((reason_id)result->reason))
		refusal.reason = (reason_id)result->reason;
	return refusal;
}

/* --- by kind of column --- */

/* The facts by which a column of some kind is judged. */
struct question {
	const struct snapshot *now;
	const struct view *view;
	const struct column_entry *entry;
	bool of_file;
	bool has_samples; /* of what threads wait for */
};

/* Judges columns with one source of their own. */
static struct refusal refuse_source(const struct question *question)
{
	return refusal_of_source(question->now, column_operations[question->entry->operation].source);
}

static struct refusal refuse_resident(const struct question *question)
{
	return question->now->smaps_count == 0 ? refusal_of(SOURCE_NONE, question->now->resident_missing)
					       : nothing_refused;
}

static struct refusal refuse_latency(const struct question *question)
{
	return refusal_of_feature(question->now, FEATURE_LATENCY);
}

static struct refusal refuse_time(const struct question *question)
{
	return question->has_samples ? nothing_refused : refuse_latency(question);
}

/* Delays and wakes are counted by name only. */
static struct refusal refuse_blame(const struct question *question)
{
	const struct refusal refusal = refuse_latency(question);

	if (refusal.reason != REASON_READ || !view_looks_behind_names(question->view))
		return refusal;
	return (struct refusal){REASON_BY_NAME, FEATURE_NONE};
}

/* The number of threads that ended is counted by rounds since the base. */
static struct refusal refuse_lives(const struct question *question)
{
	if (question->entry->inputs[0] == LIFE_BEGAN || question->view->mode == WINDOW_MODE_BASE ||
	    snapshot_ends_are_told(question->now))
		return nothing_refused;
	return refusal_of_feature(question->now, FEATURE_EXITS);
}

static struct refusal refuse_cgroup(const struct question *question)
{
	return refusal_of(SOURCE_CGROUP, reduce_cgroup_missing(question->now, question->entry->inputs[0]));
}

/* Files of other programs have all identities but users. */
static struct refusal refuse_identity(const struct question *question)
{
	const struct snapshot *now = question->now;

	if (question->entry->inputs[0] == IDENTITY_COMMAND && question->view->commands == NULL &&
	    now->provenance.title_count == 0)
		return refusal_of(SOURCE_NONE, question->of_file ? REASON_NOT_IN_FILE : REASON_NOT_READ);
	if (question->entry->inputs[0] != IDENTITY_USER || now->provenance.present || now->thread_count == 0)
		return nothing_refused;
	for (size_t i = 0; i < now->thread_count; i++) {
		if (now->uid[i] != UINT32_MAX)
			return nothing_refused;
	}
	return refusal_of(SOURCE_NONE, REASON_NOT_IN_FILE);
}

static struct refusal refuse_waits_for(const struct question *question)
{
	const reason_id missing = reduce_waits_for_missing(question->now);

	return missing != REASON_READ ? refusal_of(SOURCE_WAIT, missing) : refuse_source(question);
}

/* Most threads sleep, and only BPF says for how long. */
static struct refusal refuse_waiting(const struct question *question)
{
	const struct snapshot *now = question->now;

	if (question->view->level != VIEW_LEVEL_THREADS || now->waiting_ns != NULL ||
	    !now->provenance.present)
		return nothing_refused;
	return refusal_of_feature(now, FEATURE_PASSES);
}

/* Parts of a bar are missing one by one. */
static struct refusal refuse_nothing(const struct question *question)
{
	(void)question;
	return nothing_refused;
}

/* Other kinds can always have a number unless they are made of metrics. */
static struct refusal (*const refuse_kinds[COLUMN_OPERATION_COUNT])(const struct question *question) = {
	[COLUMN_OPERATION_SMAPS] = refuse_source,        [COLUMN_OPERATION_RESIDENT] = refuse_resident,
	[COLUMN_OPERATION_GROWTH] = refuse_resident,     [COLUMN_OPERATION_HEAP] = refuse_source,
	[COLUMN_OPERATION_LATENCY] = refuse_latency,     [COLUMN_OPERATION_LIVES] = refuse_lives,
	[COLUMN_OPERATION_CGROUP] = refuse_cgroup,       [COLUMN_OPERATION_IDENTITY] = refuse_identity,
	[COLUMN_OPERATION_BAR] = refuse_nothing,         [COLUMN_OPERATION_BLAME] = refuse_blame,
	[COLUMN_OPERATION_TIME] = refuse_time,           [COLUMN_OPERATION_WAITING] = refuse_waiting,
	[COLUMN_OPERATION_WAITS_FOR] = refuse_waits_for,
};

static struct refusal refusal_of_column(const struct session *session, const struct view *view,
					enum column column)
{
	const struct column_entry *entry;

	if (session->rounds.now == NULL || column >= COLUMN_TOTAL || column == COLUMN_COUNT)
		return nothing_refused;
	entry = column_entry(column);
	if (refuse_kinds[entry->operation] != NULL)
		return refuse_kinds[entry->operation](
			&(struct question){session->rounds.now, view, entry, session->is_file,
					   session_window(session, view->mode).samples != NULL});
	return column_has(entry, COLUMN_OF_METRICS) ? refusal_of_metrics(session->rounds.now, view, entry)
						    : nothing_refused;
}

/* The feature that is to be remedied, FEATURE_NONE for none. */
static enum feature cause_of(const struct snapshot *now, struct refusal refusal)
{
	/* what this kernel does not have no switch of another feature brings */
	if (refusal.feature == FEATURE_NONE || refusal.reason == REASON_NOT_IN_KERNEL)
		return refusal.feature;
	return feature_cause(now->provenance.features, refusal.feature);
}

/* Appends "delay accounting: switched off; sysctl kernel.task_delayacct=1", with every remedy needed. */
static void append_words(const struct snapshot *now, struct refusal refusal, struct buffer *words)
{
	const struct feature_result *results = now->provenance.features;
	const enum feature cause = cause_of(now, refusal);
	struct buffer remedy = {0};
	reason_id reason = refusal.reason;

	if (cause == FEATURE_NONE) {
		buffer_append_text(words, reason_words(refusal.reason));
		if (refusal.reason == REASON_BY_NAME)
			buffer_append_format(words, "; %s", session_by_name_remedy);
		return;
	}
	if (cause != refusal.feature && results[cause].state == FEATURE_STATE_OFF)
		reason = results[cause].reason;
	buffer_append_format(words, "%s: %s", features[cause].words, reason_words(reason));
	if (refusal.reason != REASON_NOT_IN_KERNEL)
		feature_append_remedy(results, refusal.feature, &remedy);
	else if (results[cause].remedy != NULL)
		buffer_append_text(&remedy, results[cause].remedy);
	if (remedy.length != 0)
		buffer_append_format(words, "; %s", remedy.data);
	buffer_release(&remedy);
}

bool session_why_unavailable(const struct session *session, const struct view *view, enum column column,
			     struct buffer *words)
{
	const struct refusal refusal = refusal_of_column(session, view, column);

	if (refusal.reason != REASON_READ && words != NULL)
		append_words(session->rounds.now, refusal, words);
	return refusal.reason != REASON_READ;
}

bool session_is_lower_bound(const struct session *session, const struct view *view, enum column column)
{
	const struct snapshot *now = session->rounds.now;
	const struct column_entry *entry;
	bool lacks = false, has = false;

	if (now == NULL || column >= COLUMN_COUNT)
		return false;
	entry = column_entry(column);
	/* what began and ended between two rounds is seen by those who are told of ends */
	if (entry->operation == COLUMN_OPERATION_LIVES)
		return view->mode != WINDOW_MODE_TOTAL && !snapshot_ends_are_told(now) &&
		       !session_why_unavailable(session, view, column, NULL);
	if (!column_has(entry, COLUMN_OF_METRICS) || column_has(entry, COLUMN_NEEDS_ALL))
		return false;
	for (size_t i = 0; i < entry->input_count; i++) {
		const bool refused = refusal_of_metric(now, view, (enum metric)entry->inputs[i]).reason !=
				     REASON_READ;

		lacks |= refused;
		has |= !refused;
	}
	return lacks && has;
}

void session_append_cause(const struct session *session, const struct view *view, enum column column,
			  struct buffer *words)
{
	const struct snapshot *now = session->rounds.now;
	const struct refusal refusal = refusal_of_column(session, view, column);
	const enum feature cause = refusal.reason != REASON_READ ? cause_of(now, refusal) : FEATURE_NONE;

	if (cause != FEATURE_NONE)
		buffer_append_format(
			words, "%s %s", features[cause].name,
			now->provenance.features[cause].state == FEATURE_STATE_PARTIAL ? "partial" : "off");
	else if (refusal.reason != REASON_READ)
		buffer_append_text(words, reason_words(refusal.reason));
}

bool session_refuse_column(const struct session *session, const struct view *view, enum column column,
			   struct buffer *words)
{
	if (!session_why_unavailable(session, view, column, NULL))
		return false;
	buffer_append_format(words, "%s cannot be read: ", column_title(column, view->mode));
	return session_why_unavailable(session, view, column, words);
}
