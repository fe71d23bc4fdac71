/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A metric that nothing in the program knows: met at run time, it goes through the file, the history's
 * rounds, a comparison, a rule and a report as those of sched_ext schedulers do.
 */
#include "table/column_name.h"
#include "tests/cmocka_include.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../diff/diff_fixture.h"
#include "compare/diff_rule.h"
#include "compare/tables.h"
#include "store/ctprof.h"
#include "store/recording.h"
#include "table/cell_format.h"

enum {
	THREADS = 3,
	SERVED = 0, /* a counter */
	DEPTH = 1,  /* the largest counts */
	NUMBERS,
};

static struct task_field_owner *make_owner(void)
{
	static const struct task_field_member members[NUMBERS] = {
		{.name = "served",
		 .type = "u64",
		 .facts = {TASK_FIELD_REDUCTION_COUNTER, LADDER_BYTES},
		 .has_facts = true},
		{.name = "queue.depth",
		 .type = "u64",
		 .facts = {TASK_FIELD_REDUCTION_MAXIMUM, LADDER_UNITLESS},
		 .has_facts = true},
	};
	struct task_field_owner *owner = task_field_owner_create("made", "maker_1", "job", "jobs", "by task",
								 NUMBERS * sizeof(uint64_t));

	for (size_t i = 0; i < NUMBERS; i++) {
		struct task_field_member member = members[i];

		member.bit_offset = (uint32_t)i * 64;
		member.bit_size = 64;
		member.count = 1;
		assert_true(task_field_owner_add_member(owner, &member));
	}
	return owner;
}

/* Threads of one pool; the last has none of the metrics. */
static struct snapshot *make_snapshot(const uint64_t values[THREADS - 1][NUMBERS])
{
	struct snapshot *snapshot = diff_fixture_open();

	snapshot->provenance.present = true;
	for (size_t i = 0; i < THREADS; i++)
		diff_fixture_add(snapshot, "/", "pool", "pool-1", 100 + i);
	task_fields_begin(&snapshot->task_fields, make_owner(), THREADS);
	for (size_t i = 0; i < THREADS - 1; i++) {
		uint8_t *context = task_fields_add_context(&snapshot->task_fields, i);

		for (size_t j = 0; j < NUMBERS; j++)
			task_field_write(&snapshot->task_fields.owner->members[j], context, 0, values[i][j]);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static struct snapshot *through_file(struct snapshot *snapshot)
{
	char path[] = "/tmp/ctop-met-XXXXXX";
	struct snapshot *read;
	struct error error;
	int descriptor = mkstemp(path);

	assert_true(descriptor >= 0);
	assert_int_equal(ctprof_write_descriptor(snapshot, snapshot->window, descriptor, NULL, &error), 0);
	close(descriptor);
	assert_int_equal(ctprof_read(path, UINT64_MAX, &read, &error), 0);
	unlink(path);
	snapshot_release(snapshot);
	return read;
}

static struct snapshot *through_round(struct snapshot *snapshot)
{
	struct recorder *recorder = recorder_create(1);
	struct recording recording = {0};
	struct snapshot *decoded;
	struct error error;

	recorder_encode(recorder, snapshot, NULL, NULL, NAN, &recording);
	assert_int_equal(recording_decode(recording.state.data, recording.state.length, NULL, 0, NULL,
					  "round", &decoded, &error),
			 0);
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(snapshot);
	return decoded;
}

static void append_rows(void *context, const struct table *table)
{
	struct buffer *text = context;

	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t j = 0; j < table->column_count; j++) {
			buffer_append_text(text, j != 0 ? "\t" : "");
			cell_format_cell(text, &table->rows[i].cells[j]);
		}
		buffer_append_char(text, '\n');
	}
}

static void expect_comparison(const struct snapshot *before, const struct snapshot *after)
{
	struct tables_request request = {
		.display = TABLES_DISPLAY_ARROW, .fields.all = true, .is_long = true};
	const struct diff_options options = {.grouping.axis = AXIS_PROCESS};
	struct diff *diff = diff_create(before, after, &options);
	struct diff_rule_outcomes outcomes = {0};
	struct rule rule;
	struct buffer text = {0};
	struct diff_value value;
	struct error error;

	value = diff_column(diff, &diff->pairs[0], column_find("made.served"));
	assert_int_equal(value.state, VALUE_READ);
	assert_true(value.delta == 2560);
	assert_true(column_is_counter(column_find("made.served")));
	value = diff_column(diff, &diff->pairs[0], column_find("made.queue.depth"));
	assert_true(value.side[DIFF_AFTER].number == 9);
	assert_int_equal(rule_parse("made.served(pool) > 2KiB", true, &rule, &error), 0);
	diff_rules_judge(&rule, 1, diff, false, &outcomes);
	assert_true(outcomes.broken);
	rule_release(&rule);
	diff_rule_outcomes_release(&outcomes);
	request.sections[SECTION_TASK_FIELDS] = true;
	request.columns[request.column_count++] = TABLES_COLUMN_METRIC;
	request.columns[request.column_count++] = TABLES_COLUMN_ARROW;
	tables_make(diff, &request, append_rows, &text);
	assert_non_null(strstr(text.data, "made.served\t1.500KiB → 4.000KiB\n"));
	assert_non_null(strstr(text.data, "made.queue.depth\t7 → 9\n"));
	buffer_release(&text);
	diff_release(diff);
}

static void test_everywhere(void **state)
{
	static const uint64_t early[THREADS - 1][NUMBERS] = {{1024, 7}, {512, 3}};
	static const uint64_t late[THREADS - 1][NUMBERS] = {{3072, 2}, {1024, 9}};
	struct snapshot *before = make_snapshot(early), *after = make_snapshot(late);

	(void)state;
	expect_comparison(before, after);
	before = through_file(before);
	after = through_file(after);
	assert_string_equal(after->task_fields.owner->source, "made");
	expect_comparison(before, after);
	before = through_round(before);
	after = through_round(after);
	assert_string_equal(after->task_fields.owner->source, "made");
	expect_comparison(before, after);
	snapshot_release(before);
	snapshot_release(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
