/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EVIDENCE_PAGE_H
#define CTOP_EVIDENCE_PAGE_H

#include <stdint.h>

#include "snapshot/snapshot.h"

#include "ui/widget/pager.h"

/* Adds the evidence of a snapshot to a page; the arguments are those of evidence.h. */
void evidence_page_add(struct pager *pager, const struct snapshot *snapshot, uint64_t interval_ns,
		       uint64_t ended);

#endif
