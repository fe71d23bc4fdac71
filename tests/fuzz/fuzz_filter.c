/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user types as a filter. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct cell *cell_of(void *context, enum column column, bool as_rate)
{
	(void)column;
	(void)as_rate;
	return context;
}

/* Two threads, of which one says nothing of its state and user. */
static struct snapshot *make_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();
	const uint32_t name = string_pool_intern(&snapshot->strings, "worker-1", 8);
	const uint32_t cgroup = string_pool_intern(&snapshot->strings, "/a/b.service", 12);

	snapshot->provenance.present = true;
	for (uint32_t i = 0; i < 2; i++) {
		const size_t thread = snapshot_add_thread(snapshot, 10, 10 + i);

		snapshot->triple[thread] = snapshot_intern_triple(snapshot,
								  (struct triple){name, name, cgroup});
	}
	snapshot->uid[0] = 1000;
	snapshot_column(snapshot, METRIC_STATE)[0] = 'S';
	snapshot_finish(snapshot);
	return snapshot;
}

/* Each condition says what it is of threads, and all of them together. */
static void ask_threads(const struct filter *filter)
{
	static struct snapshot *snapshot;
	static const uint32_t pids[1] = {0};
	struct filter_subjects subjects = {0};

	if (snapshot == NULL)
		snapshot = make_snapshot();
	subjects.snapshot = snapshot;
	for (int ended = 0; ended < 2; ended++) {
		bool *members;

		subjects.ended_pids = ended != 0 ? pids : NULL;
		members = filter_members(filter, &subjects);
		if ((members != NULL) != filter_narrows(filter))
			abort();
		free(members);
		free(filter_term_members(filter, 0, AXIS_ALL, &subjects));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cell cell = {.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .value.integer = 42};
	static const char label[] = "worker-{N}";
	char *text;
	struct error error = {{0}};
	struct filter *filter;

	text = malloc(size + 1);
	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	filter = filter_parse(text, &error);
	if (filter != NULL) {
		if (strcmp(filter_text(filter), text) != 0)
			abort();
		filter_matches(filter, &(struct filter_row){.label = label,
							    .label_length = sizeof(label) - 1,
							    .cell_of = cell_of,
							    .context = &cell});
		ask_threads(filter);
	} else if (error.text[0] == '\0') {
		abort();
	}
	filter_release(filter);
	free(text);
	return 0;
}
