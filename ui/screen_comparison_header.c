/* SPDX-License-Identifier: GPL-2.0-only */
/* Above the rows of a comparison: both sides, how they are related, and what speaks against it. */
#include "screen.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/unicode.h"

enum {
	SIDE_CELLS = 8, /* "before" and two blanks */
	NAME_CELLS_MIN = 12,
	ARROW_CELLS = 4,
	STATE_CELLS_MAX = 28, /* "every 0.5s  change by thread" */
	TIME_BYTES = 32,
	FULL_LINES = 3, /* both sides and how they are related */
};

const char *screen_comparison_side_name(const struct ui *ui, enum diff_side side)
{
	bool of_before = (side == DIFF_BEFORE) != compare_is_swapped(ui->comparison);
	const char *path = of_before ? ui->before_name : ui->options->file_name;

	return path != NULL ? screen_file_name(path) : "now";
}

static bool format_time(char text[static TIME_BYTES], const char *format, const struct snapshot *snapshot)
{
	return snapshot->captured_at_unix_ns != 0 &&
	       clock_format_local(text, TIME_BYTES, format, snapshot->captured_at_unix_ns);
}

static bool is_one_day(const struct comparison *comparison)
{
	char before[TIME_BYTES], after[TIME_BYTES];

	return format_time(before, "%F", compare_side(comparison, DIFF_BEFORE)) &&
	       format_time(after, "%F", compare_side(comparison, DIFF_AFTER)) && strcmp(before, after) == 0;
}

static void append_facts(const struct ui *ui, const struct snapshot *snapshot, struct buffer *text)
{
	const char *format = is_one_day(ui->comparison) ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S";
	char clock[TIME_BYTES], count[28];

	buffer_append_text(text, format_time(clock, format, snapshot) ? clock : "an unknown time");
	buffer_append_format(text, "  %s thread%s", number_group_digits(snapshot->thread_count, count),
			     snapshot->thread_count == 1 ? "" : "s");
	if (snapshot->provenance.hostname != NULL)
		buffer_append_format(text, "  %s", snapshot->provenance.hostname);
}

/* At the right of the first line: the interval, and whether changes are those of threads or of groups.
 * Returns the cells left of it. */
static int draw_state(const struct ui *ui, int y)
{
	const char *whose = compare_has_rates(ui->comparison)    ? "change of rates"
			    : compare_by_threads(ui->comparison) ? "change by thread"
								 : "change by group";
	int width = draw_screen_width(), x = width - (int)strlen(whose);
	char every[32];

	draw_string(y, x, (int)strlen(whose), STYLE_STRONG, whose);
	if (ui->host->change_settings == NULL)
		return x - 2;
	snprintf(every, sizeof(every), ui->settings.paused ? " PAUSED " : "every %gs",
		 (double)ui->settings.interval_ns / NS_PER_S);
	x -= (int)strlen(every) + 2;
	draw_string(y, x, (int)strlen(every), ui->settings.paused ? STYLE_MESSAGE : STYLE_NORMAL, every);
	return x - 2;
}

/* "before  NAME  14:02:10  1,284 threads  host": the name is cut where there is no room. */
static void draw_side(const struct ui *ui, enum diff_side side, int y, int width)
{
	const char *name = screen_comparison_side_name(ui, side);
	struct buffer facts = {0};
	int room, x = SIDE_CELLS;

	append_facts(ui, compare_side(ui->comparison, side), &facts);
	room = width - x - 2 - draw_width(facts.data, facts.length);
	if (room < NAME_CELLS_MIN)
		room = NAME_CELLS_MIN;
	draw_string(y, 0, SIDE_CELLS, STYLE_DIM, side == DIFF_BEFORE ? "before" : "after");
	x += draw_string(y, x, room, STYLE_STRONG, name) + 2;
	draw_text(y, x, width - x, STYLE_NORMAL, facts.data, facts.length);
	buffer_release(&facts);
}

/* Both names in one line, for a screen with few; whose changes these are only where there is room beside
 * them.
 */
static void draw_names(const struct ui *ui, int y)
{
	const char *before = screen_comparison_side_name(ui, DIFF_BEFORE);
	const char *after = screen_comparison_side_name(ui, DIFF_AFTER);
	int width = draw_screen_width(), x = draw_width(before, strlen(before));
	int room, after_cells = draw_width(after, strlen(after));

	if (x + ARROW_CELLS + after_cells + 2 + STATE_CELLS_MAX <= width)
		draw_state(ui, y);
	/* the longer name is cut first */
	room = width - ARROW_CELLS - after_cells;
	if (room < (width - ARROW_CELLS) / 2)
		room = (width - ARROW_CELLS) / 2;
	x = draw_string(y, 0, room, STYLE_STRONG, before);
	x += draw_string(y, x, ARROW_CELLS, STYLE_DIM, " -> ");
	draw_string(y, x, width - x, STYLE_STRONG, after);
}

/* "6.0s", "14m47s", "3h05m", "12d" */
static void append_distance(uint64_t distance_ns, struct buffer *text)
{
	uint64_t seconds = distance_ns / NS_PER_S;

	if (seconds < 120)
		screen_format_duration(text, (double)distance_ns);
	else if (seconds < 2 * 3600)
		buffer_append_format(text, "%um%02us", (unsigned int)(seconds / 60),
				     (unsigned int)(seconds % 60));
	else if (seconds < 48 * 3600)
		buffer_append_format(text, "%uh%02um", (unsigned int)(seconds / 3600),
				     (unsigned int)(seconds / 60 % 60));
	else
		buffer_append_format(text, "%llud", (unsigned long long)(seconds / (24 * 3600)));
}

/* By what the rows are sorted, where that is not a column's value: units are mixed then. */
static void draw_order(const struct ui *ui, int y, int used)
{
	static const char *const forms[] = {
		"rows by the change's part of all changes of its metric, times first",
		"by part of all changes of a metric",
		"by weight of change",
	};
	const int room = draw_screen_width() - used - 2;

	if (ui->view.sort_by_name || ui->view.compare_sort != COMPARE_COLUMN_CHANGE)
		return;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if ((int)strlen(forms[i]) <= room) {
			draw_right(y, 0, draw_screen_width(), STYLE_DIM, forms[i]);
			return;
		}
	}
}

/* How the sides are related. */
static void draw_relation(struct ui *ui, int y)
{
	static const char *const boots[] = {[COMPARE_BOOT_ONE] = "one boot",
					    [COMPARE_BOOT_OTHER] = "different boots",
					    [COMPARE_BOOT_UNKNOWN] = "boot not known"};
	uint64_t distance = compare_distance_ns(ui->comparison);
	struct diff_match_count threads;
	char same[28], came[28], gone[28];
	struct buffer text = {0};

	buffer_append_text(&text, boots[compare_boot(ui->comparison)]);
	if (distance != 0) {
		buffer_append_text(&text, ", ");
		append_distance(distance, &text);
		buffer_append_text(&text, " apart");
	}
	if (compare_count_threads(ui->comparison, &threads))
		buffer_append_format(&text, ": %s threads the same, %s came, %s gone",
				     number_group_digits(threads.same, same),
				     number_group_digits(threads.came, came),
				     number_group_digits(threads.went, gone));
	draw_text(y, 0, draw_screen_width(), STYLE_NORMAL, text.data, text.length);
	draw_order(ui, y, draw_width(text.data, text.length));
	buffer_release(&text);
}

/* How many doubts are warnings; `*ret_first` gets the first of them. */
static size_t count_warnings(struct ui *ui, const char **ret_first)
{
	const struct comparability *doubts = compare_doubts(ui->comparison);
	size_t count = 0;

	for (size_t i = 0; doubts != NULL && i < doubts->count; i++) {
		if (doubts->rows[i].severity == COMPARABILITY_WARNING && count++ == 0)
			*ret_first = doubts->rows[i].text;
	}
	return count;
}

/* How much of a sentence is shown in so many cells: all of it, or up to the last word that fits, which three
 * dots follow. */
static size_t whole_words(const char *text, int cells)
{
	const size_t length = strlen(text);
	size_t used;

	if (draw_width(text, length) <= cells)
		return length;
	used = unicode_prefix(text, length, cells - (int)strlen("..."), NULL);
	while (used != 0 && text[used] != ' ')
		used--;
	while (used != 0 && strchr(" ,;:", text[used - 1]) != NULL)
		used--;
	return used;
}

static void draw_warning(struct ui *ui, int y)
{
	const char *first = "";
	size_t count = count_warnings(ui, &first), length;
	int width = draw_screen_width(), cells, x = 2;
	char more[64];

	snprintf(more, sizeof(more), count > 1 ? "(e: all %zu)" : "(e: all of it)", count);
	cells = width - (int)strlen(more) - 1 - x;
	length = whole_words(first, cells);
	if (count <= 1 && length == strlen(first))
		snprintf(more, sizeof(more), "(e)");
	draw_string(y, 0, x, STYLE_WAIT, "!");
	x += draw_text(y, x, cells, STYLE_WAIT, first, length);
	if (length != strlen(first))
		draw_string(y, x, width - x, STYLE_WAIT, "...");
	draw_right(y, 0, width, STYLE_KEY, more);
}

int screen_comparison_header_draw(struct ui *ui, int lines)
{
	const char *first;
	bool doubtful = count_warnings(ui, &first) != 0;
	int y = 0;

	if (lines > FULL_LINES + doubtful)
		lines = FULL_LINES + doubtful;
	if (session_now(ui->session) == NULL) {
		draw_string(0, 0, draw_screen_width(), STYLE_DIM, "reading every thread for the first time");
		return lines;
	}
	if (lines == FULL_LINES + doubtful) {
		draw_side(ui, DIFF_BEFORE, y, draw_state(ui, y));
		y++;
		draw_side(ui, DIFF_AFTER, y++, draw_screen_width());
	} else {
		draw_names(ui, y++);
	}
	/* where there is room for one of the two lines only, the doubt */
	if (y < lines - doubtful)
		draw_relation(ui, y++);
	if (doubtful && y < lines)
		draw_warning(ui, y);
	return lines;
}
