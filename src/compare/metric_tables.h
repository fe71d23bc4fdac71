/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_METRIC_TABLES_H
#define CTOP_METRIC_TABLES_H

#include "table/table.h"

/* The registry itself as tables, for `ctop metrics`. The caller releases them. */
struct table *metric_tables_metrics(void);
struct table *metric_tables_derived(void);

#endif
