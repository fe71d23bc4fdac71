/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include "tests/cmocka_include.h"

#include <string.h>

#include "table/column_list.h"
#include "table/tab.h"
#include "table/view.h"
#include "window/column.h"

static int reset(void **state)
{
	(void)state;
	tab_reset();
	return 0;
}

static enum tab add(const char *name)
{
	struct error error = {""};
	enum tab tab = TAB_COUNT;

	assert_int_equal(tab_add(name, &tab, &error), 0);
	return tab;
}

static void test_add(void **state)
{
	struct error error = {""};
	enum tab tab = add("mine"), other;

	(void)state;
	assert_true(tab_is_own(tab));
	assert_false(tab_is_own(TAB_TASK_FIELDS));
	assert_int_equal(tab_count(), TAB_COUNT + 1);
	assert_int_equal(tab_at(TAB_COUNT), tab);
	assert_int_equal(tab_place(tab), TAB_COUNT);
	assert_int_equal(tab_find("Mine"), tab);
	assert_int_equal(tab_digit(tab), -1);
	assert_string_equal(tabs[tab].title, "mine");
	assert_int_equal(tab_set_title(tab, "Für mich", &error), 0);
	assert_string_equal(tabs[tab].title, "Für mich");
	assert_int_equal(tab_set_title(tab, "", &error), -EINVAL);
	assert_int_equal(tab_set_title(tab, "a\tb", &error), -EINVAL);
	assert_int_equal(tab_add("MINE", &other, &error), -EEXIST);
	assert_string_equal(error.text, "there is a tab 'mine' already");
	assert_int_equal(tab_add("i/o", &other, &error), -EINVAL);
	assert_int_equal(tab_add("a b", &other, &error), -EINVAL);
	assert_int_equal(tab_add("", &other, &error), -EINVAL);
	assert_int_equal(tab_add("run", &other, &error), -EEXIST);
	for (int i = 1; i < OWN_TABS_MAX; i++)
		add((const char[]){'t', (char)('a' + i), '\0'});
	assert_int_equal(tab_add("more", &other, &error), -ENOSPC);
}

static void test_choose(void **state)
{
	struct error error = {""};
	enum tab mine = add("memories"), tab;

	(void)state;
	assert_int_equal(tab_choose("over", &tab, &error), 0);
	assert_int_equal(tab, TAB_OVERVIEW);
	assert_int_equal(tab_choose("I/O", &tab, &error), 0);
	assert_int_equal(tab, TAB_IO);
	assert_int_equal(tab_choose("mem", &tab, &error), -EINVAL);
	assert_string_equal(error.text, "tab 'mem' may be any of memory, memories");
	assert_int_equal(tab_choose("memor", &tab, &error), -EINVAL);
	assert_int_equal(tab_choose("memori", &tab, &error), 0);
	assert_int_equal(tab, mine);
	assert_int_equal(tab_choose("foo", &tab, &error), -EINVAL);
	assert_ptr_equal(strstr(error.text, "unknown tab 'foo'; valid: overview, run, sched"), error.text);
}

static void test_order(void **state)
{
	enum tab mine = add("mine");
	enum tab second;

	(void)state;
	tab_move(mine, TAB_OVERVIEW);
	second = add("second");
	assert_int_equal(tab_at(0), TAB_OVERVIEW);
	assert_int_equal(tab_at(1), mine);
	assert_int_equal(tab_at(2), TAB_RUN);
	assert_int_equal(tab_at(TAB_COUNT), TAB_TASK_FIELDS);
	assert_int_equal(tab_at(TAB_COUNT + 1), second);
	assert_int_equal(tab_digit(mine), 2);
	assert_int_equal(tab_digit(TAB_RUN), 3);
	assert_int_equal(tab_digit(TAB_ALL), -1);
	tab_move(TAB_OVERVIEW, TAB_TASK_FIELDS);
	assert_int_equal(tab_at(0), mine);
	assert_int_equal(tab_at(TAB_COUNT), TAB_OVERVIEW);
	assert_int_equal(tab_at(TAB_COUNT + 1), second);
	for (size_t i = 0; i < tab_count(); i++)
		assert_int_equal(tab_place(tab_at(i)), i);
}

static void test_columns(void **state)
{
	static const enum column wanted[] = {COLUMN_THR, COLUMN_RUNQ, COLUMN_BORN, COLUMN_READ};
	enum column columns[COLUMN_TOTAL];
	size_t built_in = column_list(TAB_RUN, true, 0, COLUMN_COUNT, columns);
	enum tab mine = add("mine");

	(void)state;
	assert_int_equal(column_list(mine, false, 0, COLUMN_COUNT, columns), 0);
	tab_set_columns(mine, false, wanted, 4);
	assert_int_equal(column_list(mine, false, 0, COLUMN_COUNT, columns), 4);
	assert_memory_equal(columns, wanted, sizeof(wanted));
	/* what only groups have is not asked of threads */
	assert_int_equal(column_list(mine, true, 0, COLUMN_COUNT, columns), 2);
	assert_int_equal(columns[0], COLUMN_RUNQ);
	assert_int_equal(columns[1], COLUMN_READ);
	/* on a narrow screen the last ones leave, as on every tab; the sort column stays */
	assert_int_equal(column_list(mine, false, 30, COLUMN_COUNT, columns), 2);
	assert_int_equal(column_list(mine, false, 80, COLUMN_CPU, columns), 5);
	assert_int_equal(columns[1], COLUMN_CPU);

	tab_set_columns(TAB_RUN, false, wanted, 2);
	assert_int_equal(column_list(TAB_RUN, false, 0, COLUMN_COUNT, columns), 2);
	assert_int_equal(column_list(TAB_RUN, true, 0, COLUMN_COUNT, columns), built_in);
	tab_set_columns(TAB_ALL, false, wanted, 4);
	assert_int_equal(column_list(TAB_ALL, false, 0, COLUMN_COUNT, columns), 4);
	tab_set_columns(TAB_RUN, false, NULL, 0);
	assert_true(column_list(TAB_RUN, false, 0, COLUMN_COUNT, columns) > 2);
}

static void test_sort(void **state)
{
	enum tab mine = add("mine");
	const unsigned int of_table = tabs[TAB_TIME].sort;
	struct view view;

	(void)state;
	tab_set_sort(mine, COLUMN_READ);
	tab_set_sort(TAB_TIME, COLUMN_RUNQ);
	view_initialise(&view);
	view_set_tab(&view, mine);
	assert_int_equal(view.sort, COLUMN_READ);
	view_set_tab(&view, TAB_TIME);
	assert_int_equal(view.sort, COLUMN_RUNQ);
	tab_set_sort(TAB_TIME, COLUMN_COUNT);
	assert_int_equal(tabs[TAB_TIME].sort, of_table);
	tab_set_sort(mine, COLUMN_COUNT);
	assert_int_equal(tabs[mine].sort, COLUMN_CPU);
	assert_int_equal(tab_own_sort(mine), COLUMN_COUNT);
	tab_set_columns(mine, false, (const enum column[]){COLUMN_THR, COLUMN_WRITE, COLUMN_CPU}, 3);
	assert_int_equal(tabs[mine].sort, COLUMN_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_add, reset),   cmocka_unit_test_teardown(test_choose, reset),
		cmocka_unit_test_teardown(test_order, reset), cmocka_unit_test_teardown(test_columns, reset),
		cmocka_unit_test_teardown(test_sort, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
