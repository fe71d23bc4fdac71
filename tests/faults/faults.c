/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults CTOP LIBRARY TARGET [--seconds N] [--seed N] [--jobs N] [--function NAME] [--site ID --errno N]
 * [SUBJECT]...
 *
 * Runs ctop with each call of functions.def failing once, by call site: first without a failure, which counts
 * the sites that the run meets, then once for each of them and each errno that it may give. Whatever fails,
 * ctop ends with 0, or with 1 and a sentence, within minutes; what was stored before is whole; no process,
 * descriptor, file or BPF link is left; a sanitizer finds nothing. --seconds takes a sample of about that
 * long by the seed, which is printed, instead of all. --site repeats one failure and keeps what it left.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../wait.h"
#include "links.h"
#include "run.h"

#define SHORT      FAULT_SHORT
#define ERRNOS_MAX 8

enum {
	CENSUSES = 2, /* runs without a failure, which count */
	TRIES = 3,    /* until a failure is met */
	JOBS_MAX = 16,
	SAMPLED_SUBJECTS = 3,
	SITES_MAX = 1 << 14,
};

static const struct {
	const char *name;
	int errnos[ERRNOS_MAX];
} functions[] = {
#define FUNCTION(name, how, ...) {#name, {__VA_ARGS__}},
#include "functions.def"
#undef FUNCTION
};

enum {
	FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0])
};

/* Each runs in a directory of its own with the files of job_make_files(). */
static const struct subject subjects[] = {
	{.name = "capture", .arguments = {"capture", "--no-heap", "-o", "saved.ctprof.zst"}},
	{.name = "capture-procfs",
	 .arguments = {"capture", "--no-heap", "--backend", "procfs", "--for", "0.3", "-p", "@", "-o",
		       "saved.ctprof.zst"}},
	{.name = "capture-heap", .arguments = {"capture", "-p", "@", "-o", "saved.ctprof.zst"}},
	{.name = "save",
	 .drive = SCREEN,
	 .keys = "S",
	 .arguments = {"--no-config", "-p", "@", "-d", "0.5", "--save-dir", "."}},
	{.name = "show", .is_fixed = true, .arguments = {"show", "--no-config", "saved.ctprof.zst"}},
	{.name = "diff",
	 .is_fixed = true,
	 .arguments = {"diff", "-o", "report", "before.ctprof.zst", "saved.ctprof.zst"}},
	{.name = "open", .drive = SCREEN, .keys = "i", .arguments = {"--no-config", "saved.ctprof.zst"}},
	{.name = "record",
	 .arguments = {"record", "--history", "history", "-d", "0.5", "-n", "3", "-p", "@", "--when",
		       "RSS(*) > 1"}},
	{.name = "history", .is_fixed = true, .arguments = {"history", "--check", "--history", "history"}},
	{.name = "dump",
	 .is_fixed = true,
	 .arguments = {"dump", "--history", "history", "--format", "csv", "-o", "report"}},
	{.name = "replay",
	 .drive = SCREEN,
	 .keys = "TtS",
	 .arguments = {"replay", "--no-config", "--history", "history", "--save-dir", "."}},
	{.name = "export",
	 .drive = SERVER,
	 .arguments = {"export", "--listen", "unix:socket", "-d", "0.5", "-p", "@", "--textfile",
		       "page.prom"}},
};

enum {
	SUBJECT_COUNT = sizeof(subjects) / sizeof(subjects[0])
};

/* A failure to be tried, and what came of it; in memory that all jobs share. */
struct failure {
	struct fault_site site;
	int number;    /* errno or FAULT_SHORT */
	uint32_t call; /* which call of the site fails */
	bool is_tried;
	bool is_met;
	bool is_inevitable;
	char finding[FINDING_BYTES];
};

/* The runs without a failure: *ret_sites, owned by the caller, are those that all of them met together. */
static size_t take_census(const struct subject *subject, int censuses, struct fault_state *usual,
			  struct fault_site *sites)
{
	char finding[FINDING_BYTES];
	size_t count = 0;

	memset(usual, 0, sizeof(*usual));
	for (int i = 0; i < censuses; i++) {
		run(subject, NULL, 0, 0, 0, finding);
		if (finding[0] != '\0' || job.state->lost != 0) {
			printf("%s without a failure: %s\n", subject->name, finding);
			return 0;
		}
		for (uint32_t j = 0; j < FAULT_SITES; j++) {
			const struct fault_site *const site = &job.state->sites[j];
			size_t known = 0;

			while (site->id != 0 && known < count && sites[known].id != site->id)
				known++;
			if (site->id != 0 && known == count && count < SITES_MAX)
				memcpy(&sites[count++], site, sizeof(*site));
		}
		for (uint32_t j = 0; j < job.state->descriptor_count; j++) {
			uint32_t known = 0;

			while (known < usual->descriptor_count &&
			       strcmp(usual->descriptors[known].kind, job.state->descriptors[j].kind) != 0)
				known++;
			if (known == usual->descriptor_count)
				usual->descriptors[usual->descriptor_count++] = job.state->descriptors[j];
			if (usual->descriptors[known].count < job.state->descriptors[j].count)
				usual->descriptors[known].count = job.state->descriptors[j].count;
		}
	}
	run_keep_told(subject);
	return count;
}

static uint64_t seed;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/*
 * Whether ctop can do nothing about it: ncurses does not look whether it got memory and loses some where it
 * fails, a socket stays where it cannot be removed, and a terminal that gives EIO has hung up, by which ctop
 * ends like any program.
 */
static bool is_inevitable(const struct failure *failure)
{
	const char *const function = functions[failure->site.function].name;
	static const char leaked[] = "ended with 99; sanitizer: ERROR: LeakSanitizer";
	bool is_in_ncurses = false;

	for (uint32_t i = 0; i < failure->site.frame_count; i++)
		is_in_ncurses = is_in_ncurses ||
				strncmp(failure->site.frames[i].object, "libncurses", 10) == 0 ||
				strncmp(failure->site.frames[i].object, "libtinfo", 8) == 0;
	if (failure->number == EIO && strcmp(failure->finding, "ended by signal 1") == 0)
		return true;
	if (strcmp(function, "unlink") == 0 || strcmp(function, "lstat64") == 0)
		return strcmp(failure->finding, "socket is left") == 0;
	return is_in_ncurses &&
	       (strcmp(failure->finding, "ended by signal 11") == 0 ||
		strncmp(failure->finding, leaked,
			failure->number == ENOMEM ? strlen("ended with 99") : strlen(leaked)) == 0);
}

/* Tries a failure until it is met. */
static void try(const struct subject *subject, const struct fault_state *usual, struct failure *failure)
{
	failure->is_tried = true;
	for (int i = 0; i < TRIES && !failure->is_met && failure->finding[0] == '\0'; i++) {
		run(subject, usual, failure->site.id, i == 0 ? failure->call : 1, failure->number,
		    failure->finding);
		failure->is_met = job.state->failed != 0;
	}
	failure->is_inevitable = failure->finding[0] != '\0' && is_inevitable(failure);
	if (failure->is_inevitable)
		failure->finding[0] = '\0';
	if (!failure->is_met && failure->finding[0] == '\0')
		printf("%s: call %u of %s, --site %016" PRIx64 ", was not met again\n", subject->name,
		       failure->call, functions[failure->site.function].name, failure->site.id);
}

/* Writes what a command prints. */
static void append_output(FILE *text, const char *command)
{
	FILE *output = popen(command, "re");
	char line[1024];

	while (output != NULL && fgets(line, sizeof(line), output) != NULL)
		fprintf(text, "    %s", line);
	if (output != NULL)
		pclose(output);
}

/* Prints the call that failed, its callers, and the finding, in one write: several jobs print. */
static void print_failure(const struct subject *subject, const struct failure *failure)
{
	size_t length;
	char *bytes;
	FILE *text = open_memstream(&bytes, &length);

	fprintf(text, "%s: %s %s in call %u, --site %016" PRIx64 " --errno %d\n", subject->name,
		functions[failure->site.function].name,
		failure->number == FAULT_SHORT ? "half" : strerrorname_np(failure->number), failure->call,
		failure->site.id, failure->number);
	for (uint32_t i = 0; i < failure->site.frame_count; i++) {
		const struct fault_frame *const frame = &failure->site.frames[i];
		char command[512];

		if (frame->object[0] != '\0') {
			fprintf(text, "    %s+%#" PRIx64 "\n", frame->object, frame->offset);
			continue;
		}
		snprintf(command, sizeof(command), "addr2line -e %s -fsp %#" PRIx64, job.ctop,
			 frame->offset - 1);
		append_output(text, command);
	}
	fprintf(text, "  %s\n", failure->finding);
	fclose(text);
	fflush(stdout);
	if (write(STDOUT_FILENO, bytes, length) < 0)
		die("standard output");
	free(bytes);
}

struct limits {
	double seconds; /* 0: all */
	int jobs;
	const char *function; /* NULL: all */
	uint64_t site;        /* 0: all */
	int number;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* All failures of the sites, in memory to be shared, in a random order where only some are tried. */
static struct failure *list_failures(const struct fault_site *sites, size_t site_count,
				     const struct limits *limits, size_t *ret_count)
{
	struct failure *failures = mmap(NULL, sizeof(*failures) * site_count * ERRNOS_MAX,
					PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
					-1, 0);
	size_t count = 0;

	if (failures == MAP_FAILED)
		die("memory");
	for (size_t i = 0; i < site_count; i++) {
		const int *const errnos = functions[sites[i].function].errnos;

		if (limits->function != NULL &&
		    strcmp(functions[sites[i].function].name, limits->function) != 0)
			continue;
		for (int j = 0; j < ERRNOS_MAX && errnos[j] != 0; j++) {
			struct failure *failure = &failures[count];

			if (limits->site != 0 && (sites[i].id != limits->site || errnos[j] != limits->number))
				continue;
			memcpy(&failure->site, &sites[i], sizeof(sites[i]));
			failure->number = errnos[j];
			failure->call = j == 0 ? 1 : (uint32_t)(draw() % sites[i].calls) + 1;
			count++;
		}
	}
	for (size_t i = count; limits->seconds > 0 && i > 1; i--) {
		const size_t other = draw() % i;
		static struct failure kept;

		memcpy(&kept, &failures[i - 1], sizeof(kept));
		memcpy(&failures[i - 1], &failures[other], sizeof(kept));
		memcpy(&failures[other], &kept, sizeof(kept));
	}
	*ret_count = count;
	return failures;
}

struct counts {
	size_t sites, sites_failed;
	size_t failures, tried, met, inevitable, findings;
};

/* Adds those of one function; failures of a site follow each other unless they are a sample. */
static void count_function(struct counts *counts, uint32_t function, const struct failure *failures,
			   size_t count)
{
	uint64_t last = 0;
	uint64_t last_met = 0;

	for (size_t i = 0; i < count; i++) {
		const struct failure *const failure = &failures[i];
		const uint64_t id = failure->site.id;

		if (failure->site.function != function)
			continue;
		counts->sites += id != last;
		last = id;
		counts->sites_failed += failure->is_met && id != last_met;
		last_met = failure->is_met ? id : last_met;
		counts->failures++;
		counts->tried += failure->is_tried;
		counts->met += failure->is_met;
		counts->inevitable += failure->is_inevitable;
		counts->findings += failure->finding[0] != '\0';
	}
}

static void print_counts(const struct subject *subject, const char *function, const struct counts *counts)
{
	printf("%s: %s: %zu of %zu sites failed, %zu failures, %zu tried, %zu met, %zu inevitable, %zu "
	       "findings\n",
	       subject->name, function, counts->sites_failed, counts->sites, counts->failures, counts->tried,
	       counts->met, counts->inevitable, counts->findings);
}

/* Prints the counts, of all failures by function; the number of findings, of which too few tries are one. */
static size_t report(const struct subject *subject, const struct failure *failures, size_t count,
		     bool is_sample)
{
	struct counts all = {0};

	for (uint32_t function = 0; function < FUNCTION_COUNT; function++) {
		struct counts counts = {0};

		count_function(&counts, function, failures, count);
		if (counts.failures != 0 && !is_sample)
			print_counts(subject, functions[function].name, &counts);
		count_function(&all, function, failures, count);
	}
	if (is_sample)
		printf("%s: %zu of %zu failures tried, %zu met, %zu findings\n", subject->name, all.tried,
		       all.failures, all.met, all.findings);
	else
		print_counts(subject, "all", &all);
	if (is_sample ? all.failures != 0 && all.tried == 0 : all.tried < all.failures) {
		printf("%s: too few failures are tried\n", subject->name);
		return all.findings + 1;
	}
	return all.findings;
}

/* Tries every so-manieth failure in a directory of its own, the first one whatever the time, and ends. */
static void __attribute__((noreturn))
try_share(const struct subject *subject, const struct fault_state *usual, struct failure *failures,
	  size_t count, int number, int jobs, double end)
{
	job_begin(number + 1);
	for (size_t i = (size_t)number; i < count && (i == (size_t)number || now_s() < end);
	     i += (size_t)jobs) {
		try(subject, usual, &failures[i]);
		if (failures[i].finding[0] != '\0')
			print_failure(subject, &failures[i]);
	}
	fflush(stdout);
	_exit(0);
}

/* Tests a subject: all that it can fail by, or what there is time for. */
static bool test(const struct subject *subject, const struct limits *limits)
{
	struct fault_site *sites = calloc(SITES_MAX, sizeof(*sites));
	struct fault_state *usual = malloc(sizeof(*usual));
	const size_t links = links_without_holder();
	const size_t site_count = take_census(subject, limits->seconds > 0 ? 1 : CENSUSES, usual, sites);
	const double end = limits->seconds > 0 ? now_s() + limits->seconds : HUGE_VAL;
	pid_t jobs[JOBS_MAX];
	struct failure *failures;
	size_t findings = 0;
	size_t count;

	if (site_count == 0) {
		printf("not ok - %s\n", subject->name);
		free(usual);
		free(sites);
		return false;
	}
	failures = list_failures(sites, site_count, limits, &count);
	fflush(stdout);
	for (int i = 0; i < limits->jobs; i++)
		if ((jobs[i] = fork()) == 0)
			try_share(subject, usual, failures, count, i, limits->jobs, end);
	for (int i = 0; i < limits->jobs; i++) {
		int status = -1; /* where it could not be started */

		while (jobs[i] > 0 && waitpid(jobs[i], &status, 0) < 0 && errno == EINTR)
			;
		if (status != 0) {
			printf("%s: job %d ended with wait status %#x\n", subject->name, i,
			       (unsigned int)status);
			findings++;
		}
	}
	findings += report(subject, failures, count, limits->seconds > 0);
	if (!wait_until(links_without_holder() <= links)) {
		printf("%s: BPF links are left that no process holds\n", subject->name);
		findings++;
	}
	printf("%s - %s\n", findings == 0 ? "ok" : "not ok", subject->name);
	fflush(stdout);
	munmap(failures, sizeof(*failures) * site_count * ERRNOS_MAX);
	free(usual);
	free(sites);
	return findings == 0;
}

/* Tests the subjects that are named, or all. */
static bool test_all(const struct limits *limits, char **names, int name_count)
{
	const struct subject *chosen[SUBJECT_COUNT];
	struct limits share = *limits;
	bool is_good = true;
	int count = 0;

	for (size_t i = 0; i < SUBJECT_COUNT; i++) {
		bool is_named = name_count == 0;

		for (int j = 0; j < name_count; j++)
			is_named = is_named || strcmp(names[j], subjects[i].name) == 0;
		if (is_named)
			chosen[count++] = &subjects[i];
	}
	/* a sample of the subjects, too */
	while (limits->seconds > 0 && name_count == 0 && count > SAMPLED_SUBJECTS) {
		const size_t place = draw() % (size_t)count;

		chosen[place] = chosen[--count];
	}
	share.seconds = count > 0 ? limits->seconds / count : 0;
	job_begin(0);
	job_make_files();
	for (int i = 0; i < count; i++)
		is_good = test(chosen[i], &share) && is_good;
	return is_good && count > 0;
}

int main(int argc, char **argv)
{
	char top[] = "/tmp/ctop-faults-XXXXXX";
	struct limits limits = {.jobs = 1};
	int status = 0;
	int input = -1;
	pid_t tester;
	int i;

	if (argc < 4)
		return 2;
	job.ctop = realpath(argv[1], NULL);
	job.library = realpath(argv[2], NULL);
	if (job.ctop == NULL || job.library == NULL)
		die("a program");
	seed = (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid();
	for (i = 4; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
		if (strcmp(argv[i], "--seconds") == 0)
			limits.seconds = atof(argv[i + 1]);
		else if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (strcmp(argv[i], "--jobs") == 0)
			limits.jobs = atoi(argv[i + 1]) < JOBS_MAX ? atoi(argv[i + 1]) : JOBS_MAX;
		else if (strcmp(argv[i], "--function") == 0)
			limits.function = argv[i + 1];
		else if (strcmp(argv[i], "--site") == 0)
			limits.site = strtoull(argv[i + 1], NULL, 16);
		else if (strcmp(argv[i], "--errno") == 0)
			limits.number = atoi(argv[i + 1]);
	}
	printf("seed %" PRIu64 "\n", seed);
	seed = seed != 0 ? seed : 1;
	if (mkdtemp(top) == NULL)
		die(top);
	job.top = top;
	job_start_target(argv[3], &input);
	fflush(stdout);
	tester = fork(); /* the target is no child of it */
	if (tester == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exit(test_all(&limits, argv + i, argc - i) ? 0 : 1);
	}
	while (waitpid(tester, &status, 0) < 0 && errno == EINTR)
		;
	kill(job.target, SIGKILL);
	close(input);
	if (limits.site == 0)
		remove_tree(top);
	else
		printf("what is left is in %s\n", top);
	return status == 0 ? 0 : 1;
}
