/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_HTML_CHECK_H
#define CTOP_TESTS_HTML_CHECK_H

#include <stddef.h>

/*
 * Checks a whole HTML report: tags nest and close, every element and attribute is one of those that reports
 * need (so nothing loads, links or runs), values are quoted, only known entities, valid UTF-8 without control
 * characters. Returns NULL, or a sentence in static storage that tells what is wrong and where.
 */
const char *html_check(const char *text, size_t length);

#endif
