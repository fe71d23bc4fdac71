/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOK_H
#define CTOP_LOOK_H

#include "screen.h"

/* Looking back at moments that have been: keys, and what comes of them. See struct past. */

/* Begins with the moment that the options have. */
void look_begin(struct ui *ui);

/* Takes a moment over that the host has made, or what has come of it; of `moment` the rest is the caller's.
 */
void look_take(struct ui *ui, struct ui_moment *moment);
void look_take_strip(struct ui *ui, const struct ui_strip *strip);

/* After another round, or moment, is in the session: all that is shown follows. Returns whether the rows are
 * sorted by something else now. */
bool look_refresh(struct ui *ui);

/* Asks for another moment, by ui->action. */
void look_step(struct ui *ui);

/* Asks which time to go to. */
void look_ask(struct ui *ui);

/* To the next mark, or the one before. */
void look_at_mark(struct ui *ui, bool before);

/* The moment shown becomes the base. */
void look_set_base(struct ui *ui);

/* Goes on from moment to moment, or stops; how fast, by ui->action. */
void look_play(struct ui *ui);
void look_change_speed(struct ui *ui);

/* In how many milliseconds look_play_on() has something to do, -1 for never. */
int look_wait_ms(const struct ui *ui);
void look_play_on(struct ui *ui);

/* Asks for what was before and after the moment, when another row or column, or another time, is shown. */
void look_follow(struct ui *ui);

/* Goes back to the rounds of a live screen, where it has some. */
void look_leave(struct ui *ui);

void look_release(struct ui *ui);

#endif
