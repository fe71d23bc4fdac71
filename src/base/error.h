/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ERROR_H
#define CTOP_ERROR_H

/* A sentence for the user, carried beside a negative errno up to the caller who prints it. */
struct error {
	char text[4096];
};

/*
 * Writes the formatted sentence into `error` (which may be NULL: then only the number travels) and returns
 * `negative_errno` unchanged, so that a function can end with `return error_set(error, -EINVAL, "…")`.
 * A sentence that does not fit loses its middle, which is a long name. The sentence names what is wrong,
 * where, and the remedy; it has no trailing period and no program name.
 */
int error_set(struct error *error, int negative_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
