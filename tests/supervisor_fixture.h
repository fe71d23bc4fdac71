/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_SUPERVISOR_FIXTURE_H
#define CTOP_TEST_SUPERVISOR_FIXTURE_H

/* Setup and teardown for tests whose reads run in child processes. */

#include "base/supervisor.h"

static inline int start_supervisor(void **state)
{
	struct error error;

	(void)state;
	return supervisor_start(&error);
}

static inline int stop_supervisor(void **state)
{
	(void)state;
	supervisor_stop();
	return 0;
}

#endif
