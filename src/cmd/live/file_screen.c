/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_screen.h"

#include "file_loader.h"
#include "file_report.h"
#include "cmd/files/snapshot_files.h"
#include "ctprof/ctprof.h"

/* The file that is shown alone, or as the later one of two. */
struct shown_file {
	const char *path;
	const struct snapshot *snapshot;
};

static int write_report(void *context, const struct grouping_options *grouping, const char *path,
			struct error *error)
{
	const struct shown_file *file = context;

	return file_report_write(file->snapshot, file->path, grouping, path, error);
}

int file_screen_show(struct session *session, struct ui_host host, const struct ui_options *options,
		     struct error *error)
{
	struct file_loader *loader;
	int result = file_loader_create(&loader, error);

	if (result < 0)
		return result;
	file_loader_offer(loader, &host);
	result = ui_run(session, &host, options, error);
	file_loader_release(loader);
	return result;
}

int file_screen_run(const char *const *paths, size_t count, struct ui_options options, struct error *error)
{
	struct snapshot_file files[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
	struct shown_file file;
	const struct ui_host host = {.context = &file, .notify_fd = -1, .write_report = write_report};
	struct session *session;
	int result = snapshot_files_read(paths, count, CTPROF_DEFAULT_LIMIT, files, error);

	if (result < 0)
		return result;
	file = (struct shown_file){files[count - 1].name, files[count - 1].snapshot};
	session = session_create_file(snapshot_reference(files[count - 1].snapshot));
	options.file_name = file.path;
	if (count == 2) {
		options.before_name = files[0].name;
		options.before = files[0].snapshot;
	}
	result = file_screen_show(session, host, &options, error);
	session_release(session);
	for (size_t i = 0; i < count; i++)
		snapshot_file_release(&files[i]);
	return result;
}
