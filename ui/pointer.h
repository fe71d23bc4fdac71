/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOP_POINTER_H
#define CTOP_LOOP_POINTER_H

#include "screen.h"
#include "ui/terminal/terminal.h"

/* Does what a click or the wheel asks for. */
void pointer_handle(struct ui *ui, struct pointer pointer);

#endif
