/* SPDX-License-Identifier: GPL-2.0-only */
/* A rule that the user types: for a comparison if its length is odd, else for a recording. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char name[] = "/system.slice/app.service | app | worker-{N}";
	static const char parts[] = "/pod\0app\0worker-{N}";
	const bool of_change = size % 2 != 0;
	struct buffer group = {0};
	struct error error = {{0}};
	struct rule rule;
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (rule_parse(text, of_change, &rule, &error) == 0) {
		if (strcmp(rule.text, text) != 0 || !isfinite(rule.limit.number) ||
		    (rule.is_pressure ? of_change || rule.glob != NULL
				      : rule.glob == NULL || rule.column == COLUMN_COUNT))
			abort();
		if (rule.glob != NULL) {
			rule_matches(&rule, name, sizeof(name) - 1, "app", 3);
			rule_matches(&rule, parts, sizeof(parts) - 1, parts, 3);
			rule_append_group(&rule, parts, sizeof(parts) - 1, &group);
			if (rule_names_one(&rule) && rule.axis == AXIS_ALL && rule.process == NULL)
				abort();
		}
		buffer_release(&group);
		rule_release(&rule);
	} else if (error.text[0] == '\0') {
		abort();
	}
	free(text);
	return 0;
}
