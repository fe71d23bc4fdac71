/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of what a sched_ext scheduler keeps for each task: reductions, spans, what is missing and why. */
#include "session_fixture.h"

#include <stdio.h>
#include <string.h>

#include "snapshot/task_fields.h"
#include "table/evidence.h"

enum {
	WEIGHT,
	RUNTIME,
	LAT_CRI,
	LARGEST,
	GREEDY,
	MODE,
	DOMAIN,
	LAST_RUN,
	MASKS,
	CPUMASK,
	MEMBER_COUNT,
};

static const struct task_field_enumerator modes[] = {{"MODE_IDLE", 0}, {"MODE_BUSY", 1}};

static const struct task_field_member members[MEMBER_COUNT] = {
	[WEIGHT] = {.name = "weight", .type = "u32", .bit_offset = 0, .bit_size = 32, .count = 1},
	[RUNTIME] = {.name = "sum_runtime", .type = "u64", .bit_offset = 64, .bit_size = 64, .count = 1},
	[LAT_CRI] = {.name = "lat_cri",
		     .type = "s16",
		     .kind = TASK_FIELD_KIND_SIGNED,
		     .is_signed = true,
		     .bit_offset = 32,
		     .bit_size = 16,
		     .count = 1},
	[LARGEST] = {.name = "max_depth", .type = "u64", .bit_offset = 128, .bit_size = 64, .count = 1},
	[GREEDY] = {.name = "greedy",
		    .type = "bool",
		    .kind = TASK_FIELD_KIND_BOOLEAN,
		    .bit_offset = 49,
		    .bit_size = 1,
		    .count = 1},
	[MODE] = {.name = "mode",
		  .type = "enum task_mode",
		  .kind = TASK_FIELD_KIND_ENUM,
		  .bit_offset = 192,
		  .bit_size = 32,
		  .count = 1,
		  .enumerators = modes,
		  .enumerator_count = 2},
	[DOMAIN] = {.name = "dom_id", .type = "u32", .bit_offset = 224, .bit_size = 32, .count = 1},
	[LAST_RUN] = {.name = "last_run_at", .type = "u64", .bit_offset = 256, .bit_size = 64, .count = 1},
	[MASKS] = {.name = "masks",
		   .type = "u8[4]",
		   .kind = TASK_FIELD_KIND_ARRAY,
		   .bit_offset = 320,
		   .bit_size = 8,
		   .count = 4},
	[CPUMASK] = {.name = "cpumask",
		     .type = "struct bpf_cpumask *",
		     .kind = TASK_FIELD_KIND_POINTER,
		     .bit_offset = 384,
		     .bit_size = 64,
		     .count = 1},
};

static struct task_field_owner *make_scheduler(uint64_t enable_seq)
{
	struct task_field_owner *scheduler = task_field_owner_create(
		TASK_FIELD_SOURCE, "plain_1.0.9_x86_64", "task_ctx", "task_data", "task storage", 56);

	scheduler->enable_seq = enable_seq;
	scheduler->loaded_at_ns = 1;
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		assert_true(task_field_owner_add_member(scheduler, &members[i]));
	return scheduler;
}

static void put(struct snapshot *snapshot, size_t thread, int member, uint64_t value)
{
	struct task_fields *scx = &snapshot->task_fields;
	const uint32_t of = scx->context_of[thread];
	uint8_t *context = of < TASK_FIELDS_NOT_READ ? scx->contexts + (size_t)of * scx->owner->size
						     : task_fields_add_context(scx, thread);

	task_field_write(&scx->owner->members[member], context, 0, value);
}

static enum column field_column(const char *name)
{
	char column[64];

	snprintf(column, sizeof(column), "scx.%s", name);
	return column_of_task_field(task_field_intern(column));
}

static struct snapshot *begin(double seconds, uint64_t enable_seq, size_t threads)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);

	for (uint32_t i = 0; i < threads; i++)
		fixture_thread(snapshot, 10, 10 + i, "app", i == 0 ? "app" : "worker", 1);
	task_fields_begin(&snapshot->task_fields, make_scheduler(enable_seq), threads);
	/* CLOCK_MONOTONIC, which is behind by 10 s of suspend */
	snapshot->task_fields.read_at_ns = (uint64_t)((seconds - 10) * 1e9);
	snapshot->provenance.features[FEATURE_TASK_FIELDS].state = FEATURE_STATE_ON;
	return snapshot;
}

/* Two rounds of three threads, 2 s apart. */
static struct session *two_rounds(uint64_t second_seq)
{
	struct session *session = session_create();

	for (uint64_t round = 0; round < 2; round++) {
		struct snapshot *snapshot = begin(100 + 2 * (double)round, round == 0 ? 1 : second_seq, 3);

		for (size_t i = 0; i < 3; i++) {
			put(snapshot, i, WEIGHT, 100);
			put(snapshot, i, RUNTIME, MS(1000) * (i + 1) * (round + 1));
			put(snapshot, i, LAT_CRI, (uint64_t)(int64_t)(i == 0 ? -8 : 2));
			put(snapshot, i, LARGEST, i == 1 ? UINT64_C(1) << 60 : 3);
			put(snapshot, i, GREEDY, i != 2);
			put(snapshot, i, MODE, i != 0);
			put(snapshot, i, DOMAIN, i == 0 ? 7 : 4);
			put(snapshot, i, LAST_RUN, i == 0 ? 0 : MS(90000) + i * MS(500));
		}
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
	}
	return session;
}

static struct table *scx_table(struct session *session, enum window_mode mode, enum view_level level)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	assert_true(view_set_scheduler(&view, session_scheduler(session)));
	view_set_tab(&view, TAB_TASK_FIELDS);
	view.mode = mode;
	view.level = level;
	return fixture_table_of(session, &view);
}

static void assert_field(struct table *table, const char *row, const char *name, const char *expected)
{
	const char *shown = fixture_shown(table, row, field_column(name));

	if (strcmp(shown, expected) != 0)
		fail_msg("%s of %s is %s, not %s", name, row, shown, expected);
}

static void test_reductions(void **state)
{
	struct session *session = two_rounds(1);
	struct table *table = scx_table(session, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS);

	(void)state;
	/* the fields in the order of their type, and the table is sorted by the first */
	assert_string_equal(table->columns[2].title, "WEIGHT");
	assert_string_equal(table->columns[3].title, "SUM_RUNTIME%");
	assert_string_equal(table->columns[3].name, "scx.sum_runtime_percent");
	assert_string_equal(table->columns[4].title, "LAT_CRI");
	assert_int_equal(table->sort_column, 2);
	assert_field(table, "app", "weight", "300");
	assert_field(table, "app", "sum_runtime", "300.0"); /* 6 s in 2 s */
	assert_field(table, "app", "lat_cri", "-1.3");
	assert_field(table, "app", "max_depth", "1.2E");
	assert_field(table, "app", "greedy", "2");
	assert_field(table, "app", "mode", "MODE_BUSY*");
	assert_field(table, "app", "dom_id", "4*");
	assert_field(table, "app", "last_run_at", "1.5s");
	table = scx_table(session, WINDOW_MODE_INTERVAL, VIEW_LEVEL_GROUPS);
	assert_string_equal(table->columns[3].title, "SUM_RUNTIME");
	assert_field(table, "app", "sum_runtime", "6.0s");
	assert_field(table, "app", "weight", "300");
	table = scx_table(session, WINDOW_MODE_BASE, VIEW_LEVEL_GROUPS);
	assert_field(table, "app", "sum_runtime", "6.0s");
	table = scx_table(session, WINDOW_MODE_TOTAL, VIEW_LEVEL_GROUPS);
	assert_field(table, "app", "sum_runtime", "12.0s");
	table = scx_table(session, WINDOW_MODE_RATE, VIEW_LEVEL_THREADS);
	assert_field(table, "app", "sum_runtime", "50.0");
	assert_field(table, "app", "lat_cri", "-8.0");
	assert_field(table, "app", "mode", "MODE_IDLE");
	assert_field(table, "app", "dom_id", "7");
	assert_field(table, "app", "last_run_at", "-"); /* never */
	session_release(session);
}

/* A run of its own counts from nothing that another one had. */
static void test_another_run(void **state)
{
	struct session *session = two_rounds(2);
	struct table *table = scx_table(session, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS);
	const struct cell *cell = fixture_cell(table, "app", field_column("sum_runtime"));

	(void)state;
	assert_int_equal(cell->state, CELL_UNAVAILABLE);
	assert_int_equal(cell->reason, REASON_NOT_READ);
	assert_field(table, "app", "weight", "300");
	session_release(session);
}

/* Threads without a context have none; what is unknown makes sums lower bounds and leaves means. */
static void test_missing(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = begin(100, 1, 5);
	struct table *table;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		put(snapshot, i, RUNTIME, MS(1000));
		put(snapshot, i, WEIGHT, 100);
	}
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	snapshot = begin(102, 1, 6);
	fixture_thread(snapshot, 30, 30, "none", "none", 1);
	snapshot->start_time[5] = 10100;    /* 101 s: it was born since */
	put(snapshot, 0, RUNTIME, MS(500)); /* fell */
	put(snapshot, 1, RUNTIME, MS(2000));
	/* where these begin is not known: at what the parent or all others have, as lavd lets them */
	put(snapshot, 4, RUNTIME, MS(3000)); /* had none before */
	put(snapshot, 5, RUNTIME, MS(400));
	put(snapshot, 1, WEIGHT, 50);
	put(snapshot, 4, LAT_CRI, 6);
	put(snapshot, 4, LAST_RUN, MS(92500)); /* a little later than the reading */
	snapshot->task_fields.context_of[2] = TASK_FIELDS_OTHER_TASK;
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	table = scx_table(session, WINDOW_MODE_INTERVAL, VIEW_LEVEL_GROUPS);
	assert_field(table, "app", "sum_runtime", "≥1.0s");
	assert_field(table, "app", "weight", "≥50");
	assert_field(table, "app", "lat_cri", "1.5"); /* of the four that were read */
	assert_field(table, "app", "last_run_at", "≥0");
	assert_field(table, "none", "weight", "·"); /* the pass did not come to it */
	table = scx_table(session, WINDOW_MODE_INTERVAL, VIEW_LEVEL_THREADS);
	assert_int_equal(fixture_cell(table, "app", field_column("sum_runtime"))->reason,
			 REASON_WENT_BACKWARDS);
	/* a stamp of the far future is none */
	snapshot = begin(104, 1, 1);
	put(snapshot, 0, LAST_RUN, UINT64_MAX - 5);
	put(snapshot, 0, GREEDY, 1);
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	table = scx_table(session, WINDOW_MODE_INTERVAL, VIEW_LEVEL_GROUPS);
	assert_int_equal(fixture_cell(table, "app", field_column("last_run_at"))->reason, REASON_BAD_STAMP);
	session_release(session);
}

/* A round that did not read the contexts says so, and keeps the columns; without the rights it says that. */
static void test_not_read(void **state)
{
	struct session *session = two_rounds(1);
	struct snapshot *snapshot = fixture_snapshot(104);
	struct table *table;

	(void)state;
	fixture_thread(snapshot, 10, 10, "app", "app", 1);
	snapshot->sched_ext = (struct sched_ext){.present = true, .state = "enabled", .enable_seq = 1};
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	assert_non_null(session_scheduler(session));
	table = scx_table(session, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS);
	assert_int_equal(fixture_cell(table, "app", field_column("weight"))->reason, REASON_NOT_READ);

	snapshot = fixture_snapshot(106);
	fixture_thread(snapshot, 10, 10, "app", "app", 1);
	snapshot->sched_ext = (struct sched_ext){.present = true, .state = "enabled", .enable_seq = 1};
	snapshot->provenance.features[FEATURE_TASK_FIELDS] = (struct feature_result){
		.state = FEATURE_STATE_OFF, .reason = REASON_NOT_PERMITTED};
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	table = scx_table(session, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS);
	assert_int_equal(fixture_cell(table, "app", field_column("weight"))->reason, REASON_NOT_PERMITTED);

	/* another scheduler, of which nothing is known */
	snapshot = fixture_snapshot(108);
	snapshot->sched_ext = (struct sched_ext){.present = true, .state = "enabled", .enable_seq = 2};
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	assert_null(session_scheduler(session));
	assert_true(session_scheduler_runs(session));
	snapshot = fixture_snapshot(110);
	snapshot->sched_ext = (struct sched_ext){.present = true, .state = "disabled", .enable_seq = 2};
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	assert_false(session_scheduler_runs(session));
	session_release(session);
}

/* Rows of threads that stood still are given up, and what they have is still known not to have changed. */
static void test_still(void **state)
{
	struct session *session = session_create();
	struct snapshot *before = NULL;
	struct table *table;

	(void)state;
	for (uint64_t round = 0; round < 3; round++) {
		struct snapshot *snapshot = begin(100 + 2 * (double)round, 1, 8);

		for (size_t i = 0; i < 8; i++) {
			put(snapshot, i, RUNTIME, MS(1000) * (i == 0 ? round + 1 : 1));
			fixture_set(snapshot, i, METRIC_STATE, 'S');
		}
		if (before != NULL) {
			snapshot->carried_serial = before->serial;
			snapshot->carried_row = memory_allocate(8 * sizeof(uint32_t));
			for (uint32_t i = 0; i < 8; i++)
				snapshot->carried_row[i] = i;
			snapshot->moved_known = true;
			snapshot->moved = memory_allocate_zero(1, sizeof(uint32_t));
			snapshot->moved_count = 1;
		}
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
		before = snapshot;
	}
	/* otherwise this test would show nothing */
	assert_true(session_previous(session)->thread_count < 8);
	table = scx_table(session, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS);
	assert_field(table, "app", "sum_runtime", "50.0");
	table = scx_table(session, WINDOW_MODE_BASE, VIEW_LEVEL_GROUPS);
	assert_field(table, "app", "sum_runtime", "2.0s");
	session_release(session);
}

static void assert_has(const struct buffer *lines, const char *text)
{
	if (strstr(lines->data, text) == NULL)
		fail_msg("no '%s' in:\n%s", text, lines->data);
}

static void explain(struct session *session, const char *name, struct buffer *lines)
{
	enum column column = field_column(name);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	view.columns = &column;
	view.column_count = 1;
	buffer_clear(lines);
	session_explain(session, &view, "app", 3, 0, lines);
}

static void test_explanation(void **state)
{
	struct session *session = two_rounds(1);
	struct buffer lines = {0};
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	explain(session, "dom_id", &lines);
	assert_has(&lines, "dom_id: u32 at byte 28 of task_ctx (56 bytes), which the scheduler "
			   "plain_1.0.9_x86_64 keeps");
	assert_has(&lines, "found in the map task_data: task storage");
	assert_has(&lines, "groups: count, as the table of known names says");
	assert_has(&lines, "3 of 3 threads");
	assert_has(&lines, "  2 4\n  1 7\n");
	explain(session, "mode", &lines);
	assert_has(&lines, "  2 MODE_BUSY\n  1 MODE_IDLE\n");
	explain(session, "greedy", &lines);
	assert_has(&lines, "Value: 2 threads");
	assert_has(&lines, "at byte 6, bit 1, 1 bit wide");
	explain(session, "lat_cri", &lines);
	assert_has(&lines, "Value: -1.333");
	assert_has(&lines, "groups: mean, as nothing is known of the name");
	explain(session, "unheard_of", &lines);
	assert_has(&lines, "plain_1.0.9_x86_64 has no such field");
	/* a thread's members, of whatever kind */
	view.level = VIEW_LEVEL_THREADS;
	buffer_clear(&lines);
	session_explain_member(session, &view, "10:100", 6, "scx.masks", &lines);
	assert_has(&lines, "masks: u8[4] at byte 40");
	assert_has(&lines, "as kept: 0, 0, 0, 0");
	buffer_clear(&lines);
	session_explain_member(session, &view, "10:100", 6, "scx.max_depth", &lines);
	assert_has(&lines, "as kept: 3\n");
	buffer_release(&lines);
	session_release(session);
}

static const struct table_row *metric_row(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (strcmp(table->rows[i].key, name) == 0)
			return &table->rows[i];
	}
	return NULL;
}

/* The page of a thread has its whole context, that of a group what can be taken together. */
static void test_page(void **state)
{
	struct session *session = two_rounds(1);
	const struct table_row *row;
	struct table *table;
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	table = session_metric_table(session, &view, "app", 3);
	row = metric_row(table, "scx.sum_runtime");
	assert_int_equal(row->cells[0].value.integer, MS(12000));
	assert_int_equal(row->cells[1].value.integer, MS(6000));
	assert_string_equal(row->cells[4].text, "u64");
	assert_null(metric_row(table, "scx.masks"));
	table_release(table);
	view.level = VIEW_LEVEL_THREADS;
	table = session_metric_table(session, &view, "11:100", 6);
	assert_string_equal(metric_row(table, "scx.masks")->cells[0].text, "[4]");
	assert_string_equal(metric_row(table, "scx.masks")->cells[4].text, "u8[4] = 0, 0, 0, 0");
	assert_string_equal(metric_row(table, "scx.cpumask")->cells[4].text, "struct bpf_cpumask * = NULL");
	assert_string_equal(metric_row(table, "scx.greedy")->cells[0].text, "true");
	assert_string_equal(metric_row(table, "scx.mode")->cells[0].text, "MODE_BUSY");
	assert_int_equal(metric_row(table, "scx.last_run_at")->cells[0].value.integer, MS(1500));
	assert_int_equal(metric_row(table, "scx.weight")->cells[1].state, CELL_EMPTY);
	table_release(table);
	/* one that has no number as a column has its value too */
	view.level = VIEW_LEVEL_THREADS;
	session_now(session)->task_fields.owner->members[LARGEST].field = TASK_FIELD_NONE;
	table = session_metric_table(session, &view, "10:100", 6);
	row = metric_row(table, "scx.max_depth");
	assert_non_null(row);
	assert_string_equal(row->cells[0].text, "3");
	table_release(table);
	session_release(session);
}

static void test_evidence(void **state)
{
	struct snapshot *snapshot = begin(100, 1, 4);
	struct buffer lines = {0};

	(void)state;
	put(snapshot, 0, WEIGHT, 1);
	put(snapshot, 3, WEIGHT, 1);
	snapshot->task_fields.context_of[1] = TASK_FIELDS_OTHER_TASK;
	snapshot->task_fields.mismatched = 1;
	snapshot_finish(snapshot);
	evidence_append_lines(snapshot, 0, 0, &lines);
	assert_has(&lines,
		   "SCX  scheduler plain_1.0.9_x86_64: task_ctx, 56 bytes, 8 fields, in the map "
		   "task_data (task storage)\n"
		   "  2 contexts read, 1 threads without one, 1 belonged to another task, 0 not read\n");
	buffer_release(&lines);
	snapshot_release(snapshot);
}

/* Filters compare numbers and words of fields. */
static void test_filter(void **state)
{
	static const struct {
		const char *text;
		size_t rows;
	} cases[] = {{"scx.weight > 299", 1},
		     {"scx.weight > 300", 0},
		     {"scx.dom_id = 4", 1},
		     {"scx.mode = MODE_BUSY", 1},
		     {"scx.sum_runtime% > 250", 1},
		     {"scx.sum_runtime > 7s", 0},
		     {"scx.unheard_of > 0", 0},
		     {"lat_cri < 0", 1},
		     {"lat_cri > 0", 0},
		     {"scx.last_run_at > 1s", 1}};
	struct session *session = two_rounds(1);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *table;
		struct error error;
		struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

		view.filter = filter_parse(cases[i].text, &error);
		if (view.filter == NULL)
			fail_msg("%s: %s", cases[i].text, error.text);
		assert_true(view_needs_task_fields(&view));
		table = fixture_table_of(session, &view);
		if (table->row_count != cases[i].rows)
			fail_msg("%s: %zu rows", cases[i].text, table->row_count);
		view_release(&view);
	}
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reductions), cmocka_unit_test(test_another_run),
		cmocka_unit_test(test_missing),    cmocka_unit_test(test_not_read),
		cmocka_unit_test(test_still),      cmocka_unit_test(test_explanation),
		cmocka_unit_test(test_page),       cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
