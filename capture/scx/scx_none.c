/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader where ctop was built without libbpf: nothing opens. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "scx_survey.h"

#include <errno.h>

static struct feature_result not_built(void)
{
	return feature_off(REASON_NOT_BUILT, "built without libbpf", NULL);
}

bool scx_reader_discover(const char *name, struct arena *arena, struct scx_run *ret_run,
			 struct feature_result *ret_result)
{
	*ret_run = (struct scx_run){.name = name};
	*ret_result = not_built();
	return false;
}

struct scx_reader *scx_reader_open(const struct scx_run *run, const struct context_choice *choice,
				   struct arena *arena, struct feature_result *ret_result)
{
	*ret_result = not_built();
	return NULL;
}

void scx_reader_close(struct scx_reader *reader)
{
}

int scx_reader_read(struct scx_reader *reader, const atomic_bool *cancel, struct scx_reading *ret_reading)
{
	*ret_reading = (struct scx_reading){0};
	return -ENOTSUP;
}

int scx_survey_find(const struct task_field_owner *scheduler, const struct context_choice *choice, bool walk,
		    struct scx_survey *ret_survey, struct error *error)
{
	*ret_survey = (struct scx_survey){0};
	return error_set(error, -ENOTSUP, "built without libbpf");
}

void scx_survey_release(struct scx_survey *survey)
{
	*survey = (struct scx_survey){0};
}
