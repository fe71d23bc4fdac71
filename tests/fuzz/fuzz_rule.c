/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user types as a rule of a comparison. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char name[] = "/system.slice/app.service | app | worker-{N}";
	struct error error = {{0}};
	struct diff_rule rule;
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (diff_rule_parse(text, true, &rule, &error) == 0) {
		if (strcmp(rule.text, text) != 0 || !isfinite(rule.limit) ||
		    (rule.measure.column != COLUMN_COUNT) == (rule.measure.latency != LATENCY_NUMBER_NONE) ||
		    (rule.percent && rule.of_after))
			abort();
		glob_matches(rule.glob, name, sizeof(name) - 1);
		diff_rule_release(&rule);
	} else if (error.text[0] == '\0') {
		abort();
	}
	free(text);
	return 0;
}
