/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of commands, and `ctop help`, which prints it, and help about columns, filters, keys and rules.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/line/help.h"
#include "cmd/line/output.h"
#include "metric/nearest.h"
#include "table/filter.h"
#include "table/rule.h"
#include "ui/terminal/keys.h"
#include "window/column.h"

enum {
	TITLE_CELLS = 12,
	TOPICS_MAX = 32, /* commands among them */
};

static void append_entry(struct buffer *buffer, const char *word, size_t cells, const char *text)
{
	buffer_append_format(buffer, "  %-*s", (int)cells - 2, word);
	if (strlen(word) + 3 > cells)
		buffer_append_format(buffer, "\n%*s", (int)cells, "");
	help_append_wrapped(buffer, text, "", cells);
}

static void describe_columns(struct buffer *buffer)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		append_entry(buffer, column_title(column, WINDOW_MODE_RATE), TITLE_CELLS,
			     column_description(column));
	buffer_append_text(buffer,
			   "\nEvery metric is a column too: 'ctop metrics' lists them, 'ctop metrics NAME' "
			   "explains one.\n");
}

static void describe_keys(struct buffer *buffer)
{
	enum {
		KEY_CELLS = 18,
	};

	for (size_t section = 0; section < KEY_SECTION_COUNT; section++) {
		enum action actions[ACTION_COUNT];
		const size_t count = key_section_actions(section, actions);

		buffer_append_format(buffer, "%s%s:\n\n", section != 0 ? "\n" : "",
				     key_sections[section].title);
		for (size_t i = 0; i < count; i++)
			append_entry(buffer, ui_keys[actions[i]].keys, KEY_CELLS, ui_keys[actions[i]].help);
	}
}

static const struct {
	const char *example, *words;
} filter_examples[] = {
	{"web", "the name, that of a member or its command line contains web; with a capital, case counts"},
	{"\"Web Content\"", "quote text that has blanks or would mean something else"},
	{"/^web-[0-9]+$/", "a name matches the extended regular expression"},
	{"cpu% > 50", "a column compared with a number: > >= < <= = !="},
	{"read_bytes >= 1M", "a metric, a unit: B K M G T, ns us ms s m h d, %"},
	{"policy = FIFO", "words in columns take = and !="},
	{"web cpu% > 50", "both must hold; the same as with 'and' between them"},
	{"web or db", "one of them holds"},
	{"not web", "it does not hold; !web is the same"},
	{"(web or db) and not cpu% < 1", "parentheses group; 'or' binds least"},
};

static void describe_filter(struct buffer *buffer)
{
	enum {
		EXAMPLE_CELLS = 32,
		FIELD_CELLS = 26,
	};

	buffer_append_text(buffer,
			   "A filter (key /, option -f) shows only what satisfies its conditions:\n\n");
	for (size_t i = 0; i < ARRAY_COUNT(filter_examples); i++)
		append_entry(buffer, filter_examples[i].example, EXAMPLE_CELLS, filter_examples[i].words);
	buffer_append_text(buffer,
			   "\nConditions on threads, and on a whole name; texts take the wildcards * ? "
			   "[ab]:\n\n");
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		char example[64];

		snprintf(example, sizeof(example), "%s = %s", filter_fields[i].word, filter_fields[i].value);
		append_entry(buffer, example, FIELD_CELLS, filter_fields[i].description);
	}
	buffer_append_text(buffer, "\n");
	help_append_wrapped(buffer,
			    "Conditions on threads narrow the threads that are grouped: sums are of these "
			    "threads alone, also "
			    "in the rows that are opened. All others choose rows. In an alternative of both "
			    "(user = root or "
			    "cpu% > 50) one on threads holds for a row that has such a thread.",
			    "", 0);
	help_append_wrapped(buffer,
			    "Comparisons with unknown values are false, even negated. A malformed "
			    "comparison is refused.",
			    "", 0);
	buffer_append_text(buffer, "\n'ctop help columns' lists columns, 'ctop metrics' metrics.\n");
}

static void append_rule_help(struct buffer *buffer, const struct rule_help *help, size_t cells)
{
	for (; help->word != NULL; help++)
		append_entry(buffer, help->word, cells, help->description);
}

static void describe_rules(struct buffer *buffer)
{
	enum {
		PART_CELLS = 12,
		EXAMPLE_CELLS = 30,
	};

	buffer_append_text(buffer,
			   "A rule is a condition on groups, for a comparison (ctop diff --fail-if) or\n"
			   "for a recording (ctop record --when):\n\n"
			   "  [after:]NUMBER(GROUPS) OP LIMIT\n\n");
	append_rule_help(buffer, rule_words, PART_CELLS);
	buffer_append_text(buffer, "\nExamples:\n\n");
	append_rule_help(buffer, rule_examples, EXAMPLE_CELLS);
	buffer_append_text(buffer, "\n'ctop help columns' lists columns, 'ctop metrics' metrics.\n");
}

static void describe_times(struct buffer *buffer)
{
	static const struct {
		const char *example, *words;
	} moments[] = {
		{"-15m", "15 minutes before now, or before the end of a history"},
		{"-1h30m", "units: s m h d w, and ms"},
		{"09:40, 09:40:05", "the last such time before now"},
		{"yesterday 09:40", "also today, noon, midnight, and days of the week"},
		{"2026-11-20 09:40", "local time; a zone may follow: Z, +02:00"},
		{"@1763600000", "seconds since 1970"},
		{"09:00..09:05", "a range; each end may be any of these"},
		{"@-1h", "a moment of the usual history, where a file is expected"},
		{"DIR@09:40", "of the history in that directory"},
	};
	enum {
		MOMENT_CELLS = 20,
	};

	buffer_append_text(buffer, "A moment (@, [ and D on the screen; show, diff, dump, replay):\n\n");
	for (size_t i = 0; i < ARRAY_COUNT(moments); i++)
		append_entry(buffer, moments[i].example, MOMENT_CELLS, moments[i].words);
	buffer_append_text(buffer,
			   "\nA length of time: 10, 500ms, 90s, 2m, 1h30m, 14d; a size: 500M, 5G. A plain\n"
			   "number has the unit that the option's help names; those of record need one.\n");
}

static const struct {
	const char *name;
	void (*append)(struct buffer *buffer);
	const char *old_name; /* still understood, or NULL */
} topics[] = {
	{"columns", describe_columns, NULL}, {"filters", describe_filter, "filter"},
	{"keys", describe_keys, NULL},       {"rules", describe_rules, NULL},
	{"times", describe_times, NULL},
};

static void list_names(struct buffer *buffer)
{
	for (size_t i = 1; commands[i] != NULL; i++)
		buffer_append_format(buffer, "%s\n", commands[i]->name);
	for (size_t i = 0; i < ARRAY_COUNT(topics); i++)
		buffer_append_format(buffer, "%s\n", topics[i].name);
}

static void refuse_topic(const char *word, struct error *error)
{
	const char *names[TOPICS_MAX];
	size_t count = 0;

	for (size_t i = 1; commands[i] != NULL && count < TOPICS_MAX - ARRAY_COUNT(topics); i++)
		names[count++] = commands[i]->name;
	for (size_t i = 0; i < ARRAY_COUNT(topics); i++)
		names[count++] = topics[i].name;
	nearest_refuse(error, "command or topic", word, names, count);
}

static int help_run(void *options, char **operands, int operand_count)
{
	const struct command *command;
	struct error error;

	(void)options;
	if (operand_count == 0)
		return help_print(commands, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(topics); i++) {
		struct output output = {0};

		if (strcmp(operands[0], topics[i].name) != 0 &&
		    (topics[i].old_name == NULL || strcmp(operands[0], topics[i].old_name) != 0))
			continue;
		topics[i].append(&output.buffer);
		return output_end(&output);
	}
	command = command_find(commands, operands[0]);
	if (command == NULL) {
		refuse_topic(operands[0], &error);
		return command_misused(NULL, &error);
	}
	return help_print(commands, command);
}

static const struct command help_command = {
	.name = "help",
	.summary = "print help about a command or a topic",
	.purpose = COMMAND_CHECKS,
	.usage = "[COMMAND|columns|filters|keys|rules|times]",
	.list_operands = list_names,
	.maximum_operands = 1,
	.run = help_run,
};

const struct command *const commands[] = {
	&live_command,   &capture_command, &show_command,   &diff_command,   &record_command,
	&replay_command, &history_command, &dump_command,   &export_command, &probe_command,
	&scx_command,    &metrics_command, &doctor_command, &help_command,   NULL,
};
