/* SPDX-License-Identifier: GPL-2.0-only */
#include "user_menu.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "snapshot/user_names.h"

#include "ui/terminal/draw.h"

enum {
	MENU_WIDTH = 50,
};

void user_menu_set(struct user_menu *menu, struct session_user *users, size_t count, bool has_names)
{
	const size_t choice = menu->menu.choice;
	const bool has_choice = choice != 0 && choice <= menu->count;
	const uint32_t uid = has_choice ? menu->users[choice - 1].uid : 0;

	free(menu->users);
	menu->users = users;
	menu->count = count;
	menu->has_names = has_names;
	menu->menu.choice = 0;
	for (size_t i = 0; has_choice && i < count; i++) {
		if (users[i].uid == uid)
			menu->menu.choice = i + 1;
	}
}

void user_menu_release(struct user_menu *menu)
{
	free(menu->users);
	*menu = (struct user_menu){0};
}

void user_menu_move(struct user_menu *menu, enum action action)
{
	menu_move(&menu->menu, action, menu->count + 1);
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
	if (menu->menu.choice == 0 || menu->menu.choice > menu->count)
		return false;
	append_user(menu, menu->menu.choice - 1, name);
	return true;
}

static void draw_line(const void *context, size_t line, int y, int width, bool chosen)
{
	const struct user_menu *menu = context;
	struct buffer name = {0}, threads = {0};
	uint64_t count = 0;
	char number[28];

	for (size_t i = 0; i < menu->count; i++)
		count += line == 0 || i == line - 1 ? menu->users[i].threads : 0;
	if (line != 0)
		append_user(menu, line - 1, &name);
	else
		buffer_append_text(&name, menu->count != 0 ? "all users"
							   : "all users (listed after the first round)");
	buffer_append_format(&threads, "%s thread%s", number_group_digits(count, number),
			     count == 1 ? "" : "s");
	if (menu->count != 0)
		draw_right(y, width - 20, 18, chosen ? STYLE_SELECTED : STYLE_NORMAL, threads.data);
	draw_text(y, 2, menu->count != 0 ? width - 24 : width - 4, chosen ? STYLE_SELECTED : STYLE_KEY,
		  name.data, name.length);
	buffer_release(&name);
	buffer_release(&threads);
}

int user_menu_draw(struct user_menu *menu, int y, int height, int width)
{
	return menu_draw(&menu->menu, menu->count + 1,
			 &(struct menu_style){
				 .y = y,
				 .height = height,
				 .width = width < MENU_WIDTH ? width : MENU_WIDTH,
				 .title = "Users",
				 .room = menu->count + 1,
				 .draw_line = draw_line,
				 .context = menu,
			 });
}
