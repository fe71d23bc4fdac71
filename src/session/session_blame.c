/* SPDX-License-Identifier: GPL-2.0-only */
/* Pairs of groups that delayed or woke each other. */
#include "session_internal.h"

#include "base/order.h"
#include "table/blame_text.h"

enum {
	PAIRS_MAX = 1000, /* that a table has */
};

enum {
	CELL_CULPRIT,
	CELL_SIZE,
	CELL_SHARE,
	CELL_WAITS, /* of delays only */
	CELL_COUNT,
};

static const struct table_column pair_columns[CELL_COUNT] = {
	[CELL_CULPRIT] = {.name = "delayed_by",
			  .title = "DELAYED BY",
			  .left = true,
			  .foreign = true,
			  .cut_middle = true,
			  .fill_order = 1,
			  .width = 16},
	[CELL_SIZE] = {.name = "ms_per_s", .title = "ms/s", .width = 8},
	[CELL_SHARE] = {.name = "share", .title = "SHARE%", .width = 7},
	[CELL_WAITS] = {.name = "waits_per_s", .title = "WAITS/s", .width = 8},
};

/* Pairs in the order of the table. */
struct pair_order {
	const struct blame *blame;
	enum session_pairs by;
	uint32_t first; /* the group whose pairs come first, BLAME_NOBODY for none */
};

/* What delays the first group, then what it delays, then all else. */
static int rank(const struct pair_order *order, const struct latency_delay *entry)
{
	if (order->first == BLAME_NOBODY)
		return 0;
	return entry->victim == order->first ? 0 : entry->culprit == order->first ? 1 : 2;
}

static double share(const struct blame *blame, const struct latency_delay *entry)
{
	return (double)blame_size(blame, entry) * 100 / (double)blame->whole[entry->victim];
}

static double order_value(const struct pair_order *order, const struct latency_delay *entry)
{
	return order->by == SESSION_PAIRS_SHARE   ? share(order->blame, entry)
	       : order->by == SESSION_PAIRS_WAITS ? (double)entry->waits
						  : (double)blame_size(order->blame, entry);
}

static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct pair_order *order = context;
	const struct latency_delay *left = a, *right = b;
	const int difference = rank(order, left) - rank(order, right);
	const double left_value = order_value(order, left), right_value = order_value(order, right);
	int later;

	if (difference != 0)
		return difference;
	later = (right_value > left_value) - (right_value < left_value);
	if (later == 0)
		later = order_u64(left->victim, right->victim);
	if (later == 0)
		later = order_u64(left->cause, right->cause);
	return later != 0 ? later : order_u64(left->culprit, right->culprit);
}

/* The key of a pair: its culprit, then the key of the victim. */
static void set_key(const struct blame *blame, const struct latency_delay *entry, struct arena *arena,
		    struct table_row *row)
{
	struct buffer key = {0};
	size_t length;
	const char *text;

	buffer_append_format(&key, "%u ", (unsigned int)entry->cause);
	if (entry->culprit != BLAME_NOBODY) {
		text = grouping_key(blame->groups, entry->culprit, &length);
		buffer_append(&key, text, length);
	}
	buffer_append_char(&key, '\n');
	row->key_name = (uint32_t)key.length;
	text = grouping_key(blame->groups, entry->victim, &length);
	buffer_append(&key, text, length);
	row->key = arena_duplicate(arena, key.data, key.length);
	row->key_length = key.length;
	buffer_release(&key);
}

static void add_pair(struct table *table, const struct blame *blame, const struct latency_delay *entry)
{
	struct table_row *row = table_add_row(table);
	const double seconds = (double)blame->span_ns / 1e9;
	struct buffer culprit = {0};
	const char *text;
	size_t length;

	set_key(blame, entry, &table->arena, row);
	text = grouping_label(blame->groups, entry->victim, &length);
	row->label = arena_duplicate(&table->arena, text, length);
	row->label_length = length;
	blame_append_culprit(blame, entry, &culprit);
	row->cells[CELL_CULPRIT] = cell_of_text(arena_duplicate(&table->arena, culprit.data, culprit.length));
	buffer_release(&culprit);
	row->cells[CELL_CULPRIT].unanimous = true;
	row->cells[CELL_SIZE] = cell_of_real(blame_per_s(blame, blame_size(blame, entry)), UNIT_COUNT_PER_S);
	row->cells[CELL_SHARE] = cell_of_real(share(blame, entry), UNIT_PERCENT);
	if (blame->relation == BLAME_DELAYED_BY)
		row->cells[CELL_WAITS] = cell_of_real((double)entry->waits / seconds, UNIT_COUNT_PER_S);
}

enum axis session_blame_axis(const struct view *view)
{
	return view->level == VIEW_LEVEL_THREADS || axis_is_by_thread(view->grouping.axis)
		       ? AXIS_PROCESS
		       : view->grouping.axis;
}

double session_blame_named(struct session *session, const struct view *view)
{
	const struct latency *span = session_window(session, view->mode).latency;
	double named = 0, all = 0;

	for (size_t i = 0; i < span->delay_count; i++) {
		const struct latency_delay *delay = &span->delays[i];

		all += (double)delay->time_ns;
		if (delay->cause != LATENCY_CAUSE_EARLIER && delay->cause != LATENCY_CAUSE_OTHER)
			named += (double)delay->time_ns;
	}
	return all != 0 ? named * 100 / all : 100;
}

struct table *session_blame_table(struct session *session, const struct view *view,
				  enum blame_relation relation, enum session_pairs order, const char *key,
				  size_t key_length, reason_id *ret_missing)
{
	const bool has_waits = relation == BLAME_DELAYED_BY;
	struct grouping_options options = view->grouping;
	struct pair_order pairs = {.by = order, .first = BLAME_NOBODY};
	struct window window;
	struct blame *blame;
	struct table *table;

	*ret_missing = REASON_NOT_READ;
	if (session->rounds.now == NULL)
		return NULL;
	window = session_window(session, view->mode);
	*ret_missing = reduce_blame_missing(&window, NULL);
	if (*ret_missing != REASON_READ)
		return NULL;
	options.axis = session_blame_axis(view);
	blame = blame_create(&options, session->rounds.latency.whole, window.latency, &session->patterns,
			     relation);
	pairs.blame = blame;
	if (key != NULL && options.axis == view->grouping.axis)
		pairs.first = blame_find(blame, key, key_length);
	table = table_create_with(NULL, pair_columns, has_waits ? CELL_COUNT : CELL_WAITS);
	if (!has_waits) {
		table->columns[CELL_CULPRIT].name = "woken_by";
		table->columns[CELL_CULPRIT].title = "WOKEN BY";
		table->columns[CELL_SIZE].name = "wakes_per_s";
		table->columns[CELL_SIZE].title = "WAKES/s";
	}
	order_first(blame->entries, blame->count, sizeof(*blame->entries),
		    blame->count < PAIRS_MAX ? blame->count : PAIRS_MAX, compare_pairs, &pairs);
	for (size_t i = 0; i < blame->count && i < PAIRS_MAX; i++)
		add_pair(table, blame, &blame->entries[i]);
	table->row_total = blame->count;
	blame_release(blame);
	return table;
}
