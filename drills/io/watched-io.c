/*
 * Counts the calls that a process makes on files below one folder, has the n-th of them fail, or writes down all of
 * them for a power cut. Loaded with LD_PRELOAD; DRILL_IO_CONTROL names the file through which the drill controls it.
 */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kinds of calls, as drills/io/io-control.ts has them. */
enum { OPEN = 1, READ = 2, WRITE = 4, SYNC = 8, RENAME = 16, UNLINK = 32, TRUNCATE = 64, MKDIR = 128 };

/* Laid out as drills/io/io-control.ts writes it. */
struct control {
  int32_t kind; /* of the calls of which the n-th fails */
  int32_t error;
  int32_t torn; /* whether half of a failing read or write is done; a read that fails behind its beginning returns that */
  int32_t journals;
  int64_t nth;
  int64_t failed;
  int64_t counts[8]; /* of each kind */
  char folder[1024];
  char journal[1024];
};

static volatile struct control *control;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

#define DESCRIPTORS 65536
static char *watched[DESCRIPTORS];

#define REAL(type, name, ...)                                  \
  static type (*real_##name)(__VA_ARGS__);                     \
  if (!real_##name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void map_control(void) {
  const char *file = getenv("DRILL_IO_CONTROL");
  if (!file) return;
  REAL(int, open64, const char *, int, ...);
  int descriptor = real_open64(file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped != MAP_FAILED) control = mapped;
  close(descriptor);
}

static int is_watched(const char *path) {
  if (!control || !path || !control->folder[0]) return 0;
  size_t length = strlen((const char *)control->folder);
  return strncmp(path, (const char *)control->folder, length) == 0 && (path[length] == '/' || !path[length]);
}

/* The file in which the drill records what was acknowledged: it never fails. */
static int is_note(const char *path) {
  const char *end = path + strlen(path) - strlen("/.acknowledged");
  return end > path && strcmp(end, "/.acknowledged") == 0;
}

static char *path_of(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? watched[descriptor] : NULL;
}

/* Whether this is the call that has to fail. */
static int fails(int kind, const char *path) {
  if (!control || !path || control->journals || is_note(path)) return 0;
  int64_t number = __atomic_add_fetch(&control->counts[__builtin_ctz(kind)], 1, __ATOMIC_SEQ_CST);
  if (kind != control->kind || number != control->nth) return 0;
  if (getenv("DRILL_IO_SAY")) fprintf(stderr, "failing call: kind %d, %s\n", kind, path);
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  return 1;
}

static int fail(void) {
  errno = control->error;
  return -1;
}

/* One record of the journal; all of them are in the order in which the calls were made. */
struct record {
  int32_t kind, descriptor;
  int64_t offset, length;
  int32_t path_length, other_length;
};

static int journal_descriptor = -1;

static void note(int kind, int descriptor, const char *path, const char *other, int64_t offset,
                 const struct iovec *parts, int count, int64_t length) {
  REAL(ssize_t, write, int, const void *, size_t);
  REAL(int, open64, const char *, int, ...);
  if (journal_descriptor < 0)
    journal_descriptor = real_open64((const char *)control->journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct record record = {kind, descriptor, offset, length, path ? strlen(path) : 0, other ? strlen(other) : 0};
  (void)!real_write(journal_descriptor, &record, sizeof record);
  if (path) (void)!real_write(journal_descriptor, path, record.path_length);
  if (other) (void)!real_write(journal_descriptor, other, record.other_length);
  for (int part = 0; part < count && length > 0; part++) {
    size_t bytes = parts[part].iov_len < (size_t)length ? parts[part].iov_len : (size_t)length;
    (void)!real_write(journal_descriptor, parts[part].iov_base, bytes);
    length -= bytes;
  }
}

static int journals(const char *path) {
  return control && path && control->journals;
}

/* Makes a call and writes it down in one step, so that the journal has the order of the calls. */
#define IN_ORDER(path, call, written)    \
  do {                                   \
    if (!journals(path)) return (call);  \
    pthread_mutex_lock(&lock);           \
    __typeof__(call) result = (call);    \
    int error = errno;                   \
    if (result >= 0) written;            \
    pthread_mutex_unlock(&lock);         \
    errno = error;                       \
    return result;                       \
  } while (0)

enum { NEW = 1, EMPTIED = 2 };

static void remember(int descriptor, const char *path, int flags, int was_there) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return;
  watched[descriptor] = strdup(path);
  if (!control->journals) return;
  int how = (was_there ? 0 : NEW) | (flags & O_TRUNC ? EMPTIED : 0);
  note(OPEN, descriptor, path, NULL, how, NULL, 0, 0);
}

static int opened(int (*open_it)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (!is_watched(path)) return open_it(path, flags, mode);
  if (fails(OPEN, path)) return fail();
  pthread_mutex_lock(&lock);
  int was_there = !(flags & O_CREAT) || access(path, F_OK) == 0;
  int descriptor = open_it(path, flags, mode);
  int error = errno;
  remember(descriptor, path, flags, was_there);
  pthread_mutex_unlock(&lock);
  errno = error;
  return descriptor;
}

#define MODE                                                 \
  mode_t mode = 0;                                           \
  if (flags & (O_CREAT | __O_TMPFILE)) {                     \
    va_list arguments;                                       \
    va_start(arguments, flags);                              \
    mode = va_arg(arguments, mode_t);                        \
    va_end(arguments);                                       \
  }

int open(const char *path, int flags, ...) {
  REAL(int, open, const char *, int, ...);
  MODE
  return opened(real_open, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  REAL(int, open64, const char *, int, ...);
  MODE
  return opened(real_open64, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  REAL(int, openat, int, const char *, int, ...);
  MODE
  if (path[0] == '/') return open(path, flags, mode);
  return real_openat(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  REAL(int, openat64, int, const char *, int, ...);
  MODE
  if (path[0] == '/') return open64(path, flags, mode);
  return real_openat64(folder, path, flags, mode);
}

static long closed(int descriptor, long (*close_it)(int)) {
  if (!path_of(descriptor)) return close_it(descriptor);
  pthread_mutex_lock(&lock);
  if (control->journals) note(0, descriptor, NULL, NULL, 0, NULL, 0, 0);
  free(watched[descriptor]);
  watched[descriptor] = NULL;
  long result = close_it(descriptor);
  pthread_mutex_unlock(&lock);
  return result;
}

static long real_close_of(int descriptor) {
  REAL(int, close, int);
  return real_close(descriptor);
}

int close(int descriptor) {
  return closed(descriptor, real_close_of);
}

static long close_by_number(int descriptor) {
  REAL(long, syscall, long, ...);
  return real_syscall(SYS_close, descriptor);
}

/* libuv closes files by the number of the call, and none of the other calls here. */
long syscall(long number, ...) {
  REAL(long, syscall, long, ...);
  va_list arguments;
  long values[6];
  va_start(arguments, number);
  for (int value = 0; value < 6; value++) values[value] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_close) return closed((int)values[0], close_by_number);
  return real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

ssize_t read(int descriptor, void *bytes, size_t length) {
  REAL(ssize_t, read, int, void *, size_t);
  if (fails(READ, path_of(descriptor))) return control->torn ? real_read(descriptor, bytes, length / 2) : fail();
  return real_read(descriptor, bytes, length);
}

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t offset) {
  REAL(ssize_t, pread64, int, void *, size_t, off64_t);
  if (fails(READ, path_of(descriptor)))
    return control->torn ? real_pread64(descriptor, bytes, length / 2, offset) : fail();
  return real_pread64(descriptor, bytes, length, offset);
}

ssize_t readv(int descriptor, const struct iovec *parts, int count) {
  REAL(ssize_t, readv, int, const struct iovec *, int);
  if (fails(READ, path_of(descriptor))) return fail();
  return real_readv(descriptor, parts, count);
}

ssize_t preadv(int descriptor, const struct iovec *parts, int count, off_t offset) {
  REAL(ssize_t, preadv, int, const struct iovec *, int, off_t);
  if (fails(READ, path_of(descriptor))) return fail();
  return real_preadv(descriptor, parts, count, offset);
}

static int64_t before(int descriptor, int64_t written) {
  return lseek64(descriptor, 0, SEEK_CUR) - written;
}

static struct iovec half_of(const struct iovec *part) {
  struct iovec half = {part->iov_base, part->iov_len / 2};
  return half;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  REAL(ssize_t, write, int, const void *, size_t);
  char *path = path_of(descriptor);
  struct iovec part = {(void *)bytes, length};
  if (fails(WRITE, path)) {
    if (control->torn) (void)!real_write(descriptor, bytes, length / 2);
    return fail();
  }
  IN_ORDER(path, real_write(descriptor, bytes, length),
           note(WRITE, descriptor, path, NULL, before(descriptor, result), &part, 1, result));
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  char *path = path_of(descriptor);
  if (fails(WRITE, path)) {
    struct iovec half = half_of(parts);
    if (control->torn) (void)!real_writev(descriptor, &half, 1);
    return fail();
  }
  IN_ORDER(path, real_writev(descriptor, parts, count),
           note(WRITE, descriptor, path, NULL, before(descriptor, result), parts, count, result));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  char *path = path_of(descriptor);
  struct iovec part = {(void *)bytes, length};
  if (fails(WRITE, path)) {
    if (control->torn) (void)!real_pwrite64(descriptor, bytes, length / 2, offset);
    return fail();
  }
  IN_ORDER(path, real_pwrite64(descriptor, bytes, length, offset),
           note(WRITE, descriptor, path, NULL, offset, &part, 1, result));
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
  char *path = path_of(descriptor);
  if (fails(WRITE, path)) {
    struct iovec half = half_of(parts);
    if (control->torn) (void)!real_pwritev(descriptor, &half, 1, offset);
    return fail();
  }
  IN_ORDER(path, real_pwritev(descriptor, parts, count, offset),
           note(WRITE, descriptor, path, NULL, offset, parts, count, result));
}

/* No sync is made: what was synced is decided by the journal, and the machine goes on. */
int fsync(int descriptor) {
  char *path = path_of(descriptor);
  if (fails(SYNC, path)) return fail();
  IN_ORDER(path, 0, note(SYNC, descriptor, path, NULL, 0, NULL, 0, 0));
}

int fdatasync(int descriptor) {
  return fsync(descriptor);
}

int ftruncate64(int descriptor, off64_t length) {
  REAL(int, ftruncate64, int, off64_t);
  char *path = path_of(descriptor);
  if (fails(TRUNCATE, path)) return fail();
  IN_ORDER(path, real_ftruncate64(descriptor, length), note(TRUNCATE, descriptor, path, NULL, length, NULL, 0, 0));
}

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  const char *path = is_watched(to) ? to : NULL;
  if (fails(RENAME, path)) return fail();
  IN_ORDER(path, real_rename(from, to), note(RENAME, -1, from, to, 0, NULL, 0, 0));
}

/* A second name. */
int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *);
  const char *path = is_watched(to) ? to : NULL;
  if (fails(RENAME, path)) return fail();
  IN_ORDER(path, real_link(from, to), note(RENAME, -1, from, to, 1, NULL, 0, 0));
}

int unlink(const char *file) {
  REAL(int, unlink, const char *);
  const char *path = is_watched(file) ? file : NULL;
  if (fails(UNLINK, path)) return fail();
  IN_ORDER(path, real_unlink(file), note(UNLINK, -1, file, NULL, 0, NULL, 0, 0));
}

int unlinkat(int folder, const char *file, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  if (file[0] == '/') return flags ? rmdir(file) : unlink(file);
  return real_unlinkat(folder, file, flags);
}

int rmdir(const char *folder) {
  REAL(int, rmdir, const char *);
  const char *path = is_watched(folder) ? folder : NULL;
  if (fails(UNLINK, path)) return fail();
  IN_ORDER(path, real_rmdir(folder), note(UNLINK, -1, folder, NULL, 0, NULL, 0, 0));
}

int remove(const char *path) {
  int result = unlink(path);
  return result < 0 && (errno == EISDIR || errno == EPERM) ? rmdir(path) : result;
}

int mkdir(const char *folder, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  const char *path = is_watched(folder) ? folder : NULL;
  if (fails(MKDIR, path)) return fail();
  IN_ORDER(path, real_mkdir(folder, mode), note(MKDIR, -1, folder, NULL, 0, NULL, 0, 0));
}
