/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "command.h"
#include "compare/diff_evidence.h"
#include "compare/diff_floors.h"
#include "compare/diff_harm.h"
#include "metric/task_field.h"
#include "snapshot/user_names.h"
#include "snapshot_files.h"

int snapshot_report_open(struct snapshot_report *report, const struct report_options *options,
			 const struct view_options *view, bool replace, struct error *error)
{
	const int result = output_open(&report->output, options->output, replace, error);

	report->how.grouping = view_options_grouping(view);
	report->how.dialect = options->ktstr ? &dialect_ktstr : NULL;
	report->only_metrics = options->metrics != NULL && options->sections == NULL;
	report->report = (struct report){
		.format = (enum report_format)options->format,
		.out = &report->output.buffer,
		.ascii = options->ascii || !unicode_in_locale(),
		.to_terminal = output_is_terminal(&report->output),
		.csv_safe = view->csv_safe,
	};
	return result;
}

static int match_threads(struct snapshot_report *report, struct error *error)
{
	struct buffer text = {0};

	report->match = diff_match_create(report->snapshots[DIFF_BEFORE], report->snapshots[DIFF_AFTER],
					  error);
	if (report->match == NULL) {
		report->how.by_threads = false;
		return -EINVAL;
	}
	diff_match_describe(report->match, report->how.by_threads, &text);
	comparability_add(report->comparability, COMPARABILITY_NOTE, "threads", text.data);
	buffer_release(&text);
	return 0;
}

static void describe_rates(struct snapshot_report *report)
{
	struct buffer text = {0};

	buffer_append_text(&text, "compares rates over ");
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct window window = diff_window(report->snapshots[side], true);

		humanize_duration(&text, (double)window.elapsed_ns);
		buffer_append_format(&text, " %s%s", diff_side_names[side],
				     side == DIFF_BEFORE ? " and " : "");
	}
	comparability_add(report->comparability, COMPARABILITY_NOTE, "rates", text.data);
	buffer_release(&text);
}

/* Refuses what only two single readings have; `why` is a clause. */
static int check_request(const struct snapshot_report *report, const char *why, struct error *error)
{
	if (report->how.by_threads)
		return error_set(error, -EINVAL, "%s: leave out --match thread", why);
	for (size_t i = 0; i < TABLES_PER_COUNT; i++) {
		if (tables_asks_per(&report->request, (enum tables_per)i))
			return error_set(error, -EINVAL, "%s: leave out per-%s", why, tables_per_names[i]);
	}
	return 0;
}

/* Both files have windows: how fast things happened in each is compared, however long they are. */
static int join_windows(struct snapshot_report *report, struct error *error)
{
	if (check_request(report, "both files have a window, whose rates are compared", error) < 0)
		return -EINVAL;
	report->how.rates = true;
	describe_rates(report);
	/* what was given another name is still the same thread */
	report->match = diff_match_create(report->snapshots[DIFF_BEFORE], report->snapshots[DIFF_AFTER],
					  NULL);
	return 0;
}

/* Says why the changes between two windows are not tested. */
static void describe_tests(struct snapshot_report *report)
{
	const char *refusal = diff_evidence_refusal(report->diff);
	struct buffer text = {0};

	if (refusal == NULL)
		return;
	buffer_append_format(&text, "changes are not tested, since %s", refusal);
	comparability_add(report->comparability, COMPARABILITY_NOTE, "not-tested", text.data);
	buffer_release(&text);
}

/* Says that only the lives of threads can be compared, and what would compare better. */
static void describe_lives(struct snapshot_report *report)
{
	const bool before = report->snapshots[DIFF_BEFORE]->window != NULL;
	const bool after = report->snapshots[DIFF_AFTER]->window != NULL;

	comparability_add(report->comparability, COMPARABILITY_NOTE, "lives",
			  before || after ? "only one file has a window, so thread lifetimes are compared; "
					    "capture the other one with --for 10, too"
					  : "thread lifetimes are compared; files of ctop capture --for 10 "
					    "would compare rates");
}

/* --- sets of runs --- */

/* Says which runs are compared, "3 runs before (a, b, c) and 3 runs after (d, e, f)", and what decides. */
static void describe_sets(struct snapshot_report *report)
{
	const struct comparability_set *sets = report->how.sets;
	const bool is_tested = sets[DIFF_BEFORE].count >= DIFF_EVIDENCE_RUNS &&
			       sets[DIFF_AFTER].count >= DIFF_EVIDENCE_RUNS;
	struct buffer text = {0};

	buffer_append_format(&text, "compares the mean %s of ", report->how.rates ? "rates" : "values");
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		buffer_append_format(&text, "%s%zu runs %s (", side == DIFF_AFTER ? " and " : "",
				     sets[side].count, diff_side_names[side]);
		for (size_t i = 0; i < sets[side].count; i++)
			buffer_append_format(&text, "%s%s", i != 0 ? ", " : "", sets[side].names[i]);
		buffer_append_char(&text, ')');
	}
	buffer_append_text(&text, is_tested ? ": spread and p are those of runs"
					    : ": a change is real if all runs of one side are beyond all of "
					      "the other");
	comparability_add(report->comparability, COMPARABILITY_NOTE, "runs", text.data);
	buffer_release(&text);
}

/* Runs of both sides, or of the side after alone: of each the rates, where all have a window. */
static int join_sets(struct snapshot_report *report, struct error *error)
{
	const int result = check_request(report, "runs are compared by their means", error);

	report->how.by_threads = false;
	report->how.rates = true;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct comparability_set *set = &report->how.sets[side];

		for (size_t i = 0; i < set->count; i++)
			report->how.rates &= set->runs[i]->window != NULL;
	}
	report->comparability = comparability_create_of_sets(report->how.sets);
	if (report->how.sets[DIFF_BEFORE].count != 0)
		describe_sets(report);
	if (!report->how.rates)
		comparability_add(report->comparability, COMPARABILITY_NOTE, "lives",
				  "a run has no window, so thread lifetimes are compared; files of ctop "
				  "capture --for 10 would compare rates");
	return result;
}

/* Names the fields that were asked for and that no thread in the files has. */
static void tell_missing_fields(const struct selected_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (task_field_find(fields->names[i], strlen(fields->names[i])) == TASK_FIELD_NONE)
			command_note("no thread has the field %s; --sections scx shows those that they have",
				     fields->names[i]);
	}
}

/* The dialect where none was asked for: ktstr's where programs read files that have no `ctop` objects. */
static const struct dialect *choose_dialect(const struct snapshot_report *report)
{
	/* ktstr compares no sets */
	bool is_own = report_format_is_for_people(report->report.format) ||
		      report->how.sets[DIFF_AFTER].count != 0;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		is_own |= report->snapshots[side] != NULL && report->snapshots[side]->provenance.present;
	return is_own ? &dialect_ctop : &dialect_ktstr;
}

int snapshot_report_join(struct snapshot_report *report, struct error *error)
{
	const struct snapshot *before = report->snapshots[DIFF_BEFORE];
	const struct snapshot *after = report->snapshots[DIFF_AFTER];
	int result = 0;

	if (report->how.dialect == NULL)
		report->how.dialect = choose_dialect(report);
	report->report.dialect = report->how.dialect;
	if (report->how.sets[DIFF_AFTER].count != 0) {
		result = join_sets(report, error);
	} else if (before != NULL) {
		report->comparability = comparability_create(before, after);
		/* cells of ktstr need the match only where changes are those of threads */
		if (!report->how.dialect->is_flagged && before->window != NULL && after->window != NULL)
			result = join_windows(report, error);
		else if (report->how.by_threads)
			result = match_threads(report, error);
		else if (!report->how.dialect->is_flagged) {
			report->how.by_threads = report->threads_by_default && before != after &&
						 before->provenance.present && after->provenance.present;
			(void)match_threads(report, NULL);
			if (report->match == NULL && before->provenance.present && after->provenance.present)
				describe_lives(report);
		}
	}
	if (report->how.floors != NULL && !report->how.rates && report->how.sets[DIFF_AFTER].count == 0)
		comparability_add(report->comparability, COMPARABILITY_WARNING, "unused-floors",
				  "the floors are not used: a change between two single readings has no "
				  "verdict");
	report->how.match = report->match;
	report->how.by_threads &= report->match != NULL;
	for (size_t side = 0;
	     side < DIFF_SIDE_COUNT && report->how.grouping.axis == AXIS_USER && !report->in_hurry; side++)
		snapshot_files_wait_for_users(report->snapshots[side], USER_NAMES_PATIENCE_NS);
	report->diff = diff_create(before, after, &report->how);
	describe_tests(report);
	tell_missing_fields(&report->request.fields);
	return result;
}

/* `context` is a struct snapshot_report. */
static void draw_table(void *context, const struct table *table)
{
	struct snapshot_report *report = context;
	const enum report_format format = report->report.format;

	report_table(&report->report, table);
	if (table->row_total > table->row_count && !table->more &&
	    (format == REPORT_FORMAT_TSV || format == REPORT_FORMAT_CSV))
		command_note(table->row_total - table->row_count == 1
				     ? "%zu row of section %s is left out by --limit"
				     : "%zu rows of section %s are left out by --limit",
			     table->row_total - table->row_count, table->section);
	output_flush(&report->output);
}

/* Leaves out the sections in which none of the metrics and fields chosen is. */
static void keep_sections_of_metrics(struct tables_request *request)
{
	bool kept[SECTION_COUNT] = {false};

	for (size_t i = 0; i < METRIC_COUNT; i++)
		kept[metrics[i].section] |= request->metrics[i];
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		kept[derived_metrics[i].section] |= request->derived[i];
	kept[SECTION_TASK_FIELDS] = request->fields.count != 0;
	for (size_t i = 0; i < SECTION_COUNT; i++)
		request->sections[i] &= kept[i];
}

static void find_changes(struct snapshot_report *report)
{
	const struct tables_request *request = &report->request;
	const struct diff_summary_per per = {
		.second = request->per[TABLES_PER_SECOND],
		.thread = request->per[TABLES_PER_THREAD],
	};

	diff_summary_make(report->diff, request->metrics, &per, request->limit != 0, &report->changes);
}

static void draw_noise(struct snapshot_report *report)
{
	struct table *table = diff_floors_table(report->diff, report->request.limit);

	draw_table(report, table);
	table_release(table);
}

int snapshot_report_write(struct snapshot_report *report, struct error *error)
{
	const enum report_format format = report->report.format;
	const bool is_comparison = report->snapshots[DIFF_BEFORE] != NULL;
	const bool is_ktstr = report->how.dialect == &dialect_ktstr;
	const bool tells_changes = is_comparison && !is_ktstr;
	const struct report_subject subject = {
		.command = is_comparison || report->is_noise ? "diff" : "show",
		.before_file = report->names[DIFF_BEFORE],
		.file = report->names[DIFF_AFTER],
		.group_by = axes[report->how.grouping.axis].name,
		.comparability = is_comparison ? report->comparability : NULL,
		.changes = tells_changes ? &report->changes : NULL,
		.order = tells_changes && report->request.sort.count == 0 ? diff_harm_words : NULL,
		.rules = report->outcomes.items,
		.rule_count = report->outcomes.count,
	};

	if (report->request.display == TABLES_DISPLAY_COUNT)
		report->request.display = format == REPORT_FORMAT_TEXT || format == REPORT_FORMAT_TSV
						  ? TABLES_DISPLAY_ARROW
						  : TABLES_DISPLAY_FULL;
	/* programs get every number by itself */
	report->request.is_long |= is_ktstr || !report_format_is_for_people(format);
	report->request.all |= !report_format_is_for_people(format);
	for (size_t i = report->how.dialect->section_end; i < SECTION_COUNT; i++)
		report->request.sections[i] = false;
	if (!is_ktstr && report->only_metrics)
		keep_sections_of_metrics(&report->request);
	if (tells_changes)
		find_changes(report);
	if (tells_changes && report->outcomes.broken)
		report->request.broke_rule = report->outcomes.broke_rule;
	report->report.before = report->snapshots[DIFF_BEFORE];
	report->report.snapshot = report->snapshots[DIFF_AFTER];
	report_begin(&report->report, &subject);
	if (report->is_noise)
		draw_noise(report);
	else
		tables_make(report->diff, &report->request, draw_table, report);
	report_end(&report->report);
	return output_close(&report->output, error);
}

void snapshot_report_release(struct snapshot_report *report)
{
	diff_rule_outcomes_release(&report->outcomes);
	diff_summary_release(&report->changes);
	comparability_release(report->comparability);
	diff_release(report->diff);
	diff_match_release(report->match);
}
