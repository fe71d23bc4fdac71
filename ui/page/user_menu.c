/* SPDX-License-Identifier: GPL-2.0-only */
#include "user_menu.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "snapshot/user_names.h"

#include "ui/terminal/draw.h"

enum {
	PAGE_ROWS = 10, /* that PgUp and PgDn move by */
	MENU_WIDTH = 50,
};

void user_menu_set(struct user_menu *menu, struct session_user *users, size_t count, bool has_names)
{
	const bool has_choice = menu->choice != 0 && menu->choice <= menu->count;
	const uint32_t uid = has_choice ? menu->users[menu->choice - 1].uid : 0;

	free(menu->users);
	menu->users = users;
	menu->count = count;
	menu->has_names = has_names;
	menu->choice = 0;
	for (size_t i = 0; has_choice && i < count; i++) {
		if (users[i].uid == uid)
			menu->choice = i + 1;
	}
}

void user_menu_release(struct user_menu *menu)
{
	free(menu->users);
	*menu = (struct user_menu){0};
}

void user_menu_move(struct user_menu *menu, enum action action)
{
	menu->choice = key_moved_row(action, menu->choice, menu->count, PAGE_ROWS);
}

static void append_user(const struct user_menu *menu, size_t user, struct buffer *name)
{
	if (menu->has_names)
		user_name_append(name, menu->users[user].uid);
	else
		buffer_append_u64(name, menu->users[user].uid);
}

bool user_menu_append_choice(const struct user_menu *menu, struct buffer *name)
{
	if (menu->choice == 0 || menu->choice > menu->count)
		return false;
	append_user(menu, menu->choice - 1, name);
	return true;
}

static void draw_choice(const struct user_menu *menu, int y, int width, size_t choice)
{
	const bool chosen = choice == menu->choice;
	const enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
	struct buffer name = {0}, threads = {0};
	uint64_t count = 0;
	char number[28];

	for (size_t i = 0; i < menu->count; i++)
		count += choice == 0 || i == choice - 1 ? menu->users[i].threads : 0;
	if (choice != 0)
		append_user(menu, choice - 1, &name);
	else
		buffer_append_text(&name, menu->count != 0 ? "all users"
							   : "all users (their names come with a round)");
	buffer_append_format(&threads, "%s thread%s", number_group_digits(count, number),
			     count == 1 ? "" : "s");
	draw_fill(y, 1, width - 2, style);
	if (menu->count != 0)
		draw_right(y, width - 20, 18, style, threads.data);
	draw_text(y, 2, menu->count != 0 ? width - 24 : width - 4, chosen ? STYLE_SELECTED : STYLE_KEY,
		  name.data, name.length);
	buffer_release(&name);
	buffer_release(&threads);
}

int user_menu_draw(struct user_menu *menu, int y, int height, int width)
{
	const int wanted = (int)menu->count + 3;
	size_t page;

	width = width < MENU_WIDTH ? width : MENU_WIDTH;
	y += wanted < height ? height - wanted : 0;
	height = wanted < height ? wanted : height;
	page = (size_t)(height - 2);
	if (menu->choice < menu->top)
		menu->top = menu->choice;
	if (menu->choice >= menu->top + page)
		menu->top = menu->choice - page + 1;
	draw_box(y, 0, height, width, "Users");
	for (size_t i = 0; i < page && menu->top + i <= menu->count; i++)
		draw_choice(menu, y + 1 + (int)i, width, menu->top + i);
	return y + 1 + (int)(menu->choice - menu->top);
}
