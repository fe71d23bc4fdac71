/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_UNICODE_H
#define CTOP_UNICODE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "buffer.h"

/*
 * Decodes the UTF-8 sequence at `text` (at most `length` > 0 bytes) by RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF. Returns the number of bytes used and the scalar; for an invalid byte
 * returns 0 and leaves `*ret_scalar` alone (the caller skips one byte).
 */
size_t unicode_decode(const char *text, size_t length, uint32_t *ret_scalar);

/* Whether the current locale is one of UTF-8. */
bool unicode_in_locale(void);

/*
 * A UTF-8 locale for functions of the C library: C.UTF-8, or the user's if that is missing. Names are UTF-8
 * whatever the terminal shows.
 */
locale_t unicode_locale(void);

/*
 * Folds the case of a scalar, in all scripts. A folded form with another length in UTF-8 (U+212A KELVIN SIGN
 * and a few more) is not used, so texts keep their length.
 */
uint32_t unicode_fold(uint32_t scalar);

/* Appends a text with its case folded; its length stays the same. */
void unicode_append_folded(struct buffer *buffer, const char *text, size_t length);

/* Whether two texts of `length` bytes are equal, ignoring case. */
bool unicode_is_alike(const char *text, const char *other, size_t length);

/* Whether a text (`length` bytes) contains `wanted`, ignoring case. */
bool unicode_contains(const char *text, size_t length, const char *wanted);

/* Whether a letter of the text is a capital, in any script. */
bool unicode_has_capital(const char *text);

/* Appends the UTF-8 form of a scalar value. */
void unicode_append(struct buffer *buffer, uint32_t scalar);

bool unicode_is_valid(const char *text, size_t length);

/* Whether the scalar is a control character: C0, DEL or C1. */
bool unicode_is_control(uint32_t scalar);

/*
 * Whether a terminal shows the scalar as itself in its place. Not printable are control characters,
 * characters that reorder or break a line, and invisible ones (zero width spaces and joiners, tags, variation
 * selectors), which would make different names look equal. ctop never outputs these unchanged: formats with
 * an escape for them (JSON, and the text of TSV and CSV) use it, others a replacement.
 */
bool unicode_is_printable(uint32_t scalar);

/* The White_Space property (what Rust's char::is_whitespace tests). */
bool unicode_is_white_space(uint32_t scalar);

/* Leaves out white space (Unicode) at both ends of the text: moves `*text` and returns the new length. */
size_t unicode_trim(const char **text, size_t length);

/*
 * Appends `text` as valid UTF-8. Bytes outside valid sequences become escapes, `\xe8`. Different texts stay
 * different, unless one spells an escape itself.
 */
void unicode_append_escaped(struct buffer *buffer, const char *text, size_t length);

/*
 * Returns the length of the escape that `text` begins with, a backslash, `x` and two lower-case hexadecimal
 * digits, and sets `*ret_byte` to its byte. Returns 0 if `text` begins with none.
 */
size_t unicode_decode_escape(const char *text, size_t length, unsigned char *ret_byte);

/* A copy of `text`, owned by the arena, for readers that stop at a NUL: each NUL in it becomes U+FFFD. */
char *unicode_duplicate_without_nul(struct arena *arena, const char *text, size_t length)
	__attribute__((returns_nonnull));

/*
 * Appends foreign text made safe for a terminal: invalid bytes and all that is not printable become
 * `replacement` (UTF-8, one cell wide). Every name that reaches a terminal passes here.
 */
void unicode_append_printable(struct buffer *buffer, const char *text, size_t length,
			      const char *replacement);

/* Puts one of ASCII in the place of each character from `start` on that is none: mostly '?'. */
void unicode_reduce_to_ascii(struct buffer *buffer, size_t start);

/*
 * Cells the UTF-8 text takes on a terminal by wcwidth() of the current locale; a character without a width
 * counts as one cell, a combining character as none.
 */
int unicode_width(const char *text, size_t length);

/*
 * Length in bytes of the longest prefix that takes at most `cells` cells and neither cuts a character nor
 * separates it from its combining marks. `*ret_cells` (may be NULL) gets the cells that prefix takes.
 */
size_t unicode_prefix(const char *text, size_t length, int cells, int *ret_cells);

/*
 * Appends a text in at most `cells` cells (at least 1): `mark`, one cell wide, replaces the middle of a
 * longer one, since names often differ at their ends. The last name of a path stays whole if it fits.
 */
void unicode_append_middle(struct buffer *buffer, const char *text, size_t length, int cells,
			   const char *mark);

#endif
