/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_SYSTEM_SCRAPE_H
#define CTOP_TESTS_SYSTEM_SCRAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness.h"

/* `ctop export` beside a test, and a plain client of it. Helpers end the test when it cannot go on. */
struct exporter {
	struct running running;
	char where[160]; /* "127.0.0.1:41234", "[::1]:41234" or "unix:/…" */
};

/* Starts it (`arguments` are those after `export`, NULL-terminated) and waits until it serves. */
void exporter_begin(struct exporter *exporter, const struct run_options *options,
		    const char *const *arguments);

/* Ends it by SIGTERM and expects that it ends well. */
void exporter_end(struct exporter *exporter);

/* A connection to it, blocking, with 20 s for each read; -1 where it cannot be made. */
int exporter_connect(const struct exporter *exporter);

/* Sends all bytes over a connection of its own, which it returns; nothing more is sent over it. */
int exporter_send(const struct exporter *exporter, const char *bytes, size_t length);

/* Closes the connection once the exporter has; an answer before that must refuse what was sent. */
void exporter_expect_refused(int connection, const char *what);

/*
 * Sends a whole request and reads the whole answer, by its Content-Length (`has_body` false: of HEAD). NULL
 * when the connection ends before. The caller frees it.
 */
char *exporter_ask(int connection, const char *request, bool has_body);

/* Scrapes over a connection of its own: the body, or NULL when that is refused. The caller frees it. */
char *exporter_scrape(const struct exporter *exporter, bool openmetrics);

/* The same until a line begins with `line`. */
char *exporter_scrape_for(const struct exporter *exporter, const char *line);

/* The value of a series in a page, which is written as there: NAN where it is not. */
double page_value(const char *page, const char *series);

#endif
