/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_FAKE_CLOCK_H
#define CTOP_TESTS_UI_FAKE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The clock of a program that a test drives over descriptors 3 and 4. It stands still unless the test moves
 * it: the linker puts this in the place of clock_gettime() and poll() (meson.build). Clocks of CPU time are
 * real.
 */

/* Takes a command, if it is one of these two. Returns whether it was.
 *
 *   clock MS      so much time has passed
 *   sync NUMBER   is answered with itself once there is nothing left to do: what was typed and told before is
 *                 taken in, and the frame after it was sent
 */
bool fake_clock_obey(const char *line);

/* So much time passes, as if something took that long. */
void fake_clock_pass(uint64_t nanoseconds);

#endif
