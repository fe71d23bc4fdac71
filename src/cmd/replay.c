/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop replay`: the screen on a moment that was recorded. */
#include "base/clock.h"
#include "cmd/line/config_settings.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/history_place.h"
#include "cmd/line/screen_options.h"
#include "cmd/line/view_options.h"
#include "cmd/live/screen_host.h"
#include "commands.h"
#include "session/when.h"

struct replay_options {
	bool plays;
	const char *save_directory;
	int theme;
	bool no_color, ascii, no_mouse;
	const char *config_path;
	bool no_config;
	struct config_file config;
	struct screen_options screen;
	struct view_options view;
};

static void set_defaults(void *untyped)
{
	((struct replay_options *)untyped)->view.axis = AXIS_COUNT;
}

static const struct option own_options[] = {
	{OPTION('\0', "play", NULL, struct replay_options, plays),
	 .description = "go on from round to round from there on, as the key Space does"},
	{OPTION('\0', "save-dir", "DIR", struct replay_options, save_directory), .in_file = true,
	 .description = "directory in which the key S saves the moment shown; default the working directory"},
	{OPTION('\0', "theme", "THEME", struct replay_options, theme), .in_file = true,
	 .choices = theme_names, .description = "colours of the screen: default, light, or mono for none"},
	{OPTION('\0', "no-color", NULL, struct replay_options, no_color), .in_file = true,
	 .description = "use no colours, as --theme mono and NO_COLOR in the environment do"},
	{OPTION('\0', "no-mouse", NULL, struct replay_options, no_mouse), .in_file = true,
	 .description = "leave the mouse to the terminal"},
	{OPTION('\0', "ascii", NULL, struct replay_options, ascii), .in_file = true,
	 .description = "use only ASCII characters"},
	{OPTION('\0', "config", "FILE", struct replay_options, config_path),
	 .description = "read this configuration file instead of ~/.config/ctop/ctop.conf"},
	{OPTION('\0', "no-config", NULL, struct replay_options, no_config),
	 .description = "read no configuration file", .excludes = "config"},
};

/* The times that are words, which are enough to begin with. */
static void list_times(struct buffer *buffer)
{
	buffer_append_text(buffer, "now\ntoday\nyesterday\n");
}

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&history_option_table, 0},
	{&screen_option_table, offsetof(struct replay_options, screen)},
	{&view_option_table, offsetof(struct replay_options, view)},
};

/* Settings of the file that this command has too are taken from it; the others are those of a live screen. */
static int configure(void *untyped, const struct option_set *given, struct error *error)
{
	struct replay_options *options = untyped;
	struct config_file *file = &options->config;
	int result;

	if (options->no_config) {
		file->path = config_file_path(); /* to write to, if the user asks for it */
		history_place_settle();
		return 0;
	}
	result = config_file_read(options->config_path, file, error);
	config_tabs_make(file, true);
	config_settings_use(file, tables, ARRAY_COUNT(tables), options, given, false);
	history_place_settle();
	if (result < 0)
		config_file_release(file);
	return result;
}

static int replay(const struct replay_options *options, const struct view *view, const char *when)
{
	struct ui_look look = {.kind = UI_LOOK_NEWEST, .from_newest = true};
	struct screen_host_options host_options = {
		.look = &look, .saves = true, .save_directory = options->save_directory};
	struct ui_options ui_options = {
		.theme = options->no_color ? THEME_MONO : (enum theme)options->theme,
		.ascii = options->ascii,
		.no_mouse = options->no_mouse,
		.view = view,
		.notice = options->config.first_problem,
		.config_path = options->config.path,
		.plays = options->plays,
	};
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	struct error error;
	int status;

	if (when != NULL) {
		look.kind = UI_LOOK_TIME;
		if (when_parse(when, now, now, &look.unix_ns, &error) < 0)
			return command_misused(&replay_command, &error);
	}
	if (history_place_open(history_place(), &host_options.history, &error) < 0)
		return command_failed(&error);
	status = screen_host_show(&host_options, session_create(), &ui_options, &error);
	history_close(host_options.history);
	return status;
}

static int replay_run(void *untyped, char **operands, int operand_count)
{
	struct replay_options *options = untyped;
	enum column columns[SCREEN_COLUMNS_MAX];
	struct error error;
	struct view view;
	int status;

	if (config_settings_make_view(&options->config, &options->screen, &options->view, AXIS_PROCESS,
				      columns, &view, &error) < 0)
		status = command_misused(&replay_command, &error);
	else
		status = replay(options, &view, operand_count != 0 ? operands[0] : NULL);
	view_release(&view);
	config_file_release(&options->config);
	return status;
}

const struct command replay_command = {
	.name = "replay",
	.summary = "look at recorded moments on the screen",
	.purpose = COMMAND_LOOKS,
	.usage = "[OPTION]... [WHEN]",
	.details = "Shows what ctop record has stored as the live screen showed it then: every tab, group "
		   "and order. WHEN is a time such as -15m, 09:40, 'yesterday 3pm' or '2026-11-20 09:40'; by "
		   "default it is the newest round. Keys: t and T go to the next and previous round, [ and ] "
		   "a minute, @ asks for a time, n and N go to marks, { and } to the ends, Space plays, b "
		   "counts from this moment on, D compares with another one, S saves it.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct replay_options),
	.set_defaults = set_defaults,
	.list_operands = list_times,
	.maximum_operands = 1,
	.configure = configure,
	.run = replay_run,
};
