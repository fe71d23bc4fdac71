/* SPDX-License-Identifier: GPL-2.0-only */
#include "name_rules.h"

const struct name_rules name_rules_ktstr = {.separators = ".-_/:@+[]", .replaces_bytes = true};
const struct name_rules name_rules_ctop = {
	.separators = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
	.knows_escapes = true,
	.knows_ids = true,
	.keeps_hashes = true,
	.keeps_containers = true,
	.keeps_patterns = true,
	.joins_own = true,
};

struct name_text name_rules_text(const struct name_rules *rules, const struct snapshot *snapshot,
				 uint32_t name, struct buffer *scratch)
{
	return rules->replaces_bytes ? snapshot_name_replaced(snapshot, name, scratch)
				     : snapshot_name(snapshot, name);
}
