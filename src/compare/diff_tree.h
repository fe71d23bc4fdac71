/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_TREE_H
#define CTOP_DIFF_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "diff.h"

/* The groups of AXIS_ALL as a tree of cgroups, processes in them, and leaves. */
struct diff_tree;

struct diff_tree *diff_tree_create(void);
void diff_tree_release(struct diff_tree *tree);

/* Puts a leaf, which `id` names, below the cgroup and the process of a pair, which must outlive the tree. */
void diff_tree_add(struct diff_tree *tree, const struct diff_pair *pair, size_t id);

/* One line of the tree. */
struct diff_tree_line {
	int depth;
	const char
		*heading; /* a component of a cgroup's path or a process, owned by the tree; NULL of a leaf */
	size_t heading_length;
	size_t id; /* of a leaf */
};

/*
 * The lines from the top: the cgroups and the processes in one come in the order in which the first leaf
 * below each was added. The caller frees the array.
 */
struct diff_tree_line *diff_tree_lines(const struct diff_tree *tree, size_t *ret_count);

#endif
