/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_report.h"

#include <errno.h>
#include <langinfo.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "diff/comparability.h"
#include "diff/diff_match.h"
#include "tables/tables.h"
#include "report/report.h"

enum {
	FLUSH_BYTES = 64 * 1024,
	CHUNK_ROWS = 4096, /* of a long table, but of text, which needs whole tables for its widths */
};

struct writing {
	struct report report;
	struct buffer buffer;
	struct file_replacement file;
	int result;
};

static bool find_format(const char *path, enum report_format *ret_format)
{
	const size_t length = strlen(path);

	for (enum report_format i = 0; i < REPORT_FORMAT_COUNT; i++) {
		const size_t ending = strlen(report_format_endings[i]);

		if (length > ending && strcmp(path + length - ending, report_format_endings[i]) == 0) {
			*ret_format = i;
			return true;
		}
	}
	return false;
}

static void flush(struct writing *writing)
{
	if (writing->result == 0)
		writing->result = file_write_all(writing->file.descriptor, writing->buffer.data,
						 writing->buffer.length);
	buffer_clear(&writing->buffer);
}

static void draw(void *context, const struct table *table)
{
	struct writing *writing = context;

	report_table(&writing->report, table);
	if (writing->buffer.length >= FLUSH_BYTES)
		flush(writing);
}

/* Everything that `show` prints by default, all rows. */
static void write_tables(struct writing *writing, const struct snapshot *snapshot, const char *name,
			 const struct grouping_options *grouping)
{
	struct tables_request request = {
		.chunk_rows = writing->report.format == REPORT_FORMAT_TEXT ? 0 : CHUNK_ROWS,
	};
	struct diff *groups = diff_create(NULL, snapshot, &(struct diff_options){.grouping = *grouping});

	memset(request.sections, true, sizeof(request.sections));
	memset(request.metrics, true, sizeof(request.metrics));
	memset(request.derived, true, sizeof(request.derived));
	report_begin(&writing->report, &(struct report_subject){.command = "show",
								.file = name,
								.group_by = axes[grouping->axis].name});
	tables_make(groups, &request, draw, writing);
	report_end(&writing->report);
	diff_release(groups);
	flush(writing);
}

/* Opens the file of a report in the format of its name. */
static int begin(struct writing *writing, const char *path, struct error *error)
{
	if (!find_format(path, &writing->report.format))
		return error_set(error, -EINVAL,
				 "%s: a report's name ends in .txt, .tsv, .csv, .json, .md or .html", path);
	writing->report.out = &writing->buffer;
	writing->report.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	return file_replacement_open(&writing->file, path, 0666, false, error);
}

/* Gives the file its name, or leaves nothing behind when it could not be written. */
static int end(struct writing *writing, const char *path, struct error *error)
{
	int result = writing->result;

	if (result < 0) {
		error_set(error, result, "cannot write %s: %s", path, strerror(-result));
		file_replacement_abandon(&writing->file);
	} else {
		result = file_replacement_commit(&writing->file, error);
	}
	buffer_release(&writing->buffer);
	return result;
}

int file_report_write(const struct snapshot *snapshot, const char *name,
		      const struct grouping_options *grouping, const char *path, struct error *error)
{
	struct writing writing = {.report = {.snapshot = snapshot}};
	int result = begin(&writing, path, error);

	if (result < 0)
		return result;
	write_tables(&writing, snapshot, name, grouping);
	return end(&writing, path, error);
}

/* Everything that `diff` prints by default, all rows that changed most first. */
static void write_changes(struct writing *writing, const struct ui_comparison *shown, const struct diff *diff,
			  const struct diff_match *match, const struct comparability *comparability)
{
	const enum report_format format = writing->report.format;
	const int64_t interval = comparability_interval(shown->before, shown->after);
	struct tables_request request = {
		.display = format == REPORT_FORMAT_TEXT || format == REPORT_FORMAT_TSV ? TABLES_DISPLAY_ARROW
										       : TABLES_DISPLAY_FULL,
		.interval_ns = (uint64_t)(interval < 0 ? -interval : interval),
		.match = match,
		.threads = match != NULL && shown->by_threads,
		.limit = report_default_limits[format],
		.chunk_rows = format == REPORT_FORMAT_TEXT ? 0 : CHUNK_ROWS,
		.layout = format == REPORT_FORMAT_TEXT,
		.names = {shown->before_name, shown->after_name},
	};

	memset(request.sections, true, sizeof(request.sections));
	memset(request.metrics, true, sizeof(request.metrics));
	memset(request.derived, true, sizeof(request.derived));
	report_begin(&writing->report, &(struct report_subject){.command = "diff",
								.before_file = shown->before_name,
								.file = shown->after_name,
								.group_by = axes[shown->grouping->axis].name,
								.comparability = comparability});
	tables_make(diff, &request, draw, writing);
	report_end(&writing->report);
	flush(writing);
}

int file_report_write_comparison(const struct ui_comparison *shown, const char *path, struct error *error)
{
	struct writing writing = {.report = {.snapshot = shown->after, .before = shown->before}};
	struct diff_options options = {.grouping = *shown->grouping};
	struct comparability *comparability;
	struct diff_match *match;
	struct diff *diff;
	int result = begin(&writing, path, error);

	if (result < 0)
		return result;
	comparability = comparability_create(shown->before, shown->after);
	match = diff_match_create(shown->before, shown->after, NULL);
	if (match != NULL) {
		struct buffer text = {0};

		diff_match_describe(match, shown->by_threads, &text);
		comparability_add(comparability, COMPARABILITY_NOTE, "threads", text.data);
		buffer_release(&text);
	}
	if (match != NULL && shown->by_threads)
		diff_match_apply(match, &options);
	diff = diff_create(shown->before, shown->after, &options);
	write_changes(&writing, shown, diff, match, comparability);
	diff_release(diff);
	diff_match_release(match);
	comparability_release(comparability);
	return end(&writing, path, error);
}
