/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every bad input of every command: the exit status, a sentence on standard error that names the culprit and
 * where possible the remedy, nothing on standard output, no file left.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "harness.h"

enum {
	FAILURE = 1,
	USAGE = 2
};

#define NOBODY 65534

#define HALF     "{\"avg10\":0,\"avg60\":0,\"avg300\":0,\"total_usec\":0}"
#define RESOURCE "{\"some\":" HALF ",\"full\":" HALF "}"
#define PRESSURE                                                                                             \
	"\"psi\":{\"cpu\":" RESOURCE ",\"memory\":" RESOURCE ",\"io\":" RESOURCE ",\"irq\":" RESOURCE "}"

/* The smallest snapshot that loads, and what spoils it. */
static const char good[] = "{\"captured_at_unix_ns\":0,\"threads\":[],\"cgroup_stats\":{}," PRESSURE "}";

static const struct {
	const char *name;
	const char *text;
} compressed_files[] = {
	{"good", good},
	{"hello", "hello\n"},
	{"array", "[]"},
	{"no-threads", "{\"captured_at_unix_ns\":0,\"cgroup_stats\":{}," PRESSURE "}"},
	{"wrong-type", "{\"captured_at_unix_ns\":0,\"threads\":{},\"cgroup_stats\":{}," PRESSURE "}"},
	{"negative", "{\"captured_at_unix_ns\":-1,\"threads\":[],\"cgroup_stats\":{}," PRESSURE "}"},
	{"twice",
	 "{\"captured_at_unix_ns\":0,\"threads\":[],\"threads\":[],\"cgroup_stats\":{}," PRESSURE "}"},
	{"behind", "{\"captured_at_unix_ns\":0,\"threads\":[],\"cgroup_stats\":{}," PRESSURE "} x"},
	{"cut-json", "{\"captured_at_unix_ns\":0,\"threads\":["},
	{"bad-utf8",
	 "{\"captured_at_unix_ns\":0,\"threads\":[],\"cgroup_stats\":{\"\xc0\xaf\":1}," PRESSURE "}"},
};

/* A word that begins with '@' is a file in the scratch directory. */
struct bad_case {
	const char *arguments[10];
	int status;
	const char *needles[3]; /* each stands on standard error */
	unsigned int user;      /* user that runs ctop */
};

static const struct bad_case show_cases[] = {
	{{"show"}, USAGE, {"FILE"}, 0},
	{{"show", "--nonsense", "@good"}, USAGE, {"--nonsense"}, 0},
	{{"show", "@good", "@good"}, USAGE, {"good"}, 0},
	{{"show", "@good", "--format", "xml"}, USAGE, {"xml", "tsv", "json"}, 0},
	{{"show", "@good", "-g", "prozess"}, USAGE, {"prozess", "process"}, 0},
	{{"show", "@good", "--long", "-g", "all"}, USAGE, {"all"}, 0},
	{{"show", "@good", "--metrics", "run_time"}, USAGE, {"run_time", "run_time_ns"}, 0},
	{{"show", "@good", "--sections", "primry"}, USAGE, {"primry", "primary"}, 0},
	{{"show", "@good", "--sort-by", "run_tim_ns"}, USAGE, {"run_tim_ns", "run_time_ns"}, 0},
	{{"show", "@good", "--sort-by", "run_time_ns:up"}, USAGE, {"up", "desc"}, 0},
	{{"show", "@good", "--limit", "few"}, USAGE, {"--limit", "few"}, 0},
	{{"show", "@good", "--limit", "-1"}, USAGE, {"--limit", "-1"}, 0},
	{{"show", "@good", "--limit"}, USAGE, {"--limit"}, 0},
	{{"show", "@good", "--max-bytes", "much"}, USAGE, {"--max-bytes", "much"}, 0},
	{{"show", "@missing"}, FAILURE, {"@missing", "does not exist"}, 0},
	{{"show", "@empty"}, FAILURE, {"@empty"}, 0},
	{{"show", "@truncated"}, FAILURE, {"@truncated"}, 0},
	{{"show", "@text"}, FAILURE, {"@text", "zstd"}, 0},
	{{"show", "@gzip"}, FAILURE, {"@gzip", "gzip"}, 0},
	{{"show", "@hello"}, FAILURE, {"@hello"}, 0},
	{{"show", "@array"}, FAILURE, {"@array"}, 0},
	{{"show", "@no-threads"}, FAILURE, {"@no-threads", "threads"}, 0},
	{{"show", "@wrong-type"}, FAILURE, {"@wrong-type", "threads"}, 0},
	{{"show", "@negative"}, FAILURE, {"@negative", "captured_at_unix_ns"}, 0},
	{{"show", "@twice"}, FAILURE, {"@twice", "threads"}, 0},
	{{"show", "@behind"}, FAILURE, {"@behind"}, 0},
	{{"show", "@cut-json"}, FAILURE, {"@cut-json"}, 0},
	{{"show", "@bad-utf8"}, FAILURE, {"@bad-utf8"}, 0},
	{{"show", "@deep"}, FAILURE, {"@deep"}, 0},
	{{"show", "@directory"}, FAILURE, {"@directory", "directory"}, 0},
	{{"show", "@good", "--max-bytes", "100"}, FAILURE, {"@good", "100", "--max-bytes"}, 0},
	{{"show", "@good", "-o", "@none/out"}, FAILURE, {"@none"}, 0},
	{{"show", "@good", "-o", "@directory"}, FAILURE, {"@directory", "directory"}, 0},
};

static const struct bad_case file_cases[] = {
	{{"@missing"}, FAILURE, {"@missing", "does not exist"}, 0},
	{{"@empty"}, FAILURE, {"@empty"}, 0},
	{{"@text"}, FAILURE, {"@text", "zstd"}, 0},
	{{"@directory"}, FAILURE, {"@directory", "directory"}, 0},
	{{"captur"}, USAGE, {"captur", "capture"}, 0},
};

static const struct bad_case metrics_cases[] = {
	{{"metrics", "more"}, USAGE, {"more"}, 0},
	{{"metrics", "--format", "xml"}, USAGE, {"xml", "tsv"}, 0},
	{{"metrics", "--nonsense"}, USAGE, {"--nonsense"}, 0},
	{{"help", "captre"}, USAGE, {"captre", "capture"}, 0},
};

static const struct bad_case capture_cases[] = {
	{{"capture"}, USAGE, {"-o"}, 0},
	{{"capture", "-o"}, USAGE, {"-o"}, 0},
	{{"capture", "-o", "@out", "more"}, USAGE, {"more"}, 0},
	{{"capture", "-o", "@out", "--nonsense"}, USAGE, {"--nonsense"}, 0},
	{{"capture", "-o", "@out", "-p", "one"}, USAGE, {"-p", "one"}, 0},
	{{"capture", "-o", "@out", "-p", "0"}, USAGE, {"-p", "0"}, 0},
	{{"capture", "-o", "@out", "-p", "-4"}, USAGE, {"-p", "-4"}, 0},
	{{"capture", "-o", "@out", "--budget-time", "soon"}, USAGE, {"--budget-time", "soon"}, 0},
	{{"capture", "-o", "@out", "-p", "4194305"}, FAILURE, {"4194305"}, 0},
	{{"capture", "-o", "@none/out"}, FAILURE, {"@none", "No such file"}, 0},
	{{"capture", "-o", "@directory"}, FAILURE, {"@directory", "directory"}, 0},
	{{"capture", "--for", "600", "-o", "@none/out"}, FAILURE, {"@none", "name another file"}, 0},
	{{"capture", "--for", "600", "-o", "@directory"}, FAILURE, {"@directory", "regular file"}, 0},
	{{"capture", "--for", "600", "-o", ""}, FAILURE, {"cannot write '': it names no file"}, 0},
	{{"capture", "-o", "@out", "--proc-root", "@none"}, FAILURE, {"@none"}, 0},
	{{"capture", "-o", "@out", "--proc-root", "@directory"}, FAILURE, {"@directory", "processes"}, 0},
};

/* Runs as another user, who may not read or write these. */
static const struct bad_case permission_cases[] = {
	{{"show", "@private"}, FAILURE, {"@private", "Permission denied"}, NOBODY},
	{{"capture", "-o", "@locked/out"}, FAILURE, {"@locked", "Permission denied"}, NOBODY},
};

static const struct bad_case doctor_cases[] = {
	{{"doctor", "more"}, USAGE, {"more"}, 0},
	{{"doctor", "--format", "xml"}, USAGE, {"xml", "json"}, 0},
	{{"doctor", "--nonsense"}, USAGE, {"--nonsense"}, 0},
	{{"doctor", "--proc-root", "@none"}, FAILURE, {"@none"}, 0},
};

static const struct bad_case batch_cases[] = {
	{{"--nonsense"}, USAGE, {"--nonsense"}, 0},
	{{"-b", "-n", "few"}, USAGE, {"-n", "few"}, 0},
	{{"-b", "-d", "0", "-n", "1"}, USAGE, {"0.1", "3600"}, 0},
	{{"-b", "-d", "4000", "-n", "1"}, USAGE, {"0.1", "3600"}, 0},
	{{"-b", "-d", "1x", "-n", "1"}, USAGE, {"1x"}, 0},
	{{"-b", "-n", "1", "-t", "Overvew"}, USAGE, {"Overvew", "overview"}, 0},
	{{"-b", "-n", "1", "--mode", "rates"}, USAGE, {"rates", "rate", "total"}, 0},
	{{"-b", "-n", "1", "--format", "xml"}, USAGE, {"xml", "tsv", "json"}, 0},
	{{"-b", "-n", "1", "-g", "thred"}, USAGE, {"thred", "thread"}, 0},
	{{"-b", "-n", "1", "--columns", "CPUX%"}, USAGE, {"CPUX%", "CPU%"}, 0},
	{{"-b", "-n", "1", "--sort-by", "run_tim_ns"}, USAGE, {"run_tim_ns", "run_time_ns"}, 0},
	{{"-b", "-n", "1", "--limit", "few"}, USAGE, {"--limit", "few"}, 0},
	{{"-b", "-n", "1", "-p", "one"}, USAGE, {"-p", "one"}, 0},
	{{"-b", "-n", "1", "--budget", "lots"}, USAGE, {"--budget", "lots"}, 0},
	{{"-b", "-n", "1", "--proc-root", "@none"}, FAILURE, {"@none"}, 0},
};

static void make_files(void)
{
	char *deep = calloc(1, 100001);
	size_t size;
	char *bytes;

	for (size_t i = 0; i < sizeof compressed_files / sizeof *compressed_files; i++)
		write_compressed(scratch_path(compressed_files[i].name), compressed_files[i].text,
				 strlen(compressed_files[i].text));
	memset(deep, '[', 100000);
	write_compressed(scratch_path("deep"), deep, 100000);
	free(deep);
	bytes = read_file(scratch_path("good"), &size);
	write_file(scratch_path("truncated"), bytes, size - 6);
	write_file(scratch_path("private"), bytes, size);
	chmod(scratch_path("private"), 0600);
	free(bytes);
	write_file(scratch_path("empty"), "", 0);
	write_file(scratch_path("text"), "captured yesterday\n", 19);
	write_file(scratch_path("gzip"), "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);
	mkdir(scratch_path("directory"), 0755);
	mkdir(scratch_path("locked"), 0700);
}

static bool check_case(const struct bad_case *bad)
{
	const char *arguments[11] = {0};
	struct run_options options = {.user = bad->user};
	struct run run;
	const char *complaint = NULL;
	struct stat status;

	for (size_t i = 0; i < 10 && bad->arguments[i]; i++)
		arguments[i] = bad->arguments[i][0] == '@' ? scratch_path(bad->arguments[i] + 1)
							   : bad->arguments[i];
	run_ctop(&run, &options, arguments);
	if (run.status != bad->status)
		complaint = "wrong exit status";
	else if (run.output_length != 0)
		complaint = "something on standard output";
	else if (strncmp(run.errors, "ctop: ", 6) != 0)
		complaint = "no sentence that begins with 'ctop: '";
	else if (strchr(run.errors, '\n') == NULL)
		complaint = "no newline at the end";
	for (size_t i = 0; !complaint && i < 3 && bad->needles[i]; i++) {
		const char *needle = bad->needles[i] + (bad->needles[i][0] == '@');

		if (!strstr(run.errors, needle))
			complaint = needle;
	}
	if (stat(scratch_path("out"), &status) == 0) {
		complaint = "a file was left";
		unlink(scratch_path("out"));
	}
	if (complaint) {
		print_error("ctop");
		for (size_t i = 0; arguments[i]; i++)
			print_error(" %s", arguments[i]);
		print_error("\n  %s: exit status %d (signal %d), wanted %d\n  stderr: %s  stdout: %.300s\n",
			    complaint, run.status, run.signal, bad->status, run.errors, run.output);
	}
	run_release(&run);
	return !complaint;
}

static void check_cases(const struct bad_case *cases, size_t count)
{
	size_t failures = 0;

	make_files();
	for (size_t i = 0; i < count; i++)
		failures += !check_case(&cases[i]);
	assert_int_equal(failures, 0);
}

#define BAD_INPUT_TEST(command)                                                                              \
	static void test_##command(void **state)                                                             \
	{                                                                                                    \
		(void)state;                                                                                 \
		check_cases(command##_cases, sizeof command##_cases / sizeof *command##_cases);              \
	}

BAD_INPUT_TEST(show)
BAD_INPUT_TEST(file)
BAD_INPUT_TEST(metrics)
BAD_INPUT_TEST(capture)
BAD_INPUT_TEST(doctor)
BAD_INPUT_TEST(batch)

static void test_permission(void **state)
{
	(void)state;
	need_to_become_nobody();
	check_cases(permission_cases, sizeof permission_cases / sizeof *permission_cases);
}

/* The files spoilt above load when they are whole. */
static void test_good_file(void **state)
{
	struct run run;

	(void)state;
	make_files();
	run_ctop_well(&run, (const char *[]){"show", scratch_path("good"), NULL});
	run_release(&run);
	run_ctop(&run, &(struct run_options){.input = scratch_path("good")},
		 (const char *[]){"show", "-", "--format", "tsv", NULL});
	run_expect(&run, 0);
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_file),  cmocka_unit_test(test_show),
		cmocka_unit_test(test_file),       cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_capture),    cmocka_unit_test(test_doctor),
		cmocka_unit_test(test_permission), cmocka_unit_test(test_batch),
	};

	return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
