/* SPDX-License-Identifier: GPL-2.0-only */
#include "value_cell.h"

#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "cell_format.h"
#include "column_list.h"
#include "window/column.h"

/* --- words --- */

const char *category_text(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			  char letter[static 5])
{
	static const char policy_prefix[] = "SCHED_";
	const size_t prefix_length = strlen(policy_prefix);
	struct buffer buffer = {0};
	const char *text;

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		text = snapshot_text(snapshot, (uint32_t)value);
		return strncmp(text, policy_prefix, prefix_length) == 0 ? text + prefix_length : text;
	case METRIC_ENCODING_BOOLEAN:
		return value != 0 ? "yes" : "no";
	default:
		unicode_append(&buffer, (uint32_t)value);
		memcpy(letter, buffer.data, buffer.length);
		letter[buffer.length] = '\0';
		buffer_release(&buffer);
		return letter;
	}
}

/* A number that sorts words by their first letters. */
static double word_order(const char *word)
{
	double order = 0.0;

	for (size_t i = 0; i < 6; i++) {
		order = order * 256.0 + (unsigned char)*word;
		word += *word != '\0';
	}
	return order;
}

/* A mean of the members that were read is no lower bound. */
static bool is_mean(const struct column_values *values)
{
	return values->member != NULL && values->member->facts.reduction == TASK_FIELD_REDUCTION_MEAN;
}

/* Takes over a number or range; other forms are texts. */
static void set_number(const struct value *value, struct cell *cell)
{
	if (value->form == VALUE_FORM_WHOLE) {
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = value->whole;
	} else if (value->form == VALUE_FORM_REAL) {
		cell->form = CELL_FORM_REAL;
		cell->value.real = value->real;
	} else if (value->form == VALUE_FORM_RANGE) {
		cell->form = CELL_FORM_RANGE;
		cell->value.range.low = value->range.low;
		cell->value.range.high = value->range.high;
	}
}

/* --- the screen --- */

/* A word, with a '*' where not all threads have it. */
static void set_word(const char *word, bool differs, struct arena *arena, struct cell *cell)
{
	cell->form = CELL_FORM_TEXT;
	cell->unanimous = !differs;
	cell->text = arena_format(arena, "%s%s", word, differs ? "*" : "");
	cell->sort = word_order(word);
}

/* The commonest value of a scheduler's field: its name, or a number by which it is sorted. */
static void set_field_word(const struct task_field_member *member, const struct value *value,
			   struct arena *arena, struct cell *cell)
{
	struct buffer text = {0};

	task_field_append(member, value->word.value, &text);
	set_word(text.data, value->differs, arena, cell);
	buffer_release(&text);
	if (isnan(value->sort))
		return;
	cell->sort = value->sort;
	if (cell->sort < 0) {
		cell->form = CELL_FORM_REAL;
		cell->value.real = cell->sort;
	} else {
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = value->word.value;
	}
}

static void set_any_word(const struct column_values *values, const struct value *value, struct arena *arena,
			 struct cell *cell)
{
	const struct column_entry *entry = values->entry;
	char letter[5];

	if (values->member != NULL)
		set_field_word(values->member, value, arena, cell);
	else if (entry->operation == COLUMN_OPERATION_HEAP)
		set_word(values->now->provenance.heap[value->word.value].layout, value->differs, arena, cell);
	else
		set_word(category_text(values->now, (enum metric)entry->inputs[0], value->word.value, letter),
			 value->differs, arena, cell);
}

static void set_cpus(const struct value *value, struct arena *arena, struct cell *cell)
{
	const uint32_t fewest = value->cpus.fewest, most = value->cpus.most;
	const char *mark = value->differs ? "*" : "";

	cell->form = CELL_FORM_RANGE;
	cell->value.range.low = fewest;
	cell->value.range.high = most;
	cell->unanimous = !value->differs;
	cell->text = fewest == most ? arena_format(arena, "%u%s", fewest, mark)
				    : arena_format(arena, "%u-%u%s", fewest, most, mark);
}

static void set_name(const struct column_values *values, const struct value *value, struct arena *arena,
		     struct cell *cell)
{
	static const char *const words[] = {
		[IDENTITY_PID] = "pids",
		[IDENTITY_PROCESS] = "names",
		[IDENTITY_CONTAINER] = "containers",
		[IDENTITY_USER] = "users",
		[IDENTITY_CGROUP] = "cgroups",
		[IDENTITY_COMMAND] = "processes",
		[IDENTITY_SLEEP] = "processes",
	};
	const enum identity identity = (enum identity)values->entry->inputs[0];

	cell->form = CELL_FORM_TEXT;
	cell->unanimous = !value->differs;
	if (value->name.distinct != 1) {
		cell->text = arena_format(arena, "%u %s", value->name.distinct, words[identity]);
		cell->several = true;
		cell->value.integer = value->name.distinct;
		return;
	}
	if (identity == IDENTITY_PID) {
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = value->name.number;
	}
	cell->text = value->name.text != NULL ? arena_duplicate(arena, value->name.text, value->name.length)
					      : arena_format(arena, "%u", value->name.number);
}

/* "backup 62%" */
static void set_part(const struct value *value, struct arena *arena, struct cell *cell)
{
	struct buffer text = {0};

	buffer_append(&text, value->part.text, value->part.length);
	/* between the names of a group of several */
	for (size_t i = 0; i < text.length; i++)
		text.data[i] = text.data[i] == '\0' ? ' ' : text.data[i];
	buffer_append_format(&text, " %.0f%%", value_part_percent(value->part.share));
	cell->form = CELL_FORM_TEXT;
	cell->unanimous = true;
	cell->text = arena_duplicate(arena, text.data, text.length);
	buffer_release(&text);
}

/* "futex 0x7f3a12c0 38"; nobody counts the threads of a row that is one. */
static void set_wait(const struct value *value, struct arena *arena, struct cell *cell)
{
	const char *class = wait_classes[value->wait.class].name;
	struct buffer text = {0};

	buffer_append_text(&text, class);
	if (value->wait.length != 0) {
		buffer_append_char(&text, ' ');
		buffer_append(&text, value->wait.object, value->wait.length);
	}
	cell->form = CELL_FORM_TEXT;
	cell->unanimous = true;
	cell->head = (uint16_t)strlen(class);
	cell->counted = value->wait.of > 1 || value->partial;
	if (cell->counted)
		buffer_append_format(&text, " %u", value->wait.threads);
	cell->text = arena_duplicate(arena, text.data, text.length);
	buffer_release(&text);
}

void value_cell(const struct column_values *values, const struct value *value, struct arena *arena,
		struct cell *ret_cell)
{
	*ret_cell = cell_of_state(value->state, value->reason, values->unit);
	ret_cell->sort = value->sort;
	if (value->state != VALUE_READ)
		return;
	/* ranges, words and sets are of the members that were read */
	ret_cell->partial = value->partial && !is_mean(values) &&
			    (value->form == VALUE_FORM_WHOLE || value->form == VALUE_FORM_REAL ||
			     value->form == VALUE_FORM_SHARES);
	ret_cell->reason = ret_cell->partial ? value->reason : REASON_READ;
	ret_cell->rose = value->rose;
	ret_cell->sampled = value->sampled;
	switch (value->form) {
	case VALUE_FORM_WHOLE:
	case VALUE_FORM_REAL:
	case VALUE_FORM_RANGE:
		set_number(value, ret_cell);
		break;
	case VALUE_FORM_WORD:
		set_any_word(values, value, arena, ret_cell);
		break;
	case VALUE_FORM_CPUS:
		set_cpus(value, arena, ret_cell);
		break;
	case VALUE_FORM_SHARES:
		ret_cell->form = CELL_FORM_BAR;
		memcpy(ret_cell->value.shares, value->shares, sizeof(value->shares));
		break;
	case VALUE_FORM_NAME:
		set_name(values, value, arena, ret_cell);
		break;
	case VALUE_FORM_PART:
		set_part(value, arena, ret_cell);
		break;
	case VALUE_FORM_WAIT:
		set_wait(value, arena, ret_cell);
		break;
	}
}

void column_cell(const struct shown *shown, const struct column_values *values, size_t row,
		 struct arena *arena, struct cell *ret_cell)
{
	struct value value;

	reduce_value(shown, values, row, &value);
	value_cell(values, &value, arena, ret_cell);
}

void value_set_looked_up(const struct lookup_entry *entry, struct arena *arena, struct cell *cell)
{
	const size_t length = entry->text != NULL ? strcspn(entry->text, "\n") : 0;

	cell->form = CELL_FORM_TEXT;
	if (entry->text == NULL) {
		cell->state = CELL_UNAVAILABLE;
		cell->reason = entry->answered ? (reason_id)entry->reason : REASON_BEING_RESOLVED;
		cell->text = NULL;
		return;
	}
	/* a thread that runs sleeps nowhere */
	cell->state = length != 0 ? CELL_VALUE : CELL_ABSENT;
	cell->unanimous = true;
	if (cell->text == NULL || strlen(cell->text) != length ||
	    memcmp(cell->text, entry->text, length) != 0)
		cell->text = arena_duplicate(arena, entry->text, length);
}

/* --- reports --- */

void value_append_word(const struct column_values *values, const struct value *value, struct buffer *text)
{
	struct arena arena = {0};
	struct cell cell;

	if (value->form != VALUE_FORM_WORD) {
		value_report_cell(values, value, &arena, &cell);
		cell.partial = false;
		cell_format_cell(text, &cell);
		arena_release(&arena);
	} else if (values->member != NULL)
		task_field_append(values->member, value->word.value, text);
	else
		snapshot_append_category(values->now, column_metric(values->column), value->word.value, text);
}

/* Makes the text of words and CPU sets; other forms are numbers. */
static void set_report_text(const struct column_values *values, const struct value *value,
			    struct arena *arena, struct cell *cell)
{
	struct buffer word = {0}, text = {0};

	if (value->form == VALUE_FORM_WORD) {
		value_append_word(values, value, &word);
		cell_format_mode(&text, word.data, word.length, value->word.threads, value->word.of);
	} else if (value->form == VALUE_FORM_CPUS) {
		cell_format_affinity(&text, &values->now->cpu_sets, value->cpus.fewest, value->cpus.most,
				     !value->differs, value->cpus.set);
	} else {
		return;
	}
	cell->text = unicode_duplicate_without_nul(arena, text.data, text.length);
	buffer_release(&word);
	buffer_release(&text);
}

void value_report_cell(const struct column_values *values, const struct value *value, struct arena *arena,
		       struct cell *ret_cell)
{
	enum unit unit = column_values_are_words(values) ? UNIT_NONE : column_report_unit(values->column);

	if (values->mode == WINDOW_MODE_RATE && column_grows(values->column))
		unit = unit_per_second(unit);
	*ret_cell = cell_of_state(value->state, value->reason, unit);
	if (value->state != VALUE_READ)
		return;
	ret_cell->style = column_is_derived(values->column) ? CELL_STYLE_DERIVED : CELL_STYLE_VALUE;
	ret_cell->partial = value->partial && !is_mean(values);
	ret_cell->reason = ret_cell->partial ? value->reason : REASON_READ;
	ret_cell->sampled = value->sampled;
	value_number(value, &ret_cell->sort);
	set_number(value, ret_cell);
	set_report_text(values, value, arena, ret_cell);
}

/* --- columns --- */

/* The name with its unit once: a metric's own name often ends in one. */
static const char *unit_name(const char *name, enum unit unit, struct arena *arena)
{
	static const char *const own_endings[] = {"_clock_ticks", "_bytes", "_ns", "_ratio", "_fraction"};
	const char *ending = unit == UNIT_COUNT ? "" : unit == UNIT_COUNT_PER_S ? "per_s" : unit_names[unit];
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(own_endings) / sizeof(own_endings[0]); i++) {
		size_t own = strlen(own_endings[i]);

		if (length > own && strcmp(name + length - own, own_endings[i]) == 0) {
			length -= own;
			break;
		}
	}
	return arena_format(arena, "%.*s%s%s", (int)length, name, ending[0] != '\0' ? "_" : "", ending);
}

void column_describe(enum column column, enum window_mode mode, bool by_thread, struct arena *arena,
		     struct table_column *ret_column)
{
	enum unit unit = column_unit(column, mode, by_thread);

	*ret_column = (struct table_column){
		.name = unit_name(column_name(column), unit, arena),
		.title = column_title(column, mode),
		.unit = unit,
		.left = column_is_text(column),
		.measured = true,
		.foreign = column_is_name(column),
		.cut_middle = column_is_name(column),
		.fill_order = column_fill_order(column),
		.stays = column == COLUMN_THR || column_entry(column)->operation == COLUMN_OPERATION_BLAME ||
			 column == COLUMN_WAITS_FOR ||
			 (by_thread && (column == COLUMN_PID || column == COLUMN_PROCESS)),
		.width = column_width(column),
		.column = column,
	};
}
