/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_TREES_H
#define CTOP_TEST_TREES_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/procfs/root.h"

/* The hosts below tests/data/kernels, by kernel version. */
enum {
	SAVED_HOST_COUNT = 4
};

extern const char *const saved_host_names[SAVED_HOST_COUNT];

/*
 * Unpacks a saved host into a new temporary directory and returns its path, to be ended with
 * saved_host_remove(). Fails the test when that is not possible.
 */
char *saved_host_unpack(const char *name);
void saved_host_remove(char *directory);

/* Runs a program to its end; true when it exits with 0. */
bool run_program(const char *const arguments[]);

/* Whether tar and zstd are there. */
bool saved_host_can_unpack(void);

/* A tree of files made by a test, and the roots below it: proc, sys and cgroup. */
struct tree {
	char path[64];
	struct roots roots;
};

/* Makes the tree with the three empty roots. */
void tree_make(struct tree *tree);

/* Writes a file and makes the directories above it. */
void tree_write(struct tree *tree, const char *path, const void *bytes, size_t length);
void tree_text(struct tree *tree, const char *path, const char *text);

/* Opens the roots. */
void tree_open(struct tree *tree);

/* Opens the roots that lie below a directory. */
void tree_open_roots(const char *directory, struct roots *roots);

/* Closes the roots and removes everything. */
void tree_remove(struct tree *tree);

#endif
