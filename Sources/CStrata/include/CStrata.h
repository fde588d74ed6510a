// The few things that Strata needs from C: checksums in hardware, and calls that Glibc hides from Swift
// or that have another shape on each system.
#ifndef CSTRATA_H
#define CSTRATA_H
#include <stddef.h>
#include <stdint.h>

// Checksums.

/// CRC32C (Castagnoli) of `length` bytes, continuing from `crc` (0 to begin). Hardware where there is any.
uint32_t strata_crc32c(uint32_t crc, const void *bytes, size_t length);
/// The same in software (slicing by 8), for machines without the instruction and for tests.
uint32_t strata_crc32c_software(uint32_t crc, const void *bytes, size_t length);
/// What `strata_crc32c` uses on this machine: "sse4.2", "armv8" or "software".
const char *strata_crc32c_implementation(void);
/// XXH64 of `length` bytes.
uint64_t strata_xxh64(const void *bytes, size_t length, uint64_t seed);

// Memory.

/// Asks the processor for the memory at an address that will be read soon. Any address will do.
static inline void strata_prefetch(const void *address) { __builtin_prefetch(address); }

// Calls of the system. Those that return an int return 0 or a value of errno, unless they say otherwise.

/// Writes the system's words for `code` into `buffer`, always ended by a zero byte.
void strata_error_message(int code, char *buffer, size_t capacity);

/// The calling thread's errno, for code that must set or read it around a call of its own.
int strata_errno(void);
void strata_set_errno(int code);

/// Opens with O_CLOEXEC. The descriptor, or -1 with errno set.
int strata_open(const char *path, int flags, unsigned mode);

/// Makes a file's content and metadata durable: F_FULLFSYNC on Apple, or fsync where that is refused.
/// 0, or -1 with errno set.
int strata_sync(int descriptor);
/// The same without metadata that reading back does not need. 0, or -1 with errno set.
int strata_sync_data(int descriptor);
/// Asks the system to forget the cached pages of a file.
void strata_drop_cache(int descriptor);

/// Renames a file where nothing has the new name. 0, or -1 with errno set: EEXIST where something has.
int strata_rename_new(const char *path, const char *new_path);

/// flock without waiting. 0, or -1 with errno set (EWOULDBLOCK where somebody else has it).
int strata_lock(int descriptor, int exclusive);
void strata_unlock(int descriptor);

/// What `strata_stat` and `strata_fstat` tell of a file.
typedef struct {
  uint64_t device;
  uint64_t inode;
  int64_t size;
  int is_file;
  int is_directory;
  /// Who may read, write and execute, as in `chmod`, and whose it is.
  uint32_t permissions;
  uint32_t owner;
  uint32_t group;
} strata_file_status;
/// Follows symbolic links. 0, or -1 with errno set.
int strata_stat(const char *path, strata_file_status *status);
int strata_fstat(int descriptor, strata_file_status *status);

/// Gives a file the permissions, the group and, for root, the owner of another one. Its owner may always read and write
/// it; where it cannot get the group, no group gets anything. 0, or -1 with errno set.
int strata_take_permissions(int descriptor, const strata_file_status *of);

/// A folder's names, one by one. NULL with errno set where it cannot be opened.
void *strata_directory_open(const char *path);
/// The next name, valid until the next call; NULL at the end (errno 0) or after a failure (errno set).
const char *strata_directory_next(void *directory);
void strata_directory_close(void *directory);
/// The same as `strata_directory_open`, but where the path is a symbolic link itself it fails.
void *strata_directory_open_itself(const char *path);
/// Removes a name of an open folder, if it is not a folder's. 0, or -1 with errno set; 0 too where it is not there.
int strata_directory_remove(void *directory, const char *name);
/// 1 where a symbolic link has this name, 0 where something else has, -1 with errno set.
int strata_is_link(const char *path);
/// The path of the working directory, to be given to `strata_free`; NULL with errno set.
char *strata_working_directory(void);
void strata_free(void *memory);

/// Begins to watch a folder for writes to the files in it and for names that come and go. Fills in two descriptors:
/// where the notices arrive, and one that ends a wait. 0, or -1 with errno set: ENOTSUP where the system has no such
/// notices for files.
int strata_watch_open(const char *folder, int *notices, int *wake);
/// Waits for a notice and takes all that are there: 1. 0 where the time ran out, which is nanoseconds from now; -2
/// once the wait was ended by `strata_watch_wake`, then and forever; -1 with errno set.
int strata_watch_wait(int notices, int wake, int64_t timeout);
void strata_watch_wake(int wake);
void strata_watch_close(int notices, int wake);

// Threads.

/// Starts a thread that runs `body(context)`, under a name cut to what the system allows. Signals meant for
/// the process are left to other threads. 0, or a value of errno.
int strata_thread_start(uintptr_t *thread, const char *name, void (*body)(void *), void *context);
int strata_thread_join(uintptr_t thread);
int strata_thread_detach(uintptr_t thread);
/// Lets the process's other threads go before the calling one, where the system tells threads apart in that.
void strata_thread_gives_way(void);
/// How many processors the process may run on just now; 1 where the system does not say.
int strata_processor_count(void);
/// Tells the processor that the calling thread waits for another one in a loop.
static inline void strata_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
/// Whether the calling thread is this one.
int strata_thread_is_current(uintptr_t thread);

#endif
