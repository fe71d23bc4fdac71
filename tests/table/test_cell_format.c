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
	enum unit unit;
	const char *text;
};

static const struct value_vector value_vectors[] = {
	{0, UNIT_NS, "0ns"},
	{0, UNIT_US, "0µs"},
	{0, UNIT_BYTES, "0B"},
	{0, UNIT_TICKS, "0ticks"},
	{0, UNIT_COUNT, "0"},
	{0, UNIT_NONE, "0"},
	{50, UNIT_NS, "50ns"},
	{999, UNIT_NS, "999ns"},
	{1000, UNIT_NS, "1.000µs"},
	{1500, UNIT_NS, "1.500µs"},
	{999999, UNIT_NS, "999.999µs"},
	{1234567, UNIT_NS, "1.235ms"},
	{2000000, UNIT_NS, "2.000ms"},
	{7500000, UNIT_NS, "7.500ms"},
	{UINT64_MAX, UNIT_NS, "18446744073.710s"},
	{7500000, UNIT_US, "7.500s"},
	{1023, UNIT_BYTES, "1023B"},
	{1024, UNIT_BYTES, "1.000KiB"},
	{(uint64_t)3 << 39, UNIT_BYTES, "1.500TiB"},
	{8697, UNIT_COUNT, "8.697K"},
	{1000000000, UNIT_COUNT, "1.000G"},
	{22, UNIT_TICKS, "22ticks"},
	{1500, UNIT_TICKS, "1.500Kticks"},
	{2500000, UNIT_TICKS, "2.500Mticks"},
	{123456, UNIT_NONE, "123456"},
};

static void test_values(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(value_vectors); i++) {
		struct cell cell = cell_of_state(VALUE_READ, REASON_READ, value_vectors[i].unit);

		cell_set_value(&cell, value_vectors[i].value);
		cell_format_cell(&buffer, &cell);
		expect(&buffer, value_vectors[i].text);
	}
}

struct real_vector {
	double value;
	enum unit unit;
	const char *text;
};

/* of metrics: a negative number that is whole has no decimals */
static const struct real_vector value_real_vectors[] = {
	{-20, UNIT_COUNT, "-20"},
	{-20.5, UNIT_COUNT, "-20.50"},
	{-2000, UNIT_NS, "-2.000µs"},
	{1.5, UNIT_NS, "1.50ns"},
};

static const struct real_vector delta_vectors[] = {
	{50, UNIT_NS, "+50ns"},
	{-50, UNIT_NS, "-50ns"},
	{0, UNIT_NS, "+0ns"},
	{-0.0, UNIT_NS, "+0ns"},
	{50.5, UNIT_NS, "+50.500ns"},
	{2000000, UNIT_NS, "+2.000ms"},
	/* the step is chosen before rounding */
	{999999.9, UNIT_NS, "+1000.000µs"},
	{-1500000, UNIT_US, "-1.500s"},
	{195, UNIT_TICKS, "+195ticks"},
	{0.5, UNIT_NONE, "+0.500"},
	{-1, UNIT_COUNT, "-1"},
};

static const struct real_vector derived_vectors[] = {
	{123.4, UNIT_NS, "123.40ns"},        {2500000, UNIT_NS, "2.500ms"}, {-2048, UNIT_BYTES, "-2.000KiB"},
	{-2000000, UNIT_BYTES, "-1.907MiB"}, {0, UNIT_NS, "0.00ns"},        {-0.0, UNIT_BYTES, "0.00B"},
};

static const struct real_vector derived_delta_vectors[] = {
	{12.5, UNIT_NS, "+12.50ns"},
	{2500000, UNIT_NS, "+2.500ms"},
	{0, UNIT_BYTES, "+0.00B"},
};

static const struct real_vector ratio_vectors[] = {
	{0.8735, UNIT_RATIO, "0.874"},
	{1.5, UNIT_RATIO, "1.500"},
};

static const struct real_vector ratio_delta_vectors[] = {
	{0.1, UNIT_RATIO, "+0.100"},
	{0, UNIT_RATIO, "+0.000"},
	{-0.0, UNIT_RATIO, "+0.000"},
};

static void expect_reals(const struct real_vector *vectors, size_t count, enum cell_style style)
{
	struct buffer buffer = {0};

	for (size_t i = 0; i < count; i++) {
		const struct cell cell = cell_in_style(vectors[i].value, vectors[i].unit, style);

		cell_format_cell(&buffer, &cell);
		expect(&buffer, vectors[i].text);
	}
}

static void test_reals(void **state)
{
	(void)state;
	expect_reals(value_real_vectors, COUNT(value_real_vectors), CELL_STYLE_VALUE);
	expect_reals(delta_vectors, COUNT(delta_vectors), CELL_STYLE_CHANGE);
	expect_reals(derived_vectors, COUNT(derived_vectors), CELL_STYLE_DERIVED);
	expect_reals(derived_delta_vectors, COUNT(derived_delta_vectors), CELL_STYLE_DERIVED_CHANGE);
	expect_reals(ratio_vectors, COUNT(ratio_vectors), CELL_STYLE_DERIVED);
	expect_reals(ratio_delta_vectors, COUNT(ratio_delta_vectors), CELL_STYLE_DERIVED_CHANGE);
}

static void test_styles(void **state)
{
	static const struct {
		double number;
		enum unit unit;
		enum cell_style style;
		const char *text;
	} styles[] = {
		{12.5, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE, "+12.5%"},
		{-3, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE, "-3.0%"},
		{-0.0, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE, "+0.0%"},
		{62.46, UNIT_PERCENT, CELL_STYLE_PERCENT, "62.5%"},
		{62.5, UNIT_PERCENT, CELL_STYLE_PERCENT_WHOLE, "62%"},
		{100, UNIT_PERCENT, CELL_STYLE_PERCENT_EXACT, "100.00%"},
		{2e6, UNIT_NS_PER_S, CELL_STYLE_CHANGE_PER_SECOND, "+2.000ms/s"},
		{0.00079, UNIT_NONE, CELL_STYLE_CHANCE, "0.00079"},
		{0.1, UNIT_NONE, CELL_STYLE_DIGITS, "0.1"},
	};
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(styles); i++) {
		const struct cell cell = cell_in_style(styles[i].number, styles[i].unit, styles[i].style);

		cell_format_cell(&buffer, &cell);
		expect(&buffer, styles[i].text);
	}
}

/* A cell with both sides of a comparison. */
static void test_sides(void **state)
{
	struct cell sides[2] = {cell_of_integer(4, UNIT_COUNT), cell_of_integer(4, UNIT_COUNT)};
	struct cell cell = {.state = CELL_VALUE, .sides = sides};
	static const struct {
		enum cell_style style;
		const char *equal, *different, *bound, *absent;
	} styles[] = {
		{CELL_STYLE_DIGITS, "4 → 4", "4 → 6", "4 → ≥6", "4 → -"},
		{CELL_STYLE_SIDES_ONCE, "4", "4 → 6", "4 → ≥6", "4 → -"},
		{CELL_STYLE_SIDES_CLOSE, "4", "4→6", "4→≥6", "4→-"},
		{CELL_STYLE_SIDES_CHANGE, "4 → 4 (+0)", "4 → 6 (+2)", "4 → ≥6 (·)", "4 → -"},
	};
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(styles); i++) {
		cell.style = styles[i].style;
		sides[1] = sides[0];
		cell_format_cell(&buffer, &cell);
		expect(&buffer, styles[i].equal);
		sides[1] = cell_of_integer(6, UNIT_COUNT);
		cell_format_cell(&buffer, &cell);
		expect(&buffer, styles[i].different);
		sides[1].partial = true;
		cell_format_cell(&buffer, &cell);
		expect(&buffer, styles[i].bound);
		sides[1] = cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_COUNT);
		cell_format_cell(&buffer, &cell);
		expect(&buffer, styles[i].absent);
	}
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
	cell_format_cpu_limit(&buffer, (struct optional_u64){0}, 100000);
	expect(&buffer, "max/100.000ms");
	cell_format_cpu_limit(&buffer, (struct optional_u64){50000, true}, 100000);
	expect(&buffer, "50.000ms/100.000ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),   cmocka_unit_test(test_reals),
		cmocka_unit_test(test_styles),   cmocka_unit_test(test_sides),
		cmocka_unit_test(test_range),    cmocka_unit_test(test_mode),
		cmocka_unit_test(test_affinity), cmocka_unit_test(test_cgroup_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
