/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/object/debug_candidate.h"

/* The `ordinal`-th of the candidates that exists; absolute ones lie below the root first. */
static int open_candidate(struct file_source *files, struct debug_candidates *candidates, uint32_t ordinal)
{
	char path[4096];

	for (size_t i = 0; i < candidates->count; i++) {
		const char *candidate = candidates->paths[i];
		const char *root = strncmp(candidate, "/usr/lib/debug", 14) == 0 ? files->root : "";
		int descriptor;

		snprintf(path, sizeof(path), "%s%s", root, candidate);
		descriptor = open(path, O_RDONLY | O_CLOEXEC);
		if (descriptor < 0)
			continue;
		if (ordinal-- == 0) {
			debug_candidates_release(candidates);
			files->opened++;
			return descriptor;
		}
		close(descriptor);
	}
	debug_candidates_release(candidates);
	return -ENOENT;
}

static int open_beside(struct file_source *files, const char *object, const char *ending, uint32_t ordinal)
{
	char path[4096];
	int descriptor;

	if (ordinal > 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s", object, ending);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return -errno;
	files->opened++;
	return descriptor;
}

static int open_file(void *context, uint32_t number, enum resolve_file file, const char *name,
		     uint32_t ordinal)
{
	struct file_source *files = context;
	const char *object = number == LAYOUT_EXECUTABLE ? files->executable : files->libraries[number];
	struct debug_candidates candidates = {0};

	switch (file) {
	case RESOLVE_FILE_OBJECT:
		return open_beside(files, object, "", ordinal);
	case RESOLVE_FILE_PACKAGE:
		return open_beside(files, object, ".dwp", ordinal);
	case RESOLVE_FILE_DEBUGINFO:
		return open_beside(files, object, ".debuginfo", ordinal);
	case RESOLVE_FILE_DEBUG:
		return open_beside(files, object, ".debug", ordinal);
	case RESOLVE_FILE_BUILD_ID:
	case RESOLVE_FILE_ALTERNATE:
		debug_candidates_find(object, NULL, name, &candidates);
		return open_candidate(files, &candidates, ordinal);
	case RESOLVE_FILE_DEBUGLINK:
		debug_candidates_find(object, name, NULL, &candidates);
		return open_candidate(files, &candidates, ordinal);
	case RESOLVE_FILE_ALTERNATE_LINK:
		debug_candidates_find_alternate(name, &candidates);
		return open_candidate(files, &candidates, ordinal);
	default:
		return -EINVAL;
	}
}

struct resolve_source file_source(struct file_source *files)
{
	return (struct resolve_source){files, files->library_count, open_file};
}
