/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROOT_H
#define CTOP_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "metric/reason.h"
#include "snapshot/snapshot.h"
#include "text_scan.h"

/* The v1 hierarchies that ctop reads, by a controller or the hierarchy's name. */
enum cgroup_v1 {
	CGROUP_V1_FREEZER,
	CGROUP_V1_PIDS,
	CGROUP_V1_MEMORY,
	CGROUP_V1_SYSTEMD,
	CGROUP_V1_COUNT,
};

/*
 * The three trees a capture reads, as open directories; every read goes through openat(2) below them. A root
 * may be named by the user: a saved tree, or another mount of procfs.
 */
struct roots {
	int descriptor[ROOT_COUNT]; /* -1 for none; proc is always open */
	char *path[ROOT_COUNT];     /* as opened, or NULL */
	/* One of the three was named by the caller. */
	bool redirected;
	/*
	 * ROOT/self is the calling process under its own number and in its own pid namespace: process and
	 * thread ids of this procfs are those of system calls and of taskstats. False for saved trees and for
	 * the procfs of another pid namespace: sources that ask by thread id are then unavailable
	 * (other-namespace).
	 */
	bool own_namespace;
	bool is_procfs; /* the proc root is procfs, not a saved tree */
	/* own_namespace, and it is the initial one: host-wide counts speak of the threads that we see */
	bool initial_pid_namespace;
	/*
	 * The mount's root as mountinfo tells it, relative to our cgroup namespace: "/" as a rule,
	 * "/docker/ID" for a bind mount, "/.." when the mount was made outside of our namespace. "/" for a
	 * redirected root.
	 */
	char *cgroup_mount_root;
	enum reason cgroup_reason; /* why the cgroup root is not open; else REASON_READ */
	/* The v1 hierarchies: directory (negative if not mounted) and root field of the mount. */
	struct {
		int descriptor;
		char *mount_root;
	} v1[CGROUP_V1_COUNT];
	/*
	 * Options of the proc root's mount, or NULL: `hidepid=` hides the processes of other users,
	 * `subset=pid` hides everything but processes (proc(5)).
	 */
	char *hides_processes, *hides_files;
	bool is_sysfs; /* the sys root is sysfs, not a saved tree or an empty /sys */
	/* Descriptors of files that stay open, in an order of root.c; NULL before roots_keep_files(). */
	int *kept;
};

/*
 * Opens the roots; paths[i] NULL gives /proc, /sys and the cgroup2 mount that ROOT/self/mountinfo names (on a
 * hybrid host that is not /sys/fs/cgroup). A missing default sys or cgroup root is not an error; a root that
 * the caller named must be a directory that can be opened. Returns 0, or a negative errno with a sentence.
 * End with roots_close().
 */
int roots_open(struct roots *roots, const char *const paths[static ROOT_COUNT], struct error *error);

/* Closes and frees everything; does nothing on a struct that roots_open() failed to fill. */
void roots_close(struct roots *roots);

/*
 * From now on roots_read() leaves the files open that each round reads, so that one thread at a time may
 * read. Closes those that are open, so that each is found by its path again.
 */
void roots_keep_files(struct roots *roots);

/*
 * Reads a whole file below a root into `buffer`, replacing its content. `path` comes from this program and is
 * relative. Returns 0 or a negative errno; -ENOENT when that root is not open.
 */
int roots_read(const struct roots *roots, enum root_kind root, const char *path, struct buffer *buffer);

/* The same, for the trimmed content, which stands in `buffer`; empty when the file cannot be read. */
struct text roots_read_text(const struct roots *roots, enum root_kind root, const char *path,
			    struct buffer *buffer);

/*
 * Whether a file that is missing below a root is missing in the kernel too, rather than hidden by a mount
 * option or because nothing is mounted. Saved trees count as complete.
 */
bool roots_are_whole(const struct roots *roots, enum root_kind root);

/*
 * Whether a file exists below a root; it need not be readable. Returns 0 or a negative errno: -ENOENT also
 * when that root is not open.
 */
int roots_find(const struct roots *roots, enum root_kind root, const char *path);

/* Like reason_of_errno(), but -ENOENT means REASON_NOT_IN_KERNEL if roots_are_whole(). */
enum reason roots_reason(const struct roots *roots, enum root_kind root, int result);

/*
 * Why a v2 hierarchy lacks a controller. `cgroups` is the text of PROC/cgroups and may be empty. The reason
 * is "switched off" if the kernel has the controller (bound to v1, or not delegated to a container), else
 * "not in this kernel".
 */
enum reason roots_controller_reason(const struct roots *roots, struct text cgroups, const char *controller);

/*
 * Opens `path`, foreign text of `length` bytes, below `directory` without ever leaving it: ".." is refused
 * (-EXDEV), no symbolic link is followed (openat2(2) RESOLVE_BENEATH, a walk by component where that call is
 * missing). Leading slashes are dropped; an empty rest opens the directory itself. Returns a descriptor or a
 * negative errno.
 */
int root_open_beneath(int directory, const char *path, size_t length, int flags);

/*
 * Consumes lines of a mountinfo text (proc_pid_mountinfo(5)) up to and including the next cgroup mount: v1
 * with `controller` (or `name=systemd`), or v2 if `controller` is NULL. Its mount point and root field
 * replace the content of the two buffers, with octal escapes decoded. Returns false at the end of the text.
 */
bool root_next_cgroup(struct text *mountinfo, const char *controller, struct buffer *ret_mount_point,
		      struct buffer *ret_mount_root);

#endif
