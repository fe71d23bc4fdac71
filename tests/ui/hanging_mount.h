/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_HANGING_MOUNT_H
#define CTOP_TESTS_UI_HANGING_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A file system that does not answer when a test says so: a FUSE daemon (bindfs) that is stopped. */

enum {
	HANGING_MOUNT_PATH_SIZE = 512,
	HANGING_MOUNT_SECONDS =
		60, /* long enough for a loaded machine; a test that passes never waits for it */
};

/* Makes a directory of its own with the directories "source", and "mount", where it shows. */
int hanging_mount_make(void);

/* Mounts it. False where that cannot be done here; hanging_mount_need() then skips a test with the reason. */
bool hanging_mount_start(void);
void hanging_mount_need(void);

/* From now on nothing there is answered, or everything is. */
void hanging_mount_stop(void);
void hanging_mount_go_on(void);

/*
 * Fails the test unless nothing there is answered still: so what has ended did not wait for it, however long
 * it took on this machine.
 */
void hanging_mount_expect_hanging(void);

/* Everything that waits for it fails. */
void hanging_mount_end(void);

/* Ends it and removes the directory. */
void hanging_mount_remove(void);

const char *hanging_mount_directory(void);

/* A path below the directory, in one of four static buffers. */
const char *hanging_mount_path(const char *format, ...);

/* Starts a program, which ends with this one; its output goes to `output` unless that is -1. */
pid_t hanging_mount_spawn(const char *const *arguments, int output);

/*
 * Runs a program; its output is in `*ret_output` until the next call. Fails the test if it does not end.
 * Returns its status as waitpid() gives it.
 */
int hanging_mount_run(const char *const *arguments, const char **ret_output);

double hanging_mount_seconds(uint64_t begun_ns);

#endif
