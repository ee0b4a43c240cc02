/*
 * Records what a process does to the files below a folder, in order, for the power-cut replayer. LD_PRELOAD it with
 * REC_FOLDER=folder (no slash at its end) and REC_LOG=file. Every record is written before the call returns to its caller:
 *
 *   u8 kind, u32 length of path, u64 offset, u64 length of data, path, data          little endian
 *
 *   'c' create (a name that was not there)   'w' write at offset   't' truncate to offset   's' fsync of a file   'd' fsync of a folder
 *   'u' unlink   'r' rename (data: the new path)   'l' link (data: the new path)
 *
 * Writes through mmap are not seen: SQLite's shared memory needs no durability.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static const char *folder;
static size_t folder_length;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  folder = getenv("REC_FOLDER");
  const char *path = getenv("REC_LOG");
  if (!folder || !path) return;
  folder_length = strlen(folder);
  log_fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int watched(const char *path) {
  return log_fd >= 0 && strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

static int path_of(int fd, char *out, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, out, size - 1);
  if (length <= 0) return 0;
  out[length] = 0;
  return watched(out) && !strstr(out, " (deleted)");
}

/* Called with the lock held. */
static void record(char kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
  unsigned char head[21];
  uint32_t path_length = strlen(path);
  head[0] = kind;
  memcpy(head + 1, &path_length, 4);
  memcpy(head + 5, &offset, 8);
  memcpy(head + 13, &length, 8);
  struct iovec parts[3] = {{head, sizeof head}, {(void *)path, path_length}, {(void *)data, length}};
  if (syscall(SYS_writev, log_fd, parts, length ? 3 : 2) < 0) abort();
}

static int do_open(int at, const char *path, int flags, mode_t mode) {
  char full[4096];
  int create = 0;
  if (flags & O_CREAT) {
    if (path[0] == '/') snprintf(full, sizeof full, "%s", path);
    else full[0] = 0;
    create = full[0] && watched(full) && access(full, F_OK) != 0;
  }
  pthread_mutex_lock(&lock);
  int fd = syscall(SYS_openat, at, path, flags | O_LARGEFILE, mode);
  int saved = errno;
  if (fd >= 0 && create) record('c', full, 0, NULL, 0);
  else if (fd >= 0 && (flags & O_TRUNC) && path_of(fd, full, sizeof full)) record('t', full, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) { MODE(flags) return do_open(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return do_open(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return do_open(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return do_open(at, path, flags, mode); }

static ssize_t do_pwrite(int fd, const void *data, size_t length, off64_t offset) {
  char path[4096];
  if (log_fd < 0 || !path_of(fd, path, sizeof path)) return syscall(SYS_pwrite64, fd, data, length, offset);
  pthread_mutex_lock(&lock);
  ssize_t wrote = syscall(SYS_pwrite64, fd, data, length, offset);
  int saved = errno;
  if (wrote > 0) record('w', path, offset, data, wrote);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return wrote;
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return do_pwrite(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return do_pwrite(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
  char path[4096];
  if (log_fd < 0 || !path_of(fd, path, sizeof path)) return syscall(SYS_write, fd, data, length);
  pthread_mutex_lock(&lock);
  ssize_t wrote = syscall(SYS_write, fd, data, length);
  int saved = errno;
  /* Where it landed: for an appending descriptor, too, the position is behind what was written. */
  if (wrote > 0) record('w', path, lseek64(fd, 0, SEEK_CUR) - wrote, data, wrote);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return wrote;
}

static int do_truncate(int fd, off64_t length) {
  char path[4096];
  int seen = log_fd >= 0 && path_of(fd, path, sizeof path);
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_ftruncate, fd, length);
  int saved = errno;
  if (result == 0 && seen) record('t', path, length, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}
int ftruncate(int fd, off_t length) { return do_truncate(fd, length); }
int ftruncate64(int fd, off64_t length) { return do_truncate(fd, length); }

static int do_sync(int fd, long call) {
  char path[4096];
  struct stat stats;
  int seen = log_fd >= 0 && path_of(fd, path, sizeof path) && fstat(fd, &stats) == 0;
  pthread_mutex_lock(&lock);
  /* Not really synced: the recorder's machine stays up. */
  (void)call;
  if (seen) record(S_ISDIR(stats.st_mode) ? 'd' : 's', path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}
int fsync(int fd) { return do_sync(fd, SYS_fsync); }
int fdatasync(int fd) { return do_sync(fd, SYS_fdatasync); }

int unlink(const char *path) {
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  int saved = errno;
  if (result == 0 && watched(path)) record('u', path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

static int two_names(char kind, long call, const char *from, const char *to) {
  pthread_mutex_lock(&lock);
  int result = kind == 'r' ? syscall(call, AT_FDCWD, from, AT_FDCWD, to, 0) : syscall(call, AT_FDCWD, from, AT_FDCWD, to, 0);
  int saved = errno;
  if (result == 0 && watched(from)) record(kind, from, 0, to, strlen(to));
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}
int rename(const char *from, const char *to) { return two_names('r', SYS_renameat2, from, to); }
int link(const char *from, const char *to) { return two_names('l', SYS_linkat, from, to); }
