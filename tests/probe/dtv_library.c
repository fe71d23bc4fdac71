/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks like a jemalloc with debug data, but its thread-local storage is of the general dynamic model: loaded
 * by dlopen(3), it has a place in each thread's DTV only, and none before its first use.
 */
#include <stdint.h>

/* as in 5.3: padding, then the counters with a word between them */
struct tsd_s {
	char state[816];
	uint8_t cant_access_tsd_items_directly_use_a_getter_or_setter_tcache_enabled;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
	uint64_t fast_event;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
};

__attribute__((visibility("hidden"))) _Thread_local struct tsd_s je_tsd_tls;

void dtv_count(uint64_t allocated, uint64_t deallocated);

void dtv_count(uint64_t allocated, uint64_t deallocated)
{
	je_tsd_tls.cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated += allocated;
	je_tsd_tls.cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated += deallocated;
}
