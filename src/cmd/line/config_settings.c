/* SPDX-License-Identifier: GPL-2.0-only */
#include "config_settings.h"

#include <errno.h>

#include "base/memory.h"

void config_settings_use(struct config_file *file, const struct option_table_use *uses, size_t use_count,
			 void *options, const struct option_set *given, bool has_all)
{
	struct error problem;

	for (size_t i = 0; i < file->config.count; i++) {
		const struct config_line *line = &file->config.lines[i];
		int result;

		if (line->kind == CONFIG_SECTION)
			break;
		if (line->kind != CONFIG_SETTING)
			continue;
		result = options_set(uses, use_count, options, given, line->name, line->value, &problem);
		if (result < 0 && (has_all || result != -ENOENT))
			config_file_problem(file, line->number, "%s", problem.text);
	}
}

/* Reports a text of the file that is not valid for the view and forgets it. */
static bool forget_text(struct config_file *file, const char **text, const struct error *error)
{
	const size_t line = config_file_line(file, *text);

	if (line == 0)
		return false;
	config_file_problem(file, line, "%s", error->text);
	*text = NULL;
	return true;
}

int config_settings_make_view(struct config_file *file, struct screen_options *screen,
			      struct view_options *view_options, enum axis axis,
			      enum column columns[SCREEN_COLUMNS_MAX], struct view *view, struct error *error)
{
	const char **const texts[] = {&screen->tab, &view_options->sort_by, &view_options->columns,
				      &screen->filter};

	/* one by one, since only the line is told to the user */
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct screen_options alone = {.mode = screen->mode};
		struct view_options view_alone = {.axis = view_options->axis};
		const char **const own[] = {&alone.tab, &view_alone.sort_by, &view_alone.columns,
					    &alone.filter};
		int result;

		*own[i] = *texts[i];
		result = screen_options_make_view(&alone, &view_alone, axis, columns, view, error);
		view_release(view);
		if (result < 0 && !forget_text(file, texts[i], error))
			return result;
	}
	return screen_options_make_view(screen, view_options, axis, columns, view, error);
}
