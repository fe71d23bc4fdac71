/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
	ROOT = 0,
	NONE = 0 /* no node has the root as its child or sibling */
};

/* A process may be called like the cgroup beside it. */
enum child_kind {
	CHILD_PROCESS,
	CHILD_CGROUP,
	CHILD_KINDS,
};

struct node {
	uint32_t text; /* id in texts */
	int depth;     /* of its heading, -1 of the root */
	uint32_t next; /* sibling */
	uint32_t first, last;
	uint32_t first_leaf, last_leaf; /* index + 1 in leaves */
};

struct leaf {
	size_t id;
	uint32_t next; /* index + 1 */
};

struct diff_tree {
	struct string_pool texts;
	struct node *nodes;
	size_t node_count, node_capacity;
	struct leaf *leaves;
	size_t leaf_count, leaf_capacity;
	struct hash_map children[CHILD_KINDS]; /* parent << 32 | text */
};

struct diff_tree *diff_tree_create(void)
{
	struct diff_tree *tree = memory_allocate_zero(1, sizeof(*tree));

	tree->nodes = memory_grow(NULL, &tree->node_capacity, 1, sizeof(*tree->nodes));
	tree->nodes[tree->node_count++] = (struct node){.depth = -1};
	return tree;
}

void diff_tree_release(struct diff_tree *tree)
{
	if (tree == NULL)
		return;
	string_pool_release(&tree->texts);
	hash_map_release(&tree->children[CHILD_PROCESS]);
	hash_map_release(&tree->children[CHILD_CGROUP]);
	free(tree->nodes);
	free(tree->leaves);
	free(tree);
}

static uint32_t find_child(struct diff_tree *tree, uint32_t parent, enum child_kind kind, const char *text,
			   size_t length)
{
	uint32_t id = string_pool_intern(&tree->texts, text, length);
	uint64_t key = (uint64_t)parent << 32 | id;
	struct node *above;
	uint32_t child;

	if (hash_map_get(&tree->children[kind], key, &child))
		return child;
	child = (uint32_t)tree->node_count++;
	hash_map_set(&tree->children[kind], key, child);
	tree->nodes = memory_grow(tree->nodes, &tree->node_capacity, tree->node_count, sizeof(*tree->nodes));
	above = &tree->nodes[parent];
	tree->nodes[child] = (struct node){.text = id, .depth = above->depth + 1};
	if (above->last != NONE)
		tree->nodes[above->last].next = child;
	else
		above->first = child;
	above->last = child;
	return child;
}

void diff_tree_add(struct diff_tree *tree, const struct diff_pair *pair, size_t id)
{
	const char *path = pair->key;
	const char *process = path + strlen(path) + 1;
	uint32_t node = ROOT;
	struct node *above;

	while (*path != '\0') {
		size_t length = 1 + strcspn(path + 1, "/");

		node = find_child(tree, node, CHILD_CGROUP, path, length);
		path += length;
	}
	node = find_child(tree, node, CHILD_PROCESS, process, strlen(process));
	tree->leaves = memory_grow(tree->leaves, &tree->leaf_capacity, tree->leaf_count + 1,
				   sizeof(*tree->leaves));
	tree->leaves[tree->leaf_count++] = (struct leaf){.id = id};
	above = &tree->nodes[node];
	if (above->last_leaf != 0)
		tree->leaves[above->last_leaf - 1].next = (uint32_t)tree->leaf_count;
	else
		above->first_leaf = (uint32_t)tree->leaf_count;
	above->last_leaf = (uint32_t)tree->leaf_count;
}

/* Pushes the children so that the first is on top. */
static void push_children(const struct diff_tree *tree, const struct node *node, uint32_t *stack,
			  size_t *depth)
{
	size_t bottom = *depth;

	for (uint32_t child = node->first; child != NONE; child = tree->nodes[child].next)
		stack[(*depth)++] = child;
	for (size_t i = bottom, j = *depth; i + 1 < j; i++) {
		uint32_t child = stack[i];

		stack[i] = stack[--j];
		stack[j] = child;
	}
}

struct diff_tree_line *diff_tree_lines(const struct diff_tree *tree, size_t *ret_count)
{
	struct diff_tree_line *lines = memory_allocate_zero(tree->node_count + tree->leaf_count,
							    sizeof(*lines));
	uint32_t *stack = memory_allocate_zero(tree->node_count, sizeof(*stack));
	size_t depth = 0, count = 0;

	stack[depth++] = ROOT;
	while (depth != 0) {
		uint32_t index = stack[--depth];
		const struct node *node = &tree->nodes[index];

		if (index != ROOT)
			lines[count++] = (struct diff_tree_line){
				.depth = node->depth,
				.heading = string_pool_text(&tree->texts, node->text),
				.heading_length = string_pool_length(&tree->texts, node->text),
			};
		for (uint32_t leaf = node->first_leaf; leaf != 0; leaf = tree->leaves[leaf - 1].next)
			lines[count++] = (struct diff_tree_line){
				.depth = node->depth + 1,
				.id = tree->leaves[leaf - 1].id,
			};
		push_children(tree, node, stack, &depth);
	}
	free(stack);
	*ret_count = count;
	return lines;
}
