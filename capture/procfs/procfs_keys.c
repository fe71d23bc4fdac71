/* SPDX-License-Identifier: GPL-2.0-only */
#include "procfs_keys.h"

#include "base/clock.h"
#include "base/number.h"

enum {
	FRACTION_DIGITS = 6,
};

static void add(struct procfs_keys *keys, enum metric metric, const char *text, enum source source)
{
	struct text key = {text, strlen(text)};
	size_t slot = procfs_key_hash(key);

	while (keys->slots[slot].text != NULL)
		slot = (slot + 1) & (PROCFS_KEY_SLOTS - 1);
	keys->slots[slot] = (struct procfs_key){
		.text = text,
		.length = (uint8_t)key.length,
		.metric = (uint8_t)metric,
		.form = (uint8_t)metrics[metric].form,
		.source = (uint8_t)source,
	};
}

void procfs_keys_add(struct procfs_keys *keys, enum source source)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (metrics[i].source == source)
			add(keys, (enum metric)i, metrics[i].key, source);
		else if (metrics[i].equivalent_source == source)
			add(keys, (enum metric)i, metrics[i].equivalent_key, source);
	}
}

enum outcome {
	OUTCOME_VALUE,
	OUTCOME_BAD,
	OUTCOME_NEGATIVE,
};

/*
 * Milliseconds, a dot and six digits of nanoseconds, as SPLIT_NS() of kernel/sched/debug.c prints them; a
 * value between -1 ms and 0 has its sign on the fraction. Without a dot it is nanoseconds.
 */
static enum outcome parse_dotted(struct text text, uint64_t *ret_value)
{
	const char *dot = text.length != 0 ? memchr(text.data, '.', text.length) : NULL;
	struct text whole = text, fraction = {NULL, 0}, sign;
	uint64_t milliseconds, nanoseconds = 0;
	char digits[FRACTION_DIGITS];
	size_t count;

	if (dot != NULL) {
		whole.length = (size_t)(dot - text.data);
		fraction = (struct text){dot + 1, text.length - whole.length - 1};
	}
	whole = text_trim(whole);
	sign = text_trim(fraction);
	if ((whole.length != 0 && whole.data[0] == '-') || (sign.length != 0 && sign.data[0] == '-'))
		return OUTCOME_NEGATIVE;
	if (dot == NULL)
		return number_parse_u64(whole.data, whole.length, ret_value) ? OUTCOME_VALUE : OUTCOME_BAD;
	if (!number_parse_u64(whole.data, whole.length, &milliseconds))
		return OUTCOME_BAD;
	memset(digits, '0', sizeof(digits));
	count = fraction.length < FRACTION_DIGITS ? fraction.length : FRACTION_DIGITS;
	if (count != 0)
		memcpy(digits, fraction.data, count);
	if (!number_parse_u64(digits, sizeof(digits), &nanoseconds))
		return OUTCOME_BAD;
	if (__builtin_mul_overflow(milliseconds, (uint64_t)NS_PER_MS, ret_value) ||
	    __builtin_add_overflow(*ret_value, nanoseconds, ret_value))
		return OUTCOME_BAD;
	return OUTCOME_VALUE;
}

static enum outcome parse_value(enum metric_form form, struct text text, uint64_t *ret_value)
{
	uint32_t scalar;

	switch (form) {
	case METRIC_FORM_DOTTED:
		return parse_dotted(text, ret_value);
	case METRIC_FORM_CHARACTER:
		if (text.length == 0 || unicode_decode(text.data, text.length, &scalar) == 0)
			return OUTCOME_BAD;
		*ret_value = scalar;
		return OUTCOME_VALUE;
	default:
		break;
	}
	if (!number_parse_u64(text.data, text.length, ret_value))
		return OUTCOME_BAD;
	if (form == METRIC_FORM_BOOLEAN)
		*ret_value = *ret_value != 0;
	else if (form == METRIC_FORM_KIBIBYTES)
		*ret_value = number_multiply_saturating(*ret_value, 1024);
	return OUTCOME_VALUE;
}

void procfs_read_value(struct thread_reading *reading, const struct procfs_key *key, struct text value)
{
	uint64_t number;
	enum outcome outcome = parse_value((enum metric_form)key->form, text_trim(value), &number);

	if (outcome == OUTCOME_VALUE) {
		thread_reading_set(reading, (enum metric)key->metric, number);
		return;
	}
	thread_reading_set_bad(reading, (enum metric)key->metric);
	if (outcome == OUTCOME_NEGATIVE)
		reading->negative_values++;
}
