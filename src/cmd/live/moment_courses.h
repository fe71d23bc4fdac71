/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MOMENT_COURSES_H
#define CTOP_MOMENT_COURSES_H

#include "session/moment.h"
#include "ui/ui.h"

/* Makes what the rows of a view had in the last rounds, round by round. Belongs to one thread at a time. */
struct moment_courses;

/* The request is copied. */
struct moment_courses *moment_courses_create(const struct ui_courses_request *request);
void moment_courses_release(struct moment_courses *courses); /* NULL is allowed */

/*
 * Makes the next round's, from the newest back; its table is the caller's, NULL where the round cannot be
 * read. Returns false when there was none left.
 */
bool moment_courses_work(struct moment_courses *courses, struct history *history, const atomic_bool *cancel,
			 struct ui_courses *ret_part);

#endif
