/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_report.h"

#include <errno.h>
#include <langinfo.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "model/show_tables.h"
#include "report/report.h"

enum {
	FLUSH_BYTES = 64 * 1024,
	CHUNK_ROWS = 4096, /* of a long table, but of text, which needs whole tables for its widths */
};

static const struct {
	const char *ending;
	enum report_format format;
} endings[] = {
	{".txt", REPORT_FORMAT_TEXT},  {".tsv", REPORT_FORMAT_TSV},     {".csv", REPORT_FORMAT_CSV},
	{".json", REPORT_FORMAT_JSON}, {".md", REPORT_FORMAT_MARKDOWN}, {".html", REPORT_FORMAT_HTML},
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

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t ending = strlen(endings[i].ending);

		if (length > ending && strcmp(path + length - ending, endings[i].ending) == 0) {
			*ret_format = endings[i].format;
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
	struct show_request request = {
		.grouping = *grouping,
		.chunk_rows = writing->report.format == REPORT_FORMAT_TEXT ? 0 : CHUNK_ROWS,
	};

	memset(request.sections, true, sizeof(request.sections));
	memset(request.metrics, true, sizeof(request.metrics));
	memset(request.derived, true, sizeof(request.derived));
	report_begin(&writing->report, &(struct report_subject){.command = "show",
								.file = name,
								.group_by = axes[grouping->axis].name});
	show_tables(snapshot, &request, draw, writing);
	report_end(&writing->report);
	flush(writing);
}

int file_report_write(const struct snapshot *snapshot, const char *name,
		      const struct grouping_options *grouping, const char *path, struct error *error)
{
	struct writing writing = {.report = {.snapshot = snapshot}};
	int result;

	if (!find_format(path, &writing.report.format))
		return error_set(error, -EINVAL,
				 "%s: a report's name ends in .txt, .tsv, .csv, .json, .md or .html", path);
	result = file_replacement_open(&writing.file, path, 0666, error);
	if (result < 0)
		return result;
	writing.report.out = &writing.buffer;
	writing.report.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	write_tables(&writing, snapshot, name, grouping);
	if (writing.result < 0) {
		result = error_set(error, writing.result, "cannot write %s: %s", path,
				   strerror(-writing.result));
		file_replacement_abandon(&writing.file);
	} else {
		result = file_replacement_commit(&writing.file, false, error);
	}
	buffer_release(&writing.buffer);
	return result;
}
