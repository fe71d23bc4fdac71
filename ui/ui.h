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

/* What happened outside that the screen should know; handed over by ui_host.receive. */
enum ui_event_kind {
	UI_EVENT_ROUND,   /* snapshot: a new round; the screen takes the reference over */
	UI_EVENT_BASE,    /* snapshot: the full round asked for by request_base; becomes newest and base */
	UI_EVENT_SAVED,   /* message: where the snapshot was saved, or why not */
	UI_EVENT_WRITTEN, /* message: that the configuration was written, or why not */
	/* message: lines, the text asked about by request_names, what it becomes, names that begin so if
	 * several do */
	UI_EVENT_NAMES,
	UI_EVENT_MESSAGE, /* message: a sentence to show (an error of save or capture) */
	UI_EVENT_HOST,    /* snapshot: facts of the host, without threads; before the first round */
	UI_EVENT_FAILED,  /* message: why there will be no round; ends the screen */
};

struct ui_event {
	enum ui_event_kind kind;
	struct snapshot *snapshot;
	char *message; /* owned by the receiver */
	bool is_error;
	/* of UI_EVENT_SAVED: the file; of a snapshot that was asked for: what it is called, where that is not
	 * as it was asked for; NULL for none; owned by the receiver */
	char *path;
};

/* Two snapshots and how they are grouped, for a report. */
struct ui_comparison {
	const struct snapshot *before, *after;
	const char *before_name, *after_name;
	const struct grouping_options *grouping;
	bool by_threads; /* changes are those of the same threads */
};

/* What the screen sets of a live capture. */
struct ui_settings {
	uint64_t interval_ns;
	bool paused;
	bool heap_off;     /* do not use the allocator probe */
	bool latency;      /* measure how long waits take */
	source_set needed; /* by what is on the screen */
	bool cgroup_records, smaps;
	bool task_fields; /* what a sched_ext scheduler keeps for each task */
};

/* Which moment to look at, from the one that is shown. */
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

/* What came of it. What is owned is so by the receiver. */
struct ui_moment {
	struct session_moment *moment;    /* owned; NULL: only the message */
	uint64_t unix_ns, newest_unix_ns; /* of it, and of the newest there is; 0: not known */
	bool is_newest;
	char *note; /* what is to be known of it (a gap, a reboot, a mark), owned; NULL: nothing */
	struct snapshot
		*compared; /* owned: of a moment to compare with, `message` is its name; NULL: no such */
	char *message;     /* a sentence, owned; NULL: none */
	bool is_error;
	char *saved;     /* path of a file that was written, owned; NULL: none */
	uint64_t number; /* of the request that it answers; 0: none of a look */
};

/* What is asked for of the time about a moment. */
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

/*
 * What the program offers to the screen. Every call returns at once; work is done elsewhere and comes back as
 * an event. A NULL pointer means that this screen cannot do it (a file has no rounds); its key then shows a
 * message.
 */
struct ui_host {
	void *context;
	int notify_fd; /* readable when receive() has something; -1 for none */
	bool (*receive)(void *context, struct ui_event *ret_event); /* false: nothing is left */
	const atomic_uint *progress; /* of how many threads the first round has read the files; may be NULL */
	/* Other settings; a change of `heap_off` or `latency`, and `task_fields` where it was not
	 * wanted, ask for a round. The first come before any round. */
	void (*change_settings)(void *context, const struct ui_settings *settings);
	bool has_heap;    /* an allocator probe */
	bool has_latency; /* how long waits take can be asked for */
	void (*request_base)(void *context);
	/*
	 * Save: the snapshot on the screen (the host takes its own reference) and the window that is shown of
	 * it, which the host takes over; NULL: there is none.
	 */
	void (*request_save)(void *context, struct snapshot *shown, struct snapshot_window *window);
	/*
	 * Instead of saving, for what is a file already: writes a report of it to `path`, in the format of
	 * the name's ending. Returns 0, or a negative errno with a sentence.
	 */
	int (*write_report)(void *context, const struct grouping_options *grouping, const char *path,
			    struct error *error);
	/*
	 * Files to compare with. `request_file` reads one elsewhere; the result (a snapshot, which the screen
	 * takes over, or a sentence) comes from `receive_file` once `file_fd` is readable. Only the last
	 * request has a result. All NULL: files cannot be compared with here.
	 */
	void *file_context;
	int file_fd;
	void (*request_file)(void *file_context, const char *path);
	bool (*receive_file)(void *file_context, struct ui_event *ret_event);
	/*
	 * Completes the name of a file, elsewhere; the answer is an event of receive_file(), UI_EVENT_NAMES.
	 * None where the file system does not answer. NULL: names are not completed.
	 */
	void (*request_names)(void *file_context, const char *text);
	/*
	 * Writes what the user made of a tab to the configuration file `path`, elsewhere; what came of it is
	 * an event of receive_file(), UI_EVENT_WRITTEN. NULL: there is no such file here.
	 */
	void (*write_tab)(void *file_context, const char *path, enum tab tab);
	/*
	 * Texts about rows on the screen, see lookup.h. `request_lookup` is false when it cannot be asked for
	 * now; answers come from `receive_lookup` once `lookup_fd` is readable. NULL: nothing can be looked
	 * up.
	 */
	void *lookup_context;
	int lookup_fd;
	bool (*request_lookup)(void *lookup_context, const struct lookup_request *request);
	bool (*receive_lookup)(void *lookup_context, struct lookup_answer *ret_answer);
	/*
	 * Moments that have been, read elsewhere. Of requests that were not begun the newest counts, and
	 * steps add up; what came of them is there once `past_fd` is readable. `request_other` asks for the
	 * snapshot of the round nearest to a time. NULL: there are none.
	 */
	void *past_context;
	int past_fd;
	void (*request_moment)(void *past_context, const struct ui_look *look);
	void (*request_other)(void *past_context, uint64_t unix_ns);
	bool (*receive_moment)(void *past_context, struct ui_moment *ret_moment);
	/* What was before and after a moment, made when nothing else is asked for; the last request counts.
	 */
	void (*request_strip)(void *past_context, const struct ui_strip_request *request);
	bool (*receive_strip)(void *past_context, struct ui_strip *ret_strip);
	/* Writes a report of a comparison, as write_report does of a file. NULL: there is none. */
	int (*write_comparison)(void *file_context, const struct ui_comparison *comparison, const char *path,
				struct error *error);
};

struct ui_options {
	const char *file_name; /* of a file on the screen, NULL when live */
	/* A snapshot to compare with from the start and the name of its file; NULL for none. */
	struct snapshot *before;
	const char *before_name;
	uint64_t interval_ns;
	uint64_t rounds; /* quit after so many, 0 for never */
	/* The moment to begin with, taken over; NULL: the screen is not of the past. */
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
