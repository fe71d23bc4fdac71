/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks like a jemalloc with debug data, but its thread-local storage is of the general dynamic model: loaded
 * by dlopen(3), it has a place in each thread's DTV only, and none before its first use.
 */
#define GENERATION_5_3
#define LIBRARY
#include "generation.c"

void dtv_count(uint64_t allocated, uint64_t deallocated);

void dtv_count(uint64_t allocated, uint64_t deallocated)
{
	je_tsd_tls.cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated += allocated;
	je_tsd_tls.cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated += deallocated;
}
