/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONFIG_PRINT_H
#define CTOP_CONFIG_PRINT_H

#include "base/buffer.h"
#include "options.h"

/*
 * Appends a whole configuration file: each option of the tables that may stand in one, with its description
 * and the value it has in `values`; those that have the value of `defaults` too as comments. Then the tabs.
 */
void config_print(const struct option_table_use *uses, size_t use_count, const void *values,
		  const void *defaults, struct buffer *buffer);

#endif
