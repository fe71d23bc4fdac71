/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of who delays whom, and of who wakes whom: pairs of groups. */
#include "screen.h"

#include "base/humanize.h"

void screen_blame_open(struct ui *ui)
{
	if (ui->comparison != NULL) {
		screen_message(ui, STYLE_MESSAGE,
			       "the screen compares no pairs: D leaves; see ctop diff A B --sections blame");
		return;
	}
	screen_open_page(ui, PLACE_BLAME);
	screen_blame_refresh(ui);
}

void screen_blame_refresh(struct ui *ui)
{
	struct blame_page *page = &ui->blame;
	struct table *table;

	if (ui->page != PLACE_BLAME)
		return;
	table = session_blame_table(ui->session, &ui->view, page->relation, page->order, ui->page_row.key,
				    ui->page_row.key_length, &page->missing);
	if (table != NULL)
		page->named = session_blame_named(ui->session, &ui->view);
	list_set_table(&ui->page_list, table);
	table_release(ui->page_table);
	ui->page_table = table;
	/* a cursor that was not moved stays on the largest */
	if (!ui->page_list.moved)
		list_show_top(&ui->page_list);
}

void screen_blame_relation(struct ui *ui)
{
	struct blame_page *page = &ui->blame;

	page->relation = page->relation == BLAME_DELAYED_BY ? BLAME_WOKEN_BY : BLAME_DELAYED_BY;
	if (page->order == SESSION_PAIRS_WAITS)
		page->order = SESSION_PAIRS_SIZE;
	list_reset(&ui->page_list);
	screen_blame_refresh(ui);
}

void screen_blame_order(struct ui *ui)
{
	struct blame_page *page = &ui->blame;
	const int count = page->relation == BLAME_DELAYED_BY ? SESSION_PAIRS_COUNT : SESSION_PAIRS_WAITS;

	page->order = (enum session_pairs)(((int)page->order + 1) % count);
	screen_blame_refresh(ui);
}

void screen_blame_choose(struct ui *ui)
{
	const struct table_row *pair = list_row(&ui->page_list);
	size_t row;

	if (pair == NULL) {
		screen_close_page(ui);
		return;
	}
	row = ui->view.level == VIEW_LEVEL_GROUPS && session_blame_axis(&ui->view) == ui->view.grouping.axis
		      ? list_find(&ui->list, pair->key + pair->key_name, pair->key_length - pair->key_name)
		      : SIZE_MAX;
	if (row == SIZE_MAX) {
		screen_message(ui, STYLE_MESSAGE,
			       "%.*s has no row in the list: Esc closes this page, g groups",
			       (int)pair->label_length, pair->label);
		return;
	}
	screen_close_page(ui);
	list_select_row(&ui->list, row);
	navigate_open(ui);
}

static const char why_off[] =
	"Not measured. l starts it: a BPF program notes at each wakeup and switch who "
	"runs while others wait for a CPU.\n"
	"It costs about 0.11 to 0.4 % of a CPU where there are 10,000 wakeups and switches a "
	"second; the header shows how much. It "
	"takes root (or CAP_BPF and CAP_PERFMON).\n";

/* Why there are no pairs, in lines. */
static void append_why_none(const struct ui *ui, struct buffer *lines)
{
	const struct blame_page *page = &ui->blame;
	const bool can_start = ui->host->has_latency && !ui->past.open && !ui->settings.latency;

	if (session_now(ui->session) == NULL)
		buffer_append_text(lines, "The first round is being read.\n");
	else if (page->missing == REASON_READ)
		buffer_append_text(lines, page->relation == BLAME_DELAYED_BY
						  ? "No wait for a CPU ended in this time.\n"
						  : "Nobody was woken in this time.\n");
	else if (can_start)
		buffer_append_text(lines, why_off);
	else if (ui->settings.latency && screen_is_of_now(ui) && page->missing == REASON_SWITCHED_OFF)
		buffer_append_text(lines, "Measuring has begun: the next round has the first numbers.\n");
	else
		buffer_append_format(lines, "Unavailable: %s (e: why).\n", reason_words(page->missing));
}

/* "Who delays whom, by process   99.2% of the waiting has a name   the first 1,000 of 2,345 pairs" */
static void draw_title(const struct ui *ui, struct area area)
{
	const struct blame_page *page = &ui->blame;
	struct buffer title = {0};
	char shown[28], total[28];

	buffer_append_format(&title, "Who %s whom, by %s",
			     page->relation == BLAME_DELAYED_BY ? "delays" : "wakes",
			     axes[session_blame_axis(&ui->view)].word);
	if (page->order != SESSION_PAIRS_SIZE)
		buffer_append_format(&title, ", sorted by %s",
				     page->order == SESSION_PAIRS_SHARE ? "SHARE%" : "WAITS/s");
	if (ui->page_table != NULL && ui->page_table->row_count != 0 && page->relation == BLAME_DELAYED_BY)
		buffer_append_format(&title, "   %.1f%% of the waiting has a name", page->named);
	if (ui->page_table != NULL && ui->page_table->row_total > ui->page_table->row_count)
		buffer_append_format(&title, "   the first %s of %s pairs",
				     humanize_digits(ui->page_table->row_count, shown),
				     humanize_digits(ui->page_table->row_total, total));
	draw_text(area.y, 0, area.width, STYLE_STRONG, title.data, title.length);
	buffer_release(&title);
}

int screen_blame_draw(struct ui *ui, struct area area)
{
	struct blame_page *page = &ui->blame;
	struct pager pager = {0};
	struct buffer lines = {0};

	draw_title(ui, area);
	area.y++;
	area.height--;
	if (ui->page_table == NULL || ui->page_table->row_count == 0) {
		append_why_none(ui, &lines);
		pager_add_lines(&pager, STYLE_NORMAL, lines.data, lines.length);
		pager_draw(&pager, area.y, 1, area.height, area.width - 2);
		pager_release(&pager);
		buffer_release(&lines);
		return area.y;
	}
	return list_draw(&ui->page_list,
			 &(struct list_style){
				 .y = area.y,
				 .height = area.height,
				 .width = area.width,
				 .name_title = page->relation == BLAME_DELAYED_BY ? "VICTIM" : "WOKEN",
				 .unsorted = true,
			 });
}
