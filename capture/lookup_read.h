/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOKUP_READ_H
#define CTOP_LOOKUP_READ_H

#include "snapshot/lookup.h"

/* Reads the text of a request below the open directory `proc`. It may hang: for a reader (base/reader.h). */
void lookup_read(int proc, const struct lookup_request *request, struct lookup_answer *ret_answer);

#endif
