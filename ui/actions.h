/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ACTIONS_H
#define CTOP_ACTIONS_H

#include "screen.h"

/* Does what a key asks for at the place where keys go at present; refuses one that has no use there. */
void actions_handle_key(struct ui *ui, int key);

/* Moves rows of the list, page or menu on top, by ui->action. */
void actions_move(struct ui *ui);

/* Takes the answer to a request to complete what is in the prompt: the lines of UI_EVENT_NAMES. */
void actions_take_names(struct ui *ui, const char *lines);

#endif
