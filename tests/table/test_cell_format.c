/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <string.h>

#include "table/cell_format.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Compares what was appended with `text` and empties the buffer. */
static void expect(struct buffer *buffer, const char *text)
{
	assert_string_equal(buffer->data, text);
	buffer_release(buffer);
}

struct value_vector {
	uint64_t value;
	enum ladder ladder;
	const char *text;
};

static const struct value_vector value_vectors[] = {
	{0, LADDER_NS, "0ns"},
	{0, LADDER_US, "0µs"},
	{0, LADDER_BYTES, "0B"},
	{0, LADDER_TICKS, "0ticks"},
	{0, LADDER_UNITLESS, "0"},
	{0, LADDER_NONE, "0"},
	{50, LADDER_NS, "50ns"},
	{999, LADDER_NS, "999ns"},
	{1000, LADDER_NS, "1.000µs"},
	{1500, LADDER_NS, "1.500µs"},
	{999999, LADDER_NS, "999.999µs"},
	{1234567, LADDER_NS, "1.235ms"},
	{2000000, LADDER_NS, "2.000ms"},
	{7500000, LADDER_NS, "7.500ms"},
	{UINT64_MAX, LADDER_NS, "18446744073.710s"},
	{7500000, LADDER_US, "7.500s"},
	{1023, LADDER_BYTES, "1023B"},
	{1024, LADDER_BYTES, "1.000KiB"},
	{(uint64_t)3 << 39, LADDER_BYTES, "1.500TiB"},
	{8697, LADDER_UNITLESS, "8.697K"},
	{1000000000, LADDER_UNITLESS, "1.000G"},
	{22, LADDER_TICKS, "22ticks"},
	{1500, LADDER_TICKS, "1.500Kticks"},
	{2500000, LADDER_TICKS, "2.500Mticks"},
	{123456, LADDER_NONE, "123456"},
};

static void test_values(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(value_vectors); i++) {
		cell_format_value(&buffer, value_vectors[i].value, value_vectors[i].ladder);
		expect(&buffer, value_vectors[i].text);
	}
}

struct real_vector {
	double value;
	enum ladder ladder;
	const char *text;
};

static const struct real_vector delta_vectors[] = {
	{50, LADDER_NS, "+50ns"},
	{-50, LADDER_NS, "-50ns"},
	{0, LADDER_NS, "+0ns"},
	{-0.0, LADDER_NS, "+0ns"},
	{50.5, LADDER_NS, "+50.500ns"},
	{2000000, LADDER_NS, "+2.000ms"},
	/* the step is chosen before rounding */
	{999999.9, LADDER_NS, "+1000.000µs"},
	{-1500000, LADDER_US, "-1.500s"},
	{195, LADDER_TICKS, "+195ticks"},
	{0.5, LADDER_NONE, "+0.500"},
	{-1, LADDER_UNITLESS, "-1"},
};

static const struct real_vector derived_vectors[] = {
	{123.4, LADDER_NS, "123.40ns"},     {2500000, LADDER_NS, "2.500ms"},
	{-2048, LADDER_BYTES, "-2.000KiB"}, {-2000000, LADDER_BYTES, "-1.907MiB"},
	{0, LADDER_NS, "0.00ns"},           {-0.0, LADDER_BYTES, "0.00B"},
};

static const struct real_vector derived_delta_vectors[] = {
	{12.5, LADDER_NS, "+12.50ns"},
	{2500000, LADDER_NS, "+2.500ms"},
	{0, LADDER_BYTES, "+0.00B"},
};

static const struct real_vector ratio_vectors[] = {
	{0.8735, LADDER_NONE, "0.874"},
	{1.5, LADDER_NONE, "1.500"},
};

static const struct real_vector ratio_delta_vectors[] = {
	{0.1, LADDER_NONE, "+0.100"},
	{0, LADDER_NONE, "+0.000"},
	{-0.0, LADDER_NONE, "+0.000"},
};

static void test_reals(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(delta_vectors); i++) {
		cell_format_delta(&buffer, delta_vectors[i].value, delta_vectors[i].ladder);
		expect(&buffer, delta_vectors[i].text);
	}
	for (size_t i = 0; i < COUNT(derived_vectors); i++) {
		cell_format_derived(&buffer, derived_vectors[i].value, derived_vectors[i].ladder, false);
		expect(&buffer, derived_vectors[i].text);
	}
	for (size_t i = 0; i < COUNT(derived_delta_vectors); i++) {
		cell_format_derived_delta(&buffer, derived_delta_vectors[i].value,
					  derived_delta_vectors[i].ladder, false);
		expect(&buffer, derived_delta_vectors[i].text);
	}
	for (size_t i = 0; i < COUNT(ratio_vectors); i++) {
		cell_format_derived(&buffer, ratio_vectors[i].value, LADDER_NONE, true);
		expect(&buffer, ratio_vectors[i].text);
	}
	for (size_t i = 0; i < COUNT(ratio_delta_vectors); i++) {
		cell_format_derived_delta(&buffer, ratio_delta_vectors[i].value, LADDER_NONE, true);
		expect(&buffer, ratio_delta_vectors[i].text);
	}
}

static void test_percent(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	cell_format_percent(&buffer, 0.125);
	expect(&buffer, "+12.5%");
	cell_format_percent(&buffer, -0.03);
	expect(&buffer, "-3.0%");
	cell_format_percent(&buffer, -0.0);
	expect(&buffer, "+0.0%");
}

static void test_range(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	cell_format_range(&buffer, 5, 5);
	expect(&buffer, "5");
	cell_format_range(&buffer, -5, 5);
	expect(&buffer, "-5..5");
	cell_format_range(&buffer, INT64_MIN, 0);
	expect(&buffer, "-9223372036854775808..0");
}

static void test_mode(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	cell_format_mode(&buffer, "SCHED_OTHER", 11, 4, 4);
	expect(&buffer, "SCHED_OTHER");
	cell_format_mode(&buffer, "SCHED_OTHER", 11, 3, 4);
	expect(&buffer, "SCHED_OTHER (3/4)");
	cell_format_mode(&buffer, "~", 1, 0, 0);
	expect(&buffer, "~ (0/0)");
}

static void test_affinity(void **state)
{
	struct string_pool sets = {0};
	struct buffer buffer = {0};
	uint32_t all = cpu_set_intern(&sets, (const uint32_t[]){0, 1, 2, 3}, 4);
	uint32_t some = cpu_set_intern(&sets, (const uint32_t[]){0, 2}, 2);
	uint32_t odd = cpu_set_intern(&sets, (const uint32_t[]){0, 1, 4, 5, 7}, 5);

	(void)state;
	cell_format_affinity(&buffer, &sets, 4, 4, true, all);
	expect(&buffer, "4 cpus (0-3)");
	cell_format_affinity(&buffer, &sets, 2, 2, true, some);
	expect(&buffer, "2 cpus (0,2)");
	cell_format_affinity(&buffer, &sets, 5, 5, true, odd);
	expect(&buffer, "5 cpus (0-1,4-5,7)");
	cell_format_affinity(&buffer, &sets, 0, 0, true, 0);
	expect(&buffer, "0 cpus ()");
	cell_format_affinity(&buffer, &sets, 4, 4, false, 0);
	expect(&buffer, "4 cpus (mixed)");
	cell_format_affinity(&buffer, &sets, 2, 6, false, 0);
	expect(&buffer, "2-6 cpus (mixed)");
	string_pool_release(&sets);
}

static void test_cgroup_cells(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	cell_format_pressure(&buffer, 10000);
	expect(&buffer, "100.00%");
	cell_format_cpu_limit(&buffer, (struct optional_u64){0}, 100000);
	expect(&buffer, "max/100.000ms");
	cell_format_cpu_limit(&buffer, (struct optional_u64){50000, true}, 100000);
	expect(&buffer, "50.000ms/100.000ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),       cmocka_unit_test(test_reals),
		cmocka_unit_test(test_percent),      cmocka_unit_test(test_range),
		cmocka_unit_test(test_mode),         cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_cgroup_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
