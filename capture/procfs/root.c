/* SPDX-License-Identifier: GPL-2.0-only */
#include "root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

enum {
	FILE_SIZE_MAX = 16 << 20, /* far above anything procfs, sysfs and cgroupfs print */
	LEFT_MIN = 64,            /* descriptors that files kept open leave to others */
	KEPT_CLOSED = -1,         /* instead of the descriptor of a kept file: it is not open */
	KEPT_MISSING = -2,        /* the kernel has no such file */
};

/* The files of the host that each round reads. */
static const struct {
	enum root_kind root;
	const char *path;
} kept_files[] = {
	{ROOT_PROC, "stat"},
	{ROOT_PROC, "loadavg"},
	{ROOT_PROC, "meminfo"},
	{ROOT_PROC, "diskstats"},
	{ROOT_PROC, "net/dev"}, /* of the network namespace that ctop is in, which does not change */
	{ROOT_PROC, "pressure/cpu"},
	{ROOT_PROC, "pressure/memory"},
	{ROOT_PROC, "pressure/io"},
	{ROOT_PROC, "pressure/irq"},
	{ROOT_PROC, "sys/kernel/hostname"},
	{ROOT_PROC, "sys/kernel/task_delayacct"},
	{ROOT_PROC, "sys/kernel/sched_schedstats"},
	{ROOT_PROC, "sys/kernel/yama/ptrace_scope"},
	{ROOT_SYS, "devices/system/cpu/online"},
	{ROOT_SYS, "devices/system/cpu/present"},
	{ROOT_SYS, "kernel/sched_ext/state"},
	{ROOT_SYS, "kernel/sched_ext/switch_all"},
	{ROOT_SYS, "kernel/sched_ext/nr_rejected"},
	{ROOT_SYS, "kernel/sched_ext/hotplug_seq"},
	{ROOT_SYS, "kernel/sched_ext/enable_seq"},
};

static const char *const default_paths[ROOT_COUNT] = {
	[ROOT_PROC] = "/proc",
	[ROOT_SYS] = "/sys",
};

static int open_directory(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return descriptor < 0 ? -errno : descriptor;
}

static bool is_file_system(int descriptor, unsigned long magic)
{
	struct statfs status;

	return fstatfs(descriptor, &status) == 0 && (unsigned long)status.f_type == magic;
}

/* NSpid of status names one number per pid namespace from the mount's down to the task's own. */
static bool has_one_namespace_pid(struct text status)
{
	struct text value, word;

	if (!text_find_value(status, "NSpid", &value))
		return true; /* kernels before 4.1 do not print it */
	return text_next_word(&value, &word) && !text_next_word(&value, &word);
}

static bool names_own_process(const struct roots *roots)
{
	struct buffer buffer = {0};
	char target[32];
	ssize_t length = readlinkat(roots->descriptor[ROOT_PROC], "self", target, sizeof(target));
	uint64_t pid;
	bool own;

	if (!roots->is_procfs || length <= 0 || !number_parse_u64(target, (size_t)length, &pid) ||
	    pid != (uint64_t)getpid())
		return false;
	own = roots_read(roots, ROOT_PROC, "self/status", &buffer) == 0 &&
	      has_one_namespace_pid(text_of(&buffer));
	buffer_release(&buffer);
	return own;
}

/* A kernel without pid namespaces (CONFIG_PID_NS) has no such link. */
static bool is_initial_pid_namespace(int proc)
{
	static const char initial[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO of include/linux/proc_ns.h */
	char target[64];
	ssize_t length = readlinkat(proc, "self/ns/pid", target, sizeof(target));

	return length <= 0 || text_equals((struct text){target, (size_t)length}, initial);
}

/* Appends a mountinfo field, `\040` and the like undone. */
static void append_unescaped(struct buffer *buffer, struct text field)
{
	for (size_t i = 0; i < field.length; i++) {
		unsigned int code = 0;
		size_t end = i + 1;

		while (field.data[i] == '\\' && end < field.length && end <= i + 3 &&
		       field.data[end] >= '0' && field.data[end] <= '7')
			code = code * 8 + (unsigned int)(field.data[end++] - '0');
		if (end == i + 4 && code <= 0xff)
			i += 3;
		else
			code = (unsigned char)field.data[i];
		buffer_append_char(buffer, (char)code);
	}
}

/* The fields of a mountinfo line that ctop uses. */
struct mount {
	struct text device, root, point, type, options;
};

/*
 * Splits a mountinfo line: id, parent, device, root, mount point, options, optional fields, "-", type,
 * source, file system options.
 */
static bool split_mount(struct text line, struct mount *ret_mount)
{
	struct text word;

	if (!text_next_word(&line, &word) || !text_next_word(&line, &word) ||
	    !text_next_word(&line, &ret_mount->device) || !text_next_word(&line, &ret_mount->root) ||
	    !text_next_word(&line, &ret_mount->point))
		return false;
	while (text_next_word(&line, &word)) {
		if (!text_equals(word, "-"))
			continue;
		if (!text_next_word(&line, &ret_mount->type))
			return false;
		ret_mount->options = (struct text){"", 0};
		if (text_next_word(&line, &word))
			text_next_word(&line, &ret_mount->options);
		return true;
	}
	return false;
}

bool root_next_cgroup(struct text *mountinfo, const char *controller, struct buffer *ret_mount_point,
		      struct buffer *ret_mount_root)
{
	struct text line;
	struct mount mount;
	bool found = false;

	buffer_clear(ret_mount_point);
	buffer_clear(ret_mount_root);
	while (!found && text_next_line(mountinfo, &line))
		found = split_mount(line, &mount) &&
			(controller == NULL ? text_equals(mount.type, "cgroup2")
					    : text_equals(mount.type, "cgroup") &&
						      text_has_part(mount.options, ',', controller));
	if (!found)
		return false;
	append_unescaped(ret_mount_point, mount.point);
	append_unescaped(ret_mount_root, mount.root);
	return true;
}

/*
 * Opens the first such mount of ROOT/self/mountinfo that is accessible and not covered by another mount.
 * Returns a descriptor or a negative errno: -ENOENT without such a mount, -EXDEV for a saved tree.
 */
static int open_hierarchy(const struct roots *roots, const char *controller, struct buffer *ret_mount_point,
			  struct buffer *ret_mount_root)
{
	const unsigned long magic = controller == NULL ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC;
	struct buffer mounts = {0};
	struct text rest;
	int result = -ENOENT;

	/* the mounts of a saved tree are those of another host */
	if (!roots->is_procfs)
		return -EXDEV;
	if (roots_read(roots, ROOT_PROC, "self/mountinfo", &mounts) < 0) {
		buffer_release(&mounts);
		return -EIO;
	}
	rest = text_of(&mounts);
	while (result < 0 && root_next_cgroup(&rest, controller, ret_mount_point, ret_mount_root)) {
		result = open_directory(ret_mount_point->data);
		if (result >= 0 && is_file_system(result, magic))
			break;
		if (result >= 0)
			close(result);
		result = result == -EACCES || result == -EPERM ? result : -EIO;
	}
	buffer_release(&mounts);
	return result;
}

/* Stores the first mount option that begins with `key`. */
static void note_option(struct text options, const char *key, char **ret_option)
{
	struct text option;

	while (options.length != 0) {
		if (!text_split(options, ',', &option, &options)) {
			option = options;
			options.length = 0;
		}
		if (*ret_option == NULL && text_starts_with(option, key))
			*ret_option = memory_duplicate_bytes(option.data, option.length);
	}
}

/* Stores the options with which the mount of the proc root hides files; each procfs has its own device. */
static void note_hiding(struct roots *roots)
{
	struct buffer mounts = {0};
	struct text rest, line;
	struct stat status;
	struct mount mount;
	char device[32];

	if (!roots->is_procfs || fstat(roots->descriptor[ROOT_PROC], &status) < 0 ||
	    roots_read(roots, ROOT_PROC, "self/mountinfo", &mounts) < 0) {
		buffer_release(&mounts);
		return;
	}
	rest = text_of(&mounts);
	snprintf(device, sizeof(device), "%u:%u", major(status.st_dev), minor(status.st_dev));
	while (text_next_line(&rest, &line)) {
		if (!split_mount(line, &mount) || !text_equals(mount.device, device))
			continue;
		note_option(mount.options, "hidepid=", &roots->hides_processes);
		note_option(mount.options, "subset=", &roots->hides_files);
	}
	buffer_release(&mounts);
}

/* Whether the kernel supports cgroup v2; true if /proc/filesystems cannot be read. */
static bool is_cgroup2_known(const struct roots *roots)
{
	struct buffer types = {0};
	const bool known = roots_read(roots, ROOT_PROC, "filesystems", &types) < 0 ||
			   text_has_word(text_of(&types), "cgroup2");

	buffer_release(&types);
	return known;
}

static void open_cgroup_mount(struct roots *roots)
{
	struct buffer mount_point = {0}, mount_root = {0};
	const int descriptor = open_hierarchy(roots, NULL, &mount_point, &mount_root);

	if (descriptor >= 0) {
		roots->descriptor[ROOT_CGROUP] = descriptor;
		roots->path[ROOT_CGROUP] = buffer_steal(&mount_point);
		roots->cgroup_mount_root = buffer_steal(&mount_root);
	}
	if (descriptor == -ENOENT)
		roots->cgroup_reason = is_cgroup2_known(roots) ? REASON_SWITCHED_OFF : REASON_NOT_IN_KERNEL;
	else
		roots->cgroup_reason = descriptor >= 0 ? REASON_READ : reason_of_errno(descriptor);
	buffer_release(&mount_point);
	buffer_release(&mount_root);
}

static void open_v1(struct roots *roots)
{
	static const char *const controllers[CGROUP_V1_COUNT] = {
		[CGROUP_V1_FREEZER] = "freezer",
		[CGROUP_V1_PIDS] = "pids",
		[CGROUP_V1_MEMORY] = "memory",
		[CGROUP_V1_SYSTEMD] = "name=systemd",
	};
	struct buffer mount_point = {0}, mount_root = {0};

	for (size_t i = 0; i < CGROUP_V1_COUNT; i++) {
		roots->v1[i].descriptor = open_hierarchy(roots, controllers[i], &mount_point, &mount_root);
		if (roots->v1[i].descriptor >= 0)
			roots->v1[i].mount_root = buffer_steal(&mount_root);
	}
	buffer_release(&mount_point);
	buffer_release(&mount_root);
}

/* Resets the struct to its state before opening. */
static void clear(struct roots *roots)
{
	*roots = (struct roots){.cgroup_reason = REASON_READ};
	for (size_t i = 0; i < ROOT_COUNT; i++)
		roots->descriptor[i] = -1;
	for (size_t i = 0; i < CGROUP_V1_COUNT; i++)
		roots->v1[i].descriptor = -1;
}

/* Opens one root that has a path; a missing default is an error for proc only. */
static int open_root(struct roots *roots, enum root_kind kind, const char *named, struct error *error)
{
	const char *path = named != NULL ? named : default_paths[kind];
	int descriptor = open_directory(path);

	if (descriptor < 0 && (named != NULL || kind == ROOT_PROC)) {
		if (named == NULL)
			return error_set(error, descriptor, "cannot open %s: %s; is it mounted?", path,
					 strerror(-descriptor));
		return error_set(error, descriptor, "cannot open the %s root %s: %s", root_names[kind], path,
				 strerror(-descriptor));
	}
	if (descriptor < 0)
		return 0;
	roots->descriptor[kind] = descriptor;
	roots->path[kind] = memory_duplicate(path);
	return 0;
}

int roots_open(struct roots *roots, const char *const paths[static ROOT_COUNT], struct error *error)
{
	int result;

	clear(roots);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		roots->redirected = roots->redirected || paths[i] != NULL;
	result = open_root(roots, ROOT_PROC, paths[ROOT_PROC], error);
	if (result == 0)
		result = open_root(roots, ROOT_SYS, paths[ROOT_SYS], error);
	if (result == 0 && paths[ROOT_CGROUP] != NULL)
		result = open_root(roots, ROOT_CGROUP, paths[ROOT_CGROUP], error);
	if (result < 0) {
		roots_close(roots);
		return result;
	}
	roots->is_procfs = is_file_system(roots->descriptor[ROOT_PROC], PROC_SUPER_MAGIC);
	roots->own_namespace = names_own_process(roots);
	roots->initial_pid_namespace = roots->own_namespace &&
				       is_initial_pid_namespace(roots->descriptor[ROOT_PROC]);
	roots->is_sysfs = roots->descriptor[ROOT_SYS] >= 0 &&
			  is_file_system(roots->descriptor[ROOT_SYS], SYSFS_MAGIC);
	note_hiding(roots);
	if (paths[ROOT_CGROUP] == NULL) {
		open_cgroup_mount(roots);
		open_v1(roots);
	}
	if (roots->cgroup_mount_root == NULL)
		roots->cgroup_mount_root = memory_duplicate("/");
	return 0;
}

static void close_kept(int *kept)
{
	if (*kept >= 0)
		close(*kept);
	*kept = KEPT_CLOSED;
}

static void close_kept_files(struct roots *roots)
{
	for (size_t i = 0; roots->kept != NULL && i < ARRAY_COUNT(kept_files); i++)
		close_kept(&roots->kept[i]);
	free(roots->kept);
	roots->kept = NULL;
}

void roots_close(struct roots *roots)
{
	close_kept_files(roots);
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		if (roots->descriptor[i] >= 0)
			close(roots->descriptor[i]);
		free(roots->path[i]);
	}
	for (size_t i = 0; i < CGROUP_V1_COUNT; i++) {
		if (roots->v1[i].descriptor >= 0)
			close(roots->v1[i].descriptor);
		free(roots->v1[i].mount_root);
	}
	free(roots->cgroup_mount_root);
	free(roots->hides_processes);
	free(roots->hides_files);
	clear(roots);
}

void roots_keep_files(struct roots *roots)
{
	close_kept_files(roots);
	roots->kept = memory_allocate(ARRAY_COUNT(kept_files) * sizeof(*roots->kept));
	for (size_t i = 0; i < ARRAY_COUNT(kept_files); i++)
		roots->kept[i] = KEPT_CLOSED;
}

/* The descriptor of a file that is to be kept open, or KEPT_…; NULL for other files. */
static int *find_kept(const struct roots *roots, enum root_kind root, const char *path)
{
	for (size_t i = 0; roots->kept != NULL && i < ARRAY_COUNT(kept_files); i++) {
		if (kept_files[i].root == root && strcmp(kept_files[i].path, path) == 0)
			return &roots->kept[i];
	}
	return NULL;
}

static bool is_made_by_kernel(int descriptor)
{
	return is_file_system(descriptor, PROC_SUPER_MAGIC) || is_file_system(descriptor, SYSFS_MAGIC);
}

/*
 * Whether a file may stay open between rounds. The kernel makes the text of a procfs or sysfs file anew
 * whenever it is read from the beginning (seq_read_iter() of fs/seq_file.c). Any other file may be replaced
 * by a new one of the same path.
 */
static bool is_keepable(int descriptor)
{
	struct rlimit limit;

	return is_made_by_kernel(descriptor) && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       (rlim_t)descriptor + LEFT_MIN < limit.rlim_cur;
}

static int read_kept(int directory, const char *path, int *kept, struct buffer *buffer)
{
	int descriptor, result;

	if (*kept == KEPT_MISSING)
		return -ENOENT;
	if (*kept >= 0 && lseek(*kept, 0, SEEK_SET) == 0 &&
	    file_read_descriptor(*kept, buffer, FILE_SIZE_MAX) == 0)
		return 0;
	/* what it was a file of may have gone, and come again */
	close_kept(kept);
	descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (descriptor < 0) {
		result = -errno;
		/* procfs looks for a missing file again each time, in all that the directory has */
		if (result == -ENOENT && is_made_by_kernel(directory))
			*kept = KEPT_MISSING;
		return result;
	}
	result = file_read_descriptor(descriptor, buffer, FILE_SIZE_MAX);
	if (result == 0 && is_keepable(descriptor))
		*kept = descriptor;
	else
		close(descriptor);
	return result;
}

int roots_read(const struct roots *roots, enum root_kind root, const char *path, struct buffer *buffer)
{
	int *kept = find_kept(roots, root, path);

	if (roots->descriptor[root] < 0)
		return -ENOENT;
	if (kept != NULL)
		return read_kept(roots->descriptor[root], path, kept, buffer);
	return file_read(roots->descriptor[root], path, buffer, FILE_SIZE_MAX);
}

struct text roots_read_text(const struct roots *roots, enum root_kind root, const char *path,
			    struct buffer *buffer)
{
	if (roots_read(roots, root, path, buffer) < 0)
		return (struct text){"", 0};
	return text_trim(text_of(buffer));
}

int roots_find(const struct roots *roots, enum root_kind root, const char *path)
{
	struct stat status;

	if (roots->descriptor[root] < 0)
		return -ENOENT;
	/* not faccessat(3): it uses faccessat2(2), which older sandboxes refuse as unknown */
	return fstatat(roots->descriptor[root], path, &status, 0) < 0 ? -errno : 0;
}

bool roots_are_whole(const struct roots *roots, enum root_kind root)
{
	if (root == ROOT_PROC)
		return roots->hides_files == NULL;
	return roots->redirected || root != ROOT_SYS || roots->is_sysfs;
}

enum reason roots_reason(const struct roots *roots, enum root_kind root, int result)
{
	if (result != -ENOENT)
		return reason_of_errno(result);
	if (roots_are_whole(roots, root))
		return REASON_NOT_IN_KERNEL;
	return root == ROOT_PROC ? REASON_NOT_PERMITTED : REASON_UNREADABLE;
}

/* Lines "cpu 3 101 1": name, hierarchy, number of cgroups, 0 if cgroup_disable= names it (cgroups(7)). */
enum reason roots_controller_reason(const struct roots *roots, struct text cgroups, const char *controller)
{
	/* v1 names: cgroup_init() of kernel/cgroup/cgroup.c */
	const char *name = strcmp(controller, "io") == 0 ? "blkio" : controller;
	struct text line, word;

	while (text_next_line(&cgroups, &line)) {
		if (text_next_word(&line, &word) && text_equals(word, name))
			return REASON_SWITCHED_OFF;
	}
	return roots_are_whole(roots, ROOT_PROC) ? REASON_NOT_IN_KERNEL : REASON_SWITCHED_OFF;
}

static bool has_parent_component(struct text path)
{
	for (size_t i = 0; i < path.length; i++) {
		if ((i == 0 || path.data[i - 1] == '/') && path.length - i >= 2 &&
		    memcmp(path.data + i, "..", 2) == 0 && (path.length - i == 2 || path.data[i + 2] == '/'))
			return true;
	}
	return false;
}

/* Component by component without following any link, for kernels without openat2(2). */
static int walk_beneath(int directory, char *path, int flags)
{
	int current = directory, next;
	char *component, *state = NULL, *following;

	component = strtok_r(path, "/", &state);
	while (component != NULL) {
		following = strtok_r(NULL, "/", &state);
		next = openat(current, component,
			      (following != NULL ? O_PATH | O_DIRECTORY : flags) | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			next = -errno;
		if (current != directory)
			close(current);
		if (next < 0)
			return next;
		current = next;
		component = following;
	}
	return current;
}

int root_open_beneath(int directory, const char *path, size_t length, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	struct text rest = {path, length};
	char *name;
	int descriptor;

	while (rest.length != 0 && rest.data[0] == '/') {
		rest.data++;
		rest.length--;
	}
	if (has_parent_component(rest))
		return -EXDEV;
	if (rest.length != 0 && memchr(rest.data, '\0', rest.length) != NULL)
		return -ENOENT;
	name = rest.length != 0 ? memory_duplicate_bytes(rest.data, rest.length) : memory_duplicate(".");
	descriptor = (int)syscall(__NR_openat2, directory, name, &how, sizeof(how));
	if (descriptor < 0) {
		descriptor = -errno;
		/* sandboxes answer unknown calls with EPERM */
		if (descriptor == -ENOSYS || descriptor == -EPERM)
			descriptor = walk_beneath(directory, name, flags);
	}
	free(name);
	return descriptor;
}
