/* SPDX-License-Identifier: GPL-2.0-only */
/* The menu of users, which narrows threads by the filter. */
#include "screen.h"

#include "snapshot/user_names.h"

void screen_users_refresh(struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);
	struct session_user *users;
	size_t count;

	if (ui->overlay != OVERLAY_USERS)
		return;
	users = session_users(ui->session, &ui->view, &count);
	user_menu_set(&ui->users, users, count, now != NULL && user_names_hold(now->provenance.hostname));
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
	if (user_menu_append_choice(&ui->users, &name))
		filter_append_condition(&text, FILTER_FIELD_USER, name.data);
	navigate_filter(ui, text.length != 0 ? text.data : "");
	buffer_release(&text);
	buffer_release(&name);
}
