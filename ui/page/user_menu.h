/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_USER_MENU_H
#define CTOP_USER_MENU_H

#include <stdbool.h>

#include "session/session.h"

#include "ui/widget/menu.h"

/* A menu of users, all of them first. A zeroed struct is an empty one. */
struct user_menu {
	struct session_user *users; /* owned */
	size_t count;
	struct menu menu; /* line 0 is all users */
	bool has_names;   /* the users are of this host */
};

/* Takes over the users of the newest round; the choice stays on its user. `has_names`: this host names them.
 */
void user_menu_set(struct user_menu *menu, struct session_user *users, size_t count, bool has_names);

void user_menu_release(struct user_menu *menu);

void user_menu_move(struct user_menu *menu, enum action action);

/* Appends the name or else the number of the user that is chosen; returns false for all users. Never blocks.
 */
bool user_menu_append_choice(const struct user_menu *menu, struct buffer *name);

/* Draws it at the bottom of an area; returns the row of the choice. */
int user_menu_draw(struct user_menu *menu, int y, int height, int width);

#endif
