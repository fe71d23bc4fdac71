/* SPDX-License-Identifier: GPL-2.0-only */
#include "container.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/memory.h"
#include "capture/host/cgroup.h"
#include "capture/procfs/root.h"
#include "capture/procfs/text_scan.h"
#include "snapshot/container_names.h"

enum {
	FILE_BYTES_MAX = 4 << 20, /* a longer one is not read */
	LOOKED_UP_AT_ONCE = 64,   /* in one round: the others follow in the next */
	NAMESPACES_MAX = 64,      /* of containerd */
	THE_RUNTIMES = -2,        /* stands for them where a call of a reader is about a process */
	DRIVERS_MAX = 16,         /* of one containers/storage directory */
	MEMBER_MAX = 128,         /* bytes of a JSON member's name */
	PATH_LENGTH_MAX = 512,
};

/* Parts of a container's name, and the path to Docker's state. */
enum part {
	PART_NAME,
	PART_CONTAINER, /* of a pod */
	PART_POD,
	PART_NAMESPACE,
	PART_DATA_ROOT, /* Docker's data directory */
	PART_COUNT,
};

struct parts {
	char text[PART_COUNT][CONTAINER_NAME_MAX];
	bool too_long; /* a part did not fit: cut, it could be another's name */
};

/* The members that lead to a name in the state files of all runtimes, with slashes between them. */
static const struct {
	const char *path;
	enum part part;
} places[] = {
	/* Docker; labels of pods are those of cri-dockerd */
	{"/Name", PART_NAME},
	{"/Config/Labels/io.kubernetes.container.name", PART_CONTAINER},
	{"/Config/Labels/io.kubernetes.pod.name", PART_POD},
	{"/Config/Labels/io.kubernetes.pod.namespace", PART_NAMESPACE},
	/* containerd's CRI */
	{"/annotations/io.kubernetes.cri.container-name", PART_CONTAINER},
	{"/annotations/io.kubernetes.cri.sandbox-name", PART_POD},
	{"/annotations/io.kubernetes.cri.sandbox-namespace", PART_NAMESPACE},
	/* CRI-O */
	{"/annotations/io.kubernetes.container.name", PART_CONTAINER},
	{"/annotations/io.kubernetes.pod.name", PART_POD},
	{"/annotations/io.kubernetes.pod.namespace", PART_NAMESPACE},
	{"/annotations/nerdctl/name", PART_NAME},
	/* daemon.json */
	{"/data-root", PART_DATA_ROOT},
};

/* The directories in which a runtime has one of a container's id, and the state file there. */
static const struct {
	const char *directory;
	bool by_namespace; /* one level more */
	const char *file;
} runtimes[] = {
	{"var/lib/docker/containers", false, "config.v2.json"},
	{"run/containerd/io.containerd.runtime.v2.task", true, "config.json"},
	{"run/k3s/containerd/io.containerd.runtime.v2.task", true, "config.json"},
};

/* Docker's configuration, which may move its data directory: dockerd(8). */
static const char docker_configuration[] = "etc/docker/daemon.json";

/*
 * Directories of containers/storage (Podman, CRI-O), unless its configuration moves them:
 * containers-storage.conf(5). Only the first existing configuration file counts. A storage driver (overlay,
 * vfs, btrfs, zfs) keeps its containers in DRIVER-containers.
 */
static const char *const storage_configurations[] = {"etc/containers/storage.conf",
						     "usr/share/containers/storage.conf"};
static const struct {
	const char *key, *directory;
} storages[] = {
	{"graphroot", "var/lib/containers/storage"},
	{"runroot", "run/containers/storage"},
};
static const char driver_ending[] = "-containers";

/* Container lists of a driver: [{"id":…, "names":[…]}]. */
static const char *const lists[] = {"containers.json", "volatile-containers.json"};

/* --- files --- */

/* Reads a regular file below a directory, through no symbolic link. */
static int read_state(int directory, const char *path, struct buffer *text)
{
	const int descriptor = root_open_beneath(directory, path, strlen(path),
						 O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	int result;

	if (descriptor < 0)
		return descriptor;
	if (fstat(descriptor, &status) != 0)
		result = -errno;
	else if (!S_ISREG(status.st_mode))
		result = -EINVAL;
	else
		result = file_read_descriptor(descriptor, text, FILE_BYTES_MAX);
	close(descriptor);
	return result;
}

/* --- JSON --- */

/* Keeps what is there first of a part. */
static void keep(struct parts *parts, enum part part, const struct json_scalar *scalar)
{
	const char *text = scalar->text;
	size_t length = scalar->length;

	if (parts->text[part][0] != '\0')
		return;
	/* Docker has a slash before the name */
	if (part == PART_NAME && length != 0 && text[0] == '/') {
		text++;
		length--;
	}
	if (length >= CONTAINER_NAME_MAX) {
		parts->too_long = true;
		return;
	}
	memcpy(parts->text[part], text, length);
	parts->text[part][length] = '\0';
}

static int take_string(struct json_reader *reader, struct parts *parts, enum part part)
{
	struct json_scalar scalar;
	enum json_type type;
	int result = json_reader_type(reader, &type);

	if (result < 0)
		return result;
	if (type != JSON_STRING)
		return json_reader_skip(reader);
	result = json_reader_scalar(reader, &scalar);
	if (result == 0)
		keep(parts, part, &scalar);
	return result;
}

/* The part at a path, PART_COUNT for none; whether one is further down. */
static enum part find_place(const char *path, bool *ret_leads_on)
{
	const size_t length = strlen(path);
	enum part part = PART_COUNT;

	*ret_leads_on = false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strncmp(places[i].path, path, length) != 0)
			continue;
		if (places[i].path[length] == '\0')
			part = places[i].part;
		*ret_leads_on |= places[i].path[length] == '/';
	}
	return part;
}

/* Takes what is wanted of the value that comes, an object, at a path that leads on. */
static int take_members(struct json_reader *reader, const char *path, struct parts *parts)
{
	const char *name;
	size_t length;
	int result;

	json_reader_enter(reader);
	while ((result = json_reader_member(reader, PATH_LENGTH_MAX, &name, &length)) > 0) {
		char own[PATH_LENGTH_MAX];
		enum json_type type;
		enum part part;
		bool leads_on;

		/* what is too long is none of the places */
		snprintf(own, sizeof(own), "%s/%.*s", path, (int)length, name);
		part = find_place(own, &leads_on);
		result = json_reader_type(reader, &type);
		if (result < 0)
			return result;
		if (part != PART_COUNT)
			result = take_string(reader, parts, part);
		else if (leads_on && type == JSON_OBJECT)
			result = take_members(reader, own, parts);
		else
			result = json_reader_skip(reader);
		if (result < 0)
			return result;
	}
	return result;
}

/* Takes the parts of a name from a state file, as far as they are there. */
static void take_state(const struct buffer *text, struct parts *parts)
{
	struct json_reader reader;
	enum json_type type;

	json_reader_begin(&reader, text->data, text->length, NULL, NULL);
	if (json_reader_type(&reader, &type) == 0 && type == JSON_OBJECT)
		(void)take_members(&reader, "", parts);
	json_reader_release(&reader);
}

/* Takes the first of the names of a container in a list; `*is_its` says whether the element is about it. */
static int take_element(struct json_reader *reader, const char *id, struct parts *parts, bool *is_its)
{
	struct parts own = {0};
	const char *name;
	size_t length;
	int result;

	*is_its = false;
	json_reader_enter(reader);
	while ((result = json_reader_member(reader, MEMBER_MAX, &name, &length)) > 0) {
		const bool is_id = length == 2 && memcmp(name, "id", 2) == 0;
		const bool is_names = length == 5 && memcmp(name, "names", 5) == 0;
		struct json_scalar scalar;
		enum json_type type;

		result = json_reader_type(reader, &type);
		if (result == 0 && is_id && type == JSON_STRING) {
			result = json_reader_scalar(reader, &scalar);
			*is_its = result == 0 && scalar.length == CONTAINER_ID_LENGTH &&
				  memcmp(scalar.text, id, CONTAINER_ID_LENGTH) == 0;
		} else if (result == 0 && is_names && type == JSON_ARRAY) {
			json_reader_enter(reader);
			while ((result = json_reader_element(reader)) > 0 &&
			       (result = take_string(reader, &own, PART_NAME)) == 0)
				continue;
		} else if (result == 0) {
			result = json_reader_skip(reader);
		}
		if (result < 0)
			return result;
	}
	if (*is_its)
		*parts = own;
	return result;
}

static void take_list(const struct buffer *text, const char *id, struct parts *parts)
{
	struct json_reader reader;
	enum json_type type;
	bool is_its = false;

	json_reader_begin(&reader, text->data, text->length, NULL, NULL);
	if (json_reader_type(&reader, &type) == 0 && type == JSON_ARRAY) {
		json_reader_enter(&reader);
		while (!is_its && json_reader_element(&reader) > 0 && json_reader_type(&reader, &type) == 0 &&
		       type == JSON_OBJECT && take_element(&reader, id, parts, &is_its) == 0)
			continue;
	}
	json_reader_release(&reader);
}

/* --- looking up --- */

/* Reads PREFIX/ID/FILE. */
static void read_parts(int directory, const char *prefix, const char *id, const char *file,
		       struct parts *parts)
{
	struct buffer text = {0};
	char path[PATH_LENGTH_MAX];

	if (snprintf(path, sizeof(path), "%s/%.*s/%s", prefix, CONTAINER_ID_LENGTH, id, file) <
		    (int)sizeof(path) &&
	    read_state(directory, path, &text) == 0)
		take_state(&text, parts);
	buffer_release(&text);
}

static bool has_name(const struct parts *parts)
{
	return parts->text[PART_POD][0] != '\0' || parts->text[PART_NAME][0] != '\0' || parts->too_long;
}

static void look_in_runtime(int root, const char *path, bool by_namespace, const char *file, const char *id,
			    struct parts *parts)
{
	DIR *directory = file_open_directory(root, path);
	const struct dirent *entry;

	if (directory == NULL)
		return;
	if (!by_namespace) {
		read_parts(dirfd(directory), ".", id, file, parts);
	} else {
		for (size_t i = 0; i < NAMESPACES_MAX && !has_name(parts); i++) {
			entry = readdir(directory);
			if (entry == NULL)
				break;
			if (entry->d_name[0] != '.')
				read_parts(dirfd(directory), entry->d_name, id, file, parts);
		}
	}
	closedir(directory);
}

/* Reads the directory of Docker's containers from daemon.json. Returns false if the file does not set it. */
static bool find_docker(int root, char path[static PATH_LENGTH_MAX])
{
	struct buffer text = {0};
	struct parts parts = {0};

	if (file_read(root, docker_configuration, &text, FILE_BYTES_MAX) == 0)
		take_state(&text, &parts);
	buffer_release(&text);
	return parts.text[PART_DATA_ROOT][0] == '/' &&
	       snprintf(path, PATH_LENGTH_MAX, "%s/containers", parts.text[PART_DATA_ROOT] + 1) <
		       PATH_LENGTH_MAX;
}

static void look_in_runtimes(int root, const char *id, struct parts *parts)
{
	char path[PATH_LENGTH_MAX];

	if (find_docker(root, path))
		look_in_runtime(root, path, false, runtimes[0].file, id, parts);
	for (size_t i = 0; i < ARRAY_COUNT(runtimes) && !has_name(parts); i++)
		look_in_runtime(root, runtimes[i].directory, runtimes[i].by_namespace, runtimes[i].file, id,
				parts);
}

/* Looks for the container in the state directory of one storage driver. */
static void look_in_driver(int directory, const char *driver, const char *id, struct parts *parts)
{
	struct buffer text = {0};
	char path[PATH_LENGTH_MAX];

	read_parts(directory, driver, id, "userdata/config.json", parts);
	for (size_t i = 0; i < ARRAY_COUNT(lists) && !has_name(parts); i++) {
		snprintf(path, sizeof(path), "%s/%s", driver, lists[i]);
		if (read_state(directory, path, &text) == 0)
			take_list(&text, id, parts);
	}
	buffer_release(&text);
}

static void look_in_storage(int root, const char *path, const char *id, struct parts *parts)
{
	DIR *directory = file_open_directory(root, path);
	const struct dirent *entry;
	size_t drivers = 0;

	while (directory != NULL && drivers < DRIVERS_MAX && !has_name(parts) &&
	       (entry = readdir(directory)) != NULL) {
		const size_t length = strlen(entry->d_name), ending = sizeof(driver_ending) - 1;

		if (length <= ending || strcmp(entry->d_name + length - ending, driver_ending) != 0)
			continue;
		look_in_driver(dirfd(directory), entry->d_name, id, parts);
		drivers++;
	}
	if (directory != NULL)
		closedir(directory);
}

/* Reads an absolute path from section [storage], without its first slash; false if the key has none. */
static bool find_storage(const struct buffer *configuration, const char *wanted,
			 char path[static PATH_LENGTH_MAX])
{
	struct text rest = text_of(configuration), line, key, value;
	bool in_section = false;

	while (text_next_line(&rest, &line)) {
		line = text_trim(line);
		if (line.length != 0 && line.data[0] == '[')
			in_section = text_starts_with(line, "[storage]");
		if (!in_section || !text_split(line, '=', &key, &value) || !text_equals(key, wanted))
			continue;
		value = text_trim(value);
		/* "/a" or '/a', perhaps followed by a comment */
		if (value.length < 3 || (value.data[0] != '"' && value.data[0] != '\'') ||
		    value.data[1] != '/' ||
		    !text_split((struct text){value.data + 2, value.length - 2}, value.data[0], &key,
				&value) ||
		    key.length == 0 || key.length >= PATH_LENGTH_MAX)
			return false;
		memcpy(path, key.data, key.length);
		path[key.length] = '\0';
		return true;
	}
	return false;
}

static void look_in_storages(int root, const char *id, struct parts *parts)
{
	struct buffer configuration = {0};
	char path[PATH_LENGTH_MAX];
	int result = -ENOENT;

	for (size_t i = 0; i < ARRAY_COUNT(storage_configurations) && result < 0; i++)
		result = file_read(root, storage_configurations[i], &configuration, FILE_BYTES_MAX);
	for (size_t i = 0; i < ARRAY_COUNT(storages) && !has_name(parts); i++) {
		if (result == 0 && find_storage(&configuration, storages[i].key, path))
			look_in_storage(root, path, id, parts);
		if (!has_name(parts))
			look_in_storage(root, storages[i].directory, id, parts);
	}
	buffer_release(&configuration);
}

/* Appends the name unless a part was too long: a cut name could be another container's. */
static void append_name(const struct parts *parts, struct buffer *name)
{
	static const char of_pod[] = "k8s_";
	const char *namespace = parts->text[PART_NAMESPACE], *container = parts->text[PART_CONTAINER];
	const size_t before = name->length;

	if (parts->too_long)
		return;
	/* labels of a Docker image are among those of its container: one of a pod is called k8s_… by
	 * cri-dockerd */
	if (parts->text[PART_POD][0] == '\0' ||
	    (parts->text[PART_NAME][0] != '\0' &&
	     strncmp(parts->text[PART_NAME], of_pod, sizeof(of_pod) - 1) != 0)) {
		buffer_append_text(name, parts->text[PART_NAME]);
		return;
	}
	/* the one that keeps the namespaces of a pod has no name of its own */
	buffer_append_format(name, "%s%s%s/%s", namespace, namespace[0] != '\0' ? "/" : "",
			     parts->text[PART_POD], container[0] != '\0' ? container : "pause");
	if (name->length - before >= CONTAINER_NAME_MAX)
		name->length = before;
}

void container_name_in_state(const struct buffer *text, struct buffer *name)
{
	struct parts parts = {0};

	take_state(text, &parts);
	append_name(&parts, name);
}

void container_name_in_list(const struct buffer *text, const char *id, struct buffer *name)
{
	struct parts parts = {0};

	take_list(text, id, &parts);
	append_name(&parts, name);
}

int container_look_up(int directory, const void *argument, size_t size, struct buffer *answer)
{
	const int root = directory >= 0 ? directory : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *id = argument;
	struct parts parts = {0};

	if (root < 0)
		return -errno;
	if (size >= CONTAINER_ID_LENGTH && container_find_id(id, CONTAINER_ID_LENGTH) != NULL) {
		look_in_runtimes(root, id, &parts);
		if (!has_name(&parts))
			look_in_storages(root, id, &parts);
		append_name(&parts, answer);
	}
	if (directory < 0)
		close(root);
	return 0;
}

/* --- owners of the directories --- */

/* Combines into `*result` whether root owns `directory` (negative: none), which this closes. 0 stays 0. */
static void note_owner(int directory, int *result)
{
	struct stat status;

	if (directory < 0)
		return;
	if (*result != 0 && fstat(directory, &status) == 0)
		*result = status.st_uid == 0;
	close(directory);
}

/*
 * Whether root owns a cgroup's directory in every hierarchy that has it: 1 or 0, or -ENOENT if none has it.
 * All must be checked: on v1, systemd delegates its own hierarchy to users but not those with controllers.
 */
static int is_roots(const struct roots *roots, const char *path, size_t length)
{
	const int flags = O_PATH | O_DIRECTORY;
	int result = -ENOENT;

	note_owner(cgroup_open(roots, path, length, flags), &result);
	for (size_t i = 0; i < CGROUP_V1_COUNT; i++)
		note_owner(cgroup_open_v1(roots, (enum cgroup_v1)i, path, length, flags), &result);
	return result;
}

/* Finds the owners of the directories above an id, from the outermost down. */
static void look_at_owners(const struct roots *roots, const char *path, const char *id)
{
	size_t parent = 0;

	for (const char *end = path + 1; end < id; end++) {
		const size_t length = (size_t)(end - path);
		int result;

		if (*end != '/')
			continue;
		result = is_roots(roots, path, length);
		if (result < 0)
			return;
		if (result == 0) {
			container_directory_set(path, length, true);
			return;
		}
		parent = length;
	}
	container_directory_set(path, parent, false);
}

/* Whether the container in a path gets a name: only if root owns all directories above its id. */
static bool is_to_be_named(const struct roots *roots, const char *path, const char *id)
{
	if (container_owner(path, id) == CONTAINER_OWNER_UNKNOWN)
		look_at_owners(roots, path, id);
	return container_owner(path, id) == CONTAINER_OWNER_ROOT;
}

void containers_read(const struct roots *roots, struct reader *reader, struct snapshot *snapshot)
{
	struct buffer name = {0};
	size_t count = 0;

	for (size_t i = 0; i < snapshot->triple_count && count < LOOKED_UP_AT_ONCE; i++) {
		const uint32_t id_of_path = snapshot->triples[i].cgroup;
		const char *path = string_pool_text(&snapshot->strings, id_of_path), *id;
		int result;

		/* threads of a cgroup mostly follow one another */
		if (i != 0 && id_of_path == snapshot->triples[i - 1].cgroup)
			continue;
		id = container_find_own_id(path, string_pool_length(&snapshot->strings, id_of_path));
		if (id == NULL || !is_to_be_named(roots, path, id) || container_names_know(id))
			continue;
		result = reader_call(reader, THE_RUNTIMES, container_look_up, -1, id, CONTAINER_ID_LENGTH,
				     &name);
		if (result < 0)
			break;
		buffer_append_char(&name, '\0');
		container_names_set(id, name.data);
		count++;
	}
	buffer_release(&name);
	container_names_give(snapshot);
}
