/* SPDX-License-Identifier: GPL-2.0-only */
#include "record_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "metric/quantity.h"
#include "session/session.h"
#include "table/column_name.h"
#include "table/rule.h"
#include "window/blame.h"
#include "window/column.h"
#include "window/host_numbers.h"

/* Windows of the kernel (WINDOW_MIN_US, WINDOW_MAX_US of kernel/sched/psi.c). */
#define WINDOW_MIN_NS (500 * NS_PER_MS)
#define WINDOW_MAX_NS (10 * NS_PER_S)
/* Without CAP_SYS_RESOURCE the kernel accepts only multiples of this (psi_trigger_create()). */
#define WINDOW_STEP_NS (2 * NS_PER_S)

/* After this time the notice that no group matches a rule is repeated. */
#define AGAIN_NS (60 * NS_PER_S)

struct record_rule {
	struct rule rule;
	int trigger;                   /* a file that the kernel signals; -1: none */
	uint64_t window_ns;            /* of the trigger */
	uint64_t quiet_until_ns;       /* CLOCK_BOOTTIME */
	bool has_matched;              /* some group has been there */
	bool has_culprit;              /* some culprit, of a rule of `delayed` */
	uint64_t first_judged_ns;      /* CLOCK_BOOTTIME, without a group that matches; 0: not yet */
	unsigned int told;             /* notices that no group matches */
	bool has_number, told_unknown; /* some group\'s is known; it was said that none is */
	reason_id unknown;             /* why not; REASON_READ: nobody has looked */
};

struct record_rules {
	struct record_rule *items;
	size_t count;
	uint64_t rest_ns;
	struct session *session; /* for rules of groups; NULL: there are none */
	struct snapshot *before; /* a reference to the round before; NULL: none */
	struct record_hit *hits;
	size_t hit_count;
	char *notice;
};

int record_rules_parse(const char *const texts[], size_t count, uint64_t rest_ns,
		       struct record_rules **ret_rules, struct error *error)
{
	struct record_rules *rules = memory_allocate_zero(1, sizeof(*rules));
	int result = 0;

	rules->rest_ns = rest_ns;
	rules->items = memory_allocate_zero(count + 1, sizeof(*rules->items));
	rules->hits = memory_allocate_zero(count + 1, sizeof(*rules->hits));
	for (; result == 0 && rules->count < count; rules->count++) {
		struct record_rule *rule = &rules->items[rules->count];

		rule->trigger = -1;
		result = rule_parse(texts[rules->count], false, &rule->rule, error);
		if (result == 0 && !rule->rule.is_pressure && rules->session == NULL)
			rules->session = session_create();
	}
	if (result < 0) {
		record_rules_release(rules);
		return result;
	}
	*ret_rules = rules;
	return 0;
}

static void forget_hits(struct record_rules *rules)
{
	for (size_t i = 0; i < rules->hit_count; i++)
		free(rules->hits[i].text);
	rules->hit_count = 0;
}

void record_rules_release(struct record_rules *rules)
{
	if (rules == NULL)
		return;
	forget_hits(rules);
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].trigger >= 0)
			close(rules->items[i].trigger);
		rule_release(&rules->items[i].rule);
	}
	session_release(rules->session);
	snapshot_release(rules->before);
	free(rules->items);
	free(rules->hits);
	free(rules->notice);
	free(rules);
}

/* --- the kernel tells --- */

/* -EXDEV for a file of a saved tree, which signals nothing and is left as it is. */
static int open_trigger(const char *path, double percent, uint64_t window_ns)
{
	const uint64_t window_us = window_ns / NS_PER_US;
	uint64_t stall_us = (uint64_t)(percent / 100 * (double)window_us);
	struct statfs status;
	char words[64];
	int descriptor, length;

	/* the kernel refuses a threshold of 0 (psi_trigger_create()) */
	if (stall_us == 0)
		stall_us = 1;
	descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return -errno;
	if (fstatfs(descriptor, &status) < 0 || status.f_type != PROC_SUPER_MAGIC) {
		close(descriptor);
		return -EXDEV;
	}
	length = snprintf(words, sizeof(words), "some %llu %llu", (unsigned long long)stall_us,
			  (unsigned long long)window_us);
	/* with its NUL: the kernel reads a string */
	if (write(descriptor, words, (size_t)length + 1) < 0) {
		const int result = -errno;

		close(descriptor);
		return result;
	}
	return descriptor;
}

static void watch_rule(struct record_rule *rule, const char *proc, uint64_t interval_ns)
{
	uint64_t window_ns = interval_ns < WINDOW_MIN_NS   ? WINDOW_MIN_NS
			     : interval_ns > WINDOW_MAX_NS ? WINDOW_MAX_NS
							   : interval_ns;
	char *path = memory_format("%s/pressure/%s", proc, pressure_resource_names[rule->rule.resource]);

	rule->trigger = open_trigger(path, rule->rule.limit.number, window_ns);
	if (rule->trigger == -EINVAL) {
		window_ns = window_ns < WINDOW_STEP_NS ? WINDOW_STEP_NS
						       : window_ns / WINDOW_STEP_NS * WINDOW_STEP_NS;
		rule->trigger = open_trigger(path, rule->rule.limit.number, window_ns);
	}
	rule->window_ns = window_ns;
	free(path);
}

size_t record_rules_watch(struct record_rules *rules, const char *proc, uint64_t interval_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->count; i++) {
		struct record_rule *rule = &rules->items[i];

		if (!rule->rule.is_pressure || !comparison_is_upwards(rule->rule.limit.comparison))
			continue;
		watch_rule(rule, proc != NULL ? proc : "/proc", interval_ns);
		if (rule->trigger >= 0)
			count++;
	}
	return count;
}

size_t record_rules_count(const struct record_rules *rules)
{
	return rules->count;
}

size_t record_rules_descriptors(const struct record_rules *rules, struct pollfd polled[])
{
	size_t count = 0;

	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].trigger >= 0)
			polled[count++] = (struct pollfd){.fd = rules->items[i].trigger, .events = POLLPRI};
	}
	return count;
}

/* Takes over the text. */
static void add_hit(struct record_rules *rules, struct record_rule *rule, char *text, uint64_t unix_ns)
{
	rule->quiet_until_ns = clock_ns(CLOCK_BOOTTIME) + rules->rest_ns;
	rules->hits[rules->hit_count++] = (struct record_hit){text, unix_ns};
}

/* "psi.io > 20: some thread waited for io in 25.0% of 2 s", owned by the caller; a percentage that is not
 * known is above the limit. */
static char *stall_text(const struct record_rule *rule, double percent, uint64_t span_ns)
{
	struct buffer text = {0};

	buffer_append_format(&text, "%s: some thread waited for %s in ", rule->rule.text,
			     pressure_resource_names[rule->rule.resource]);
	if (isnan(percent))
		buffer_append_format(&text, "more than %g%%", rule->rule.limit.number);
	else
		humanize_percent(&text, percent);
	buffer_append_text(&text, " of ");
	humanize_duration(&text, (double)span_ns);
	return buffer_steal(&text);
}

size_t record_rules_told(struct record_rules *rules, const struct pollfd polled[], size_t count,
			 const struct record_hit **ret_hits)
{
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);
	size_t next = 0;

	forget_hits(rules);
	for (size_t i = 0; i < rules->count && next < count; i++) {
		struct record_rule *rule = &rules->items[i];
		short events;

		if (rule->trigger < 0)
			continue;
		events = polled[next++].revents;
		if ((events & (POLLERR | POLLNVAL)) != 0) {
			/* the kernel does not tell any more: from now on it is computed from rounds */
			close(rule->trigger);
			rule->trigger = -1;
		} else if ((events & POLLPRI) != 0 && now >= rule->quiet_until_ns) {
			add_hit(rules, rule, stall_text(rule, NAN, rule->window_ns),
				clock_ns(CLOCK_REALTIME));
		}
	}
	*ret_hits = rules->hits;
	return rules->hit_count;
}

/* --- rounds --- */

static void judge_pressure(struct record_rules *rules, struct record_rule *rule, const struct snapshot *round)
{
	const double percent = 100 * host_pressure_share(round, rules->before, rule->rule.resource);
	const double number = rule->rule.limit.number;

	if (isnan(percent) || rule->trigger >= 0 ||
	    !comparison_holds(rule->rule.limit.comparison, percent, percent, number))
		return;
	add_hit(rules, rule,
		stall_text(rule, percent,
			   round->provenance.boottime_ns - rules->before->provenance.boottime_ns),
		round->captured_at_unix_ns);
}

source_set record_rules_needs(const struct record_rules *rules)
{
	source_set needed = 0;

	for (size_t i = 0; i < rules->count; i++) {
		if (!rules->items[i].rule.is_pressure)
			needed |= column_sources(rules->items[i].rule.column);
	}
	return needed;
}

/* The row that breaks a rule by most; NULL for none. Notes whether a number is known. */
static const struct table_row *find_worst(const struct table *table, struct record_rule *watched,
					  bool *ret_matches)
{
	const struct rule *rule = &watched->rule;
	const enum comparison_kind comparison = rule->limit.comparison;
	const bool upwards = comparison_is_upwards(comparison);
	const struct table_row *worst = NULL;

	*ret_matches = false;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];
		const struct cell *cell = &row->cells[0];
		bool known;

		if (row->mark == ROW_MARK_GONE ||
		    !rule_matches(rule, row->key, row->key_length, row->label, row->label_length))
			continue;
		*ret_matches = true;
		if (cell->state == CELL_UNAVAILABLE)
			watched->unknown = cell->reason;
		else
			watched->has_number = true;
		if (rule->is_delayed || !limit_holds(&rule->limit, cell, &known))
			continue;
		if (worst == NULL || (upwards ? cell_number(cell) > cell_number(&worst->cells[0])
					      : cell_number(cell) < cell_number(&worst->cells[0])))
			worst = row;
	}
	return worst;
}

/* "1 s per second" where the limit is a time, "87.0%", "10 MiB per second". */
static void append_number(const struct rule *rule, const struct cell *cell, struct buffer *text)
{
	const bool counts = column_has(column_entry(rule->column), COLUMN_COUNTS_THREADS);
	const double number = cell_number(cell);
	bool per_second = cell->unit == UNIT_COUNT_PER_S || cell->unit == UNIT_BYTES_PER_S;

	if (cell->unit == UNIT_PERCENT && rule->limit.kind == LIMIT_AMOUNT) {
		quantity_append(number * 1e7, LADDER_NS, text);
		per_second = true;
	} else if (cell->unit == UNIT_PERCENT) {
		humanize_percent(text, number);
	} else if (cell->unit == UNIT_RATIO) {
		humanize_compact(text, number, HUMANIZE_RATIO, false);
	} else {
		quantity_append(number, counts ? LADDER_UNITLESS : column_ladder(rule->column), text);
	}
	buffer_append_text(text, per_second ? " per second" : "");
}

/* --- who ran while a group waited --- */

static bool counts(const struct rule *rule, const struct blame *blame, const struct latency_delay *entry)
{
	size_t key_length, label_length;
	const char *key, *label;

	if (entry->culprit == BLAME_NOBODY)
		return rule_counts_cause(rule, entry->cause);
	key = grouping_key(blame->groups, entry->culprit, &key_length);
	label = grouping_label(blame->groups, entry->culprit, &label_length);
	return rule_counts_culprit(rule, entry->culprit == entry->victim, key, key_length, label,
				   label_length);
}

/* The time, ns per second, that the culprits of a rule delayed a row; 0 of one without waits. */
static double find_delay(const struct rule *rule, const struct blame *blame, const struct table_row *row)
{
	const uint32_t victim = blame_find(blame, row->key, row->key_length);
	const struct latency_delay *entries;
	size_t count = 0;
	double time = 0;

	if (victim == BLAME_NOBODY)
		return 0;
	entries = blame_of(blame, victim, &count);
	for (size_t i = 0; i < count; i++)
		time += counts(rule, blame, &entries[i]) ? (double)entries[i].time_ns : 0;
	return time * (double)NS_PER_S / (double)blame->span_ns;
}

/* Whether some culprit is there, delaying or not. */
static bool meets_culprit(const struct rule *rule, const struct table *table, const struct blame *blame)
{
	bool meets = rule_has_any_culprit(rule);

	for (size_t i = 0; !meets && i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];

		meets = rule_counts_culprit(rule, false, row->key, row->key_length, row->label,
					    row->label_length);
	}
	for (size_t i = 0; !meets && blame != NULL && i < blame->count; i++)
		meets = blame->entries[i].culprit != BLAME_NOBODY && counts(rule, blame, &blame->entries[i]);
	return meets;
}

/* The row that a rule's culprits delayed by most among those that break it; NULL for none. */
static const struct table_row *find_most_delayed(const struct rule *rule, const struct table *table,
						 const struct blame *blame, double *ret_time)
{
	const bool upwards = comparison_is_upwards(rule->limit.comparison);
	const struct table_row *worst = NULL;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];
		const bool is_bound = row->cells[0].partial || row->cells[0].state == CELL_UNAVAILABLE;
		double time;
		bool holds;

		if (!rule_matches(rule, row->key, row->key_length, row->label, row->label_length))
			continue;
		time = find_delay(rule, blame, row);
		if (!comparison_decides(rule->limit.comparison, time, is_bound ? INFINITY : time,
					rule->limit.number, &holds) ||
		    !holds)
			continue;
		if (worst == NULL || (upwards ? time > *ret_time : time < *ret_time)) {
			worst = row;
			*ret_time = time;
		}
	}
	return worst;
}

/* Judges a rule of `delayed` by the waits of a round; `table` has the groups. */
static void judge_delays(struct record_rules *rules, struct record_rule *watched,
			 const struct snapshot *round, enum axis axis, const struct table *table)
{
	const struct grouping_options options = {.axis = axis};
	const bool measured = round->latency.span_ns != 0 && !round->latency.is_whole;
	const struct table_row *worst = NULL;
	struct snapshot *sums = snapshot_create();
	struct blame *blame = NULL;
	struct buffer text = {0};
	double time;

	if (measured) {
		free(latency_sums_add(sums, round));
		blame = blame_create(&options, sums, &sums->latency, NULL, BLAME_DELAYED_BY);
		worst = find_most_delayed(&watched->rule, table, blame, &time);
	}
	watched->has_culprit |= meets_culprit(&watched->rule, table, blame);
	if (worst != NULL) {
		buffer_append_format(&text, "%s: ", watched->rule.text);
		buffer_append(&text, worst->label, worst->label_length);
		buffer_append_text(&text, " was delayed ");
		humanize_duration(&text, time);
		buffer_append_text(&text, " per second");
		add_hit(rules, watched, buffer_steal(&text), round->captured_at_unix_ns);
	}
	blame_release(blame);
	snapshot_release(sums);
}

/* Judges a rule among the groups of an axis; false where none matches. */
static bool judge_axis(struct record_rules *rules, struct record_rule *rule, enum axis axis, bool only_match)
{
	enum column column = rule->rule.column;
	const struct table_row *worst;
	struct buffer text = {0};
	struct table *table;
	struct view view;
	bool matches;

	view_initialise(&view);
	view.mode = WINDOW_MODE_RATE;
	view.grouping.axis = axis;
	view.columns = &column;
	view.column_count = 1;
	view.sort = column;
	view.sort_chosen = true;
	view.hide_gone = !comparison_is_upwards(rule->rule.limit.comparison);
	table = session_table(rules->session, &view);
	worst = find_worst(table, rule, &matches);
	if (only_match)
		rule->unknown = REASON_READ; /* the second round may know it */
	if (worst != NULL && !only_match) {
		buffer_append_format(&text, "%s: ", rule->rule.text);
		rule_append_group(&rule->rule, worst->label, worst->label_length, &text);
		buffer_append_text(&text, " has ");
		append_number(&rule->rule, &worst->cells[0], &text);
		add_hit(rules, rule, buffer_steal(&text), session_now(rules->session)->captured_at_unix_ns);
	}
	if (rule->rule.is_delayed && matches)
		judge_delays(rules, rule, session_now(rules->session), axis, table);
	table_release(table);
	view_release(&view);
	return matches;
}

/* Judges a rule; the first round only shows whether a group matches. */
static void judge_groups(struct record_rules *rules, struct record_rule *rule, uint64_t now)
{
	const bool only_match = session_previous(rules->session) == NULL;
	bool matches = false;

	if (rule->rule.axis != AXIS_COUNT)
		matches = judge_axis(rules, rule, rule->rule.axis, only_match);
	for (size_t i = 0; rule->rule.axis == AXIS_COUNT && !matches && i < RULE_AXES; i++)
		matches = judge_axis(rules, rule, rule_axes[i], only_match);
	if (matches && (!rule->rule.is_delayed || rule->has_culprit))
		rule->has_matched = true;
	else if (rule->first_judged_ns == 0)
		rule->first_judged_ns = now;
}

size_t record_rules_judge(struct record_rules *rules, struct snapshot *round,
			  const struct record_hit **ret_hits)
{
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);

	forget_hits(rules);
	if (rules->session != NULL) {
		session_add_round(rules->session, snapshot_reference(round));
		session_set_base(rules->session);
	}
	for (size_t i = 0; i < rules->count; i++) {
		struct record_rule *rule = &rules->items[i];

		if (now < rule->quiet_until_ns)
			continue;
		if (rule->rule.is_pressure)
			judge_pressure(rules, rule, round);
		else
			judge_groups(rules, rule, now);
	}
	snapshot_release(rules->before);
	rules->before = snapshot_reference(round);
	*ret_hits = rules->hits;
	return rules->hit_count;
}

const char *record_rules_take_notice(struct record_rules *rules)
{
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);

	for (size_t i = 0; i < rules->count; i++) {
		struct record_rule *rule = &rules->items[i];

		if (rule->unknown != REASON_READ && !rule->has_number && !rule->told_unknown) {
			rule->told_unknown = true;
			free(rules->notice);
			rules->notice = memory_format(
				"rule '%s': %s is not known here (%s); `ctop doctor` says more",
				rule->rule.text, column_word(rule->rule.column), reason_words(rule->unknown));
			return rules->notice;
		}
		if (rule->has_matched || rule->first_judged_ns == 0 || rule->told == 2 ||
		    now < rule->first_judged_ns + rule->told * AGAIN_NS)
			continue;
		free(rules->notice);
		rules->notice = memory_format(
			rule->told++ == 0
				? "rule '%s': no process, thread or cgroup matches so far"
				: "rule '%s': still nothing matches after a minute; see whether its "
				  "groups are written as the screen shows them",
			rule->rule.text);
		return rules->notice;
	}
	return NULL;
}
