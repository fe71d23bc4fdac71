/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HTML_PAGE_H
#define CTOP_HTML_PAGE_H

/*
 * The parts of every HTML report besides its tables. The page's policy allows this style and this script by
 * their SHA-256 (base64) and nothing else, so a name that got past the escaping could still do nothing.
 */
extern const char html_page_style[], html_page_style_hash[];
extern const char html_page_script[], html_page_script_hash[];

#endif
