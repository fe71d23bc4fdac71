/* SPDX-License-Identifier: GPL-2.0-only */
#include "config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/reader.h"
#include "command.h"

/* The time its file system has to answer; ctop also starts without the file. */
#define CONFIG_PATIENCE_NS (800 * NS_PER_MS)

enum {
	CONFIG_PROBLEMS_TOLD = 10,
	LINKS_MAX = 40, /* the kernel's limit (MAXSYMLINKS, include/linux/namei.h) */
};

char *config_file_user_path(const char *variable, const char *directory, const char *name)
{
	const char *base = getenv(variable), *home = getenv("HOME");

	/* "All paths set in these environment variables must be absolute" */
	if (base != NULL && base[0] == '/')
		return memory_format("%s/%s", base, name);
	if (home != NULL && home[0] == '/')
		return memory_format("%s/%s/%s", home, directory, name);
	return NULL;
}

char *config_file_path(void)
{
	return config_file_user_path("XDG_CONFIG_HOME", ".config", "ctop/ctop.conf");
}

/* Why a file does not count, NULL if it does. */
static const char *why_not(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return "it is not a regular file";
	if (status->st_uid != getuid() && status->st_uid != 0)
		return "it belongs to another user";
	if ((status->st_mode & S_IWOTH) != 0)
		return "everybody may write to it (chmod o-w)";
	return NULL;
}

/* Reads the text of a file that counts; on failure the reason in words is in `text`. */
static int read_text(const char *path, struct stat *ret_status, struct buffer *text)
{
	/* a FIFO must not hold us up */
	const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *reason = NULL;
	int result = 0;

	if (descriptor < 0 || fstat(descriptor, ret_status) < 0)
		result = -errno;
	else
		reason = why_not(ret_status);
	if (result == 0 && reason == NULL)
		result = file_read_descriptor(descriptor, text, CONFIG_BYTES_MAX);
	if (descriptor >= 0)
		close(descriptor);
	if (reason == NULL && result == 0)
		return 0;
	buffer_clear(text);
	buffer_append_text(text, reason != NULL     ? reason
				 : result == -EFBIG ? "it is too large"
						    : strerror(-result));
	/* in a directory that may not be searched, as another user's home, nobody knows of a file */
	if (result == -EACCES && stat(path, ret_status) < 0 && errno == EACCES)
		return -ENOENT;
	return reason != NULL ? -EPERM : result;
}

/* A reader_work: the answer is the text of the file, or the reason why there is none. */
static int read_path(int directory, const void *path, size_t size, struct buffer *answer)
{
	struct stat status;

	(void)directory;
	(void)size;
	return read_text(path, &status, answer);
}

static bool has_other_rights(void)
{
	return getuid() != geteuid() || getgid() != getegid();
}

static void add_lines(struct config_file *file)
{
	config_parse(file->text.data, file->text.length, &file->config);
	for (size_t i = 0; i < file->config.count; i++) {
		const struct config_line *line = &file->config.lines[i];

		if (line->kind != CONFIG_SETTING && line->value != NULL)
			config_file_problem(file, line->number, "%s", line->value);
	}
}

int config_file_read(const char *path, struct config_file *file, struct error *error)
{
	const char *reason;
	int result;

	*file = (struct config_file){.path = NULL};
	if (has_other_rights())
		return path == NULL
			       ? 0
			       : error_set(
					 error, -EPERM,
					 "--config %s: a program with the rights of another user reads none",
					 path);
	file->path = path != NULL ? memory_duplicate(path) : config_file_path();
	if (file->path == NULL)
		return 0;
	result = reader_call_once(CONFIG_PATIENCE_NS, read_path, -1, file->path, strlen(file->path) + 1,
				  &file->text);
	if (result == 0) {
		add_lines(file);
		return 0;
	}
	reason = file->text.length != 0 ? file->text.data : "its file system does not answer";
	if (path != NULL)
		return error_set(error, result, "cannot read %s: %s", path, reason);
	if (result != -ENOENT && result != -ENOTDIR)
		config_file_problem(file, 0, "not read: %s", reason);
	buffer_clear(&file->text);
	return 0;
}

void config_file_problem(struct config_file *file, size_t line, const char *format, ...)
{
	char sentence[1024], place[32] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	if (line != 0)
		snprintf(place, sizeof(place), ":%zu", line);
	if (file->problem_count++ == 0)
		file->first_problem = memory_format("%s%s: %s", file->path, place, sentence);
	if (file->problem_count <= CONFIG_PROBLEMS_TOLD)
		command_note("%s%s: %s", file->path, place, sentence);
	else if (file->problem_count == CONFIG_PROBLEMS_TOLD + 1)
		command_note("%s: more of that kind", file->path);
}

size_t config_file_line(const struct config_file *file, const char *value)
{
	for (size_t i = 0; value != NULL && i < file->config.count; i++) {
		if (file->config.lines[i].value == value)
			return file->config.lines[i].number;
	}
	return 0;
}

void config_file_release(struct config_file *file)
{
	free(file->path);
	free(file->first_problem);
	buffer_release(&file->text);
	config_release(&file->config);
	*file = (struct config_file){.path = NULL};
}

/* --- changing --- */

void config_file_make_directories(const char *path)
{
	char *copy = memory_duplicate(path);

	for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(copy, 0700);
		*slash = '/';
	}
	free(copy);
}

static int replace(const char *path, const struct buffer *text, struct error *error)
{
	struct file_replacement replacement;
	int result = file_replacement_open(&replacement, path, 0644, true, error);

	if (result < 0)
		return result;
	result = file_replacement_keep_access(&replacement);
	if (result == 0)
		result = file_write_all(replacement.descriptor, text->data, text->length);
	if (result == 0)
		return file_replacement_commit(&replacement, error);
	file_replacement_abandon(&replacement);
	return error_set(error, result, "cannot write %s: %s", path, strerror(-result));
}

/*
 * Whether another user than root and `owner` (the owner of /) controls a directory's entries or a link. In a
 * user namespace, / belongs to the host's root, whose id is not mapped there (user_namespaces(7)).
 */
static bool is_foreign(const struct stat *status, uid_t owner)
{
	const bool lets_others = (status->st_mode & S_IWOTH) != 0 ||
				 ((status->st_mode & S_IWGRP) != 0 && status->st_gid != 0);
	/* in a sticky directory such as /tmp, only owners change their entries */
	const bool is_open = S_ISDIR(status->st_mode) && lets_others && (status->st_mode & S_ISVTX) == 0;

	return (status->st_uid != 0 && status->st_uid != owner) || is_open;
}

/* Prepends the target of the link `walked` to the rest of a path. */
static void follow_link(struct buffer *walked, char **rest)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(walked->data, target, sizeof(target));
	char *followed;

	if (length <= 0)
		return;
	followed = memory_format("%.*s/%s", (int)length, target, *rest);
	free(*rest);
	*rest = followed;
	walked->length = target[0] == '/' ? 0 : (size_t)(strrchr(walked->data, '/') - walked->data);
	walked->data[walked->length] = '\0';
}

/*
 * Returns the first directory or link on an absolute path through which another user could redirect it; the
 * caller owns the text. NULL if no component is controlled by another user.
 */
static char *find_foreign(const char *path)
{
	struct buffer walked = {0};
	char *rest = memory_duplicate(path), *found = NULL;
	struct stat status;
	const uid_t owner = lstat("/", &status) == 0 ? status.st_uid : 0;

	buffer_append_text(&walked, "");
	for (unsigned int links = 0; found == NULL && links < LINKS_MAX;) {
		const char *here = walked.length != 0 ? walked.data : "/";
		const size_t slashes = strspn(rest, "/"), length = strcspn(rest + slashes, "/");
		char *next;

		/* missing components will be created in a directory checked here */
		if (lstat(here, &status) < 0)
			break;
		if (is_foreign(&status, owner)) {
			found = memory_duplicate(here);
		} else if (S_ISLNK(status.st_mode)) {
			links++;
			follow_link(&walked, &rest);
		} else if (length == 0) {
			break;
		} else {
			buffer_append_format(&walked, "/%.*s", (int)length, rest + slashes);
			next = memory_duplicate(rest + slashes + length);
			free(rest);
			rest = next;
		}
	}
	buffer_release(&walked);
	free(rest);
	return found;
}

/* Refuses, as root, to write where another user controls the path, such as his HOME under sudo -E. */
static int refuse_foreign(const char *path, struct error *error)
{
	char *absolute = realpath(".", NULL), *foreign = NULL;
	int result = 0;

	if (geteuid() == 0) {
		char *whole = path[0] == '/' || absolute == NULL ? memory_duplicate(path)
								 : memory_format("%s/%s", absolute, path);

		foreign = find_foreign(whole);
		free(whole);
	}
	if (foreign != NULL)
		result = error_set(
			error, -EPERM,
			"%s is not changed: root writes nothing where another user controls %s; use "
			"sudo -H",
			path, foreign);
	free(foreign);
	free(absolute);
	return result;
}

int config_file_edit(const char *path, const char *section, const struct config_change *changes, size_t count,
		     struct error *error)
{
	struct buffer text = {0}, edited = {0};
	struct error reason;
	struct stat status;
	int result;

	if (has_other_rights())
		return error_set(error, -EPERM, "a program with the rights of another user writes no %s",
				 path);
	result = refuse_foreign(path, error);
	if (result < 0)
		return result;
	result = read_text(path, &status, &text);
	if (result == -ENOENT) {
		config_file_make_directories(path);
		buffer_clear(&text);
	} else if (result < 0) {
		error_set(error, result, "%s is not changed: %s", path, text.data);
	}
	if (result == 0 || result == -ENOENT) {
		result = config_edit(text.data, text.length, section, changes, count, &edited, &reason);
		result = result == 0 ? replace(path, &edited, error)
				     : error_set(error, result, "%s is not changed: %s", path, reason.text);
	}
	buffer_release(&text);
	buffer_release(&edited);
	return result;
}
