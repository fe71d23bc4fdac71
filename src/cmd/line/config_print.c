/* SPDX-License-Identifier: GPL-2.0-only */
#include "config_print.h"

#include <string.h>

#include "base/config.h"
#include "config_tabs.h"
#include "help.h"

/* Whether both have the same values of an option. */
static bool is_default(const struct option *option, const void *member, const void *other)
{
	struct buffer values[2] = {{0}, {0}};
	bool equal, there[2];

	for (size_t i = 0;; i++) {
		buffer_clear(&values[0]);
		buffer_clear(&values[1]);
		there[0] = option_print(option, member, i, &values[0]);
		there[1] = option_print(option, other, i, &values[1]);
		equal = there[0] == there[1] && values[0].length == values[1].length &&
			(values[0].length == 0 ||
			 memcmp(values[0].data, values[1].data, values[0].length) == 0);
		if (!equal || !there[0] || option->kind != OPTION_TEXTS)
			break;
	}
	buffer_release(&values[0]);
	buffer_release(&values[1]);
	return equal;
}

static void print_option(const struct option *option, const void *member, const void *other,
			 struct buffer *buffer)
{
	struct buffer value = {0}, description = {0};
	bool as_comment = is_default(option, member, other);
	size_t index = 0;

	option_describe(option, &description);
	buffer_append_text(buffer, "\n# ");
	help_append_wrapped(buffer, description.data, "# ");
	if (option->is_kept_elsewhere && option_print(option, member, 0, &value))
		as_comment = false;
	do {
		buffer_clear(&value);
		buffer_append_text(&value, "");
		option_print(option, member, index, &value);
		buffer_append_text(buffer, as_comment ? "# " : "");
		config_append_setting(buffer, option->name, value.data);
		buffer_clear(&value);
	} while (option->kind == OPTION_TEXTS && option_print(option, member, ++index, &value));
	buffer_release(&value);
	buffer_release(&description);
}

void config_print(const struct option_table_use *uses, size_t use_count, const void *values,
		  const void *defaults, struct buffer *buffer)
{
	buffer_append_text(buffer, "# ctop.conf, a configuration file of ctop " CTOP_VERSION
				   ": see ctop.conf(5). Lines that begin with # do nothing.\n");
	for (size_t u = 0; u < use_count; u++) {
		for (size_t i = 0; i < uses[u].table->count; i++) {
			const struct option *option = &uses[u].table->options[i];
			const size_t offset = uses[u].offset + option->offset;

			if (option->in_file)
				print_option(option, (const char *)values + offset,
					     (const char *)defaults + offset, buffer);
		}
	}
	config_tabs_print(buffer);
}
