/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_screen.h"

#include <unistd.h>

#include "cmd/line/snapshot_files.h"
#include "screen_host.h"
#include "store/ctprof.h"

static int show(struct session *session, const struct ui_options *options, bool *ret_left_behind,
		struct error *error)
{
	struct screen_host *host;
	bool is_unsaved;
	int result = screen_host_start(&(struct screen_host_options){.saves = false}, &host, error);

	if (result < 0)
		return result;
	result = screen_host_run(host, session, options, error);
	*ret_left_behind = !screen_host_stop(host, &is_unsaved);
	return result;
}

int file_screen_run(const char *const *paths, size_t count, struct ui_options options, bool *ret_left_behind,
		    struct error *error)
{
	struct snapshot_file files[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
	struct session *session;
	int result = snapshot_files_read(paths, count, CTPROF_DEFAULT_LIMIT, files, error);

	*ret_left_behind = false;
	if (result < 0)
		return result;
	session = session_create_file(snapshot_reference(files[count - 1].snapshot));
	options.file_name = files[count - 1].name;
	if (count == 2) {
		options.before_name = files[0].name;
		options.before = files[0].snapshot;
	}
	result = show(session, &options, ret_left_behind, error);
	session_release(session);
	for (size_t i = 0; i < count; i++)
		snapshot_file_release(&files[i]);
	return result;
}
