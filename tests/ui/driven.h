/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_DRIVEN_H
#define CTOP_TESTS_UI_DRIVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/ui.h"

/*
 * A screen that a test drives: commands come as lines on descriptor 3, answers go to descriptor 4. Its clock
 * stands still unless the test moves it: the linker puts this in the place of clock_gettime() and poll()
 * (meson.build). Clocks of CPU time are real. Two commands are those of the clock:
 *
 *   clock MS      so much time has passed
 *   sync NUMBER   is answered with itself once there is nothing left to do: what was typed and told before is
 *                 taken in, and the frame after it was sent
 */

/* So much time passes, as if something took that long. */
void driven_pass(uint64_t nanoseconds);

void driven_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For ui_host.receive: lets `obey` carry out other commands until one makes an event, as it returns then. */
bool driven_receive(bool (*obey)(void *context, char *line, struct ui_event *event), void *context,
		    struct ui_event *event);

/* Runs the screen of a host and releases the session. Returns the status of main(). */
int driven_run(struct session *session, struct ui_host *host, const struct ui_options *options);

#endif
