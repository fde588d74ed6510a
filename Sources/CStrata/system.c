// System calls that Glibc's headers hide without _GNU_SOURCE, that take a variable number of arguments, or that differ
// between Linux and Apple's systems.
#include "CStrata.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__APPLE__)
#include <pthread/qos.h>
#include <sys/mman.h>
#elif defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

void strata_error_message(int code, char *buffer, size_t capacity) {
  if (capacity == 0) return;
  buffer[0] = 0;
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  const char *message = strerror_r(code, buffer, capacity);
  if (message != buffer) snprintf(buffer, capacity, "%s", message);
#else
  strerror_r(code, buffer, capacity);
#endif
  if (buffer[0] == 0) snprintf(buffer, capacity, "error %d", code);
}

void strata_share_heap(void) {
#if defined(__GLIBC__)
  mallopt(M_ARENA_MAX, 1);
  // Without these, glibc keeps pieces of up to 32 MiB once it has seen one freed.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

int strata_errno(void) { return errno; }
void strata_set_errno(int code) { errno = code; }

int strata_open(const char *path, int flags, unsigned mode) {
  return open(path, flags | O_CLOEXEC, (mode_t)mode);
}

int strata_sync(int descriptor) {
#if defined(__APPLE__)
  // fsync leaves the data in the drive's cache; only F_FULLFSYNC makes the drive write it. Some network and foreign
  // file systems do not support F_FULLFSYNC.
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) return -1;
#endif
  return fsync(descriptor);
}

int strata_sync_data(int descriptor) {
#if defined(__APPLE__)
  return strata_sync(descriptor);
#else
  return fdatasync(descriptor);
#endif
}

void strata_drop_cache(int descriptor) {
#if defined(__APPLE__)
  // Apple's systems have no posix_fadvise. Invalidating a mapping drops the clean pages that it maps.
  struct stat found;
  if (fstat(descriptor, &found) != 0 || found.st_size <= 0) return;
  void *mapping = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapping == MAP_FAILED) return;
  msync(mapping, (size_t)found.st_size, MS_INVALIDATE);
  munmap(mapping, (size_t)found.st_size);
#else
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
#endif
}

void strata_will_read(int descriptor, int64_t offset, int64_t length) {
#if defined(__APPLE__)
  struct radvisory range = {.ra_offset = offset, .ra_count = (int)length};
  fcntl(descriptor, F_RDADVISE, &range);
#else
  posix_fadvise(descriptor, offset, length, POSIX_FADV_WILLNEED);
#endif
}

int strata_rename_fenced(const char *path, const char *new_path) {
  // Some file systems do not support this call, and old kernels do not have it.
#if defined(__APPLE__)
  if (renamex_np(path, new_path, RENAME_EXCL) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL) return -1;
#elif defined(__linux__) && defined(SYS_renameat2)
  const unsigned no_replace = 1;
  if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new_path, no_replace) == 0) return 0;
  if (errno != ENOSYS && errno != EINVAL) return -1;
#endif
  // Two steps: if the process dies in between, the file keeps both names.
  if (link(path, new_path) == 0) {
    while (unlink(path) != 0)
      if (errno != EINTR) return -1;
    return 0;
  }
  if (errno == EPERM || errno == ENOSYS) errno = ENOTSUP;
  return -1;
}

int strata_rename_new(const char *path, const char *new_path) {
  if (strata_rename_fenced(path, new_path) == 0) return 0;
  if (errno != ENOTSUP && errno != EOPNOTSUPP) return -1;
  // A file system that supports neither, such as FAT: check and rename, which is not atomic.
  struct stat found;
  if (lstat(new_path, &found) == 0) {
    errno = EEXIST;
    return -1;
  }
  return errno == ENOENT ? rename(path, new_path) : -1;
}

int strata_lock(int descriptor, int exclusive) {
  return flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
}

void strata_unlock(int descriptor) { flock(descriptor, LOCK_UN); }

static void fill_status(const struct stat *from, strata_file_status *status) {
  status->device = (uint64_t)from->st_dev;
  status->inode = (uint64_t)from->st_ino;
  status->size = (int64_t)from->st_size;
  status->is_file = S_ISREG(from->st_mode) ? 1 : 0;
  status->is_directory = S_ISDIR(from->st_mode) ? 1 : 0;
  status->permissions = (uint32_t)(from->st_mode & 0777);
  status->owner = (uint32_t)from->st_uid;
  status->group = (uint32_t)from->st_gid;
}

int strata_stat(const char *path, strata_file_status *status) {
  struct stat found;
  if (stat(path, &found) != 0) return -1;
  fill_status(&found, status);
  return 0;
}

int strata_fstat(int descriptor, strata_file_status *status) {
  struct stat found;
  if (fstat(descriptor, &found) != 0) return -1;
  fill_status(&found, status);
  return 0;
}

int strata_take_permissions(int descriptor, const strata_file_status *of) {
  struct stat own;
  if (fstat(descriptor, &own) != 0) return -1;
  mode_t mode = (mode_t)of->permissions | 0600;
  // If the group cannot be set, remove the group's permissions: the members of the new file's group are not those that
  // the old file was shared with.
  if (own.st_gid != (gid_t)of->group && fchown(descriptor, (uid_t)-1, (gid_t)of->group) != 0) mode &= ~(mode_t)070;
  if (geteuid() == 0 && own.st_uid != (uid_t)of->owner) {
    if (fchown(descriptor, (uid_t)of->owner, (gid_t)-1) != 0) return -1;
  }
  return fchmod(descriptor, mode);
}

void *strata_directory_open(const char *path) { return opendir(path); }

const char *strata_directory_next(void *directory) {
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (entry == NULL) return NULL;
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) return entry->d_name;
  }
}

void strata_directory_close(void *directory) { closedir(directory); }

void *strata_directory_open_itself(const char *path) {
  const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  DIR *directory = fdopendir(descriptor);
  if (directory == NULL) {
    const int code = errno;
    close(descriptor);
    errno = code;
  }
  return directory;
}

int strata_directory_remove(void *directory, const char *name) {
  const int descriptor = dirfd(directory);
  struct stat found;
  if (fstatat(descriptor, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -1;
  if (S_ISDIR(found.st_mode)) return 0;
  return unlinkat(descriptor, name, 0) == 0 || errno == ENOENT ? 0 : -1;
}

int strata_is_link(const char *path) {
  struct stat found;
  if (lstat(path, &found) != 0) return -1;
  return S_ISLNK(found.st_mode) ? 1 : 0;
}

char *strata_working_directory(void) {
  for (size_t capacity = 256; capacity <= (1u << 20); capacity *= 2) {
    char *path = malloc(capacity);
    if (path == NULL) return NULL;
    if (getcwd(path, capacity) != NULL) return path;
    free(path);
    if (errno != ERANGE) return NULL;
  }
  return NULL;
}

void strata_free(void *memory) { free(memory); }

/// What a new thread needs before its body runs.
typedef struct {
  char name[16];
  void (*body)(void *);
  void *context;
} thread_start;

static void *run_thread(void *argument) {
  const thread_start start = *(thread_start *)argument;
  free(argument);
#if defined(__APPLE__)
  pthread_setname_np(start.name);
  pthread_set_qos_class_self_np(QOS_CLASS_USER_INITIATED, 0);
#else
  pthread_setname_np(pthread_self(), start.name);
#endif
  start.body(start.context);
  return NULL;
}

int strata_thread_start(uintptr_t *thread, const char *name, void (*body)(void *), void *context) {
  thread_start *start = malloc(sizeof *start);
  if (start == NULL) return ENOMEM;
  snprintf(start->name, sizeof start->name, "%s", name);
  start->body = body;
  start->context = context;
  // A thread inherits the signal mask of its creator. The program's signal handlers must not run on Strata's threads.
  // Signals that report a fault of the thread itself stay unblocked.
  sigset_t masked, before;
  sigfillset(&masked);
  const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
  for (size_t at = 0; at < sizeof faults / sizeof *faults; at++) sigdelset(&masked, faults[at]);
  pthread_sigmask(SIG_SETMASK, &masked, &before);
  pthread_t handle;
  const int code = pthread_create(&handle, NULL, run_thread, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (code != 0) {
    free(start);
    return code;
  }
  *thread = (uintptr_t)handle;
  return 0;
}

int strata_thread_join(uintptr_t thread) { return pthread_join((pthread_t)thread, NULL); }
int strata_thread_detach(uintptr_t thread) { return pthread_detach((pthread_t)thread); }
void strata_thread_gives_way(void) {
#if defined(__APPLE__)
  pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#elif defined(__linux__)
  // Contrary to POSIX, Linux has this value for each thread.
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
#endif
}
int strata_thread_is_current(uintptr_t thread) {
  return pthread_equal(pthread_self(), (pthread_t)thread) != 0;
}
int strata_processor_count(void) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (int)count : 1;
}
