/* SPDX-License-Identifier: GPL-2.0-only */
/* State files of container runtimes, and cgroup paths. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host/container.h"
#include "snapshot/container_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct buffer text = {0}, name = {0};
	const char *found;

	buffer_append(&text, data, size);
	container_name_in_state(&text, &name);
	container_name_in_list(&text, id, &name);
	buffer_append_char(&name, '\0');
	if (strlen(name.data) >= 2 * CONTAINER_NAME_MAX)
		abort();
	buffer_clear(&name);
	found = container_find_id((const char *)data, size);
	if (found != NULL &&
	    (found < (const char *)data || found + CONTAINER_ID_LENGTH > (const char *)data + size))
		abort();
	container_append_name((const char *)data, size, &name);
	if (name.length == 0 || name.length > size + 1)
		abort();
	buffer_release(&text);
	buffer_release(&name);
	return 0;
}
