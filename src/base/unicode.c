/* SPDX-License-Identifier: GPL-2.0-only */
#include "unicode.h"

#include <langinfo.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define REPLACEMENT_CHARACTER "\xef\xbf\xbd" /* U+FFFD */

size_t unicode_decode(const char *text, size_t length, uint32_t *ret_scalar)
{
	const unsigned char *byte = (const unsigned char *)text;
	uint32_t scalar, smallest;
	size_t count;

	if (byte[0] < 0x80) {
		*ret_scalar = byte[0];
		return 1;
	}
	if (byte[0] >= 0xc2 && byte[0] <= 0xdf) {
		count = 2;
		scalar = byte[0] & 0x1fu;
		smallest = 0x80;
	} else if ((byte[0] & 0xf0) == 0xe0) {
		count = 3;
		scalar = byte[0] & 0x0fu;
		smallest = 0x800;
	} else if (byte[0] >= 0xf0 && byte[0] <= 0xf4) {
		count = 4;
		scalar = byte[0] & 0x07u;
		smallest = 0x10000;
	} else {
		return 0;
	}
	if (length < count)
		return 0;
	for (size_t i = 1; i < count; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		scalar = scalar << 6 | (byte[i] & 0x3fu);
	}
	if (scalar < smallest || scalar > 0x10ffff || (scalar >= 0xd800 && scalar <= 0xdfff))
		return 0;
	*ret_scalar = scalar;
	return count;
}

bool unicode_in_locale(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static locale_t locale;

static void open_locale(void)
{
	static const char *const names[] = {"C.UTF-8", "", "C"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && locale == (locale_t)0; i++)
		locale = newlocale(LC_CTYPE_MASK, names[i], (locale_t)0);
}

locale_t unicode_locale(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_locale);
	return locale;
}

/* Number of continuation bytes of a scalar in UTF-8. */
static size_t more_bytes(uint32_t scalar)
{
	return scalar < 0x80 ? 0 : scalar < 0x800 ? 1 : scalar < 0x10000 ? 2 : 3;
}

uint32_t unicode_fold(uint32_t scalar)
{
	uint32_t folded;

	if (scalar < 0x80)
		return scalar >= 'A' && scalar <= 'Z' ? scalar - 'A' + 'a' : scalar;
	/* fold through the capital, which positional forms of a small letter share: U+03C2, U+03C3 */
	folded = (uint32_t)towlower_l(towupper_l((wint_t)scalar, unicode_locale()), unicode_locale());
	return more_bytes(folded) == more_bytes(scalar) ? folded : scalar;
}

bool unicode_is_alike(const char *text, const char *other, size_t length)
{
	uint32_t scalar = 0, other_scalar = 0;

	while (length != 0) {
		size_t used = unicode_decode(text, length, &scalar);

		if (used != unicode_decode(other, length, &other_scalar))
			return false;
		if (used == 0 ? *text != *other
			      : scalar != other_scalar && unicode_fold(scalar) != unicode_fold(other_scalar))
			return false;
		used = used != 0 ? used : 1;
		text += used;
		other += used;
		length -= used;
	}
	return true;
}

bool unicode_contains(const char *text, size_t length, const char *wanted)
{
	const size_t wanted_length = strlen(wanted);

	for (size_t i = 0; i + wanted_length <= length; i++) {
		if (unicode_is_alike(text + i, wanted, wanted_length))
			return true;
	}
	return false;
}

bool unicode_has_capital(const char *text)
{
	size_t length = strlen(text);
	uint32_t scalar = 0;

	while (length != 0) {
		const size_t used = unicode_decode(text, length, &scalar);

		if (used != 0 && (scalar < 0x80 ? unicode_fold(scalar) != scalar
						: iswupper_l((wint_t)scalar, unicode_locale())))
			return true;
		text += used != 0 ? used : 1;
		length -= used != 0 ? used : 1;
	}
	return false;
}

void unicode_append(struct buffer *buffer, uint32_t scalar)
{
	static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
	size_t more = more_bytes(scalar);

	buffer_append_char(buffer, (char)(leads[more] | scalar >> 6 * more));
	while (more-- != 0)
		buffer_append_char(buffer, (char)(0x80 | (scalar >> 6 * more & 0x3f)));
}

bool unicode_is_valid(const char *text, size_t length)
{
	uint32_t scalar;

	while (length != 0) {
		size_t used = unicode_decode(text, length, &scalar);

		if (used == 0)
			return false;
		text += used;
		length -= used;
	}
	return true;
}

bool unicode_is_control(uint32_t scalar)
{
	return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0);
}

bool unicode_is_white_space(uint32_t scalar)
{
	return (scalar >= 0x09 && scalar <= 0x0d) || scalar == 0x20 || scalar == 0x85 || scalar == 0xa0 ||
	       scalar == 0x1680 || (scalar >= 0x2000 && scalar <= 0x200a) || scalar == 0x2028 ||
	       scalar == 0x2029 || scalar == 0x202f || scalar == 0x205f || scalar == 0x3000;
}

size_t unicode_trim(const char **text, size_t length)
{
	uint32_t scalar;

	while (length != 0) {
		size_t used = unicode_decode(*text, length, &scalar);

		if (used == 0 || !unicode_is_white_space(scalar))
			break;
		*text += used;
		length -= used;
	}
	while (length != 0) {
		size_t start = length - 1;

		while (start != 0 && ((*text)[start] & 0xc0) == 0x80)
			start--;
		if (unicode_decode(*text + start, length - start, &scalar) != length - start ||
		    !unicode_is_white_space(scalar))
			break;
		length = start;
	}
	return length;
}

/* The number of printable ASCII bytes at the beginning. */
static size_t plain_prefix(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] >= ' ' && text[count] <= '~')
		count++;
	return count;
}

void unicode_append_escaped(struct buffer *buffer, const char *text, size_t length)
{
	uint32_t scalar;

	while (length != 0) {
		size_t used = plain_prefix(text, length);

		if (used == 0)
			used = unicode_decode(text, length, &scalar);
		if (used != 0) {
			buffer_append(buffer, text, used);
		} else {
			buffer_append_format(buffer, "\\x%02x", (unsigned char)*text);
			used = 1;
		}
		text += used;
		length -= used;
	}
}

void unicode_append_folded(struct buffer *buffer, const char *text, size_t length)
{
	uint32_t scalar = 0;

	while (length != 0) {
		const size_t used = unicode_decode(text, length, &scalar);

		if (used == 0)
			buffer_append_char(buffer, *text);
		else
			unicode_append(buffer, unicode_fold(scalar));
		text += used != 0 ? used : 1;
		length -= used != 0 ? used : 1;
	}
}

static int hexadecimal_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

size_t unicode_decode_escape(const char *text, size_t length, unsigned char *ret_byte)
{
	static const char form[] = "\\xhh";
	int high, low;

	if (length < strlen(form) || text[0] != form[0] || text[1] != form[1])
		return 0;
	high = hexadecimal_digit(text[2]);
	low = hexadecimal_digit(text[3]);
	if (high < 0 || low < 0)
		return 0;
	*ret_byte = (unsigned char)(high << 4 | low);
	return strlen(form);
}

char *unicode_duplicate_without_nul(struct arena *arena, const char *text, size_t length)
{
	struct buffer clean = {0};
	const char *nul;
	char *copy;

	while (length != 0 && (nul = memchr(text, '\0', length)) != NULL) {
		buffer_append(&clean, text, (size_t)(nul - text));
		buffer_append_text(&clean, REPLACEMENT_CHARACTER);
		length -= (size_t)(nul - text) + 1;
		text = nul + 1;
	}
	if (clean.length == 0)
		return arena_duplicate(arena, text, length);
	buffer_append(&clean, text, length);
	copy = arena_duplicate(arena, clean.data, clean.length);
	buffer_release(&clean);
	return copy;
}

bool unicode_is_printable(uint32_t scalar)
{
	/* Default_Ignorable_Code_Point (DerivedCoreProperties.txt), with line and paragraph separator and
	 * interlinear annotations */
	static const struct {
		uint32_t first, last;
	} invisible[] = {
		{0x00ad, 0x00ad},   {0x034f, 0x034f}, {0x061c, 0x061c},   {0x115f, 0x1160},
		{0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f},   {0x2028, 0x202e},
		{0x2060, 0x206f},   {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
		{0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++) {
		if (scalar >= invisible[i].first && scalar <= invisible[i].last)
			return false;
	}
	return !unicode_is_control(scalar);
}

void unicode_append_printable(struct buffer *buffer, const char *text, size_t length, const char *replacement)
{
	uint32_t scalar;

	while (length != 0) {
		size_t used = plain_prefix(text, length);

		/* fast path: nearly all text is printable ASCII, copied unchanged */
		if (used != 0) {
			buffer_append(buffer, text, used);
			text += used;
			length -= used;
			continue;
		}
		used = unicode_decode(text, length, &scalar);
		if (used == 0 || !unicode_is_printable(scalar))
			buffer_append_text(buffer, replacement);
		else
			buffer_append(buffer, text, used);
		used = used != 0 ? used : 1;
		text += used;
		length -= used;
	}
}

static int scalar_width(uint32_t scalar)
{
	int width = wcwidth((wchar_t)scalar);

	return width >= 0 ? width : 1;
}

/* ASCII for the characters that ctop itself writes. */
static char ascii_of(uint32_t scalar)
{
	switch (scalar) {
	case 0x00b5: /* µ */
		return 'u';
	case 0x2192: /* → */
	case 0x2265: /* ≥ */
		return '>';
	case 0x2260: /* ≠ */
		return '#';
	case 0x2248: /* ≈ */
		return '%';
	default:
		return '?';
	}
}

void unicode_reduce_to_ascii(struct buffer *buffer, size_t start)
{
	size_t from = start, to = start;

	while (from < buffer->length) {
		uint32_t scalar = 0;
		size_t used = unicode_decode(buffer->data + from, buffer->length - from, &scalar);

		buffer->data[to++] = used == 1 ? buffer->data[from] : ascii_of(scalar);
		from += used != 0 ? used : 1;
	}
	if (to < buffer->length)
		buffer->data[to] = '\0';
	buffer->length = to;
}

int unicode_width(const char *text, size_t length)
{
	int cells;

	unicode_prefix(text, length, INT_MAX, &cells);
	return cells;
}

size_t unicode_prefix(const char *text, size_t length, int cells, int *ret_cells)
{
	uint32_t scalar;
	size_t taken = 0;
	int used_cells = 0;

	while (taken < length) {
		const bool is_plain = text[taken] >= ' ' && text[taken] <= '~';
		size_t used = is_plain ? 1 : unicode_decode(text + taken, length - taken, &scalar);
		int width = used != 0 && !is_plain ? scalar_width(scalar) : 1;

		if (used_cells + width > cells)
			break;
		used_cells += width;
		taken += used != 0 ? used : 1;
	}
	if (ret_cells != NULL)
		*ret_cells = used_cells;
	return taken;
}

/* Length in bytes of the shortest beginning of the text behind which at most `cells` cells are left. */
static size_t skip_to_last(const char *text, size_t length, int cells, int *ret_cells)
{
	const int width = unicode_width(text, length);
	int used;
	size_t skipped = unicode_prefix(text, length, width - cells, &used);

	/* a wide character in the way goes too, and what combines with it */
	while (skipped < length && width - used > cells) {
		uint32_t scalar = 0;
		size_t step = unicode_decode(text + skipped, length - skipped, &scalar);

		step = step != 0 ? step : 1;
		used += unicode_width(text + skipped, step);
		skipped += step;
		skipped += unicode_prefix(text + skipped, length - skipped, 0, NULL);
	}
	*ret_cells = width - used;
	return skipped;
}

/* The length of the end that is kept, in cells, when `cells` of a text are shown besides the mark. */
static int cells_of_end(const char *text, size_t length, int cells)
{
	const char *slash = *text == '/' ? memrchr(text, '/', length) : NULL;
	int last = 0;

	if (slash != NULL && slash != text)
		last = unicode_width(slash, length - (size_t)(slash - text));
	return last > cells / 2 && last <= cells ? last : cells / 2;
}

void unicode_append_middle(struct buffer *buffer, const char *text, size_t length, int cells,
			   const char *mark)
{
	size_t head, tail; /* bytes: where the beginning ends, and where the end begins */
	int tail_cells;

	if (unicode_width(text, length) <= cells) {
		buffer_append(buffer, text, length);
		return;
	}
	cells = cells > 0 ? cells : 1;
	tail = skip_to_last(text, length, cells_of_end(text, length, cells - 1), &tail_cells);
	head = unicode_prefix(text, length, cells - 1 - tail_cells, NULL);
	buffer_append(buffer, text, head);
	buffer_append_text(buffer, mark);
	buffer_append(buffer, text + tail, length - tail);
}
