/* SPDX-License-Identifier: GPL-2.0-only */
/* The pools of a round as parts of those of another and what is new. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "round.h"

/* --- strings and CPU sets --- */

/* Whether entry `id` of a pool is entry `old` of another. Hashes are those of this process. */
static bool is_same_text(const struct string_pool *pool, size_t id, const struct string_pool *other,
			 size_t old)
{
	const struct string_pool_entry *a = &pool->entries[id], *b = &other->entries[old];

	return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool has_escape(const char *text, size_t length)
{
	unsigned char byte;

	for (size_t i = 0; i < length; i++) {
		if (unicode_decode_escape(text + i, length - i, &byte) != 0 && byte >= 0x80)
			return true;
	}
	return false;
}

/* Interns a decoded text. A text that spells the escape of another name gets a new id. */
static uint32_t keep_text(struct string_pool *pool, const char *text, size_t length)
{
	const size_t count = pool->count;
	const uint32_t id = string_pool_intern(pool, text, length);

	return id != 0 && id < count && has_escape(text, length) ? string_pool_append(pool, text, length)
								 : id;
}

/*
 * Interns a text as recorded. Earlier versions neither escaped bytes outside valid UTF-8 nor marked names
 * that ctop made up.
 */
static uint32_t take_text(const struct round *round, struct string_pool *pool, const char *text,
			  size_t length)
{
	const struct name_text own = round->names_are_marked ? (struct name_text){0}
							     : name_find_own(text, length);
	struct buffer escaped = {0};
	uint32_t id;

	if (own.length != 0)
		return keep_text(pool, own.text, own.length);
	if (unicode_is_valid(text, length))
		return keep_text(pool, text, length);
	unicode_append_escaped(&escaped, text, length);
	id = keep_text(pool, escaped.data, escaped.length);
	buffer_release(&escaped);
	return id;
}

/* A new text, which the pool gives the next id. */
static uint32_t code_new_text(struct round *round, struct string_pool *pool, size_t id)
{
	struct coder *coder = &round->coder;
	size_t length = coder->decoding ? 0 : pool->entries[id].length;
	const char *text = coder_text(coder, &round->streams[STREAM_LENGTH],
				      coder->decoding ? NULL : pool->entries[id].text, &length);

	return coder->decoding ? take_text(round, pool, text, length) : (uint32_t)id;
}

/* The same of a set, which is an array in the order of bytes of this machine. */
static uint32_t code_new_cpu_set(struct round *round, struct string_pool *pool, size_t id)
{
	struct coder *coder = &round->coder;
	const uint32_t *cpus = coder->decoding ? NULL : cpu_set_cpus(pool, (uint32_t)id);
	const size_t count = coder_count(coder, &round->streams[STREAM_COUNT],
					 coder->decoding ? 0 : cpu_set_count(pool, (uint32_t)id));
	uint32_t *decoded = coder->decoding ? memory_allocate((count + 1) * sizeof(*decoded)) : NULL;
	uint64_t last = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		last = coder_residual(coder, &round->streams[STREAM_CPU_SET], cpus != NULL ? cpus[i] : 0,
				      last + 1);
		if (decoded != NULL)
			decoded[i] = coder_below(coder, last, (uint64_t)UINT32_MAX + 1);
	}
	if (decoded != NULL)
		id = cpu_set_intern(pool, decoded, count);
	free(decoded);
	return (uint32_t)id;
}

typedef uint32_t code_new(struct round *round, struct string_pool *pool, size_t id);

/*
 * The other pool that texts come from, in two runs: names of threads that were read anew come before those
 * that were carried over, and the next round reads other ones. With one run a round from procfs takes a
 * quarter more.
 */
struct source_runs {
	const struct string_pool *pool; /* NULL: no other pool */
	uint32_t *map;
	size_t next[2];
};

/* The first id from `id` on that has not been taken yet. */
static size_t skip_taken(const struct source_runs *runs, size_t id)
{
	while (id < runs->pool->count && runs->map[id] != UINT32_MAX)
		id++;
	return id;
}

/* The run that goes on with this text; 2 for none. */
static unsigned int find_run(const struct source_runs *runs, const struct string_pool *pool, size_t id)
{
	for (unsigned int run = 0; run < 2; run++) {
		if (runs->next[run] < runs->pool->count &&
		    is_same_text(pool, id, runs->pool, runs->next[run]))
			return run;
	}
	return 2;
}

/* The id in the other pool, UINT32_MAX for a text that it does not have. */
static uint32_t code_source(struct round *round, const struct string_pool *pool, size_t id,
			    struct source_runs *runs)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_NAMES];
	const size_t first = runs->next[0];
	const unsigned int run = coder->decoding ? 0 : find_run(runs, pool, id);
	uint32_t old = UINT32_MAX;

	if (first < runs->pool->count && !coder_bit(coder, stream, run != 0))
		return (uint32_t)first;
	if (runs->next[1] < runs->pool->count && !coder_bit(coder, stream, run != 1)) {
		old = (uint32_t)runs->next[1];
		runs->next[1] = first;
		return old;
	}
	if (!coder->decoding)
		old = string_pool_find(runs->pool, pool->entries[id].text, pool->entries[id].length);
	if (!coder_bit(coder, stream, old != UINT32_MAX))
		return UINT32_MAX;
	runs->next[1] = first;
	return coder_below(coder, coder_residual(coder, stream, old, first), runs->pool->count);
}

static void code_entry(struct round *round, struct string_pool *pool, size_t id, struct source_runs *runs,
		       code_new *new)
{
	const uint32_t old = runs->pool != NULL ? code_source(round, pool, id, runs) : UINT32_MAX;
	uint32_t coded = (uint32_t)id;

	if (old != UINT32_MAX && old != 0) {
		runs->map[old] = (uint32_t)id;
		runs->next[0] = skip_taken(runs, (size_t)old + 1);
		runs->next[1] = skip_taken(runs, runs->next[1]);
		if (round->coder.decoding)
			coded = keep_text(pool, runs->pool->entries[old].text,
					  runs->pool->entries[old].length);
	} else {
		coder_take(&round->coder, 1);
		coded = new (round, pool, id);
	}
	if (coded != id)
		coder_fail(&round->coder);
}

/* Encodes the entries of the other pool as those that follow each other in both; the next one is new. */
static void code_kept(struct round *round, struct source_runs *runs)
{
	const size_t count = runs->pool->count;

	coder_zeros(&round->streams[STREAM_NAMES], count - 1);
	for (uint32_t id = 1; id < count; id++)
		runs->map[id] = id;
	runs->next[0] = runs->next[1] = count;
}

/* Codes a pool; the result is the map of the other pool's ids, which the caller frees. With `is_kept` these
 * ids stand for the same in both. */
static uint32_t *code_pool(struct round *round, struct string_pool *pool, const struct string_pool *other,
			   bool is_kept, code_new *new)
{
	struct coder *coder = &round->coder;
	const size_t old_count = other != NULL ? other->count : 0;
	uint32_t *map = memory_allocate((old_count + 1) * sizeof(*map));
	struct source_runs runs = {other, map, {1, old_count}};
	size_t count;

	memset(map, 0xff, (old_count + 1) * sizeof(*map));
	map[0] = 0;
	count = coder_count_beside(coder, &round->streams[STREAM_COUNT], pool->count, old_count);
	if (is_kept)
		code_kept(round, &runs);
	for (size_t id = is_kept ? old_count : 1; id < count && !coder->failed; id++)
		code_entry(round, pool, id, &runs, new);
	return map;
}

/* --- triples --- */

static bool triples_are_equal(const struct triple *a, const struct triple *b)
{
	return a->pcomm == b->pcomm && a->comm == b->comm && a->cgroup == b->cgroup;
}

/* A triple of `against` with the ids of `now`. */
static bool translate(const struct round *round, size_t old, struct triple *ret_triple)
{
	const struct triple *triple = &round->against->triples[old];

	*ret_triple = (struct triple){round->string_of[triple->pcomm], round->string_of[triple->comm],
				      round->string_of[triple->cgroup]};
	return ret_triple->pcomm != UINT32_MAX && ret_triple->comm != UINT32_MAX &&
	       ret_triple->cgroup != UINT32_MAX;
}

enum {
	TRIPLES_AHEAD = 256 /* search range for a triple that does not follow the last one */
};

/* Finds the triple in `against`, at or after `next`; UINT32_MAX: not there. */
static uint32_t find_ahead(const struct round *round, const struct triple *triple, size_t next)
{
	struct triple old;

	for (size_t i = next; i < round->against->triple_count && i < next + TRIPLES_AHEAD; i++) {
		if (translate(round, i, &old) && triples_are_equal(&old, triple))
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

static uint32_t code_part(struct round *round, unsigned int part, uint32_t id, uint32_t expected)
{
	const uint64_t number = coder_residual(&round->coder, &round->streams[STREAM_TRIPLES + part], id,
					       expected);

	return number == 0 ? 0 : coder_below(&round->coder, number, round->now->strings.count);
}

static struct triple code_new_triple(struct round *round, const struct triple *triple,
				     const struct triple *last, uint32_t *highest)
{
	struct triple result = {code_part(round, 0, triple->pcomm, last->pcomm),
				code_part(round, 1, triple->comm, *highest + 1),
				code_part(round, 2, triple->cgroup, last->cgroup)};

	if (result.comm > *highest)
		*highest = result.comm;
	return result;
}

static void code_triple(struct round *round, size_t id, struct triple *triple, const struct triple *last,
			size_t *next, uint32_t *highest)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_TRIPLES];
	const size_t old_count = round->against != NULL ? round->against->triple_count : 0;
	uint32_t old = coder->decoding || round->against == NULL ? UINT32_MAX
								 : find_ahead(round, triple, *next);
	struct triple result;

	if (*next < old_count && !coder_bit(coder, stream, old == UINT32_MAX)) {
		old = coder_below(coder, coder_residual(coder, stream, old, *next), old_count);
		if (translate(round, old, &result) && round->triple_of[old] == UINT32_MAX) {
			round->triple_of[old] = (uint32_t)id;
			*next = (size_t)old + 1;
		} else {
			coder_fail(coder);
			result = (struct triple){0};
		}
	} else {
		coder_take(coder, 1);
		result = code_new_triple(round, triple, last, highest);
	}
	if (coder->decoding)
		*triple = result;
}

static void code_triples(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	const size_t old_count = round->against != NULL ? round->against->triple_count : 0;
	const struct triple none = {0};
	size_t next = 0,
	       count = coder_count_beside(coder, &round->streams[STREAM_COUNT], now->triple_count, old_count);
	uint32_t highest = 0;

	round->triple_of = memory_allocate((old_count + 1) * sizeof(*round->triple_of));
	memset(round->triple_of, 0xff, (old_count + 1) * sizeof(*round->triple_of));
	if (round->keeps_names) {
		/* each is there, and the next one */
		coder_zeros(&round->streams[STREAM_TRIPLES], 2 * old_count);
		for (; next < old_count; next++)
			round->triple_of[next] = (uint32_t)next;
	}
	if (coder->decoding) {
		now->triples = memory_allocate_zero(count + 1, sizeof(*now->triples));
		now->triple_capacity = count + 1;
		now->triple_count = count;
	}
	for (size_t id = next; id < count && !coder->failed; id++)
		code_triple(round, id, &now->triples[id], id != 0 ? &now->triples[id - 1] : &none, &next,
			    &highest);
}

void round_code_other_names(struct round *round, struct snapshot *names)
{
	struct round other = *round;

	other.now = names;
	other.against = NULL;
	other.keeps_names = false;
	other.string_of = code_pool(&other, &names->strings, NULL, false, code_new_text);
	code_triples(&other);
	/* more names may come: then what is known of them must be true */
	for (size_t id = 0; other.coder.decoding && id < names->triple_count && !other.coder.failed; id++)
		other.coder.failed |= snapshot_intern_triple(names, names->triples[id]) != id;
	free(other.string_of);
	free(other.triple_of);
	round->coder = other.coder;
}

void round_code_names(struct round *round)
{
	const struct snapshot *now = round->now, *against = round->against;

	/* of two that name alike the later one has all names of the other */
	round->keeps_names = !round->coder.decoding && against != NULL && now->names_serial != 0 &&
			     now->names_serial == against->names_serial && against->strings.count != 0 &&
			     now->strings.count >= against->strings.count &&
			     now->triple_count >= against->triple_count;
	round->string_of = code_pool(round, &round->now->strings, against != NULL ? &against->strings : NULL,
				     round->keeps_names, code_new_text);
	round->cpu_set_of = code_pool(round, &round->now->cpu_sets,
				      against != NULL ? &against->cpu_sets : NULL, false, code_new_cpu_set);
	code_triples(round);
}
