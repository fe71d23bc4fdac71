/* SPDX-License-Identifier: GPL-2.0-only */
#include "dialect.h"

#include <string.h>

#include "base/memory.h"

const struct dialect dialect_ctop = {.section_end = SECTION_COUNT, .has_own_words = true};
const struct dialect dialect_ktstr = {
	.names = &name_rules_ktstr,
	.is_flagged = true,
	.section_end = SECTION_LATENCY,
	.has_minus_zero = true,
	.orders_by_fraction = true,
	.lists_one_sided = true,
};

const char *dialect_word(const struct dialect *dialect, const char *word, bool to_people)
{
	enum readers {
		PEOPLE,
		ALL,
	};
	static const struct {
		const char *ktstr, *ctop;
		enum readers readers;
	} words[] = {
#define DIALECT_WORD(ktstr, ctop, readers) {ktstr, ctop, readers},
#include "dialect_word.def"
#undef DIALECT_WORD
	};

	for (size_t i = 0; dialect->has_own_words && word != NULL && i < ARRAY_COUNT(words); i++) {
		if ((words[i].readers == ALL || to_people) && strcmp(words[i].ktstr, word) == 0)
			return words[i].ctop;
	}
	return word;
}
