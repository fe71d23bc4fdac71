/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_screen.h"

#include "base/clock.h"
#include "cmd/line/snapshot_files.h"
#include "file_loader.h"
#include "file_report.h"
#include "session/moment.h"
#include "snapshot/user_names.h"
#include "store/ctprof.h"

/* How long the first frame of what does not change by itself waits for names of users. */
#define USER_PATIENCE_NS (300 * NS_PER_MS)

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

/* Asks for the names of users before the first frame: no round comes that would show them later. */
static void learn_users(const struct session *session, const struct ui_options *options)
{
	const struct snapshot *shown = session_now(session);

	if (shown == NULL && options->moment != NULL && options->moment->moment != NULL)
		shown = session_moment_now(options->moment->moment);
	if (shown == NULL || !user_names_hold(shown->provenance.hostname))
		return;
	for (size_t i = 0; i < shown->thread_count; i++)
		user_name(shown->uid[i]);
	user_names_wait(USER_PATIENCE_NS);
}

int file_screen_show(struct session *session, struct ui_host host, const struct ui_options *options,
		     struct error *error)
{
	struct file_loader *loader;
	int result = file_loader_create(&loader, error);

	if (result < 0)
		return result;
	file_loader_offer(loader, &host);
	learn_users(session, options);
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
