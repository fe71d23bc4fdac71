/* SPDX-License-Identifier: GPL-2.0-only */
#include "save_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "store/ctprof.h"

enum {
	SAVE_NAME_ATTEMPTS = 1000,
	SAVE_NAME_HOST_MAX = 64
};

static void append_host(struct buffer *name, const char *hostname)
{
	if (hostname == NULL || hostname[0] == '\0')
		hostname = "host";
	for (size_t i = 0; hostname[i] != '\0' && i < SAVE_NAME_HOST_MAX; i++) {
		const bool plain = isalnum((unsigned char)hostname[i]) || hostname[i] == '-' ||
				   hostname[i] == '_' || (hostname[i] == '.' && i != 0);

		buffer_append_char(name, plain ? hostname[i] : '_');
	}
}

static char *make_stem(const struct snapshot *snapshot, const char *directory)
{
	struct buffer name = {0};
	char stamp[32] = "";

	clock_format_local(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", snapshot->captured_at_unix_ns);
	if (directory != NULL)
		buffer_append_format(&name, "%s/", directory);
	buffer_append_text(&name, "ctop-");
	append_host(&name, snapshot->provenance.hostname);
	buffer_append_format(&name, "-%s", stamp);
	return buffer_steal(&name);
}

int save_name_write(const struct snapshot *snapshot, const struct snapshot_window *window,
		    const char *directory, char **ret_path, uint64_t *ret_json_bytes, struct error *error)
{
	char *stem = make_stem(snapshot, directory);
	int result = -EEXIST;

	for (unsigned int attempt = 1; result == -EEXIST && attempt <= SAVE_NAME_ATTEMPTS; attempt++) {
		char *path = attempt == 1 ? memory_format("%s.ctprof.zst", stem)
					  : memory_format("%s-%u.ctprof.zst", stem, attempt);

		result = ctprof_write(snapshot, window, path, false, ret_json_bytes, error);
		if (result == 0)
			*ret_path = path;
		else
			free(path);
	}
	free(stem);
	return result;
}
