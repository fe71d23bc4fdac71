/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_report.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/clock.h"
#include "cmd/line/snapshot_report.h"

/* How long a report's file system has to answer: less than the second in which the screen ends on request. */
#define ANSWER_PATIENCE_NS (800 * NS_PER_MS)

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

/* Touches the directory of a file, in a process of its own. */
static int touch_directory(void *path, struct buffer *answer)
{
	struct stat status;

	(void)answer;
	(void)lstat(path, &status); /* an error is reported when the file is opened */
	return 0;
}

/* Whether a file's file system answers: its server may be gone, and the screen must not wait for that. */
static bool answers(const char *path)
{
	struct buffer answer = {0};
	int result = child_call(touch_directory, (void *)path, ANSWER_PATIENCE_NS, &answer);

	buffer_release(&answer);
	return result != -ETIMEDOUT;
}

/* Writes the report to a new file in the format of its name; `limit` is that of struct view_options. */
static int write_report(struct snapshot_report *report, const struct grouping_options *grouping,
			size_t side_count, uint64_t limit, const char *path, struct error *error)
{
	const struct view_options view = {.limit = limit};
	struct report_options options = {.output = path};
	enum report_format format;
	int result;

	if (!find_format(path, &format)) {
		struct buffer endings = {0};

		buffer_append_list(&endings, report_format_endings, REPORT_FORMAT_COUNT, "or");
		error_set(error, -EINVAL, "%s: a report's name ends in %s", path, endings.data);
		buffer_release(&endings);
		return -EINVAL;
	}
	options.format = (int)format;
	result = report_options_select(&options, &view, side_count, &report->request, error);
	if (result == 0 && !answers(path))
		result = error_set(error, -ETIMEDOUT, "%s: not written: its file system does not answer",
				   path);
	if (result == 0)
		result = snapshot_report_open(report, &options, &view, false, error);
	if (result < 0)
		return result;
	report->how.grouping = *grouping;
	snapshot_report_join(report, NULL);
	result = snapshot_report_write(report, error);
	snapshot_report_release(report);
	return result;
}

int file_report_write(const struct ui_report *shown, const char *path, struct error *error)
{
	const bool is_pair = shown->before != NULL;
	struct snapshot_report report = {
		.request.names = {shown->before_name, shown->after_name},
		.how.by_threads = shown->by_threads,
		.snapshots = {shown->before, shown->after},
	};

	if (is_pair)
		report.request.display = TABLES_DISPLAY_COUNT;
	return write_report(&report, shown->grouping, is_pair ? DIFF_SIDE_COUNT : 1, is_pair ? UINT64_MAX : 0,
			    path, error);
}
