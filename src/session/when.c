/* SPDX-License-Identifier: GPL-2.0-only */
#include "when.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "metric/nearest.h"

enum {
	TEXT_MAX = 128,
	SUGGESTION_MAX = 2 * TEXT_MAX,
	SECONDS_PER_DAY = 86400,
	YEAR_MAX = 2500, /* 64 bits of nanoseconds end in 2554 */
};

/* The moment that a text names, while it is parsed. */
struct when {
	bool has_day, has_time, has_zone;
	int days_ago; /* of today, yesterday; -1: a date or a day of the week */
	int week_day; /* 0 Sunday; -1: none */
	int year, month, day;
	int hour, minute, second;
	uint64_t fraction_ns;
	int64_t offset; /* of the zone, seconds east of Greenwich */
};

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = {
	{"ms", NS_PER_MS},
	{"s", NS_PER_S},
	{"sec", NS_PER_S},
	{"secs", NS_PER_S},
	{"second", NS_PER_S},
	{"seconds", NS_PER_S},
	{"m", 60 * NS_PER_S},
	{"min", 60 * NS_PER_S},
	{"mins", 60 * NS_PER_S},
	{"minute", 60 * NS_PER_S},
	{"minutes", 60 * NS_PER_S},
	{"h", 3600 * NS_PER_S},
	{"hour", 3600 * NS_PER_S},
	{"hours", 3600 * NS_PER_S},
	{"d", SECONDS_PER_DAY *NS_PER_S},
	{"day", SECONDS_PER_DAY *NS_PER_S},
	{"days", SECONDS_PER_DAY *NS_PER_S},
	{"w", 7 * SECONDS_PER_DAY *NS_PER_S},
	{"week", 7 * SECONDS_PER_DAY *NS_PER_S},
	{"weeks", 7 * SECONDS_PER_DAY *NS_PER_S},
};

/* All words, the days of the week last: also for the nearest one to a mistyped one. */
static const char *const words[] = {"now",    "today",   "yesterday", "noon",     "midnight", "sunday",
				    "monday", "tuesday", "wednesday", "thursday", "friday",   "saturday"};

enum {
	WORD_TODAY = 1,
	WORD_YESTERDAY,
	WORD_NOON,
	WORD_MIDNIGHT,
	WORD_SUNDAY,
};

/* Reads so many decimal digits at *text; false for fewer. */
static bool take_number(const char **text, int digits_min, int digits_max, int *ret_value)
{
	int value = 0, digits = 0;

	while (digits < digits_max && isdigit((unsigned char)**text)) {
		value = value * 10 + (*(*text)++ - '0');
		digits++;
	}
	*ret_value = value;
	return digits >= digits_min;
}

/* ":40" at *text, with no further digit. */
static bool take_sixtieth(const char **text, int *ret_value)
{
	if (**text != ':')
		return false;
	(*text)++;
	return take_number(text, 2, 2, ret_value) && !isdigit((unsigned char)**text);
}

/* A word at *text that ends there. */
static bool take_suffix(const char **text, const char *word)
{
	const size_t length = strlen(word);

	if (strncasecmp(*text, word, length) != 0 || isalnum((unsigned char)(*text)[length]))
		return false;
	*text += length;
	return true;
}

/* Reads ".5" at *text, if it is there, to nanoseconds; digits beyond them are dropped. */
static bool take_fraction(const char **text, uint64_t *ret_ns)
{
	uint64_t unit = NS_PER_S / 10;

	*ret_ns = 0;
	if (**text != '.')
		return true;
	(*text)++;
	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		*ret_ns += unit * (uint64_t)(**text - '0');
		unit /= 10;
	}
	return true;
}

bool when_parse_span(const char *text, uint64_t *ret_ns)
{
	uint64_t sum = 0;

	text += strspn(text, " ");
	do {
		size_t digits = strspn(text, "0123456789"), letters, unit;
		uint64_t count, fraction;

		if (digits == 0)
			return false;
		/* longer than all time */
		if (!number_parse_u64(text, digits, &count))
			count = UINT64_MAX;
		text += digits;
		if (!take_fraction(&text, &fraction))
			return false;
		text += strspn(text, " ");
		for (letters = 0; isalpha((unsigned char)text[letters]);)
			letters++;
		for (unit = 0; unit < ARRAY_COUNT(units); unit++) {
			if (strlen(units[unit].name) == letters &&
			    strncasecmp(units[unit].name, text, letters) == 0)
				break;
		}
		if (unit == ARRAY_COUNT(units))
			return false;
		sum = number_add_saturating(sum, number_multiply_saturating(count, units[unit].ns));
		sum = number_add_saturating(sum, units[unit].ns < NS_PER_S
							 ? fraction / (NS_PER_S / units[unit].ns)
							 : fraction * (units[unit].ns / NS_PER_S));
		text += letters;
		text += strspn(text, " ");
	} while (*text != '\0');
	*ret_ns = sum;
	return true;
}

/* "2026-11-20" at *text. */
static bool take_date(const char **text, struct when *when)
{
	const char *next = *text;
	struct tm date;

	if (!take_number(&next, 4, 4, &when->year) || *next++ != '-' ||
	    !take_number(&next, 1, 2, &when->month) || *next++ != '-' ||
	    !take_number(&next, 1, 2, &when->day) || isdigit((unsigned char)*next))
		return false;
	/* a day that there is not becomes another one */
	date = (struct tm){.tm_year = when->year - 1900, .tm_mon = when->month - 1, .tm_mday = when->day};
	if (when->year < 1970 || when->year > YEAR_MAX || timegm(&date) < 0 ||
	    date.tm_mon != when->month - 1 || date.tm_mday != when->day)
		return false;
	*text = next;
	when->days_ago = -1;
	when->has_day = true;
	return true;
}

/* "Z", "UTC", "+05:30", "-0800", "+02" at *text. */
static bool take_zone(const char **text, struct when *when)
{
	const char *next = *text;
	int hours, minutes = 0;

	if (take_suffix(&next, "utc") || take_suffix(&next, "z")) {
		when->offset = 0;
	} else if (*next == '+' || *next == '-') {
		const int sign = *next++ == '-' ? -1 : 1;
		const size_t digits = strspn(next, "0123456789");

		if ((digits != 2 && digits != 4) || !take_number(&next, 2, 2, &hours))
			return false;
		if ((digits == 4 && !take_number(&next, 2, 2, &minutes)) ||
		    (digits == 2 && *next == ':' && !take_sixtieth(&next, &minutes)) || hours > 15 ||
		    minutes > 59)
			return false;
		when->offset = sign * (hours * 3600 + minutes * 60);
	} else {
		return false;
	}
	*text = next;
	when->has_zone = true;
	return true;
}

/* "09:40", "9:40:30.5", "3pm", "3:30 pm" at *text. */
static bool take_time(const char **text, struct when *when)
{
	const char *next = *text, *suffix;
	const bool has_hour = take_number(&next, 1, 2, &when->hour) && !isdigit((unsigned char)*next);
	const bool has_minute = *next == ':';
	bool is_morning, is_afternoon;

	when->minute = when->second = 0;
	if (!has_hour || (has_minute && !take_sixtieth(&next, &when->minute)) ||
	    (*next == ':' &&
	     (!take_sixtieth(&next, &when->second) || !take_fraction(&next, &when->fraction_ns))))
		return false;
	suffix = next + strspn(next, " ");
	is_morning = take_suffix(&suffix, "am");
	is_afternoon = take_suffix(&suffix, "pm");
	if (is_morning || is_afternoon) {
		if (when->hour < 1 || when->hour > 12)
			return false;
		next = suffix;
		when->hour = when->hour % 12 + (is_afternoon ? 12 : 0);
	} else if (!has_minute) {
		return false;
	}
	if (when->hour > 23 || when->minute > 59 || when->second > 59)
		return false;
	*text = next;
	when->has_time = true;
	return true;
}

/* A word of letters at *text. */
static bool take_word(const char **text, struct when *when)
{
	size_t length = 0, word = WORD_TODAY;

	while (isalpha((unsigned char)(*text)[length]))
		length++;
	while (word < ARRAY_COUNT(words) &&
	       ((length != strlen(words[word]) && (length != 3 || word < WORD_SUNDAY)) ||
		strncasecmp(*text, words[word], length) != 0))
		word++;
	if (word == ARRAY_COUNT(words))
		return false;
	if (word == WORD_NOON || word == WORD_MIDNIGHT) {
		if (when->has_time)
			return false;
		when->has_time = true;
		when->hour = word == WORD_NOON ? 12 : 0;
		when->minute = when->second = 0;
	} else {
		if (when->has_day)
			return false;
		when->has_day = true;
		when->days_ago = word >= WORD_SUNDAY ? -1 : word == WORD_YESTERDAY;
		when->week_day = word >= WORD_SUNDAY ? (int)(word - WORD_SUNDAY) : -1;
	}
	*text += length;
	return true;
}

/* A day, a time, or both, and a zone behind a time. */
static bool parse_calendar(const char *text, struct when *when)
{
	bool joined = true; /* whether what comes next may stand at once behind what was there */

	*when = (struct when){.week_day = -1};
	while (*text != '\0') {
		if (when->has_time && !when->has_zone && take_zone(&text, when)) {
			joined = false;
		} else if (!joined) {
			return false;
		} else if (!when->has_day && take_date(&text, when)) {
			joined = (*text == 't' || *text == 'T') && isdigit((unsigned char)text[1]);
			text += joined;
		} else if ((!when->has_time && take_time(&text, when)) || take_word(&text, when)) {
			joined = false;
		} else {
			return false;
		}
		if (*text == ' ' || *text == ',') {
			text += strspn(text, ", ");
			joined = true;
		}
	}
	return when->has_day || when->has_time;
}

/* Seconds that local clocks are ahead of UTC at a time since 1970. */
static int64_t local_offset(int64_t seconds)
{
	time_t time = (time_t)seconds;
	struct tm local;

	return localtime_r(&time, &local) != NULL ? local.tm_gmtoff : 0;
}

/*
 * The time since 1970 at which local clocks show what a clock of UTC shows at `shown`. Zones change their
 * offset hardly ever twice in two days, so those of the days around are the ones that it can have (time zone
 * database).
 */
static int64_t from_local(int64_t shown, int64_t now)
{
	const int64_t before = local_offset(shown - SECONDS_PER_DAY),
		      after = local_offset(shown + SECONDS_PER_DAY);
	const int64_t first = shown - before, second = shown - after;
	const bool first_is = local_offset(first) == before, second_is = local_offset(second) == after;

	const int64_t earlier = first < second ? first : second, later = first < second ? second : first;

	if (first_is && second_is)
		return later <= now ? later : earlier;
	return second_is ? second : first; /* neither: skipped */
}

static int64_t moment_of(const struct when *when, const struct tm *day, int64_t now)
{
	struct tm shown = {.tm_year = day->tm_year,
			   .tm_mon = day->tm_mon,
			   .tm_mday = day->tm_mday,
			   .tm_hour = when->hour,
			   .tm_min = when->minute,
			   .tm_sec = when->second};
	const int64_t seconds = timegm(&shown);

	return when->has_zone ? seconds - when->offset : from_local(seconds, now);
}

static int64_t resolve(const struct when *when, int64_t now)
{
	const time_t here = (time_t)(now + (when->has_zone ? when->offset : local_offset(now)));
	struct tm day;
	int64_t moment;

	gmtime_r(&here, &day);
	if (when->has_day && when->days_ago < 0 && when->week_day < 0) {
		day = (struct tm){
			.tm_year = when->year - 1900, .tm_mon = when->month - 1, .tm_mday = when->day};
		return moment_of(when, &day, now);
	}
	if (when->week_day >= 0)
		day.tm_mday -= (day.tm_wday - when->week_day + 7) % 7;
	else if (when->has_day)
		day.tm_mday -= when->days_ago;
	moment = moment_of(when, &day, now);
	if (moment > now && (when->week_day >= 0 || !when->has_day)) {
		day.tm_mday -= when->week_day >= 0 ? 7 : 1;
		moment = moment_of(when, &day, now);
	}
	return moment;
}

/*
 * A guess at what was meant by `text`, to be checked, or NULL. `suggestion` keeps it.
 */
static const char *suggest(const char *text, char suggestion[static SUGGESTION_MAX])
{
	const size_t digits = strspn(text, "0123456789");
	char rest[TEXT_MAX];
	uint64_t ignored;
	int a, b, c, length = 0;

	if (digits == strlen(text) && digits >= 9) {
		snprintf(suggestion, SUGGESTION_MAX, "@%s", text);
	} else if ((text[0] == '-' || text[0] == '+') && strspn(text + 1, "0123456789") == strlen(text + 1) &&
		   text[1] != '\0') {
		snprintf(suggestion, SUGGESTION_MAX, "-%sm", text + 1);
	} else if (text[0] == '+' && when_parse_span(text + 1, &ignored)) {
		snprintf(suggestion, SUGGESTION_MAX, "-%s", text + 1);
	} else if (when_parse_span(text, &ignored)) {
		snprintf(suggestion, SUGGESTION_MAX, "-%s", text);
	} else if (digits != 0 && strlen(text) > 4 && strcasecmp(text + strlen(text) - 4, " ago") == 0) {
		snprintf(suggestion, SUGGESTION_MAX, "-%.*s", (int)(strlen(text) - 4), text);
	} else if (sscanf(text, "%4d/%2d/%2d%n", &a, &b, &c, &length) == 3 ||
		   sscanf(text, "%4d.%2d.%2d%n", &a, &b, &c, &length) == 3) {
		snprintf(suggestion, SUGGESTION_MAX, "%04d-%02d-%02d%s", a, b, c, text + length);
		/* the day first, as in 20.11.2026 */
		if (sscanf(text, "%2d.%2d.%4d%n", &a, &b, &c, &length) == 3 && c >= 1970)
			snprintf(suggestion, SUGGESTION_MAX, "%04d-%02d-%02d%s", c, b, a, text + length);
	} else if (sscanf(text, "%2d.%2d%n", &a, &b, &length) == 2 && text[length] == '\0') {
		snprintf(suggestion, SUGGESTION_MAX, "%02d:%02d", a, b);
	} else if (digits != 0 && digits <= 2 && text[digits] == '\0') {
		snprintf(suggestion, SUGGESTION_MAX, "%02d:00",
			 (text[0] - '0') * (digits == 2 ? 10 : 1) + (digits == 2 ? text[1] - '0' : 0));
	} else if (sscanf(text, "%2d%1[aApP]%1[mM]%n", &a, rest, rest + 2, &length) == 3 &&
		   text[length] == '\0') {
		snprintf(suggestion, SUGGESTION_MAX, "%02d:00", a);
	} else if (digits == 4 && text[4] == '\0') {
		snprintf(suggestion, SUGGESTION_MAX, "%.2s:%s", text, text + 2);
	} else if (isalpha((unsigned char)text[0])) {
		size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
		const char *nearest;

		snprintf(rest, sizeof(rest), "%.*s", (int)letters, text);
		nearest = nearest_name(rest, words, ARRAY_COUNT(words));
		if (nearest == NULL)
			return NULL;
		snprintf(suggestion, SUGGESTION_MAX, "%s%s", nearest, text + letters);
	} else {
		return NULL;
	}
	return suggestion;
}

/* Parses a text without blanks around it; where it is refused, `*ret_why` says what it is. */
static int parse(const char *text, uint64_t shown_unix_ns, uint64_t now_unix_ns, uint64_t *ret_unix_ns,
		 const char **ret_why)
{
	uint64_t length_ns, seconds, fraction;
	struct when when;
	int64_t moment;

	*ret_why = "not understood";
	if (strcasecmp(text, "now") == 0) {
		*ret_unix_ns = shown_unix_ns;
		return 0;
	}
	if (text[0] == '@') {
		const size_t digits = strspn(text + 1, "0123456789");
		const char *next = text + 1 + digits;

		if (digits > 10 || !number_parse_u64(text + 1, digits, &seconds) ||
		    !take_fraction(&next, &fraction) || *next != '\0')
			return -EINVAL;
		*ret_unix_ns = seconds * NS_PER_S + fraction;
		return 0;
	}
	if (text[0] == '-' && when_parse_span(text + 1, &length_ns)) {
		*ret_why = "before 1970";
		if (length_ns > shown_unix_ns)
			return -EINVAL;
		*ret_unix_ns = shown_unix_ns - length_ns;
		return 0;
	}
	if (!parse_calendar(text, &when))
		return -EINVAL;
	moment = resolve(&when, (int64_t)((when.has_day ? shown_unix_ns : now_unix_ns) / NS_PER_S));
	*ret_why = "before 1970";
	if (moment < 0)
		return -EINVAL;
	*ret_unix_ns = (uint64_t)moment * NS_PER_S + when.fraction_ns;
	return 0;
}

/* Copies a text without the blanks around it. Returns false if it is too long to be a time. */
static bool trim(const char *text, char trimmed[static TEXT_MAX])
{
	size_t end;

	text += strspn(text, " ");
	for (end = strlen(text); end != 0 && text[end - 1] == ' ';)
		end--;
	if (end >= TEXT_MAX)
		return false;
	memcpy(trimmed, text, end);
	trimmed[end] = '\0';
	return true;
}

bool when_is_time_of_day(const char *text)
{
	char trimmed[TEXT_MAX];
	struct when when;

	return trim(text, trimmed) && parse_calendar(trimmed, &when) && !when.has_day;
}

int when_parse(const char *text, uint64_t shown_unix_ns, uint64_t now_unix_ns, uint64_t *ret_unix_ns,
	       struct error *error)
{
	char trimmed[TEXT_MAX], suggestion[SUGGESTION_MAX];
	const char *why, *meant, *ignored;
	uint64_t moment;

	if (!trim(text, trimmed))
		return error_set(error, -EINVAL, "the time '%.100s' is too long; valid: " WHEN_FORMS, text);
	if (trimmed[0] == '\0')
		return error_set(error, -EINVAL, "there is no time; valid: " WHEN_FORMS);
	tzset();
	if (parse(trimmed, shown_unix_ns, now_unix_ns, ret_unix_ns, &why) == 0)
		return 0;
	meant = suggest(trimmed, suggestion);
	if (meant != NULL && parse(meant, shown_unix_ns, now_unix_ns, &moment, &ignored) == 0)
		return error_set(error, -EINVAL, "the time '%s' is %s, did you mean '%s'? valid: " WHEN_FORMS,
				 trimmed, why, meant);
	return error_set(error, -EINVAL, "the time '%s' is %s; valid: " WHEN_FORMS, trimmed, why);
}

int when_parse_length(const char *text, void *ret_ns, struct error *error)
{
	uint64_t length_ns;

	if (!isdigit((unsigned char)text[0]) || !when_parse_span(text, &length_ns) || length_ns < NS_PER_S ||
	    length_ns == UINT64_MAX)
		return error_set(error, -EINVAL,
				 "'%.100s' is not a length of time; valid: 30s, 15m, 1h30m, 14d, 2w", text);
	*(uint64_t *)ret_ns = length_ns;
	return 0;
}

const char *when_format(char text[static WHEN_TEXT_SIZE], uint64_t unix_ns)
{
	const int64_t seconds = (int64_t)(unix_ns / NS_PER_S), offset = local_offset(seconds);

	if (!clock_format_local(text, WHEN_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", unix_ns))
		snprintf(text, WHEN_TEXT_SIZE, "@%lld", (long long)seconds);
	else if (from_local(seconds + offset, INT64_MAX) != seconds)
		snprintf(text + strlen(text), WHEN_TEXT_SIZE - strlen(text), "%c%02d:%02d",
			 offset < 0 ? '-' : '+', (int)(offset < 0 ? -offset : offset) / 3600 % 100,
			 (int)(offset < 0 ? -offset : offset) / 60 % 60);
	return text;
}
