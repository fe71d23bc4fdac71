/* SPDX-License-Identifier: GPL-2.0-only */
#include "sqlite_reader.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* Layout of the log and its index: sqlite.org/walformat.html, sqlite.org/fileformat2.html#walformat. */
enum {
	LOG_HEADER = 32,
	LOG_PAGE_SIZE = 8,
	LOG_SALTS = 16,
	FRAME_HEADER = 24,
	FRAME_COMMIT = 4, /* of a frame that ends a transaction: pages of the file; else 0 */
	FRAME_SALTS = 8,
	SALTS = 8,
	INDEX_FRAMES = 16, /* how many frames the index knows, host order */
	INDEX_HEADERS = 2 * 48,
	RECOVERY_LOCK = 2,
	FIRST_READER_LOCK = 3,
	FRAMES_LOOKED_AT = 1 << 16,
	LEAST_PAGE = 512,
	LARGEST_PAGE = 1 << 16,
	/* A frame that recovery left out so often is no transaction: the host lost power while it was
	 * written. */
	LEFT_OUT_OFTEN = 3,
};

#define SETTLED_NS (NS_PER_S / 10)

struct reader_file {
	sqlite3_file base;
	struct reader_file *main; /* of a log: its data base */
	struct reader_file *log;  /* of a data base; NULL: not open */
	const char *log_path;
	struct stat log_status; /* of the file that is open as the log; zeros: none */
	/* The log when nothing newer than the index was in it; zeros: it was never looked at like this. */
	struct stat looked_at;
	char **index; /* parts of the log's index */
	int index_count;
	bool is_fresh; /* the index was built, and nothing was read by it so far */
	uint8_t log_header[LOG_HEADER];
	uint8_t left_out[FRAME_HEADER];
	unsigned int left_out_times;
	sqlite3_file *real;
};

static sqlite3_vfs reader_vfs, *real_vfs;

static struct reader_file *file_of(sqlite3_file *file)
{
	return (struct reader_file *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return file_of(file)->real;
}

/* --- the log --- */

static uint32_t big_endian(const uint8_t bytes[static 4])
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Zeros beyond the end. */
static bool read_log(const struct reader_file *main, void *bytes, int size, sqlite3_int64 offset)
{
	memset(bytes, 0, (size_t)size);
	return main->log->base.pMethods->xRead(&main->log->base, bytes, size, offset) == SQLITE_OK;
}

/* Finds the end of a transaction behind the frames that the index knows. */
static bool find_newer(const struct reader_file *main, uint8_t frame[static FRAME_HEADER])
{
	const uint32_t page_size = big_endian(main->log_header + LOG_PAGE_SIZE);
	const sqlite3_int64 step = FRAME_HEADER + (sqlite3_int64)page_size;
	uint32_t known;

	/* SQLite takes nothing from a log with other pages */
	if (page_size < LEAST_PAGE || page_size > LARGEST_PAGE || (page_size & (page_size - 1)) != 0)
		return false;
	memcpy(&known, main->index[0] + INDEX_FRAMES, sizeof(known));
	for (uint32_t i = 0; i < FRAMES_LOOKED_AT; i++) {
		if (!read_log(main, frame, FRAME_HEADER, LOG_HEADER + step * ((sqlite3_int64)known + i)) ||
		    memcmp(frame + FRAME_SALTS, main->log_header + LOG_SALTS, SALTS) != 0)
			return false;
		if (big_endian(frame + FRAME_COMMIT) != 0)
			return true;
	}
	return false;
}

/*
 * A log that is no file, or that we may not read, is as good as none: the file is as it was before. So is an
 * empty one, which SQLite does not even open beside a file that was closed.
 */
static struct stat log_status(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0 ||
	    access(path, R_OK) < 0)
		return (struct stat){0};
	return status;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int open_log(struct reader_file *main, sqlite3_file *real, int *ret_flags)
{
	main->log_status = log_status(main->log_path);
	return real_vfs->xOpen(real_vfs, main->log_status.st_ino != 0 ? main->log_path : "/dev/null", real,
			       SQLITE_OPEN_WAL | SQLITE_OPEN_READONLY, ret_flags);
}

static bool is_empty(const struct reader_file *main)
{
	sqlite3_int64 size;

	return main->real->pMethods->xFileSize(main->real, &size) == SQLITE_OK && size == 0;
}

/*
 * To look through a log that says no end of a transaction takes long, so it is not done for each row. The
 * time of a file tells of a change only when it was not changed just now: the kernel's clock for it has
 * steps.
 */
static bool is_settled(const struct stat *status)
{
	const uint64_t changed_ns = clock_timespec_ns(status->st_mtim), now_ns = clock_ns(CLOCK_REALTIME);

	return changed_ns < now_ns && now_ns - changed_ns > SETTLED_NS;
}

static bool is_unchanged(const struct stat *now, const struct stat *before)
{
	return is_same_file(now, before) && now->st_size == before->st_size &&
	       now->st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       now->st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static bool is_current(struct reader_file *main)
{
	const struct stat status = log_status(main->log_path);
	uint8_t header[LOG_HEADER], frame[FRAME_HEADER];

	/* SQLite opens no log beside an empty file: it is left over from another one */
	if (!is_same_file(&status, &main->log_status))
		return main->log == NULL && is_empty(main);
	if (main->log == NULL || main->index_count == 0 || is_unchanged(&status, &main->looked_at))
		return true;
	read_log(main, header, LOG_HEADER, 0);
	if (memcmp(header, main->log_header, LOG_HEADER) != 0)
		return false;
	if (find_newer(main, frame))
		return main->left_out_times >= LEFT_OUT_OFTEN &&
		       memcmp(frame, main->left_out, FRAME_HEADER) == 0;
	main->looked_at = is_settled(&status) ? status : (struct stat){0};
	return true;
}

/* Counts how often the index was built without a transaction that is in the log. */
static void note_left_out(struct reader_file *main)
{
	uint8_t frame[FRAME_HEADER];

	if (main->index_count == 0 || !find_newer(main, frame))
		return;
	if (memcmp(frame, main->left_out, FRAME_HEADER) != 0)
		main->left_out_times = 0;
	memcpy(main->left_out, frame, FRAME_HEADER);
	main->left_out_times++;
}

bool sqlite_reader_is_current(sqlite3 *connection)
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
	       file == NULL || file->pMethods == NULL || is_current(file_of(file));
}

/* --- a file --- */

static void forget_index(struct reader_file *main)
{
	for (int i = 0; i < main->index_count; i++)
		free(main->index[i]);
	free(main->index);
	main->index = NULL;
	main->index_count = 0;
}

static int reader_close(sqlite3_file *file)
{
	struct reader_file *reader = file_of(file);

	if (reader->main != NULL) {
		reader->main->log = NULL;
		reader->main->log_status = (struct stat){0};
	}
	forget_index(reader);
	return reader->real->pMethods != NULL ? reader->real->pMethods->xClose(reader->real) : SQLITE_OK;
}

static int reader_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
	/* a log that could not be opened again has none */
	if (real_of(file)->pMethods == NULL)
		return SQLITE_IOERR_READ;
	return real_of(file)->pMethods->xRead(real_of(file), bytes, size, offset);
}

static int refuse_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
	(void)file, (void)bytes, (void)size, (void)offset;
	return SQLITE_READONLY;
}

static int refuse_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file, (void)size;
	return SQLITE_READONLY;
}

static int reader_sync(sqlite3_file *file, int flags)
{
	(void)file, (void)flags;
	return SQLITE_OK;
}

static int reader_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	if (real_of(file)->pMethods == NULL)
		return SQLITE_IOERR_FSTAT;
	return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int reader_lock(sqlite3_file *file, int level)
{
	(void)file;
	return level <= SQLITE_LOCK_SHARED ? SQLITE_OK : SQLITE_READONLY;
}

static int reader_unlock(sqlite3_file *file, int level)
{
	(void)file, (void)level;
	return SQLITE_OK;
}

static int reader_check_reserved(sqlite3_file *file, int *ret_is_reserved)
{
	(void)file;
	*ret_is_reserved = 0;
	return SQLITE_OK;
}

/* SQLite asks for the error of a log that could not be opened again, too. */
static int reader_control(sqlite3_file *file, int operation, void *argument)
{
	if (real_of(file)->pMethods == NULL)
		return SQLITE_NOTFOUND;
	return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int reader_sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods != NULL ? real_of(file)->pMethods->xSectorSize(real_of(file)) : 0;
}

static int reader_characteristics(sqlite3_file *file)
{
	return real_of(file)->pMethods != NULL
		       ? real_of(file)->pMethods->xDeviceCharacteristics(real_of(file))
		       : 0;
}

static int reader_map_index(sqlite3_file *file, int part, int size, int extend, void volatile **ret_bytes)
{
	struct reader_file *reader = file_of(file);

	*ret_bytes = NULL;
	if (part >= reader->index_count && extend != 0) {
		reader->index = memory_resize(reader->index, (size_t)part + 1, sizeof(*reader->index));
		while (reader->index_count <= part)
			reader->index[reader->index_count++] = memory_allocate_zero(1, (size_t)size);
	}
	if (part < reader->index_count)
		*ret_bytes = reader->index[part];
	return SQLITE_OK;
}

/* Another file may be the log by now. */
static int reopen_log(struct reader_file *main)
{
	const struct stat status = log_status(main->log_path);
	int flags;

	if (main->log == NULL || is_same_file(&status, &main->log_status))
		return SQLITE_OK;
	if (main->log->real->pMethods != NULL)
		main->log->real->pMethods->xClose(main->log->real);
	return open_log(main, main->log->real, &flags);
}

/*
 * SQLite locks to build the index, and to read. When it begins to read by an index that is too old, the index
 * is erased: SQLite, which looks again once it has the lock, then builds it anew.
 */
static int reader_lock_index(sqlite3_file *file, int first, int count, int flags)
{
	struct reader_file *reader = file_of(file);
	const bool is_lock = (flags & SQLITE_SHM_LOCK) != 0;

	if ((flags & SQLITE_SHM_EXCLUSIVE) != 0) {
		if (reader->log == NULL || first > RECOVERY_LOCK || first + count <= RECOVERY_LOCK)
			return SQLITE_OK;
		if (is_lock)
			read_log(reader, reader->log_header, LOG_HEADER, 0);
		else
			note_left_out(reader);
		reader->is_fresh = true;
	} else if (is_lock && first >= FIRST_READER_LOCK && reader->index_count != 0) {
		if (!reader->is_fresh && !is_current(reader)) {
			memset(reader->index[0], 0, INDEX_HEADERS);
			return reopen_log(reader);
		}
		reader->is_fresh = false;
	}
	return SQLITE_OK;
}

static void reader_barrier(sqlite3_file *file)
{
	(void)file;
}

static int reader_unmap_index(sqlite3_file *file, int remove)
{
	(void)remove;
	forget_index(file_of(file));
	return SQLITE_OK;
}

/* Version 2 of the methods: without those that map the file. */
static const sqlite3_io_methods reader_methods = {
	.iVersion = 2,
	.xClose = reader_close,
	.xRead = reader_read,
	.xWrite = refuse_write,
	.xTruncate = refuse_truncate,
	.xSync = reader_sync,
	.xFileSize = reader_size,
	.xLock = reader_lock,
	.xUnlock = reader_unlock,
	.xCheckReservedLock = reader_check_reserved,
	.xFileControl = reader_control,
	.xSectorSize = reader_sector_size,
	.xDeviceCharacteristics = reader_characteristics,
	.xShmMap = reader_map_index,
	.xShmLock = reader_lock_index,
	.xShmBarrier = reader_barrier,
	.xShmUnmap = reader_unmap_index,
};

/* --- the VFS --- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct reader_file *reader = file_of(file);
	int status;

	(void)vfs;
	/* the real file lies behind ours */
	*reader = (struct reader_file){.real = (sqlite3_file *)(void *)(reader + 1)};
	if (name != NULL && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
		reader->log_path = sqlite3_filename_wal(name);
		status = real_vfs->xOpen(real_vfs, name, reader->real,
					 SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY, ret_flags);
	} else if (name != NULL && (flags & SQLITE_OPEN_WAL) != 0) {
		reader->main = file_of(sqlite3_database_file_object(name));
		status = open_log(reader->main, reader->real, ret_flags);
		if (status == SQLITE_OK)
			reader->main->log = reader;
	} else {
		return SQLITE_CANTOPEN;
	}
	if (status == SQLITE_OK)
		reader->base.pMethods = &reader_methods;
	return status;
}

/* SQLite removes the log of an empty file, and may believe so: it looks at it no more. */
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_result)
{
	static const char journal[] = "-journal";
	const size_t length = strlen(name);

	(void)vfs;
	/* what a journal would undo is the first page, when a recorder begins or ends */
	if (length >= sizeof(journal) && strcmp(name + length - (sizeof(journal) - 1), journal) == 0) {
		*ret_result = 0;
		return SQLITE_OK;
	}
	return real_vfs->xAccess(real_vfs, name, flags, ret_result);
}

static void register_vfs(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	if (real_vfs == NULL)
		return;
	reader_vfs = *real_vfs;
	reader_vfs.szOsFile = (int)sizeof(struct reader_file) + real_vfs->szOsFile;
	reader_vfs.zName = "ctop-reader";
	reader_vfs.pNext = NULL;
	reader_vfs.xOpen = vfs_open;
	reader_vfs.xDelete = vfs_delete;
	reader_vfs.xAccess = vfs_access;
	sqlite3_vfs_register(&reader_vfs, 0);
}

const char *sqlite_reader_vfs(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_vfs);
	return real_vfs != NULL ? reader_vfs.zName : NULL;
}
