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
#include "capture/procfs/root.h"
#include "snapshot/container_names.h"

enum {
	FILE_BYTES_MAX = 4 << 20, /* a longer one is not read */
	LOOKED_UP_AT_ONCE = 64,   /* in one round: the others follow in the next */
	NAMESPACES_MAX = 64,      /* of containerd */
	THE_RUNTIMES = -2,        /* stands for them where a call of a reader is about a process */
	PART_MAX = CONTAINER_NAME_MAX / 4,
	PATH_LENGTH_MAX = 512,
};

/* Parts of a container's name. */
enum part {
	PART_NAME,
	PART_CONTAINER, /* of a pod */
	PART_POD,
	PART_NAMESPACE,
	PART_COUNT,
};

struct parts {
	char text[PART_COUNT][PART_MAX];
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
	{"run/containers/storage/overlay-containers", false, "userdata/config.json"},
	{"var/lib/containers/storage/overlay-containers", false, "userdata/config.json"},
};

/* The lists of containers/storage: [{"id":…, "names":[…]}]. */
static const char lists_directory[] = "var/lib/containers/storage/overlay-containers";
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
	if (length >= PART_MAX)
		length = PART_MAX - 1;
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
	while ((result = json_reader_member(reader, PART_MAX, &name, &length)) > 0) {
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
	return parts->text[PART_POD][0] != '\0' || parts->text[PART_NAME][0] != '\0';
}

static void look_in_runtime(int root, size_t runtime, const char *id, struct parts *parts)
{
	DIR *directory = file_open_directory(root, runtimes[runtime].directory);
	const struct dirent *entry;

	if (directory == NULL)
		return;
	if (!runtimes[runtime].by_namespace) {
		read_parts(dirfd(directory), ".", id, runtimes[runtime].file, parts);
	} else {
		for (size_t i = 0; i < NAMESPACES_MAX && !has_name(parts); i++) {
			entry = readdir(directory);
			if (entry == NULL)
				break;
			if (entry->d_name[0] != '.')
				read_parts(dirfd(directory), entry->d_name, id, runtimes[runtime].file,
					   parts);
		}
	}
	closedir(directory);
}

static void look_in_lists(int root, const char *id, struct parts *parts)
{
	DIR *directory = file_open_directory(root, lists_directory);
	struct buffer text = {0};

	for (size_t i = 0; directory != NULL && i < sizeof(lists) / sizeof(lists[0]) && !has_name(parts);
	     i++) {
		if (read_state(dirfd(directory), lists[i], &text) == 0)
			take_list(&text, id, parts);
	}
	if (directory != NULL)
		closedir(directory);
	buffer_release(&text);
}

static void append_name(const struct parts *parts, struct buffer *name)
{
	static const char of_pod[] = "k8s_";
	const char *namespace = parts->text[PART_NAMESPACE], *container = parts->text[PART_CONTAINER];

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
		for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]) && !has_name(&parts); i++)
			look_in_runtime(root, i, id, &parts);
		if (!has_name(&parts))
			look_in_lists(root, id, &parts);
		append_name(&parts, answer);
	}
	if (directory < 0)
		close(root);
	return 0;
}

void containers_read(struct reader *reader, struct snapshot *snapshot)
{
	struct buffer name = {0};
	size_t count = 0;

	for (size_t i = 0; i < snapshot->triple_count && count < LOOKED_UP_AT_ONCE; i++) {
		const uint32_t path = snapshot->triples[i].cgroup;
		const char *id;
		int result;

		/* threads of a cgroup mostly follow one another */
		if (i != 0 && path == snapshot->triples[i - 1].cgroup)
			continue;
		id = container_find_id(string_pool_text(&snapshot->strings, path),
				       string_pool_length(&snapshot->strings, path));
		if (id == NULL || container_names_know(id))
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
