/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_LIST_H
#define CTOP_HISTORY_LIST_H

#include <stdbool.h>

#include "base/error.h"
#include "report/report.h"
#include "store/history.h"

/*
 * Draws what a history has as tables of a report: days, gaps, starts of the host, marks, and what is damaged,
 * which `check` searches for. Sections without rows are left out. Returns 0, or a negative errno with a
 * sentence.
 */
int history_list_draw(struct history *history, bool check, struct report *report, struct error *error);

#endif
