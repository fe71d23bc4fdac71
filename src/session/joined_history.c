/* SPDX-License-Identifier: GPL-2.0-only */
#include "joined_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	DECODED = 4, /* decoded rounds to cache: references shared with the two histories */
};

/* `day` in rounds of the screen, so that they come after those of every file. */
#define OWN_DAY UINT32_MAX

struct joined {
	struct history history;
	struct history *own;
	char **directories;
	size_t directory_count;
	struct history *recorded; /* the recorder's history; NULL: not needed yet, or unreadable */
	bool knows_host;
	char *boot_id, *hostname; /* of the running host, set with `knows_host`; "": the snapshot has none */
};

static struct joined *joined_of(const struct history *history)
{
	return (struct joined *)(uintptr_t)history;
}

/* --- both histories --- */

static bool is_own(const struct history_round *round)
{
	return round->day == OWN_DAY;
}

/* Marks a round of the screen for callers: sets its day to OWN_DAY. */
static struct history_round own_outside(struct history_round round)
{
	round.day = OWN_DAY;
	return round;
}

/* Undoes own_outside(), for calls into the history that has the round. */
static struct history_round inside(const struct history_round *round)
{
	struct history_round result = *round;

	if (is_own(round))
		result.day = 0; /* rounds in memory have this day */
	return result;
}

static struct history *history_of(const struct joined *joined, const struct history_round *round)
{
	return is_own(round) ? joined->own : joined->recorded;
}

/* Finds the oldest round of the screen. Returns false if the screen has no rounds yet. */
static bool find_first_own(const struct joined *joined, struct history_round *ret_round)
{
	struct error ignored;

	if (history_first(joined->own, ret_round, &ignored) < 0)
		return false;
	*ret_round = own_outside(*ret_round);
	return true;
}

/* Copies a text, "" for NULL. The caller frees the copy. */
static char *known(const char *text)
{
	return memory_duplicate(text != NULL ? text : "");
}

/* Reads boot id and host name from the oldest round of the screen. Returns false if none can be read yet. */
static bool learn_host(struct joined *joined)
{
	struct history_round first;
	struct snapshot *snapshot;
	struct error ignored;

	if (joined->knows_host)
		return true;
	if (history_first(joined->own, &first, &ignored) < 0 ||
	    history_read(joined->own, &first, &snapshot, &ignored) < 0)
		return false;
	joined->boot_id = known(snapshot->provenance.boot_id);
	joined->hostname = known(snapshot->provenance.hostname);
	joined->knows_host = true;
	snapshot_release(snapshot);
	return true;
}

static bool is_this_start(struct joined *joined, const struct history_boot *boot)
{
	const char *boot_id = boot->texts[HISTORY_BOOT_ID];

	return *boot_id != '\0' && learn_host(joined) && strcmp(boot_id, joined->boot_id) == 0;
}

/* Whether this host may have recorded the history: several hosts may share a home directory. */
static bool is_of_host(struct joined *joined, const struct history_boot *boot)
{
	const char *hostname = boot->texts[HISTORY_BOOT_HOST];

	return *hostname == '\0' || !learn_host(joined) || *joined->hostname == '\0' ||
	       strcmp(hostname, joined->hostname) == 0 || is_this_start(joined, boot);
}

/* Whether `candidate` is of this host and has a round after `*newest_ns`. If so, `*newest_ns` becomes the
 * time of its newest round. */
static bool is_better(struct joined *joined, struct history *candidate, uint64_t *newest_ns)
{
	struct history_round last;
	struct error ignored;

	if (history_last(candidate, &last, &ignored) < 0 || last.unix_ns <= *newest_ns ||
	    !is_of_host(joined, history_boot(candidate, &last)))
		return false;
	*newest_ns = last.unix_ns;
	return true;
}

/* Returns the recorder's history, opening it if necessary; NULL if none can be read. */
static struct history *open_recorded(struct joined *joined)
{
	uint64_t newest_ns = 0;

	if (joined->recorded != NULL)
		return joined->recorded;
	for (size_t i = 0; i < joined->directory_count; i++) {
		struct history *candidate;
		struct error ignored;

		if (history_open(joined->directories[i], &candidate, &ignored) < 0)
			continue;
		if (is_better(joined, candidate, &newest_ns)) {
			history_close(joined->recorded);
			joined->recorded = candidate;
		} else {
			history_close(candidate);
		}
	}
	return joined->recorded;
}

/* --- finding rounds --- */

/* As history_functions.find_side(), but only among the recorder's rounds before the screen's first one. */
static int find_recorded(struct joined *joined, uint64_t unix_ns, bool before,
			 struct history_round *ret_round, struct error *error)
{
	struct history_round first, found;
	const bool has_own = find_first_own(joined, &first);
	struct history *recorded;
	int result;

	if (has_own && unix_ns >= first.unix_ns) {
		if (!before)
			return 0;
		unix_ns = first.unix_ns - 1;
	}
	recorded = open_recorded(joined);
	if (recorded == NULL)
		return 0;
	result = recorded->functions->find_side(recorded, unix_ns, before, &found, error);
	/* the recorder keeps recording while the screen has rounds of its own */
	if (result == 1 && has_own && found.unix_ns >= first.unix_ns)
		return 0;
	if (result == 1)
		*ret_round = found;
	return result;
}

static int find_own_side(struct joined *joined, uint64_t unix_ns, bool before,
			 struct history_round *ret_round, struct error *error)
{
	const int result = joined->own->functions->find_side(joined->own, unix_ns, before, ret_round, error);

	if (result == 1)
		*ret_round = own_outside(*ret_round);
	return result;
}

static int find_side(struct history *history, uint64_t unix_ns, bool before, struct history_round *ret_round,
		     struct error *error)
{
	struct joined *joined = joined_of(history);
	int result;

	if (before) {
		result = find_own_side(joined, unix_ns, true, ret_round, error);
		return result != 0 ? result : find_recorded(joined, unix_ns, true, ret_round, error);
	}
	result = find_recorded(joined, unix_ns, false, ret_round, error);
	return result != 0 ? result : find_own_side(joined, unix_ns, false, ret_round, error);
}

static int find_end(struct history *history, bool newest, struct history_round *ret_round,
		    struct error *error)
{
	struct joined *joined = joined_of(history);
	int result;

	if (!newest && find_recorded(joined, 0, false, ret_round, error) == 1)
		return 0;
	result = joined->own->functions->find_end(joined->own, newest, ret_round, error);
	if (result == 0)
		*ret_round = own_outside(*ret_round);
	return result;
}

/* Finds the neighbour of a round of the screen, which may be a round of the recorder. */
static int find_next_own(struct joined *joined, const struct history_round *from, bool forward,
			 struct history_round *ret_round, struct error *error)
{
	const struct history_round inner = inside(from);
	struct history_round found;
	int result = joined->own->functions->find_next(joined->own, &inner, forward, &found, error);

	/* `from` is the oldest round, or was dropped, and `found` is the oldest now */
	if (!forward && (result == 0 || (result == 1 && found.id >= inner.id))) {
		const int older = find_recorded(joined, from->unix_ns - (from->unix_ns != 0), true, ret_round,
						error);

		if (older != 0)
			return older;
	}
	if (result == 1)
		*ret_round = own_outside(found);
	return result;
}

static int find_next(struct history *history, const struct history_round *from, bool forward,
		     struct history_round *ret_round, struct error *error)
{
	struct joined *joined = joined_of(history);
	const struct history_round start = *from; /* a copy: `from` and `ret_round` may be the same */
	struct history_round first;
	int result;

	if (is_own(&start))
		return find_next_own(joined, &start, forward, ret_round, error);
	result = joined->recorded->functions->find_next(joined->recorded, &start, forward, ret_round, error);
	if (forward && result >= 0 && find_first_own(joined, &first) &&
	    (result == 0 || ret_round->unix_ns >= first.unix_ns)) {
		*ret_round = first;
		return 1;
	}
	return result;
}

static int append_range(struct history *part, uint64_t from_unix_ns, uint64_t to_unix_ns, bool is_own_part,
			struct history_round **rounds, size_t *count, struct error *error)
{
	struct history_round *more;
	size_t more_count;
	const int result = history_range(part, from_unix_ns, to_unix_ns, &more, &more_count, error);

	if (result < 0)
		return result;
	*rounds = memory_resize(*rounds, *count + more_count + 1, sizeof(**rounds));
	for (size_t i = 0; i < more_count; i++)
		(*rounds)[(*count)++] = is_own_part ? own_outside(more[i]) : more[i];
	free(more);
	return 0;
}

static int range(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	struct joined *joined = joined_of(history);
	struct history_round first;
	const bool has_own = find_first_own(joined, &first);
	struct history *recorded = NULL;
	int result = 0;

	*ret_rounds = NULL;
	*ret_count = 0;
	if (!has_own || from_unix_ns < first.unix_ns)
		recorded = open_recorded(joined);
	if (recorded != NULL)
		result = append_range(recorded, from_unix_ns,
				      has_own && to_unix_ns >= first.unix_ns ? first.unix_ns - 1 : to_unix_ns,
				      false, ret_rounds, ret_count, error);
	if (result == 0)
		result = append_range(joined->own, from_unix_ns, to_unix_ns, true, ret_rounds, ret_count,
				      error);
	if (result < 0) {
		free(*ret_rounds);
		*ret_rounds = NULL;
		*ret_count = 0;
	}
	return result;
}

static bool adjoins(const struct history *history, const struct history_round *before,
		    const struct history_round *after)
{
	const struct history_round inner_before = inside(before), inner_after = inside(after);

	return is_own(before) == is_own(after) &&
	       history_adjoins(history_of(joined_of(history), before), &inner_before, &inner_after);
}

/* --- reading them --- */

static int decode(struct history *history, const struct history_round *round, struct error *error)
{
	struct history *part = history_of(joined_of(history), round);
	const struct history_round inner = inside(round);
	struct snapshot *snapshot;
	int result;

	/* a lost base is asked for as a zeroed round, which is in neither history */
	if (part == NULL)
		return error_set(error, -ENOENT, "that round is no longer kept");
	result = history_read(part, &inner, &snapshot, error);
	if (result == 0)
		history_keep_decoded(history, round->day, round->id, 0, snapshot);
	return result;
}

static int read_gone(struct history *history, const struct history_round *round, struct snapshot **ret_gone,
		     double *ret_left_ns, struct error *error)
{
	const struct history_round inner = inside(round);

	return history_read_gone(history_of(joined_of(history), round), &inner, ret_gone, ret_left_ns, error);
}

static int read_marks(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		      struct history_marks *ret_marks, struct error *error)
{
	struct joined *joined = joined_of(history);
	struct history *recorded = open_recorded(joined);

	/* a history in memory has no marks */
	if (recorded == NULL)
		recorded = joined->own;
	return history_marks_read(recorded, from_unix_ns, to_unix_ns, ret_marks, error);
}

static bool is_one_start(const struct history *history, const struct history_round *a,
			 const struct history_round *b)
{
	struct joined *joined = joined_of(history);
	const struct history_round *recorded = is_own(a) ? b : a;

	if (is_own(a) && is_own(b))
		return true;
	if (!is_own(a) && !is_own(b))
		return history_is_one_start(joined->recorded, a, b);
	return is_this_start(joined, history_boot(joined->recorded, recorded));
}

static const char *directory_of(const struct history *history, const struct history_round *round)
{
	return history_of(joined_of(history), round)->directory;
}

static void forget_parts(struct history *history)
{
	struct joined *joined = joined_of(history);

	history_forget_decoded(joined->own);
	if (joined->recorded != NULL)
		history_forget_decoded(joined->recorded);
}

/* --- the history --- */

static const struct history_functions functions = {
	.find_end = find_end,
	.find_side = find_side,
	.find_next = find_next,
	.adjoins = adjoins,
	.range = range,
	.decode = decode,
	.read_gone = read_gone,
	.read_marks = read_marks,
	.is_one_start = is_one_start,
	.directory_of = directory_of,
	.forget_parts = forget_parts,
};

struct history *joined_history_create(struct history *own, const char *const directories[], size_t count)
{
	struct joined *joined = memory_allocate_zero(1, sizeof(*joined));

	joined->history.functions = &functions;
	joined->history.decoded_max = DECODED;
	joined->own = own;
	joined->directories = memory_allocate_zero(count + 1, sizeof(*joined->directories));
	for (size_t i = 0; i < count; i++)
		joined->directories[joined->directory_count++] = memory_duplicate(directories[i]);
	return &joined->history;
}

void joined_history_release(struct history *history)
{
	struct joined *joined = joined_of(history);

	if (joined == NULL)
		return;
	history_forget_decoded(history);
	history_close(joined->recorded);
	for (size_t i = 0; i < joined->directory_count; i++)
		free(joined->directories[i]);
	free(joined->directories);
	free(joined->boot_id);
	free(joined->hostname);
	free(joined);
}
