/* SPDX-License-Identifier: GPL-2.0-only */
#include "pressure.h"

#include <stdio.h>

#include "base/number.h"
#include "capture/procfs/centi.h"
#include "capture/procfs/text_scan.h"

static uint16_t parse_average(struct text value)
{
	uint64_t centi = centi_parse(value);

	return centi > UINT16_MAX ? UINT16_MAX : (uint16_t)centi;
}

static void set_member(struct pressure_half *half, struct text key, struct text value)
{
	if (text_equals(key, "avg10"))
		half->avg10 = parse_average(value);
	else if (text_equals(key, "avg60"))
		half->avg60 = parse_average(value);
	else if (text_equals(key, "avg300"))
		half->avg300 = parse_average(value);
	else if (text_equals(key, "total") && !number_parse_u64(value.data, value.length, &half->total_usec))
		half->total_usec = 0;
}

bool pressure_parse(const char *text, size_t length, struct pressure_half *ret_some,
		    struct pressure_half *ret_full)
{
	struct text rest = {text, length}, line, word, key, value;
	bool any = false;

	*ret_some = (struct pressure_half){0};
	*ret_full = (struct pressure_half){0};
	while (text_next_line(&rest, &line)) {
		struct pressure_half *half = NULL;

		if (!text_next_unicode_word(&line, &word))
			continue;
		if (text_equals(word, "some"))
			half = ret_some;
		else if (text_equals(word, "full"))
			half = ret_full;
		if (half == NULL)
			continue;
		any = true;
		while (text_next_unicode_word(&line, &word)) {
			if (text_split(word, '=', &key, &value))
				set_member(half, key, value);
		}
	}
	return any;
}

void pressure_read(const struct roots *roots, enum reason unavailable, struct snapshot *snapshot)
{
	struct buffer buffer = {0};
	char path[32];

	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		struct pressure_half *some = &snapshot->pressure.resource[i].some;
		struct pressure_half *full = &snapshot->pressure.resource[i].full;
		enum reason reason = unavailable;
		int result;

		if (unavailable == REASON_READ) {
			snprintf(path, sizeof(path), "pressure/%s", pressure_resource_names[i]);
			result = roots_read(roots, ROOT_PROC, path, &buffer);
			if (result < 0)
				reason = root_reason(result);
			else if (!pressure_parse(buffer.data, buffer.length, some, full))
				reason = REASON_BAD_VALUE;
		}
		snapshot->pressure_missing[i] = (reason_id)reason;
	}
	buffer_release(&buffer);
}
