/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pattern.h"
#include "snapshot/container_names.h"

void cgroup_key_rules_initialise(struct cgroup_key_rules *rules, const struct grouping_options *options)
{
	rules->options = options;
	rules->globs = memory_allocate_zero(options->flatten_count + 1, sizeof(struct glob *));
	for (size_t i = 0; i < options->flatten_count; i++)
		rules->globs[i] = glob_compile(options->flatten[i], strlen(options->flatten[i]));
}

void cgroup_key_rules_release(struct cgroup_key_rules *rules)
{
	for (size_t i = 0; i < rules->options->flatten_count; i++)
		glob_release(rules->globs[i]);
	free(rules->globs);
	*rules = (struct cgroup_key_rules){0};
}

/* Replaces the path with the first glob that matches all of it. */
static void flatten(const struct cgroup_key_rules *rules, const char **path, size_t *length)
{
	for (size_t i = 0; i < rules->options->flatten_count; i++) {
		if (rules->globs[i] == NULL || !glob_matches(rules->globs[i], *path, *length))
			continue;
		*path = rules->options->flatten[i];
		*length = strlen(*path);
		return;
	}
}

/* The path of a container, with the id as short as the runtimes print it: two are never one. */
static bool append_container(const char *path, size_t length, struct buffer *buffer)
{
	const char *id = container_find_id(path, length);

	if (id == NULL)
		return false;
	buffer_append(buffer, path, (size_t)(id - path) + CONTAINER_SHORT_ID_LENGTH);
	buffer_append(buffer, id + CONTAINER_ID_LENGTH, length - (size_t)(id - path) - CONTAINER_ID_LENGTH);
	return true;
}

void cgroup_key_append(const struct cgroup_key_rules *rules, const char *path, size_t length,
		       struct buffer *buffer)
{
	struct buffer instances = {0};

	flatten(rules, &path, &length);
	if (rules->options->keep_cgroup_names) {
		buffer_append(buffer, path, length);
		return;
	}
	if (rules->options->rules->keeps_containers && append_container(path, length, buffer))
		return;
	/*
	 * ktstr's third layer (tighten) keeps a position only where the token's class is the
	 * identity, so that its result always is that of the second one: nothing to do.
	 */
	pattern_append_systemd_instances(&instances, path, length);
	pattern_append(buffer, instances.data, instances.length, rules->options->rules);
	buffer_release(&instances);
}

void cgroup_key_append_name(const struct cgroup_key_rules *rules, const struct snapshot *snapshot,
			    uint32_t path, struct buffer *buffer)
{
	struct buffer text = {0};
	const struct name_text name = name_rules_text(rules->options->rules, snapshot, path, &text);

	cgroup_key_append(rules, name.text, name.length, buffer);
	buffer_release(&text);
}
