/* SPDX-License-Identifier: GPL-2.0-only */
/* The menu of users, which narrows threads by the filter. */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/humanize.h"
#include "snapshot/user_names.h"

enum {
	MENU_WIDTH = 50,
};

/* Takes over the users of the newest round; the choice stays on its user. */
static void set_users(struct user_menu *menu, struct session_user *users, size_t count)
{
	const size_t choice = menu->menu.choice;
	const bool has_choice = choice != 0 && choice <= menu->count;
	const uint32_t uid = has_choice ? menu->users[choice - 1].uid : 0;

	free(menu->users);
	menu->users = users;
	menu->count = count;
	menu->menu.choice = 0;
	for (size_t i = 0; has_choice && i < count; i++) {
		if (users[i].uid == uid)
			menu->menu.choice = i + 1;
	}
}

/* Appends the name or else the number of a user. Never blocks. */
static void append_user(const struct user_menu *menu, size_t user, struct buffer *name)
{
	if (menu->has_names)
		user_name_append(name, menu->users[user].uid);
	else
		buffer_append_u64(name, menu->users[user].uid);
}

static void draw_line(const void *context, size_t line, int y, int width, bool chosen)
{
	const struct user_menu *menu = context;
	struct buffer name = {0}, threads = {0};
	uint64_t count = 0;

	for (size_t i = 0; i < menu->count; i++)
		count += line == 0 || i == line - 1 ? menu->users[i].threads : 0;
	if (line != 0)
		append_user(menu, line - 1, &name);
	else
		buffer_append_text(&name, menu->count != 0 ? "all users"
							   : "all users (listed after the first round)");
	humanize_counted(&threads, count, "thread");
	if (menu->count != 0)
		draw_right(y, width - 20, 18, chosen ? STYLE_SELECTED : STYLE_NORMAL, threads.data);
	draw_text(y, 2, menu->count != 0 ? width - 24 : width - 4, chosen ? STYLE_SELECTED : STYLE_KEY,
		  name.data, name.length);
	buffer_release(&name);
	buffer_release(&threads);
}

int screen_users_draw(struct ui *ui, struct area area)
{
	struct user_menu *menu = &ui->users;

	return menu_draw(&menu->menu, menu->count + 1,
			 &(struct menu_style){
				 .y = area.y,
				 .height = area.height,
				 .width = area.width < MENU_WIDTH ? area.width : MENU_WIDTH,
				 .title = "Users",
				 .room = menu->count + 1,
				 .draw_line = draw_line,
				 .context = menu,
			 });
}

void screen_users_refresh(struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);
	struct session_user *users;
	size_t count;

	if (ui->overlay != OVERLAY_USERS)
		return;
	users = session_users(ui->session, &ui->view, &count);
	set_users(&ui->users, users, count);
	ui->users.has_names = now != NULL && user_names_hold(now->provenance.hostname);
}

void screen_users_open(struct ui *ui)
{
	ui->overlay = OVERLAY_USERS;
	ui->users.menu.choice = ui->users.menu.top = 0;
	screen_users_refresh(ui);
	/* users are read while they are to be seen */
	navigate_tell_host(ui);
}

/* The condition takes the place of one that there is. */
void screen_users_choose(struct ui *ui)
{
	struct buffer text = {0}, name = {0};

	ui->overlay = OVERLAY_NONE;
	if (ui->view.filter != NULL)
		filter_append_without(ui->view.filter, FILTER_FIELD_USER, &text);
	if (ui->users.menu.choice != 0 && ui->users.menu.choice <= ui->users.count) {
		append_user(&ui->users, ui->users.menu.choice - 1, &name);
		filter_append_condition(&text, FILTER_FIELD_USER, name.data);
	}
	(void)screen_filter_set(ui, text.length != 0 ? text.data : "");
	buffer_release(&text);
	buffer_release(&name);
}
