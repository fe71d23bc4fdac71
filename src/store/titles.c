/* SPDX-License-Identifier: GPL-2.0-only */
/* Codes titles of processes. A title that the other round has, too, is coded as a reference to it. */
#include <string.h>

#include "base/unicode.h"
#include "round.h"

static bool is_same_title(const struct process_title *a, const struct process_title *b)
{
	return a->tgid == b->tgid && strcmp(a->text, b->text) == 0;
}

/* Returns the index of the same title in `against`, searching from `next` on; UINT32_MAX if it has none.
 * Titles ascend by process in both rounds. */
static uint32_t find_old(const struct provenance *against, const struct process_title *title, size_t next)
{
	while (next < against->title_count && against->titles[next].tgid < title->tgid)
		next++;
	return next < against->title_count && is_same_title(&against->titles[next], title) ? (uint32_t)next
											   : UINT32_MAX;
}

/* Codes a title that `against` lacks. `above` is the tgid of the title before it in the list. */
static struct process_title code_new_title(struct round *round, const struct process_title *title,
					   uint32_t above)
{
	struct coder *coder = &round->coder;
	size_t length = coder->decoding ? 0 : strlen(title->text);
	const uint64_t tgid = coder_residual(coder, &round->streams[STREAM_TITLES], title->tgid, above);
	const char *text = coder_text(coder, &round->streams[STREAM_TITLE_TEXTS], title->text, &length);

	if (!coder->decoding)
		return *title;
	if (memchr(text, '\0', length) != NULL || !unicode_is_valid(text, length))
		coder_fail(coder);
	return (struct process_title){coder_below(coder, tgid, (uint64_t)UINT32_MAX + 1),
				      arena_duplicate(&round->now->arena, text, length)};
}

static struct process_title copy_title(struct round *round, const struct process_title *old)
{
	return (struct process_title){old->tgid,
				      arena_duplicate(&round->now->arena, old->text, strlen(old->text))};
}

void round_code_titles(struct round *round)
{
	static const struct provenance none;
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_TITLES];
	struct provenance *now = &round->now->provenance;
	const struct provenance *against = round->against != NULL ? &round->against->provenance : &none;
	size_t count, next = 0;
	uint32_t above = 0;

	if (coder->decoding ? stream->next == stream->end : now->title_count == 0)
		return;
	count = coder_count_beside(coder, stream, now->title_count, against->title_count);
	if (coder->decoding)
		now->titles = arena_allocate_zero(&round->now->arena, count, sizeof(*now->titles));
	for (size_t i = 0; i < count && !coder->failed; i++) {
		const struct process_title nothing = {0},
					   *title = coder->decoding ? &nothing : &now->titles[i];
		const uint32_t found = coder->decoding ? UINT32_MAX : find_old(against, title, next);
		const uint32_t old = round_code_place(round, STREAM_TITLES, found, &next,
						      against->title_count);
		struct process_title coded;

		if (old == UINT32_MAX) {
			coder_take(coder, 1);
			coded = code_new_title(round, title, above);
		} else {
			coded = coder->decoding ? copy_title(round, &against->titles[old]) : *title;
		}
		above = coded.tgid;
		if (coder->decoding)
			now->titles[now->title_count++] = coded;
	}
}
