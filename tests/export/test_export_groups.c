/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of groups: they never fall, there is a bound, and what is beyond it is in `(other)`. */
#include "cmocka_include.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/export/export_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS_MAX = 400,
	GROUPS_MAX = 40,
};

static struct export_family_choice families;

static struct export_groups *create(size_t limit, uint64_t keep_s)
{
	struct error error;

	assert_int_equal(export_family_choose("CPU%,THR,WAITING", false, &families, &error), 0);
	/* in the order of the table: THR, WAITING, CPU */
	assert_int_equal(families.items[0], EXPORT_FAMILY_THR);
	assert_int_equal(families.items[2], EXPORT_FAMILY_CPU);
	return export_groups_create(&(struct export_groups_options){
		.axis = AXIS_PROCESS, .limit = limit, .keep_ns = keep_s * NS_PER_S, .families = &families});
}

/* A round being made. */
struct round {
	struct export_group_row rows[GROUPS_MAX];
	struct export_number numbers[GROUPS_MAX][3];
	size_t count;
};

static void add(struct round *round, const char *name, uint32_t threads, uint64_t run_s)
{
	struct export_number *numbers = round->numbers[round->count];

	numbers[0] = (struct export_number){true, threads};
	numbers[1] = (struct export_number){threads != 0, threads};
	numbers[2] = (struct export_number){true, run_s * NS_PER_S};
	round->rows[round->count++] = (struct export_group_row){
		.name = name_text_of(name), .threads = threads, .weight = (double)run_s, .numbers = numbers};
}

static void end_round(struct export_groups *groups, uint64_t at_s, struct round *round)
{
	export_groups_add(groups, at_s * NS_PER_S, round->rows, round->count);
	round->count = 0;
}

static char *written(const struct export_groups *groups, size_t family)
{
	struct buffer buffer = {0};
	struct exposition exposition = {.buffer = &buffer};

	export_family_begin(&exposition, families.items[family]);
	export_groups_write(groups, family, &exposition);
	exposition_release(&exposition);
	return buffer_steal(&buffer);
}

/* The value of a group's series, -1 where there is none. */
static double value(const struct export_groups *groups, size_t family, const char *name)
{
	char *text = written(groups, family), *search = memory_format("group=\"%s\"} ", name);
	const char *found = strstr(text, search);
	double result = found != NULL ? strtod(found + strlen(search), NULL) : -1;

	free(text);
	free(search);
	return result;
}

#define RUN     2
#define THREADS 0
#define LONGEST 1

/* Groups beyond the limit are summed, except for maxima. */
static void test_largest(void **state)
{
	struct export_number numbers[4][2];
	struct export_group_row rows[4];
	struct export_groups *groups;
	struct error error;

	(void)state;
	assert_int_equal(export_family_choose("RSS,MAXPEAK", false, &families, &error), 0);
	groups = export_groups_create(&(struct export_groups_options){
		.axis = AXIS_PROCESS, .limit = 1, .keep_ns = NS_PER_S, .families = &families});
	for (size_t i = 0; i < 4; i++) {
		numbers[i][0] = numbers[i][1] = (struct export_number){true, 100 * (4 - i)};
		rows[i] = (struct export_group_row){.name = {&"abcd"[i], 1},
						    .threads = 1,
						    .weight = (double)(4 - i),
						    .numbers = numbers[i]};
	}
	export_groups_add(groups, NS_PER_S, rows, 4);
	assert_true(value(groups, 0, "a") == 400);
	assert_true(value(groups, 0, "(other)") == 600);
	assert_true(value(groups, 1, "(other)") == 300);
	export_groups_release(groups);
}

static void test_counters_stay(void **state)
{
	struct export_groups *groups = create(10, 3600);
	struct round round = {.count = 0};

	(void)state;
	add(&round, "a", 4, 10);
	add(&round, "b", 1, 1);
	end_round(groups, 100, &round);
	assert_true(value(groups, RUN, "a") == 10);
	/* threads of a ended; b is gone, with what it did last */
	add(&round, "a", 1, 2);
	add(&round, "b", 0, 3);
	end_round(groups, 105, &round);
	assert_true(value(groups, RUN, "a") == 12);
	assert_true(value(groups, RUN, "b") == 4);
	assert_true(value(groups, THREADS, "b") == 0);
	/* a gauge of a group without threads says nothing, a counter stays what it was */
	add(&round, "a", 1, 0);
	end_round(groups, 110, &round);
	assert_true(value(groups, RUN, "a") == 12);
	assert_true(value(groups, RUN, "b") == 4);
	assert_true(value(groups, THREADS, "b") == -1);
	assert_true(value(groups, LONGEST, "a") == 1e-9);
	assert_int_equal(export_groups_state(groups).groups, 1);
	/* and it goes on when the group comes back */
	add(&round, "b", 1, 5);
	end_round(groups, 115, &round);
	assert_true(value(groups, RUN, "b") == 9);
	export_groups_release(groups);
}

static void test_unknown_is_no_zero(void **state)
{
	struct export_groups *groups = create(10, 3600);
	struct round round = {.count = 0};

	(void)state;
	add(&round, "a", 1, 0);
	round.numbers[0][RUN].known = false;
	end_round(groups, 100, &round);
	assert_true(value(groups, RUN, "a") == -1);
	assert_false(export_groups_have(groups, RUN));
	add(&round, "a", 1, 3);
	end_round(groups, 105, &round);
	assert_true(value(groups, RUN, "a") == 3);
	add(&round, "a", 1, 7);
	round.numbers[0][RUN].known = false;
	end_round(groups, 110, &round);
	assert_true(value(groups, RUN, "a") == 3);
	export_groups_release(groups);
}

/* Names that are equal once exported become one series. */
static void test_one_name(void **state)
{
	struct export_groups *groups = create(1, 3600);
	struct round round = {.count = 0};
	char *text, *second;

	(void)state;
	add(&round, "x\xff", 1, 1);
	add(&round, "x\xfe", 2, 2);
	add(&round, "(other)", 3, 4);
	round.rows[2].name = name_other;
	add(&round, "y", 4, 0);
	end_round(groups, 100, &round);
	assert_true(value(groups, RUN, "x\xef\xbf\xbd") == 3);
	assert_true(value(groups, THREADS, "x\xef\xbf\xbd") == 3);
	assert_true(value(groups, THREADS, "(other)") == 7);
	assert_true(value(groups, LONGEST, "(other)") == 4e-9); /* the longest, not a sum */
	text = written(groups, RUN);
	second = strstr(text, "group=\"x");
	assert_null(strstr(second + 1, "group=\"x"));
	free(text);
	assert_int_equal(export_groups_state(groups).folded, 1);
	export_groups_release(groups);
}

/* Threads named like one of ctop's own series get a series of their own. */
static void test_impostors(void **state)
{
	static const char *const names[] = {"(other)", "(retired)", "(ended)", "ctop (self)", "(wakeup)"};
	struct export_groups *groups = create(10, 3600);
	struct round round = {.count = 0};
	char *text;

	(void)state;
	for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add(&round, names[i], 1, i + 1);
	add(&round, "y", 1, 7);
	round.rows[5].name = name_other;
	end_round(groups, 100, &round);
	assert_true(value(groups, RUN, "(other)") == 7);
	assert_true(value(groups, RUN, "(other)\",literal=\"group") == 1);
	assert_true(value(groups, RUN, "(retired)\",literal=\"group") == 2);
	assert_true(value(groups, RUN, "(ended)\",literal=\"group") == 3);
	/* ctop's own processes and the causes of delays are not group series */
	assert_true(value(groups, RUN, "ctop (self)") == 4);
	assert_true(value(groups, RUN, "(wakeup)") == 5);
	export_groups_release(groups);

	groups = export_groups_create(&(struct export_groups_options){.axis = AXIS_PROCESS,
								      .pairs = true,
								      .limit = 10,
								      .keep_ns = NS_PER_S,
								      .families = &families});
	add(&round, "(ended)", 1, 1);
	round.rows[0].culprit = name_self;
	add(&round, "a", 1, 2);
	round.rows[1].culprit = name_text_of("(wakeup)");
	add(&round, "(other)", 1, 3);
	round.rows[2].culprit = name_text_of("ctop (self)");
	end_round(groups, 100, &round);
	text = written(groups, RUN);
	assert_non_null(strstr(text, "victim=\"(ended)\",culprit=\"ctop (self)\",literal=\"victim\"} 1\n"));
	assert_non_null(strstr(text, "victim=\"a\",culprit=\"(wakeup)\",literal=\"culprit\"} 2\n"));
	assert_non_null(strstr(text, "victim=\"(other)\",culprit=\"ctop (self)\","
				     "literal=\"victim,culprit\"} 3\n"));
	free(text);
	export_groups_release(groups);
}

static void test_old_ones_go(void **state)
{
	struct export_groups *groups = create(10, 600);
	struct round round = {.count = 0};

	(void)state;
	add(&round, "a", 1, 8);
	add(&round, "b", 1, 1);
	end_round(groups, 100, &round);
	for (uint64_t at = 105; at <= 700; at += 5) {
		add(&round, "b", 1, 1);
		end_round(groups, at, &round);
		assert_true(value(groups, RUN, "a") == 8);
	}
	add(&round, "b", 1, 1);
	end_round(groups, 705, &round);
	assert_true(value(groups, RUN, "a") == -1);
	assert_int_equal(export_groups_state(groups).dropped, 1);
	/* its past is not what the others did now */
	assert_true(value(groups, RUN, "(other)") == -1);
	export_groups_release(groups);
}

/* Those that do most have series; one that does little does not push out another that does a little less. */
static void test_choice(void **state)
{
	struct export_groups *groups = create(2, 3600);
	struct round round = {.count = 0};
	uint64_t at = 100;

	(void)state;
	add(&round, "small", 1, 1);
	add(&round, "large", 1, 100);
	add(&round, "middle", 1, 10);
	end_round(groups, at, &round);
	assert_true(value(groups, RUN, "large") == 100);
	assert_true(value(groups, RUN, "middle") == 10);
	assert_true(value(groups, RUN, "small") == -1);
	assert_true(value(groups, RUN, "(other)") == 1);
	for (size_t i = 0; i < 100; i++) {
		add(&round, "small", 1, 15);
		add(&round, "large", 1, 100);
		add(&round, "middle", 1, 10);
		end_round(groups, at += 5, &round);
	}
	assert_true(value(groups, RUN, "middle") == 1010);
	assert_true(value(groups, RUN, "(other)") == 1501);
	assert_int_equal(export_groups_state(groups).dropped, 0);
	/* one that does a lot more gets the room, from 0 on */
	for (size_t i = 0; i < 200; i++) {
		add(&round, "small", 1, 50);
		add(&round, "large", 1, 100);
		add(&round, "middle", 1, 10);
		end_round(groups, at += 5, &round);
	}
	assert_true(value(groups, RUN, "small") > 0 && value(groups, RUN, "small") < 200 * 50);
	assert_true(value(groups, RUN, "middle") == -1);
	assert_int_equal(export_groups_state(groups).dropped, 1);
	/* what middle does since counts there, and what small did until then */
	assert_true(value(groups, RUN, "(other)") ==
		    1501 + (200 * 50 - value(groups, RUN, "small")) + value(groups, RUN, "small") / 50 * 10);
	export_groups_release(groups);
}

/* A job that comes now and then keeps its place until another did more in the last minutes. */
static void test_resting(void **state)
{
	struct export_groups *groups = create(2, 7200);
	struct round round = {.count = 0};
	uint64_t at = 100;

	(void)state;
	add(&round, "job", 1, 100);
	add(&round, "large", 1, 100);
	add(&round, "small", 1, 1);
	end_round(groups, at, &round);
	for (size_t i = 0; i < 600; i++) {
		add(&round, "large", 1, 100);
		add(&round, "small", 1, 1);
		end_round(groups, at += 5, &round);
		if (i == 60)
			assert_true(value(groups, RUN, "job") == 100);
	}
	assert_true(value(groups, RUN, "job") == -1);
	assert_true(value(groups, RUN, "small") > 0);
	assert_int_equal(export_groups_state(groups).dropped, 1);
	export_groups_release(groups);
}

/*
 * Whatever groups come, go and swap places: what the series of a round grew by, those that are new from 0, is
 * what was added in that round, no series falls, and there are never more than the bound.
 */
static void test_sums(void **state)
{
	static char names[GROUPS_MAX][16];
	unsigned int random = 12345;

	(void)state;
	for (size_t i = 0; i < GROUPS_MAX; i++)
		snprintf(names[i], sizeof(names[i]), "g%zu", i);
	for (size_t limit = 0; limit <= 12; limit += 4) {
		struct export_groups *groups = create(limit, 100);
		double before[GROUPS_MAX + 1] = {0};
		struct round round = {.count = 0};

		for (uint64_t at = 0; at < ROUNDS_MAX; at++) {
			double added = 0, grown = 0, other;
			size_t series = 0;

			for (size_t i = 0; i < GROUPS_MAX; i++) {
				uint64_t run;

				random = random * 1103515245 + 12345;
				if ((random >> 16) % 3 == 0)
					continue;
				run = (random >> 20) % (1 + (1u << 2 * ((i + at / 130) % 7)));
				add(&round, names[i], (random >> 18) % 2, run);
				added += (double)run;
			}
			end_round(groups, 100 + at * 5, &round);
			other = value(groups, RUN, "(other)");
			if (other >= 0) {
				assert_true(other >= before[GROUPS_MAX]);
				grown += other - before[GROUPS_MAX];
				before[GROUPS_MAX] = other;
			}
			for (size_t i = 0; i < GROUPS_MAX; i++) {
				double now = value(groups, RUN, names[i]);

				series += now >= 0;
				if (now >= 0 && now >= before[i])
					grown += now - before[i];
				else if (now >= 0)
					grown += now; /* it lost its room and got one again */
				before[i] = now >= 0 ? now : 0;
			}
			assert_true(series <= limit);
			assert_true(grown == added);
		}
		if (limit == 8)
			assert_true(export_groups_state(groups).dropped > 0);
		export_groups_release(groups);
	}
}

/* The samples of a family in a page: the labels of each, and its value. */
struct samples {
	struct {
		char labels[96];
		double value;
	} of[GROUPS_MAX + 2];
	size_t count;
};

static struct samples samples(const struct export_groups *groups, size_t family)
{
	struct samples result = {.count = 0};
	char *text = written(groups, family), *rest = text, *line;

	while ((line = strtok_r(rest, "\n", &rest)) != NULL) {
		if (*line == '#')
			continue;
		assert_int_equal(sscanf(line, "%*[^{]%95[^}]} %lf", result.of[result.count].labels,
					&result.of[result.count].value),
				 2);
		result.count++;
	}
	free(text);
	return result;
}

/*
 * As Prometheus sees it, which knows series by their labels: the sum over all groups never falls, whoever
 * loses a place, and is all that ever was added; and no series that was there before shows more in a round
 * than was added in it.
 */
static void test_retired(void **state)
{
	static char names[GROUPS_MAX][16];
	unsigned int random = 4321;
	uint64_t dropped = 0;

	(void)state;
	for (size_t i = 0; i < GROUPS_MAX; i++)
		snprintf(names[i], sizeof(names[i]), "g%zu", i);
	for (size_t limit = 0; limit <= 12; limit += 4) {
		struct export_groups *groups = create(limit, 100);
		struct round round = {.count = 0};
		struct samples before = {.count = 0};
		double in_all = 0;

		for (uint64_t at = 0; at < ROUNDS_MAX; at++) {
			double added = 0, seen = 0, sum = 0;
			struct samples now;

			for (size_t i = 0; i < GROUPS_MAX; i++) {
				uint64_t run;

				random = random * 1103515245 + 12345;
				if ((random >> 16) % 3 == 0)
					continue;
				run = (random >> 20) % (1 + (1u << 2 * ((i + at / 130) % 7)));
				add(&round, names[i], (random >> 18) % 2, run);
				added += (double)run;
			}
			in_all += added;
			end_round(groups, 100 + at * 5, &round);
			now = samples(groups, RUN);
			for (size_t i = 0; i < now.count; i++) {
				sum += now.of[i].value;
				for (size_t k = 0; k < before.count; k++) {
					if (strcmp(now.of[i].labels, before.of[k].labels) != 0)
						continue;
					assert_true(now.of[i].value >= before.of[k].value);
					seen += now.of[i].value - before.of[k].value;
				}
			}
			assert_true(sum == in_all);
			assert_true(seen <= added);
			assert_true(now.count <= limit + 2);
			before = now;
		}
		dropped += export_groups_state(groups).dropped;
		export_groups_release(groups);
	}
	assert_true(dropped > 0);
}

/* A sum over groups, after another has lost its place, or has been without threads for long. */
static void test_retired_series(void **state)
{
	struct export_groups *groups = create(10, 600);
	struct round round = {.count = 0};
	struct samples now;

	(void)state;
	for (uint64_t at = 100; at <= 705; at += 5) {
		add(&round, "b", 1, 1);
		if (at == 100)
			add(&round, "a", 1, 8);
		end_round(groups, at, &round);
	}
	now = samples(groups, RUN);
	assert_int_equal(now.count, 2);
	assert_string_equal(now.of[1].labels, "{axis=\"process\",group=\"(retired)\",since=\"705.000\"");
	assert_true(now.of[1].value == 8);
	/* present values have none */
	now = samples(groups, THREADS);
	assert_int_equal(now.count, 1);
	/* another retires: the series goes on under another label, so that no rate sees the step */
	for (uint64_t at = 710; at <= 1310; at += 5) {
		add(&round, "c", 1, 1);
		end_round(groups, at, &round);
	}
	now = samples(groups, RUN);
	assert_int_equal(now.count, 2);
	assert_string_equal(now.of[1].labels, "{axis=\"process\",group=\"(retired)\",since=\"1310.000\"");
	assert_true(now.of[1].value == 8 + 122);
	export_groups_release(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_counters_stay),
		cmocka_unit_test(test_unknown_is_no_zero),
		cmocka_unit_test(test_one_name),
		cmocka_unit_test(test_impostors),
		cmocka_unit_test(test_old_ones_go),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_resting),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_retired),
		cmocka_unit_test(test_retired_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
