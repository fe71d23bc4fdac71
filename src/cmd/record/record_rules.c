/* SPDX-License-Identifier: GPL-2.0-only */
#include "record_rules.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "diff/diff_rule.h"
#include "metric/quantity.h"
#include "session/session.h"
#include "table/cell_format.h"
#include "view/column_table.h"

/* Windows of the kernel (WINDOW_MIN_US, WINDOW_MAX_US of kernel/sched/psi.c). */
#define WINDOW_MIN_NS (500 * NS_PER_MS)
#define WINDOW_MAX_NS (10 * NS_PER_S)
/* Who lacks CAP_SYS_RESOURCE has windows of a multiple of this (psi_trigger_create()). */
#define WINDOW_STEP_NS (2 * NS_PER_S)

struct record_rule {
	char *text;
	bool is_pressure;
	struct diff_rule group;          /* of !is_pressure */
	enum column column;              /* of the screen, in place of the metric there; COLUMN_COUNT: none */
	enum pressure_resource resource; /* of is_pressure, as the next three */
	enum diff_rule_comparison comparison;
	double limit;            /* percent */
	int trigger;             /* a file that the kernel signals; -1: none */
	uint64_t window_ns;      /* of the trigger */
	uint64_t quiet_until_ns; /* CLOCK_BOOTTIME */
};

struct record_rules {
	struct record_rule *items;
	size_t count;
	uint64_t rest_ns;
	struct session *session;  /* for rules of groups; NULL: there are none */
	struct pressure pressure; /* of the round before */
	uint64_t pressure_at_ns;  /* CLOCK_BOOTTIME; 0: there was none */
	char **texts;
	struct record_hit *hits;
	size_t hit_count;
};

/* --- parsing --- */

static int refuse_pressure(const char *text, const char *complaint, struct error *error)
{
	return error_set(error, -EINVAL,
			 "rule '%s': %s; write psi.cpu, psi.memory or psi.io, >, >=, < or <=, and percent: "
			 "'psi.cpu > 20'",
			 text, complaint);
}

static int parse_pressure(struct record_rule *rule, const char *words, struct error *error)
{
	const char *next = words + strlen("psi.");
	const size_t length = strcspn(next, " <>=\t");
	size_t number, of_operator;

	rule->is_pressure = true;
	for (rule->resource = PRESSURE_CPU; rule->resource < PRESSURE_IRQ; rule->resource++) {
		if (strlen(pressure_resource_names[rule->resource]) == length &&
		    memcmp(pressure_resource_names[rule->resource], next, length) == 0)
			break;
	}
	if (rule->resource == PRESSURE_IRQ)
		return refuse_pressure(rule->text, "there is no such pressure", error);
	next += length;
	next += strspn(next, " \t");
	of_operator = diff_rule_comparison_parse(next, strlen(next), &rule->comparison);
	if (of_operator == 0)
		return refuse_pressure(rule->text, "there is no >, >=, < or <=", error);
	next += of_operator;
	next += strspn(next, " \t");
	number = quantity_parse_number(next, strlen(next), &rule->limit);
	next += number;
	next += strspn(next, " \t");
	next += *next == '%';
	next += strspn(next, " \t");
	if (number == 0 || *next != '\0')
		return refuse_pressure(rule->text, "there is no number of percent", error);
	if (rule->limit < 0 || rule->limit > 100)
		return refuse_pressure(rule->text, "it is 0 to 100", error);
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether the number of a rule about a column is a part of a time, in percent. */
static bool is_percent(const struct record_rule *rule)
{
	return rule->column != COLUMN_COUNT && !rule->group.of_after &&
	       ends_with(column_title(rule->column, VIEW_MODE_RATE), "%");
}

/* The column of the screen that a rule is about; COLUMN_COUNT where it is about none. */
static enum column find_column(const char *words)
{
	const char *open = strchr(words, '(');
	enum column column = COLUMN_COUNT;

	if (open != NULL) {
		char *name = memory_duplicate_bytes(words, (size_t)(open - words));
		size_t length = strlen(name);

		while (length != 0 && name[length - 1] == ' ')
			name[--length] = '\0';
		column = column_find(name);
		free(name);
	}
	return column < COLUMN_COUNT && !column_is_text(column) && !column_is_identity(column) ? column
											       : COLUMN_COUNT;
}

/*
 * A rule about a column of the screen: read as one about a metric that has the same units. Returns -ENOENT
 * when it is about none.
 */
static int parse_column(struct record_rule *rule, const char *words, struct error *error)
{
	static const char after[] = "after:";
	const bool of_after = strncmp(words, after, strlen(after)) == 0;
	enum metric metric = METRIC_TIMESLICES;
	enum ladder ladder;
	char *text;
	int result;

	if (of_after)
		words += strlen(after) + strspn(words + strlen(after), " ");
	rule->column = find_column(words);
	if (rule->column == COLUMN_COUNT)
		return -ENOENT;
	rule->group.of_after = of_after;
	/* of a group STUCK is a number of threads, however long a thread of its own has been stuck */
	ladder = rule->column == COLUMN_STUCK ? LADDER_UNITLESS : column_ladder(rule->column);
	if (!is_percent(rule) && ladder == LADDER_NS)
		metric = METRIC_RUN_TIME_NS;
	else if (ladder == LADDER_BYTES)
		metric = METRIC_READ_BYTES;
	text = memory_format("%s%s%s", of_after ? after : "", metrics[metric].name, strchr(words, '('));
	result = diff_rule_parse(text, false, &rule->group, NULL);
	free(text);
	if (result == 0 && rule->group.percent && !is_percent(rule))
		result = -EINVAL;
	/* percent of the time, not of a change */
	rule->group.percent = false;
	if (result < 0)
		return error_set(error, result,
				 "rule '%s': write COLUMN(GROUP-GLOB) OP LIMIT, for example 'RSS(*) > 8G', "
				 "'CPU%%(worker-*) > 150'",
				 rule->text);
	return 0;
}

static int parse_rule(struct record_rule *rule, const char *text, struct error *error)
{
	const char *words = text + strspn(text, " \t");
	int result;

	rule->text = memory_duplicate(text);
	rule->trigger = -1;
	rule->column = COLUMN_COUNT;
	if (strncmp(words, "psi.", 4) == 0)
		return parse_pressure(rule, words, error);
	result = diff_rule_parse(text, false, &rule->group, error);
	if (result < 0) {
		const int as_column = parse_column(rule, words, error);

		return as_column == -ENOENT ? result : as_column;
	}
	if (result == 0 && rule->group.measure.latency != LATENCY_NUMBER_NONE)
		return error_set(error, -EINVAL,
				 "rule '%s': how long waits took is not watched; valid are metrics, "
				 "derived metrics and what a sched_ext scheduler keeps",
				 text);
	if (result == 0 && rule->group.percent)
		return error_set(error, -EINVAL,
				 "rule '%s': a percentage is of the change between two files; give a rate or "
				 "an amount, "
				 "for example 'run_time_ns(worker-*) > 900ms'",
				 text);
	return result;
}

int record_rules_parse(const char *const texts[], size_t count, uint64_t rest_ns,
		       struct record_rules **ret_rules, struct error *error)
{
	struct record_rules *rules = memory_allocate_zero(1, sizeof(*rules));
	int result = 0;

	rules->rest_ns = rest_ns;
	rules->items = memory_allocate_zero(count + 1, sizeof(*rules->items));
	rules->texts = memory_allocate_zero(count + 1, sizeof(*rules->texts));
	rules->hits = memory_allocate_zero(count + 1, sizeof(*rules->hits));
	for (; result == 0 && rules->count < count; rules->count++) {
		result = parse_rule(&rules->items[rules->count], texts[rules->count], error);
		if (result == 0 && !rules->items[rules->count].is_pressure && rules->session == NULL)
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
		free(rules->texts[i]);
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
		diff_rule_release(&rules->items[i].group);
		free(rules->items[i].text);
	}
	session_release(rules->session);
	free(rules->items);
	free(rules->texts);
	free(rules->hits);
	free(rules);
}

/* --- the kernel tells --- */

static int open_trigger(const char *path, double percent, uint64_t window_ns)
{
	const uint64_t window_us = window_ns / NS_PER_US;
	uint64_t stall_us = (uint64_t)(percent / 100 * (double)window_us);
	char words[64];
	int descriptor, length;

	/* a stall of nothing is none (psi_trigger_create()) */
	if (stall_us == 0)
		stall_us = 1;
	descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return -errno;
	length = snprintf(words, sizeof(words), "some %llu %llu", (unsigned long long)stall_us,
			  (unsigned long long)window_us);
	/* with its end: the kernel reads a string */
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
	char *path = memory_format("%s/pressure/%s", proc, pressure_resource_names[rule->resource]);

	rule->trigger = open_trigger(path, rule->limit, window_ns);
	if (rule->trigger == -EINVAL) {
		window_ns = window_ns < WINDOW_STEP_NS ? WINDOW_STEP_NS
						       : window_ns / WINDOW_STEP_NS * WINDOW_STEP_NS;
		rule->trigger = open_trigger(path, rule->limit, window_ns);
	}
	rule->window_ns = window_ns;
	free(path);
}

size_t record_rules_watch(struct record_rules *rules, const char *proc, uint64_t interval_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->count; i++) {
		struct record_rule *rule = &rules->items[i];

		if (!rule->is_pressure || !diff_rule_is_upwards(rule->comparison))
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
	rules->texts[rules->hit_count] = text;
	rules->hits[rules->hit_count++] = (struct record_hit){text, unix_ns};
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
			/* what was watched is gone: from now on it is computed from rounds */
			close(rule->trigger);
			rule->trigger = -1;
		} else if ((events & POLLPRI) != 0 && now >= rule->quiet_until_ns) {
			add_hit(rules, rule,
				memory_format("%s: some thread waited for %s in more than %g %% of %g s",
					      rule->text, pressure_resource_names[rule->resource],
					      rule->limit, (double)rule->window_ns / 1e9),
				clock_ns(CLOCK_REALTIME));
		}
	}
	*ret_hits = rules->hits;
	return rules->hit_count;
}

/* --- rounds --- */

static void judge_pressure(struct record_rules *rules, struct record_rule *rule, const struct snapshot *round)
{
	const uint64_t elapsed_ns = round->provenance.boottime_ns - rules->pressure_at_ns;
	const uint64_t before = rules->pressure.resource[rule->resource].some.total_usec;
	const uint64_t after = round->pressure.resource[rule->resource].some.total_usec;
	double percent;

	if (rules->pressure_at_ns == 0 || round->provenance.boottime_ns <= rules->pressure_at_ns ||
	    round->pressure_missing[rule->resource] != REASON_READ || after < before || rule->trigger >= 0)
		return;
	percent = (double)(after - before) * 1e3 / (double)elapsed_ns * 100;
	if (!diff_rule_holds(rule->comparison, percent, rule->limit))
		return;
	add_hit(rules, rule,
		memory_format("%s: some thread waited for %s in %.1f %% of %.3g s", rule->text,
			      pressure_resource_names[rule->resource], percent, (double)elapsed_ns / 1e9),
		round->captured_at_unix_ns);
}

static enum column column_of_rule(const struct record_rule *rule)
{
	const enum column stored = rule->group.measure.column;

	if (rule->column != COLUMN_COUNT)
		return rule->column;
	return stored == column_of_stored(METRIC_THREAD_COUNT) ? COLUMN_THR : stored;
}

/* Whether the number of a rule is what happens in a second. */
static bool is_rate(const struct record_rule *rule)
{
	const enum column stored = rule->group.measure.column;

	if (rule->column != COLUMN_COUNT)
		return !rule->group.of_after && ends_with(column_title(rule->column, VIEW_MODE_RATE), "/s");
	return !rule->group.of_after && column_is_metric(stored) && column_is_counter(stored);
}

source_set record_rules_needs(const struct record_rules *rules)
{
	source_set needed = 0;

	for (size_t i = 0; i < rules->count; i++) {
		const enum column column = rules->items[i].is_pressure ? COLUMN_COUNT
								       : column_of_rule(&rules->items[i]);

		if (column != COLUMN_COUNT)
			needed |= column_sources(column);
	}
	return needed;
}

/* The number of a cell in the unit of the rule; NAN for none. */
static double number_of(const struct cell *cell, const struct record_rule *rule)
{
	const enum ladder ladder = diff_measure_ladder(rule->group.measure);
	double number = cell->state == CELL_VALUE ? cell_number(cell) : NAN;

	if (rule->column != COLUMN_COUNT)
		return number;
	/* a share of the time of one thread is time per time */
	if (cell->unit == UNIT_PERCENT && (ladder == LADDER_NS || ladder == LADDER_TICKS))
		number *= 1e7;
	return ladder == LADDER_TICKS ? number / (double)NS_PER_TICK : number;
}

/* The row that breaks a rule by most, and its number; NULL for none. */
static const struct table_row *find_worst(const struct table *table, const struct record_rule *watched,
					  double *ret_number)
{
	const struct diff_rule *rule = &watched->group;
	const bool upwards = diff_rule_is_upwards(rule->comparison);
	const struct table_row *worst = NULL;
	double worst_number = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];
		const double number = number_of(&row->cells[0], watched);

		if (isnan(number) || (!upwards && row->cells[0].partial) ||
		    !diff_rule_holds(rule->comparison, number, rule->limit) ||
		    (!glob_matches(rule->glob, row->key, row->key_length) &&
		     !glob_matches(rule->glob, row->label, row->label_length)))
			continue;
		if (worst == NULL || (upwards ? number > worst_number : number < worst_number)) {
			worst = row;
			worst_number = number;
		}
	}
	*ret_number = worst_number;
	return worst;
}

static void judge_groups(struct record_rules *rules, struct record_rule *rule)
{
	enum column column = column_of_rule(rule);
	const struct table_row *worst;
	struct buffer text = {0};
	struct table *table;
	struct view view;
	double number;

	if (column == COLUMN_COUNT)
		return;
	view_initialise(&view);
	view.mode = rule->group.of_after ? VIEW_MODE_TOTAL : VIEW_MODE_RATE;
	view.columns = &column;
	view.column_count = 1;
	view.sort = column;
	view.sort_chosen = true;
	view.hide_gone = !diff_rule_is_upwards(rule->group.comparison);
	table = session_table(rules->session, &view);
	worst = find_worst(table, rule, &number);
	if (worst != NULL) {
		buffer_append_format(&text, "%s: ", rule->text);
		buffer_append(&text, worst->label, worst->label_length);
		buffer_append_text(&text, " has ");
		if (is_percent(rule))
			buffer_append_format(&text, "%.1f %%", number);
		else
			cell_format_derived(&text, number, diff_measure_ladder(rule->group.measure),
					    diff_measure_is_ratio(rule->group.measure));
		if (is_rate(rule))
			buffer_append_text(&text, " a second");
		add_hit(rules, rule, buffer_steal(&text), session_now(rules->session)->captured_at_unix_ns);
	}
	table_release(table);
	view_release(&view);
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
		if (rule->is_pressure)
			judge_pressure(rules, rule, round);
		else if (session_previous(rules->session) != NULL)
			judge_groups(rules, rule);
	}
	rules->pressure = round->pressure;
	rules->pressure_at_ns = round->provenance.boottime_ns;
	*ret_hits = rules->hits;
	return rules->hit_count;
}
