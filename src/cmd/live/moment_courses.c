/* SPDX-License-Identifier: GPL-2.0-only */
#include "moment_courses.h"

#include <stdlib.h>

#include "base/memory.h"
#include "moment_strip.h"

struct moment_courses {
	uint64_t number;
	struct view view;
	enum column column;
	struct session *session;
	struct history_round round; /* the last one made */
	bool has_round;
	size_t left; /* rounds to make */
};

struct moment_courses *moment_courses_create(const struct ui_courses_request *request)
{
	struct moment_courses *courses = memory_allocate_zero(1, sizeof(*courses));

	courses->number = request->number;
	courses->column = request->column;
	courses->left = request->rounds;
	moment_strip_copy_view(&courses->view, request->view, &courses->column);
	courses->view.cells_on_demand = false;
	courses->session = session_create();
	return courses;
}

void moment_courses_release(struct moment_courses *courses)
{
	if (courses == NULL)
		return;
	view_release(&courses->view);
	session_release(courses->session);
	free(courses);
}

/* The round before the last one; false where there is none. */
static bool step_back(struct moment_courses *courses, struct history *history)
{
	struct history_round before;

	if (courses->left == 0)
		return false;
	courses->left--;
	if (!courses->has_round) {
		courses->has_round = history_last(history, &courses->round, NULL) == 0;
		return courses->has_round;
	}
	if (history_step(history, &courses->round, -1, &before, NULL) < 0 ||
	    history_is_same(&before, &courses->round))
		return false;
	/* stop where the screen's rounds begin: a recorder has another interval */
	if (history_directory_of(history, &before) != history_directory_of(history, &courses->round))
		return false;
	courses->round = before;
	return true;
}

bool moment_courses_work(struct moment_courses *courses, struct history *history, const atomic_bool *cancel,
			 struct ui_courses *ret_part)
{
	struct session_moment *moment;
	struct error error;

	if (!step_back(courses, history))
		return false;
	*ret_part = (struct ui_courses){.number = courses->number, .unix_ns = courses->round.unix_ns};
	if (session_moment_make(history, NULL, &courses->round, cancel, &moment, &error) == 0) {
		session_show_moment(courses->session, moment);
		ret_part->table = session_table(courses->session, &courses->view);
	}
	return true;
}
