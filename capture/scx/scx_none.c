/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader where ctop was built without libbpf. */
#include "scx_survey.h"

#include <errno.h>

static struct feature_result not_built(void)
{
	return (struct feature_result){
		.state = FEATURE_STATE_OFF,
		.reason = REASON_NOT_BUILT,
		.detail = "built without libbpf",
	};
}

bool scx_reader_discover(const char *name, struct arena *arena, struct scx_run *ret_run, uint32_t **ret_maps,
			 struct feature_result *ret_result)
{
	(void)name;
	(void)arena;
	(void)ret_run;
	(void)ret_maps;
	*ret_result = not_built();
	return false;
}

struct scx_reader *scx_reader_open(const struct scx_run *run, const struct scx_choice *choice,
				   struct arena *arena, struct feature_result *ret_result)
{
	(void)run;
	(void)choice;
	(void)arena;
	*ret_result = not_built();
	return NULL;
}

void scx_reader_close(struct scx_reader *reader)
{
	(void)reader;
}

struct task_field_owner *scx_reader_scheduler(const struct scx_reader *reader)
{
	(void)reader;
	return NULL;
}

int scx_reader_read(struct scx_reader *reader, const atomic_bool *cancel, struct scx_reading *ret_reading)
{
	(void)reader;
	(void)cancel;
	*ret_reading = (struct scx_reading){0};
	return -ENOTSUP;
}

int scx_reader_walk(struct scx_reader *reader, struct buffer *text, struct error *error)
{
	(void)reader;
	(void)text;
	return error_set(error, -ENOTSUP, "built without libbpf");
}

int scx_survey_find(const struct task_field_owner *scheduler, const struct scx_choice *choice, bool walk,
		    struct scx_survey *ret_survey, struct error *error)
{
	(void)scheduler;
	(void)choice;
	(void)walk;
	*ret_survey = (struct scx_survey){0};
	return error_set(error, -ENOTSUP, "built without libbpf");
}

void scx_survey_release(struct scx_survey *survey)
{
	*survey = (struct scx_survey){0};
}
