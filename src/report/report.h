/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REPORT_H
#define CTOP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "compare/comparability.h"
#include "compare/diff_rule.h"
#include "compare/diff_summary.h"
#include "snapshot/snapshot.h"
#include "table/dialect.h"
#include "table/table.h"

/* Tables as text, TSV, CSV, JSON, Markdown or HTML. Draws what the cells hold and decides nothing. */

/* The table is report_format.def. */
enum report_format {
#define REPORT_FORMAT(id, ...) REPORT_FORMAT_##id,
#include "report_format.def"
#undef REPORT_FORMAT
	REPORT_FORMAT_COUNT,
};

extern const char
	*const report_format_names[REPORT_FORMAT_COUNT + 1];         /* NULL at the end, for option tables */
extern const char *const report_format_endings[REPORT_FORMAT_COUNT]; /* ".txt" */

/* The format of a report in the file `path`, by its name's ending; -EINVAL with a sentence for another one.
 */
int report_format_of_file(const char *path, enum report_format *ret_format, struct error *error);

/* The default limit of rows of a table, 0 for all. */
extern const size_t report_default_limits[REPORT_FORMAT_COUNT];

/* The subject of a report. */
struct report_subject {
	const char *command;  /* "show" */
	const char *file;     /* as the user named it; this and the next only with a snapshot */
	const char *group_by; /* name of the axis */
	/* For a comparison only; NULL and 0 for others. */
	const char *before_file;                   /* the first of the two, `file` is the second */
	const struct comparability *comparability; /* the banner */
	const struct diff_summary *changes;        /* the largest, in sentences; NULL for a report without */
	const char *order;                         /* of the rows, in words; NULL where it is not told */
	const struct diff_rule_outcome *rules;     /* the outcomes of rules */
	size_t rule_count;
};

/* The facts and lines around the table of a round, see screen_table.h. */
struct report_round {
	uint64_t interval_ns;
	const char *mode;
	const char *waits;          /* how waits for a CPU are counted; NULL if no column counts any */
	const char *host, *heading; /* for text: lines above the titles; `host` may be NULL */
	const char *footing;        /* for text: lines below the rows, NULL for none */
};

struct report {
	enum report_format format;
	struct buffer *out; /* what has been drawn; the caller may empty it between tables */
	const struct snapshot
		*snapshot; /* the tables' snapshot; NULL: none, and no facts of a capture are printed */
	const struct snapshot *before; /* of a comparison the first, `snapshot` is the second; else NULL */
	bool ascii;                    /* text only: the terminal has no UTF-8 */
	int width; /* text only: cells of a line, 0 for no bound; columns that do not fit are left out, and
		    * long names lose their middle */
	bool to_terminal; /* tsv and csv: what a terminal cannot show of a name becomes U+FFFD; text: the
			   * largest changes come last */
	bool csv_safe;    /* csv: no name begins as a formula does */
	const struct dialect *dialect;      /* of the words for columns and sections; NULL: ctop's */
	bool one_section;                   /* csv only: leave the section's name out */
	const struct report_round *round;   /* set while the table of a round is drawn, with the screen's
					     * numbers and   titles; NULL for the tables of a report */
	const struct diff_summary *changes; /* text: those that end() draws, NULL for none */
	size_t table_count;
	bool reasons[UINT8_MAX + 1]; /* reasons in printed cells, for the legend */
	bool partial;                /* a partial cell was printed as text */
};

/* Whether people read it rather than programs. */
bool report_format_is_for_people(enum report_format format);

/* Draws what comes before the tables. What `subject` points to must stay until report_end(). */
void report_begin(struct report *report, const struct report_subject *subject);

/* Draws a table, or the next piece of one (not as text). Text and JSON mention rows that a limit has cut. */
void report_table(struct report *report, const struct table *table);

/* Draws what comes after the tables. */
void report_end(struct report *report);

#endif
