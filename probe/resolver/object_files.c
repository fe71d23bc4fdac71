/* SPDX-License-Identifier: GPL-2.0-only */
#include "object_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rights.h"
#include "probe/object/debug_candidate.h"

enum {
	/* each below the root and on the host, and one in a cache */
	PLACES_MAX = 2 * DEBUG_CANDIDATE_MAX + 1,
};

/* The root below which a path is looked up. */
enum place_side {
	PLACE_TARGET, /* below the root of the target */
	PLACE_HOST,
};

struct place {
	enum place_side side;
	char *path; /* owned */
};

struct places {
	struct place items[PLACES_MAX];
	size_t count;
};

/* Tells one file from another. */
struct file_identity {
	dev_t device;
	ino_t inode;
};

void object_files_open(struct object_files *files, int process_directory, const char *executable_path,
		       const struct process_map *map)
{
	*files = (struct object_files){
		.process_directory = process_directory,
		.executable_path = executable_path,
		.map = map,
	};
	process_root_open(process_directory, &files->root);
}

/*
 * Opens what `path_descriptor` (O_PATH; closed) stands for, when it is a regular file that is not empty: only
 * then is the open without side effects. Returns a descriptor or a negative errno.
 */
static int open_regular(int path_descriptor)
{
	char link[sizeof("/proc/self/fd/") + 12];
	struct stat status;
	int descriptor;

	if (fstat(path_descriptor, &status) < 0) {
		descriptor = -errno;
	} else if (!S_ISREG(status.st_mode)) {
		descriptor = -EINVAL;
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", path_descriptor);
		descriptor = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		if (descriptor < 0)
			descriptor = -errno;
	}
	close(path_descriptor);
	return descriptor;
}

/* Opens the path of a place with O_PATH. Returns a descriptor or a negative errno. */
static int find_place(const struct object_files *files, const struct place *place)
{
	if (place->side == PLACE_TARGET)
		return files->root.directory < 0
			       ? -ENOENT
			       : process_root_open_path(files->root.directory, place->path,
							RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	/* a relative path would begin where this program was started */
	return place->path[0] != '/' ? -ENOENT
				     : process_root_open_path(AT_FDCWD, place->path, RESOLVE_NO_MAGICLINKS);
}

static bool is_missing(int result)
{
	return result == -ENOENT || result == -ENOTDIR;
}

/*
 * The target's root and the host's are mostly one, and so are the files found in both. An empty file is how a
 * debuginfod cache remembers that nobody had it.
 */
static bool counts(int path_descriptor, struct file_identity *seen, size_t *seen_count)
{
	struct stat status;

	if (fstat(path_descriptor, &status) < 0 || (S_ISREG(status.st_mode) && status.st_size == 0))
		return false;
	for (size_t i = 0; i < *seen_count; i++) {
		if (seen[i].device == status.st_dev && seen[i].inode == status.st_ino)
			return false;
	}
	seen[(*seen_count)++] = (struct file_identity){status.st_dev, status.st_ino};
	return true;
}

static int open_place(const struct object_files *files, const struct places *places, uint32_t ordinal)
{
	struct file_identity seen[PLACES_MAX];
	size_t seen_count = 0;

	for (size_t i = 0; i < places->count; i++) {
		const int found = find_place(files, &places->items[i]);

		if (is_missing(found) || (found >= 0 && !counts(found, seen, &seen_count))) {
			if (found >= 0)
				close(found);
			continue;
		}
		if (ordinal == 0)
			return found >= 0 ? open_regular(found) : found;
		if (found >= 0)
			close(found);
		ordinal--;
	}
	return -ENOENT;
}

static int open_library(const struct object_files *files, const struct mapped_object *object)
{
	char name[sizeof("map_files/-") + 2 * 16];
	int found;

	/* The mapped file itself, wherever it is now; needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, object->start, object->end);
	found = openat(files->process_directory, name, O_PATH | O_CLOEXEC);
	if (found >= 0)
		return open_regular(found);
	found = process_root_open_object(&files->root, object, 0);
	return found < 0 ? found : open_regular(found);
}

/* Whether it is still the executable that was identified: prctl(PR_SET_MM_MAP) changes it, and back again. */
static bool is_executable(int descriptor, const struct process_map *map)
{
	struct stat status;

	return map->executable_inode == 0 ||
	       (fstat(descriptor, &status) == 0 && status.st_ino == map->executable_inode &&
		status.st_dev == map->executable_device);
}

static int open_object(const struct object_files *files, uint32_t object)
{
	int found;

	if (object != LAYOUT_EXECUTABLE)
		return open_library(files, &files->map->objects[object]);
	found = openat(files->process_directory, "exe", O_PATH | O_CLOEXEC);
	if (found < 0)
		return -errno;
	/* what is found in it is taken for that of all processes that run it */
	if (!is_executable(found, files->map)) {
		close(found);
		return -ESTALE;
	}
	return open_regular(found);
}

/* Takes `path` over. */
static void add_place(struct places *places, enum place_side side, char *path)
{
	places->items[places->count++] = (struct place){side, path};
}

/* Adds an object's debug file candidates for `inner` in the target and for `path` on the host, in turn. */
static void add_candidates(struct places *places, const char *path, const char *inner, const char *debuglink,
			   const char *build_id)
{
	struct debug_candidates target, host;

	debug_candidates_find(inner, debuglink, build_id, &target);
	debug_candidates_find(path, debuglink, build_id, &host);
	for (size_t i = 0; i < target.count || i < host.count; i++) {
		if (i < target.count)
			add_place(places, PLACE_TARGET, target.paths[i]);
		if (i < host.count)
			add_place(places, PLACE_HOST, host.paths[i]);
	}
}

/* The cache that debuginfod's clients of this user have filled before (debuginfod_find_debuginfo(3)). */
static void add_debuginfod_cache(struct places *places, const char *build_id)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH");
	const char *xdg_cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (cache != NULL && cache[0] != '\0')
		add_place(places, PLACE_HOST, memory_format("%s/%s/debuginfo", cache, build_id));
	else if (xdg_cache != NULL && xdg_cache[0] != '\0')
		add_place(places, PLACE_HOST,
			  memory_format("%s/debuginfod_client/%s/debuginfo", xdg_cache, build_id));
	else if (home != NULL && home[0] != '\0')
		add_place(places, PLACE_HOST,
			  memory_format("%s/.cache/debuginfod_client/%s/debuginfo", home, build_id));
}

static void find_places(const struct object_files *files, uint32_t object, enum resolve_file file,
			const char *name, struct places *places)
{
	const char *path = object == LAYOUT_EXECUTABLE ? files->executable_path
						       : files->map->objects[object].path;
	const char *inner = process_root_inner(&files->root, path);
	struct debug_candidates candidates;

	*places = (struct places){0};
	switch (file) {
	case RESOLVE_FILE_PACKAGE:
		add_place(places, PLACE_TARGET, memory_format("%s.dwp", inner));
		add_place(places, PLACE_HOST, memory_format("%s.dwp", path));
		break;
	/* these two by their name alone: another file of that name on the host would mean nothing */
	case RESOLVE_FILE_DEBUGINFO:
		add_place(places, PLACE_TARGET, memory_format("%s.debuginfo", inner));
		break;
	case RESOLVE_FILE_DEBUG:
		add_place(places, PLACE_TARGET, memory_format("%s.debug", inner));
		break;
	case RESOLVE_FILE_DEBUGLINK:
		add_candidates(places, path, inner, name, NULL);
		break;
	case RESOLVE_FILE_BUILD_ID:
	case RESOLVE_FILE_ALTERNATE:
		add_candidates(places, path, inner, NULL, name);
		if (debug_build_id_is_safe(name, strlen(name)))
			add_debuginfod_cache(places, name);
		break;
	case RESOLVE_FILE_ALTERNATE_LINK:
		debug_candidates_find_alternate(name, &candidates);
		for (size_t i = 0; i < candidates.count; i++) {
			add_place(places, PLACE_TARGET, memory_duplicate(candidates.paths[i]));
			add_place(places, PLACE_HOST, candidates.paths[i]);
		}
		break;
	case RESOLVE_FILE_OBJECT:
	case RESOLVE_FILE_COUNT:
		break;
	}
}

int object_files_ask(const struct object_files *files, uint32_t object, uint32_t file, const char *name,
		     uint32_t ordinal)
{
	struct rights before;
	struct places places;
	int result;

	if (file >= RESOLVE_FILE_COUNT || (object != LAYOUT_EXECUTABLE && object >= files->map->count))
		return -EINVAL;
	if (file == RESOLVE_FILE_OBJECT)
		return ordinal == 0 ? open_object(files, object) : -ENOENT;
	/* these are named by the target or by the user, so only what the user may open is opened */
	result = rights_lower(&before);
	if (result < 0)
		return result;
	find_places(files, object, file, name, &places);
	result = open_place(files, &places, ordinal);
	rights_restore(&before);
	for (size_t i = 0; i < places.count; i++)
		free(places.items[i].path);
	return result;
}
