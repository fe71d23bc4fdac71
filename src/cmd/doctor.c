/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop doctor`: what this kernel, user and namespaces let ctop read, and what would allow more. */
#include <string.h>

#include "base/unicode.h"
#include "capture/capture.h"
#include "capture/host/feature.h"
#include "cmd/line/help.h"
#include "cmd/line/output.h"
#include "cmd/line/privilege.h"
#include "cmd/line/reading_options.h"
#include "commands.h"
#include "report/json_text.h"

enum {
	STATE_WIDTH = 9, /* of "unknown", "partial" and the blanks behind */
};

enum doctor_format {
	DOCTOR_TEXT,
	DOCTOR_JSON,
};

struct doctor_options {
	int format;
	struct root_options roots;
};

/* Appends foreign text below the feature's name. */
static void append_wrapped(struct buffer *buffer, const char *text)
{
	struct buffer printable = {0};

	unicode_append_printable(&printable, text, strlen(text), "?");
	buffer_append_format(buffer, "%*s", STATE_WIDTH, "");
	help_append_wrapped(buffer, printable.data, "", STATE_WIDTH);
	buffer_release(&printable);
}

static void print_feature(struct buffer *buffer, enum feature feature, const struct feature_result results[])
{
	const struct feature_result *result = &results[feature];
	struct buffer why = {0}, remedy = {0};

	buffer_append_format(buffer, "%-*s%s\n", STATE_WIDTH, feature_state_names[result->state],
			     features[feature].words);
	if (result->reason != REASON_READ)
		buffer_append_text(&why, reason_words(result->reason));
	if (result->detail != NULL)
		buffer_append_format(&why, "%s%s", why.length != 0 ? ": " : "", result->detail);
	if (why.length != 0)
		append_wrapped(buffer, why.data);
	/* on one line, so that it can be copied */
	feature_append_remedy(results, feature, &remedy);
	if (remedy.length != 0) {
		buffer_append_format(buffer, "%*sremedy: ", STATE_WIDTH, "");
		unicode_append_printable(buffer, remedy.data, remedy.length, "?");
		buffer_append_char(buffer, '\n');
	}
	buffer_release(&why);
	buffer_release(&remedy);
}

static void print_text(struct buffer *buffer, const struct roots *roots,
		       const struct feature_result results[])
{
	size_t on = 0;

	for (size_t i = 0; i < ROOT_COUNT; i++) {
		buffer_append_format(buffer, "%s%s ", i != 0 ? ", " : "", root_names[i]);
		if (roots->path[i] != NULL)
			unicode_append_printable(buffer, roots->path[i], strlen(roots->path[i]), "?");
		else
			buffer_append_text(buffer, "none");
	}
	buffer_append_text(buffer, "\n\n");
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		print_feature(buffer, (enum feature)i, results);
		on += results[i].state == FEATURE_STATE_ON;
	}
	buffer_append_format(buffer, "\n%zu of %d on\n", on, (int)FEATURE_COUNT);
}

static void print_json(struct buffer *buffer, const struct roots *roots,
		       const struct feature_result results[])
{
	buffer_append_text(buffer, "{\"program\":\"ctop " CTOP_VERSION "\",\"roots\":{");
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		json_append_member(buffer, root_names[i], roots->path[i]);
	}
	buffer_append_text(buffer, "},\"features\":[");
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const struct feature_result *result = &results[i];
		struct buffer remedy = {0};

		feature_append_remedy(results, (enum feature)i, &remedy);
		buffer_append_text(buffer, i != 0 ? ",{" : "{");
		json_append_member(buffer, "name", features[i].name);
		json_append_member(buffer, "state", feature_state_names[result->state]);
		json_append_member(buffer, "reason",
				   result->reason != REASON_READ ? reason_name(result->reason) : NULL);
		json_append_member(buffer, "description", features[i].words);
		json_append_member(buffer, "detail", result->detail);
		json_append_member(buffer, "remedy", remedy.length != 0 ? remedy.data : NULL);
		buffer_release(&remedy);
		buffer_append_char(buffer, '}');
	}
	buffer_append_text(buffer, "]}\n");
}

/* Checks with the rights that a capture has. */
static void check(struct feature_checks *checks, const struct roots *roots,
		  const char *const named[static ROOT_COUNT], struct arena *arena)
{
	privilege_raise(named);
	capture_check(roots, arena, checks);
	privilege_lower();
}

static int run(void *options, char **operands, int operand_count)
{
	const struct doctor_options *doctor = options;
	struct feature_checks checks = {0};
	struct arena arena = {0};
	struct output output = {0};
	struct roots roots;
	struct error error;

	(void)operands;
	(void)operand_count;
	if (roots_open(&roots, doctor->roots.roots, &error) < 0)
		return command_failed(&error);
	check(&checks, &roots, doctor->roots.roots, &arena);
	if (doctor->format == DOCTOR_JSON)
		print_json(&output.buffer, &roots, checks.results);
	else
		print_text(&output.buffer, &roots, checks.results);
	feature_release(&checks);
	arena_release(&arena);
	roots_close(&roots);
	return output_end(&output);
}

static const char *const formats[] = {
	[DOCTOR_TEXT] = "text",
	[DOCTOR_JSON] = "json",
	NULL,
};

static const struct option own_options[] = {
	{OPTION('\0', "format", "FORMAT", struct doctor_options, format), .choices = formats,
	 .description = "text or json (default text)"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&root_option_table, offsetof(struct doctor_options, roots)},
};

const struct command doctor_command = {
	.name = "doctor",
	.summary = "print what ctop can read here, and what would allow the rest",
	.purpose = COMMAND_CHECKS,
	.usage = "[OPTION]...",
	.details = "ctop changes nothing: the remedies are for you to run, as root. Missing items are not a "
		   "failure. Root reads threads by BPF; a program with file capabilities (setcap) does not.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct doctor_options),
	.run = run,
};
