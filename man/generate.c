/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a manual page of a template: a line `@NAME@` is replaced by what the table of that name holds, and
 * `@VERSION@` inside a line by the version. So what the pages say of options, keys, columns, metrics, sources
 * and reasons stands once, in the tables that the program itself uses.
 *
 *     generate TEMPLATE OUTPUT
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap_tag.h"
#include "base/memory.h"
#include "cmd/commands.h"
#include "cmd/export/export_family.h"
#include "metric/feature.h"
#include "metric/metric.h"
#include "metric/reason.h"
#include "metric/source.h"
#include "table/column_list.h"
#include "table/rule.h"
#include "table/tab.h"
#include "table/view.h"
#include "ui/terminal/keys.h"
#include "window/column.h"
#include "window/grouping.h"

/*
 * Writes text so that no character of it is taken for a macro or an escape, each sentence on a line of its
 * own (mdoc(7) spaces sentences by that).
 */
static void write_text(FILE *output, const char *text)
{
	bool line_start = true;

	for (const char *at = text; *at; at++) {
		if (at[0] == '.' && at[1] == ' ' && isupper((unsigned char)at[2])) {
			fputs(".\n", output);
			line_start = true;
			at++;
			continue;
		}
		if (line_start && (*at == '.' || *at == '\''))
			fputs("\\&", output);
		if (*at == '\\')
			fputs("\\e", output);
		else
			fputc(*at, output);
		line_start = false;
	}
}

/* Writes a phrase of a table as a sentence on lines of its own; a first word such as sched_ext stays small.
 */
static void write_sentence(FILE *output, const char *text)
{
	size_t length = strlen(text);

	fputc(memchr(text, '_', strcspn(text, " ")) ? text[0] : toupper((unsigned char)text[0]), output);
	if (length > 0)
		write_text(output, text + 1);
	fputs(length > 0 && text[length - 1] == '.' ? "\n" : ".\n", output);
}

/* Writes a list item: a tag, which is one argument of a macro, and a sentence below it. */
static void write_item(FILE *output, const char *macro, const char *tag, const char *text)
{
	fprintf(output, ".It %s \"", macro);
	for (const char *at = tag; *at; at++) {
		if (*at == '\\')
			fputs("\\e", output);
		else if (*at == '"')
			fputs("\"\"", output);
		else
			fputc(*at, output);
	}
	fputs("\"\n", output);
	write_sentence(output, text);
}

static const char *const encoding_json[] = {
	[METRIC_ENCODING_U64] = "number",
	[METRIC_ENCODING_U32] = "number, 32 bits",
	[METRIC_ENCODING_I32] = "number, 32 bits, signed",
	[METRIC_ENCODING_STRING] = "string",
	[METRIC_ENCODING_CHARACTER] = "string of one character",
	[METRIC_ENCODING_BOOLEAN] = "boolean",
	[METRIC_ENCODING_CPU_SET] = "array of CPU numbers",
};

static const char *const ladder_units[] = {
	[LADDER_NONE] = "", [LADDER_UNITLESS] = "count", [LADDER_NS] = "ns",
	[LADDER_US] = "us", [LADDER_BYTES] = "bytes",    [LADDER_TICKS] = "clock ticks",
};

static void write_file_metrics(FILE *output)
{
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		const struct metric_type_entry *type = metric_type((enum metric)metric);
		if (metric == METRIC_THREAD_COUNT) /* counted, not in the file */
			continue;
		fprintf(output, ".It %s Ta %s Ta %s\n", metrics[metric].name, encoding_json[type->encoding],
			ladder_units[type->ladder]);
	}
}

static void write_metrics(FILE *output)
{
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		const struct metric_entry *entry = &metrics[metric];
		write_item(output, "Va", entry->name, entry->description);
		fprintf(output, "(%s", metric_type((enum metric)metric)->name);
		if (entry->source != SOURCE_NONE)
			fprintf(output, "; %s", sources[entry->source].name);
		if (entry->equivalent_source != SOURCE_NONE)
			fprintf(output, " or %s", sources[entry->equivalent_source].name);
		if (entry->tag != METRIC_TAG_NONE)
			fprintf(output, "; %s", metric_tag_names[entry->tag]);
		fputs(")\n", output);
	}
}

static void write_derived(FILE *output)
{
	for (size_t derived = 0; derived < DERIVED_COUNT; derived++) {
		const struct derived_entry *entry = &derived_metrics[derived];
		write_item(output, "Va", entry->name, entry->description);
		fprintf(output, ".br\n= %s\n", entry->formula);
	}
}

static void write_sources(FILE *output)
{
	for (size_t source = 0; source < SOURCE_COUNT; source++)
		write_item(output, "Li", sources[source].name, sources[source].description);
}

static void write_reasons(FILE *output)
{
#define REASON(id, name, words) write_item(output, "Li", name, words);
#include "metric/reason.def"
#undef REASON
}

static void write_heap_tags(FILE *output)
{
	for (size_t tag = 0; tag < HEAP_TAG_COUNT; tag++) {
		write_item(output, "Li", heap_tags[tag].name, heap_tags[tag].words);
		if (heap_tags[tag].remedy != NULL)
			write_sentence(output, heap_tags[tag].remedy);
	}
}

/* Writes words as arguments of a macro; none of them is taken for a macro. */
static void write_words(FILE *output, const char *words)
{
	for (const char *at = words; *at; at++) {
		if (at == words || at[-1] == ' ')
			fputs("\\&", output);
		fputs(*at == '\\' ? "\\e" : (const char[]){*at, '\0'}, output);
	}
}

/* Exported numbers of groups, with the columns that name them in `--columns`. */
static void write_export(FILE *output)
{
	for (size_t i = 0; i <= EXPORT_FAMILY_DELAYED; i++) {
		const enum export_family family = (enum export_family)i;
		char *name = export_family_name(family), *help = export_family_help(family);
		char *text = family == EXPORT_FAMILY_DELAYED
				     ? memory_duplicate(help)
				     : memory_format(
					       "%s Column %s%s", help,
					       column_title(export_families[i].column, WINDOW_MODE_INTERVAL),
					       export_families[i].by_default ? "." : ", not by default.");

		write_item(output, "Va", name, text);
		free(text);
		free(name);
		free(help);
	}
}

static void write_features(FILE *output)
{
	for (size_t feature = 0; feature < FEATURE_COUNT; feature++)
		write_item(output, "Li", features[feature].name, features[feature].words);
}

static void write_axes(FILE *output)
{
	for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
		fprintf(output, ".It Cm %s", axes[axis].word);
		if (strcmp(axes[axis].name, axes[axis].word) != 0)
			fprintf(output, " , %s", axes[axis].name);
		fputc('\n', output);
		write_sentence(output, axes[axis].description);
	}
}

static void write_filter_fields(FILE *output)
{
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		fprintf(output, ".It Cm %s", filter_fields[i].word);
		if (filter_fields[i].alias != NULL)
			fprintf(output, " , %s", filter_fields[i].alias);
		fprintf(output, "\n.Ql %s = %s :\n", filter_fields[i].word, filter_fields[i].value);
		write_sentence(output, filter_fields[i].description);
	}
}

static void write_rule_help(FILE *output, const struct rule_help *help)
{
	for (; help->word != NULL; help++)
		write_item(output, "Li", help->word, help->description);
}

static void write_rules(FILE *output)
{
	write_rule_help(output, rule_words);
}

static void write_rule_examples(FILE *output)
{
	write_rule_help(output, rule_examples);
}

static void write_commands(FILE *output)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *command = commands[i];
		if (!command->name)
			continue;
		fprintf(output, ".It Nm Ic %s Ar ", command->name);
		write_words(output, command->usage);
		fputc('\n', output);
		write_sentence(output, command->summary);
		if (command->details)
			write_sentence(output, command->details);
		if (command->alias)
			fprintf(output, "Also called\n.Ic %s .\n", command->alias);
	}
}

static void write_description(FILE *output, const struct option *option)
{
	struct buffer description = {0};

	option_describe(option, &description);
	write_sentence(output, description.data);
	buffer_release(&description);
}

static void write_option(FILE *output, const struct option *option)
{
	fputs(".It", output);
	if (option->letter)
		fprintf(output, " Fl %c%s", option->letter, option->name ? " ," : "");
	if (option->name)
		fprintf(output, " Fl -%s", option->name);
	if (option->value_name) {
		fputs(" Ar ", output);
		write_words(output, option->value_name);
	}
	fputc('\n', output);
	write_description(output, option);
}

static bool command_uses(const struct command *command, const struct option_table *table)
{
	for (size_t i = 0; i < command->table_count; i++) {
		if (command->tables[i].table == table)
			return true;
	}
	return false;
}

/* Writes an option table under the names of all commands that use it, unless a command before `first` does.
 */
static void write_option_table(FILE *output, const struct option_table *table, size_t first)
{
	const char *separator = " of";

	for (size_t i = 0; i < first; i++) {
		if (command_uses(commands[i], table))
			return;
	}
	fprintf(output, ".Ss %s", table->heading);
	for (size_t i = first; commands[i]; i++) {
		if (!command_uses(commands[i], table))
			continue;
		fprintf(output, "%s ctop%s%s", separator, commands[i]->name ? " " : "",
			commands[i]->name ? commands[i]->name : "");
		separator = ",";
	}
	fputs("\n.Bl -tag -width Ds\n", output);
	for (size_t i = 0; i < table->count; i++)
		write_option(output, &table->options[i]);
	fputs(".El\n", output);
}

static void write_options(FILE *output)
{
	for (size_t i = 0; commands[i]; i++) {
		for (size_t t = 0; t < commands[i]->table_count; t++)
			write_option_table(output, commands[i]->tables[t].table, i);
	}
}

/* Options of the live screen that may stand in a configuration file. */
static void write_settings(FILE *output)
{
	for (size_t t = 0; t < commands[0]->table_count; t++) {
		const struct option_table *table = commands[0]->tables[t].table;

		for (size_t i = 0; i < table->count; i++) {
			const struct option *option = &table->options[i];

			if (!option->in_file)
				continue;
			fprintf(output, ".It Cm %s No = Ar ", option->name);
			write_words(output, option->value_name != NULL ? option->value_name : "yes|no");
			fputc('\n', output);
			write_description(output, option);
		}
	}
}

static void write_tabs(FILE *output)
{
	static enum column columns[COLUMN_TOTAL];

	for (enum tab tab = 0; tab < TAB_COUNT; tab++) {
		size_t count = column_list(tab, false, 0, COLUMN_COUNT, columns);

		fprintf(output, ".It Ic %s", tabs[tab].title);
		if (tab_digit(tab) >= 0)
			fprintf(output, " Pq key Ic %d", tab_digit(tab));
		fputc('\n', output);
		write_sentence(output, tabs[tab].description);
		if (tab == TAB_ALL)
			continue;
		fputs(".br\n", output);
		for (size_t i = 0; i < count; i++)
			fprintf(output, "%s%s", i > 0 ? " " : "", column_title(columns[i], WINDOW_MODE_RATE));
		fputc('\n', output);
	}
}

static void write_columns(FILE *output)
{
	for (size_t column = 0; column < COLUMN_COUNT; column++) {
		fprintf(output, ".It Li %s Pq Cm %s\n", column_title((enum column)column, WINDOW_MODE_RATE),
			column_name((enum column)column));
		write_sentence(output, column_description((enum column)column));
	}
}

/* Writes the keys that work in some of the places and none of the `others`. */
static void write_keys_of(FILE *output, const char *heading, unsigned int places, unsigned int others)
{
	fprintf(output, "%s:\n.Bl -tag -width Ds -compact\n", heading);
	for (size_t action = 0; action < ACTION_COUNT; action++) {
		const struct key_entry *key = &ui_keys[action];

		if (!(key->where & places) || (key->where & others))
			continue;
		fputs(".It Ic ", output);
		write_words(output, key->keys);
		fputc('\n', output);
		write_sentence(output, key->help);
	}
	fputs(".El\n", output);
}

static void write_keys(FILE *output)
{
	write_keys_of(output, "On the tables", PLACE_LIST, 0);
	write_keys_of(output, ".Pp\nOn pages and in menus, besides", PLACE_EVERYWHERE,
		      PLACE_LIST | PLACE_PROMPT);
	write_keys_of(output, ".Pp\nIn prompts", PLACE_PROMPT, PLACE_LIST);
}

/* clang-format off */
static const struct {
	const char *name;
	void (*write)(FILE *output);
} parts[] = {
	{"COMMANDS", write_commands},
	{"TABS", write_tabs},
	{"COLUMNS", write_columns},
	{"KEYS", write_keys},
	{"OPTIONS", write_options},
	{"SETTINGS", write_settings},
	{"AXES", write_axes},
	{"FILTER_FIELDS", write_filter_fields},
	{"RULES", write_rules},
	{"RULE_EXAMPLES", write_rule_examples},
	{"FILE_METRICS", write_file_metrics},
	{"METRICS", write_metrics},
	{"DERIVED", write_derived},
	{"SOURCES", write_sources},
	{"REASONS", write_reasons},
	{"FEATURES", write_features},
	{"EXPORT", write_export},
	{"HEAP_TAGS", write_heap_tags},
};
/* clang-format on */

/* Writes the table that a line names; returns false when it is no such line. */
static bool write_part(FILE *output, const char *line)
{
	size_t length = strcspn(line + 1, "@");

	if (line[0] != '@' || strcmp(line + 1 + length, "@\n") != 0)
		return false;
	for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
		if (strlen(parts[part].name) == length && memcmp(parts[part].name, line + 1, length) == 0) {
			parts[part].write(output);
			return true;
		}
	}
	fprintf(stderr, "generate: no table %.*s\n", (int)length, line + 1);
	exit(EXIT_FAILURE);
}

/* Copies a line, with the version where it asks for it. */
static void write_line(FILE *output, const char *line)
{
	static const char mark[] = "@VERSION@";
	const char *at;

	while ((at = strstr(line, mark))) {
		fprintf(output, "%.*s%s", (int)(at - line), line, CTOP_VERSION);
		line = at + sizeof(mark) - 1;
	}
	fputs(line, output);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	FILE *template, *output;

	if (argc != 3) {
		fprintf(stderr, "usage: generate TEMPLATE OUTPUT\n");
		return EXIT_FAILURE;
	}
	template = fopen(argv[1], "re");
	output = template ? fopen(argv[2], "we") : NULL;
	if (!output) {
		fprintf(stderr, "generate: %s: %s\n", template ? argv[2] : argv[1], strerror(errno));
		return EXIT_FAILURE;
	}
	while (getline(&line, &size, template) >= 0) {
		if (!write_part(output, line))
			write_line(output, line);
	}
	free(line);
	if (ferror(template) | fclose(template) | ferror(output) | fclose(output)) {
		fprintf(stderr, "generate: %s: %s\n", argv[2], strerror(errno));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
