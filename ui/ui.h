/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_UI_H
#define CTOP_UI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "session/moment.h"
#include "session/session.h"
#include "snapshot/lookup.h"
#include "table/view.h"

#include "ui/page/strip.h"
#include "ui/terminal/theme.h"

enum {
	/* Each round may bring another row under a cursor that stays on top, and the last few come back. */
	UI_LIMITS_MAX = 4
};

/* The settings that the screen makes for a live capture. */
struct ui_settings {
	uint64_t interval_ns;
	bool paused;
	bool heap_off;     /* do not use the allocator probe */
	bool latency;      /* measure how long waits take */
	source_set needed; /* by what is on the screen */
	bool cgroup_records, smaps;
	bool task_fields; /* what a sched_ext scheduler keeps for each task */

	/* Cgroups whose limits are read, by ids in the newest snapshot; 0: none. */
	uint32_t limits_of[UI_LIMITS_MAX];
};

/* A moment to look at, counted from the one that is shown. */
enum ui_look_kind {
	UI_LOOK_STEP,   /* `amount` rounds on, or back when negative */
	UI_LOOK_SPAN,   /* `amount` ns on or back, and at least a round */
	UI_LOOK_TIME,   /* the round nearest to `unix_ns` */
	UI_LOOK_MARK,   /* the mark after (1) or before (-1) */
	UI_LOOK_OLDEST, /* the ends of what there is */
	UI_LOOK_NEWEST,
};

struct ui_look {
	enum ui_look_kind kind;
	int64_t amount;
	uint64_t unix_ns;
	bool from_newest;      /* none is shown yet: from the newest round */
	uint64_t base_unix_ns; /* the time of the round that is the base; 0: the round before */
	uint64_t number;       /* of the request, from 1 on; that of the last one of those put together */
};

/* The moment that was made, or the reason why not. The receiver owns what is owned. */
struct ui_moment {
	struct session_moment *moment;    /* owned; NULL: only the message */
	uint64_t unix_ns, newest_unix_ns; /* of it, and of the newest there is; 0: not known */
	bool is_newest;
	char *note;    /* a gap, a reboot or a mark there, owned; NULL: nothing */
	char *message; /* a sentence, owned; NULL: none */
	bool is_error;
	uint64_t number; /* of the request that it answers; 0: none */
};

void ui_moment_discard(struct ui_moment *moment);

/* Rounds to compare with: those nearest to both ends of a span, or that nearest to a moment. */
struct ui_other {
	uint64_t from_unix_ns; /* 0: a moment */
	uint64_t unix_ns;
};

/* A request for what the rows of a view had in the last rounds that are kept. */
struct ui_courses_request {
	uint64_t number; /* which request it is */
	size_t rounds;
	const struct view *view;
	enum column column;
};

/* What they had in one of them; the newest come first. */
struct ui_courses {
	uint64_t number; /* of the request */
	uint64_t unix_ns;
	struct table *table; /* owned; of the column alone, as rates */
};

/* A request for the strip of the time about a moment. */
struct ui_strip_request {
	uint64_t number; /* which request it is */
	uint64_t unix_ns;
	size_t cells;
	const struct view *view;
	enum column column;
	const char *key; /* of the row; NULL: none, only the pressure */
	size_t key_length;
};

struct ui_strip {
	uint64_t number; /* of the request */
	struct strip_data data;
};

enum ui_event_kind {
	UI_EVENT_ROUND,   /* snapshot: a new round */
	UI_EVENT_BASE,    /* snapshot: the full round that was asked for; becomes newest and base */
	UI_EVENT_HOST,    /* snapshot: facts of the host, without threads; before the first round */
	UI_EVENT_FAILED,  /* message: why there will be no round; ends the screen */
	UI_EVENT_MESSAGE, /* message: a sentence to show */
	UI_EVENT_SAVED,   /* message: where the snapshot was saved, and `path`; or why not */
	UI_EVENT_REPORT,  /* message: where the report was written; or why not, and `path` is where it was not
			   */
	/* snapshot: the one to compare with; path: its name, NULL: the one it was asked for by; message: a
	 * sentence about it, NULL: none. Without a snapshot the message says why. */
	UI_EVENT_FILE,
	/* message: lines, the text that was asked about, what it becomes, and several names that begin so */
	UI_EVENT_NAMES,
	UI_EVENT_MOMENT,
	UI_EVENT_STRIP,
	UI_EVENT_COURSES,
	UI_EVENT_LOOKUP,
};

/* Something happened elsewhere. The receiver owns snapshot and texts; NULL: there is none. */
struct ui_event {
	enum ui_event_kind kind;
	uint64_t number; /* of UI_EVENT_FILE: that of the request */
	struct snapshot *snapshot;
	char *message, *path;
	bool is_error;
	union {
		struct ui_moment moment;
		struct ui_strip strip;
		struct ui_courses courses;
		struct lookup_answer lookup;
	};
};

/* Frees what an event owns; for a queue of events. */
void ui_event_discard(void *event);

/* Work that is done elsewhere; what comes of it is an event. */
enum ui_request_kind {
	UI_REQUEST_BASE,
	UI_REQUEST_SAVE,      /* save */
	UI_REQUEST_FILE,      /* number, text: the file to compare with; the last request counts */
	UI_REQUEST_NAMES,     /* text: a file name to complete; no answer where the file system gives none */
	UI_REQUEST_WRITE_TAB, /* tab: what the user made of it, to the file `text` */
	UI_REQUEST_MOMENT,    /* look; of requests that were not begun the newest counts, and steps add up */
	UI_REQUEST_OTHER,     /* number, other: a moment or a span to compare with, instead of a file */
	UI_REQUEST_STRIP,     /* strip; made when nothing else is asked for; the last request counts */
	UI_REQUEST_COURSES,   /* courses; as the strip */
	UI_REQUEST_LOOKUP,    /* lookup */
	UI_REQUEST_REPORT,    /* report, of which the host keeps what it needs; to the file `text` */
};

/* A snapshot, or two and how they are grouped, for a report. */
struct ui_report {
	const struct snapshot *before, *after; /* `before` is NULL in a report of one snapshot */
	const char *before_name, *after_name;
	const struct grouping_options *grouping;
	bool by_threads; /* changes are those of the same threads */
};

struct ui_request {
	enum ui_request_kind kind;
	uint64_t number; /* which of those that ask for something to compare with it is */
	const char *text;
	union {
		/* The snapshot on the screen (the host takes a reference of its own), and its window that is
		 * shown (the host takes it over; NULL: none). */
		struct {
			const struct snapshot *shown;
			struct snapshot_window *window;
		} save;
		enum tab tab;
		struct ui_look look;
		struct ui_other other;
		struct ui_strip_request strip;
		struct ui_courses_request courses;
		struct lookup_request lookup;
		struct ui_report report;
	};
};

/* The program behind the screen. No call waits for work that takes long. */
struct ui_host {
	void *context;
	int descriptor; /* readable as long as receive() has something; -1: never */
	bool (*receive)(void *context, struct ui_event *ret_event); /* false: nothing is left */
	unsigned int offers; /* a bit for each kind of request that is possible here */
	/* False: not now. */
	bool (*request)(void *context, const struct ui_request *request);
	/* Other settings of a live capture. A change of `heap_off` or `latency`, and of `task_fields` to
	 * true, asks for a round. No round comes before the first ones. NULL: this screen is not live. */
	void (*change_settings)(void *context, const struct ui_settings *settings);
	bool has_heap;               /* an allocator probe */
	bool has_latency;            /* how long waits take can be asked for */
	const atomic_uint *progress; /* how many threads the first round has read the files of; may be NULL */
};

static inline bool ui_offers(const struct ui_host *host, enum ui_request_kind kind)
{
	return (host->offers & (1U << kind)) != 0;
}

static inline bool ui_request(const struct ui_host *host, const struct ui_request *request)
{
	return host->request(host->context, request);
}

static inline bool ui_is_live(const struct ui_host *host)
{
	return host->change_settings != NULL;
}

struct ui_options {
	const char *file_name; /* of a file on the screen, NULL when live */
	/* A snapshot to compare with from the start and the name of its file; NULL for none. */
	struct snapshot *before;
	const char *before_name;
	uint64_t interval_ns;
	uint64_t rounds; /* quit after so many, 0 for never */
	/* The moment to begin with, taken over by a screen that opens; NULL: the screen is not of the past.
	 */
	struct ui_moment *moment;
	bool plays; /* from there on */
	enum theme theme;
	bool ascii;
	bool no_mouse;
	bool latency;            /* ui_settings.latency at first */
	const struct view *view; /* to start with; copied */
	const char *notice;      /* a sentence to show at first, NULL for none */
	const char *config_path; /* of the configuration file to write to, NULL for none */
};

/*
 * Runs the screen until the user quits or the terminal goes away. Uses stdin or /dev/tty for keys and stdout
 * for the screen. Returns 0, or a negative errno with a sentence; a deadly signal received is returned as a
 * positive number after the terminal is restored, for the caller to raise again.
 */
int ui_run(struct session *session, const struct ui_host *host, const struct ui_options *options,
	   struct error *error);

#endif
