/* SPDX-License-Identifier: GPL-2.0-only */
#include "vocabulary.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metric/feature.h"
#include "metric/metric.h"
#include "metric/name.h"
#include "snapshot/ended_set.h"

enum {
	REMEMBERED_MAX = 64, /* versions of ctop whose recordings one process reads */
	WORD_MAX = 255,      /* bytes */
};

static uint32_t hash_text(uint32_t hash, const char *text)
{
	do
		hash = (hash ^ (uint8_t)*text) * 16777619U; /* FNV-1a */
	while (*text++ != '\0');
	return hash;
}

static char layout_word[WORD_MAX + 1]; /* set before anything is asked of it */

static uint32_t hash_object(uint32_t hash, const struct object *object)
{
	for (size_t i = 0; i < object->count; i++) {
		const struct member *member = &object->members[i];
		char facts[32];

		if ((member->flags & (MEMBER_OLDER | MEMBER_UNCODED)) != 0)
			continue;
		snprintf(facts, sizeof(facts), " %d %d %d", (int)member->type,
			 member->by == 0 ? member->count : 0, member->flags & MEMBER_BRIEF);
		hash = hash_text(hash_text(hash, member->name != NULL ? member->name : ""), facts);
		if (member->object != NULL)
			hash = hash_object(hash, member->object);
	}
	return hash;
}

/* The tables of members of rounds as one word, since no part of them can be left out. */
static void write_layout(void)
{
	static const struct object *const objects[] = {
		&snapshot_object,      &cgroup_object,      &latency_object,           &latency_group_object,
		&latency_delay_object, &task_fields_object, &task_field_member_object,
	};
	uint32_t hash = 0;

	for (size_t i = 0; i < ARRAY_COUNT(objects); i++)
		hash = hash_object(hash, objects[i]);
	snprintf(layout_word, sizeof(layout_word), "members %08x", hash);
}

/* --- words to numbers --- */

static uint16_t find_word(const char *const words[], size_t count, const char *word)
{
	const size_t found = name_find(words, count, sizeof(*words), word, strlen(word));

	return found < count ? (uint16_t)found : VOCABULARY_NONE;
}

/* Gives each reason an id until ids run out. Returns false if the first reason is not REASON_READ. */
static bool number_reasons(struct vocabulary *vocabulary)
{
	const char *const *words = vocabulary->words[VOCABULARY_REASON];
	uint16_t *own = vocabulary->own[VOCABULARY_REASON];

	for (size_t i = 0; i < vocabulary->count[VOCABULARY_REASON]; i++) {
		own[i] = reason_intern(words[i], strlen(words[i]));
		if (strcmp(reason_name(own[i]), words[i]) == 0)
			vocabulary->reason_of[own[i]] = (uint8_t)i;
		else
			vocabulary->lost_reasons = true;
	}
	return vocabulary->count[VOCABULARY_REASON] != 0 && own[0] == REASON_READ;
}

/* Makes one; `program` is that of this program, NULL while it is being made. */
static struct vocabulary *create(const char *const words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX],
				 const uint16_t counts[VOCABULARY_KINDS], const struct vocabulary *program)
{
	struct vocabulary *vocabulary = memory_allocate_zero(1, sizeof(*vocabulary));
	bool is_good = counts[VOCABULARY_METRIC] <= VOCABULARY_METRICS_MAX &&
		       counts[VOCABULARY_SOURCE] <= VOCABULARY_SOURCES_MAX;

	vocabulary->check = 2166136261U;
	for (size_t kind = 0; kind < VOCABULARY_KINDS; kind++) {
		vocabulary->count[kind] = counts[kind];
		for (size_t i = 0; i < counts[kind]; i++) {
			is_good = is_good &&
				  find_word(vocabulary->words[kind], i, words[kind][i]) == VOCABULARY_NONE;
			vocabulary->words[kind][i] = memory_duplicate(words[kind][i]);
			vocabulary->check = hash_text(vocabulary->check, words[kind][i]);
			vocabulary->own[kind][i] = program != NULL
							   ? find_word(program->words[kind],
								       program->count[kind], words[kind][i])
							   : (uint16_t)i;
		}
		vocabulary->check = hash_text(vocabulary->check, "");
	}
	if (is_good && number_reasons(vocabulary))
		return vocabulary;
	vocabulary_release(vocabulary);
	return NULL;
}

void vocabulary_release(struct vocabulary *vocabulary)
{
	if (vocabulary == NULL)
		return;
	for (size_t kind = 0; kind < VOCABULARY_KINDS; kind++) {
		for (size_t i = 0; i < vocabulary->count[kind]; i++)
			free((char *)(uintptr_t)vocabulary->words[kind][i]);
	}
	free(vocabulary);
}

/* --- the vocabulary of this program --- */

static struct vocabulary *own_vocabulary;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

_Static_assert((int)METRIC_COUNT <= (int)VOCABULARY_WORDS_MAX && REASON_COUNT <= UINT8_MAX,
	       "there is room for all words");

static void make_own(void)
{
	const char *words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX] = {{NULL}};
	const uint16_t counts[VOCABULARY_KINDS] = {METRIC_COUNT,  SOURCE_COUNT,  REASON_COUNT,
						   FEATURE_COUNT, ENDED_METRICS, 1};

	for (size_t i = 0; i < METRIC_COUNT; i++)
		words[VOCABULARY_METRIC][i] = metrics[i].name;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		words[VOCABULARY_SOURCE][i] = sources[i].name;
	for (size_t i = 0; i < REASON_COUNT; i++)
		words[VOCABULARY_REASON][i] = reason_name(i);
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		words[VOCABULARY_FEATURE][i] = features[i].name;
	for (size_t i = 0; i < ENDED_METRICS; i++)
		words[VOCABULARY_ENDED][i] = metrics[ended_metrics[i]].name;
	write_layout();
	words[VOCABULARY_LAYOUT][0] = layout_word;
	own_vocabulary = create(words, counts, NULL);
}

const struct vocabulary *vocabulary_own(void)
{
	pthread_once(&own_once, make_own);
	return own_vocabulary;
}

/* --- those of other versions --- */

struct vocabulary *vocabulary_create(const char *const words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX],
				     const uint16_t counts[VOCABULARY_KINDS])
{
	return create(words, counts, vocabulary_own());
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vocabulary *remembered[REMEMBERED_MAX];
static size_t remembered_count;

static const struct vocabulary *find_remembered(uint32_t check)
{
	for (size_t i = 0; i < remembered_count; i++) {
		if (remembered[i]->check == check)
			return remembered[i];
	}
	return NULL;
}

const struct vocabulary *vocabulary_find(uint32_t check)
{
	const struct vocabulary *found = vocabulary_own();

	if (found->check == check)
		return found;
	pthread_mutex_lock(&lock);
	found = find_remembered(check);
	pthread_mutex_unlock(&lock);
	return found;
}

/* Takes it over; one that was remembered meanwhile is as good. */
static const struct vocabulary *remember(struct vocabulary *vocabulary)
{
	const struct vocabulary *found;

	pthread_mutex_lock(&lock);
	found = find_remembered(vocabulary->check);
	if (found == NULL && remembered_count < REMEMBERED_MAX) {
		found = remembered[remembered_count++] = vocabulary;
		vocabulary = NULL;
	}
	pthread_mutex_unlock(&lock);
	vocabulary_release(vocabulary);
	return found;
}

/* A word to be freed, NULL where it cannot be one. */
static char *take_word(struct coder *coder, struct coder_stream *lengths)
{
	size_t length = 0;
	const char *word = coder_text(coder, lengths, NULL, &length);

	return length != 0 && length <= WORD_MAX && memchr(word, '\0', length) == NULL
		       ? memory_duplicate_bytes(word, length)
		       : NULL;
}

static const struct vocabulary *decode(struct coder *coder, struct coder_stream *lengths, uint32_t check)
{
	const struct vocabulary *found = vocabulary_find(check);
	char *words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX] = {{NULL}};
	uint16_t counts[VOCABULARY_KINDS] = {0};
	struct vocabulary *vocabulary = NULL;

	for (size_t kind = 0; kind < VOCABULARY_KINDS; kind++) {
		const uint64_t count = coder_number(coder, lengths, 0);

		for (size_t i = 0; i < count && i < VOCABULARY_WORDS_MAX && !coder->failed; i++) {
			words[kind][i] = take_word(coder, lengths);
			if (words[kind][i] == NULL)
				coder_fail(coder);
			else
				counts[kind]++;
		}
		if (counts[kind] != count)
			coder_fail(coder);
	}
	if (!coder->failed && found == NULL)
		vocabulary = vocabulary_create((const char *const(*)[VOCABULARY_WORDS_MAX])words, counts);
	for (size_t kind = 0; kind < VOCABULARY_KINDS; kind++) {
		for (size_t i = 0; i < counts[kind]; i++)
			free(words[kind][i]);
	}
	if (vocabulary != NULL && vocabulary->check == check)
		return remember(vocabulary);
	vocabulary_release(vocabulary);
	return found;
}

const struct vocabulary *vocabulary_code(struct coder *coder, struct coder_stream *lengths, uint32_t check,
					 const struct vocabulary *vocabulary)
{
	if (coder->decoding)
		return decode(coder, lengths, check);
	for (size_t kind = 0; kind < VOCABULARY_KINDS; kind++) {
		coder_number(coder, lengths, vocabulary->count[kind]);
		for (size_t i = 0; i < vocabulary->count[kind]; i++) {
			size_t length = strlen(vocabulary->words[kind][i]);

			coder_text(coder, lengths, vocabulary->words[kind][i], &length);
		}
	}
	return vocabulary;
}
