/* SPDX-License-Identifier: GPL-2.0-only */
#include "chooser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "pager.h"
#include "ui/terminal/draw.h"

enum {
	WIDTH_MAX = 84, /* cells of the box */
	TITLE_X = 2,
	TITLE_CELLS = 9,
	TITLE_CELLS_MAX = 16,
	LINES_MIN = 3, /* choices in sight however long the description of the marked one is */
};

/* How well a choice fits what was typed: the better, the smaller. */
enum fit {
	FIT_WHOLE,       /* it is the title or the name */
	FIT_BEGINNING,   /* one of them begins with it */
	FIT_PART,        /* one of them has it */
	FIT_DESCRIPTION, /* all that is said of it has it */
	FIT_NONE,
};

struct choice *choices_add(struct choices *choices)
{
	struct choice *choice = MEMORY_APPEND(choices->items, choices->count, choices->capacity);

	*choice = (struct choice){.id = 0};
	return choice;
}

void choices_clear(struct choices *choices)
{
	arena_release(&choices->arena);
	choices->count = choices->matching = 0;
}

void chooser_release(struct chooser *chooser)
{
	choices_clear(&chooser->choices);
	free(chooser->choices.items);
	*chooser = (struct chooser){0};
}

/* --- what matches --- */

static enum fit fit_of_name(const char *name, const char *text)
{
	if (name == NULL)
		return FIT_NONE;
	if (strcasecmp(name, text) == 0)
		return FIT_WHOLE;
	if (strncasecmp(name, text, strlen(text)) == 0)
		return FIT_BEGINNING;
	return strcasestr(name, text) != NULL ? FIT_PART : FIT_NONE;
}

/* Whether each word of a text is in the title, the name or the description. */
static bool has_words(const struct choice *choice, const char *text)
{
	const char *const places[] = {choice->title, choice->name, choice->description};
	char word[CHOOSER_TYPED_MAX + 1];

	for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
		const size_t length = strcspn(text, " ");
		bool found = false;

		memcpy(word, text, length);
		word[length] = '\0';
		for (size_t i = 0; i < ARRAY_COUNT(places); i++)
			found = found || (places[i] != NULL && strcasestr(places[i], word) != NULL);
		if (!found)
			return false;
		text += length;
	}
	return true;
}

static enum fit fit_of(const struct choice *choice, const char *text, const struct chooser_words *words)
{
	const enum fit of_title = fit_of_name(choice->title, text), of_name = fit_of_name(choice->name, text);
	const enum fit best = of_title < of_name ? of_title : of_name;

	if (best != FIT_NONE)
		return best;
	if (words->by_words)
		return has_words(choice, text) ? FIT_DESCRIPTION : FIT_NONE;
	return strcasestr(choice->description, text) != NULL ? FIT_DESCRIPTION : FIT_NONE;
}

/* Moves the choices with that fit behind those that match already, in their order. */
static void take(struct choices *choices, const enum fit fit, const char *text,
		 const struct chooser_words *words)
{
	for (size_t i = choices->matching; i < choices->count; i++) {
		const struct choice choice = choices->items[i];
		struct choice *place = &choices->items[choices->matching];

		if (fit_of(&choice, text, words) != fit)
			continue;
		memmove(place + 1, place, (i - choices->matching) * sizeof(choice));
		*place = choice;
		choices->matching++;
	}
}

void chooser_narrow(struct chooser *chooser)
{
	struct choices *choices = &chooser->choices;

	choices->matching = *chooser->typed == '\0' ? choices->count : 0;
	if (*chooser->typed == '\0')
		return;
	for (enum fit fit = FIT_WHOLE; fit < FIT_NONE; fit++) {
		if (fit != FIT_DESCRIPTION || chooser->words->by_words || choices->matching == 0)
			take(choices, fit, chooser->typed, chooser->words);
	}
}

/* --- the mark --- */

void chooser_select(struct chooser *chooser, unsigned int id)
{
	chooser->menu = (struct menu){.page = chooser->menu.page};
	for (size_t i = 0; i < chooser->choices.count; i++) {
		if (chooser->choices.items[i].id == id)
			chooser->menu.choice = i;
	}
}

bool chooser_type(struct chooser *chooser, char character)
{
	const size_t length = strlen(chooser->typed);

	if (length == CHOOSER_TYPED_MAX || (length == 0 && character == ' '))
		return false;
	chooser->typed[length] = character;
	chooser->typed[length + 1] = '\0';
	return true;
}

bool chooser_untype(struct chooser *chooser)
{
	const size_t length = strlen(chooser->typed);

	if (length == 0)
		return false;
	chooser->typed[length - 1] = '\0';
	return true;
}

void chooser_mark(struct chooser *chooser)
{
	const struct choices *choices = &chooser->choices;
	const enum fit fit = choices->matching != 0
				     ? fit_of(&choices->items[0], chooser->typed, chooser->words)
				     : FIT_NONE;

	chooser->menu = (struct menu){
		.page = chooser->menu.page,
		.unmarked = fit == FIT_NONE || (fit == FIT_DESCRIPTION && !chooser->words->by_words),
	};
}

const struct choice *chooser_marked(const struct chooser *chooser)
{
	return !chooser->menu.unmarked && chooser->menu.choice < chooser->choices.matching
		       ? &chooser->choices.items[chooser->menu.choice]
		       : NULL;
}

/* --- drawing --- */

struct layout {
	const struct choices *choices;
	int text_x; /* of descriptions */
};

static void draw_choice(const void *context, size_t line, int y, int width, bool marked)
{
	const struct layout *layout = context;
	const struct choice *choice = &layout->choices->items[line];
	const enum style style = marked ? STYLE_SELECTED : choice->unavailable ? STYLE_DIM : STYLE_NORMAL;

	draw_string(y, TITLE_X, layout->text_x - TITLE_X - 1, style == STYLE_NORMAL ? STYLE_KEY : style,
		    choice->title);
	/* the whole stands below */
	draw_clauses(y, layout->text_x, width - layout->text_x - 2, style, choice->description);
}

/* Rows below the list for a description that is cut in it. */
static int text_rows(const struct choice *choice, int width, int text_x, struct pager *pager)
{
	const size_t length = strlen(choice->description);

	pager_clear(pager);
	if (draw_width(choice->description, length) <= width - text_x - 2)
		return 0;
	pager_add_lines(pager, STYLE_NORMAL, choice->description, length);
	return (int)pager_rows(pager, width - 4);
}

int chooser_draw(struct chooser *chooser, int y, int height, int width)
{
	const struct choices *choices = &chooser->choices;
	char *title = *chooser->typed != '\0' ? memory_format("%s: %s", chooser->words->title, chooser->typed)
					      : memory_format("%s (type to narrow)", chooser->words->title);
	const struct choice *marked = chooser_marked(chooser);
	struct layout layout = {choices, TITLE_CELLS};
	struct pager pager = {0};
	int foot = 0, most, row;

	width = width < WIDTH_MAX ? width : WIDTH_MAX;
	for (size_t i = 0; i < choices->count; i++) {
		const int cells = (int)strlen(choices->items[i].title);

		layout.text_x = cells > layout.text_x ? cells : layout.text_x;
	}
	layout.text_x = TITLE_X + 1 + (layout.text_x < TITLE_CELLS_MAX ? layout.text_x : TITLE_CELLS_MAX);
	/* room for the longest description, so that nothing moves with the mark */
	for (size_t i = 0; i < choices->matching; i++) {
		const int rows = text_rows(&choices->items[i], width, layout.text_x, &pager);

		foot = rows > foot ? rows : foot;
	}
	most = height - 2 - (choices->matching < LINES_MIN ? (int)choices->matching : LINES_MIN);
	foot = foot < most ? foot : most > 0 ? most : 0;
	row = menu_draw(&chooser->menu, choices->matching,
			&(struct menu_style){
				.y = y,
				.height = height,
				.width = width,
				.title = title,
				.room = choices->count,
				.foot = foot,
				.draw_line = draw_choice,
				.context = &layout,
			});
	if (foot != 0 && marked != NULL && text_rows(marked, width, layout.text_x, &pager) != 0)
		pager_draw(&pager, row + (int)(chooser->menu.top + chooser->menu.page - chooser->menu.choice),
			   TITLE_X, foot, width - 4);
	pager_release(&pager);
	free(title);
	return row;
}
