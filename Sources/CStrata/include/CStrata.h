// The few functions that Strata needs from C: checksums in hardware, joined LZ4 blocks, and system calls that Glibc
// hides from Swift or that differ between systems.
#ifndef CSTRATA_H
#define CSTRATA_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

// Checksums.

/// CRC32C (Castagnoli) of `length` bytes, continuing from `crc` (0 to begin). Uses hardware where available.
uint32_t strata_crc32c(uint32_t crc, const void *bytes, size_t length);
/// The same in software (slicing by 8), for machines without the instruction and for tests.
uint32_t strata_crc32c_software(uint32_t crc, const void *bytes, size_t length);
/// The implementation that `strata_crc32c` uses on this machine: "sse4.2", "armv8" or "software".
const char *strata_crc32c_implementation(void);
/// XXH64 of `length` bytes.
uint64_t strata_xxh64(const void *bytes, size_t length, uint64_t seed);

// LZ4 blocks that are made of parts.

/// Returns the offset of the last sequence of an LZ4 block, SIZE_MAX if the bytes are none. If the token of that sequence
/// is known to have no bits of a match, as liblz4 writes it, the others mostly need not be read.
size_t strata_lz4_last_sequence(const uint8_t *block, size_t length, int ends_plainly);
/// Appends to the LZ4 block at `block`, whose last sequence is at `last`, another one that does not refer to it. Returns
/// the length of both together, which is at most the sum. There must be room for that.
size_t strata_lz4_join(uint8_t *block, size_t length, size_t last, const uint8_t *part, size_t part_length);

// Memory.

/// Asks the processor to load memory that will be read soon. Any address is allowed, even an invalid one.
static inline void strata_prefetch(const void *address) { __builtin_prefetch(address); }

/// Reads an address that another thread may set. What that thread wrote before it set the address is visible then.
static inline void *strata_load_address(void *const *from) { return __atomic_load_n(from, __ATOMIC_ACQUIRE); }
/// Sets an address that is NULL. Returns what was there before: NULL if it was set now.
static inline void *strata_set_address(void **at, void *address) {
  void *before = NULL;
  __atomic_compare_exchange_n(at, &before, address, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return before;
}

/// Replaces an address. What the other threads read afterwards is the new one.
static inline void *strata_exchange_address(void **at, void *address) {
  return __atomic_exchange_n(at, address, __ATOMIC_SEQ_CST);
}
/// Sets a byte that several threads may set, and none may read as anything but 0 or 1.
static inline void strata_mark(uint8_t *at) {
  if (__atomic_load_n(at, __ATOMIC_RELAXED) == 0) __atomic_store_n(at, 1, __ATOMIC_RELAXED);
}
/// Clears such a byte. Returns what it was.
static inline uint8_t strata_unmark(uint8_t *at) {
  uint8_t before = __atomic_load_n(at, __ATOMIC_RELAXED);
  if (before != 0) __atomic_store_n(at, 0, __ATOMIC_RELAXED);
  return before;
}

/// Keeps the memory of this process small where one thread frees what another has allocated: one heap for all threads,
/// and large pieces are given back to the system. Does nothing where the C library has no such choice. Call it before
/// other threads run.
void strata_share_heap(void);

// Releasing what is nested: see release.c.

/// What a thread is releasing. Only that thread reads and writes it.
struct strata_release {
  /// The number of objects whose release has begun and not ended.
  uint32_t depth;
  /// The objects that are to be released when the outermost one has been; NULL if there are none.
  void *waiting;
};
/// This thread's.
struct strata_release *strata_release(void);

// What measures the work of a thread: see meter.c.

/// Notes what measures this thread; NULL for nothing. Returns what did so before.
void *strata_exchange_meter(void *meter);

// Readers of memory that another thread may free: see readers.c.

/// From now on, reads are counted. Call it before the first memory is made that may be freed while it is read.
void strata_reads_matter(void);
/// Begins a read. Returns what ends it, on any thread; 0 while reads are not counted.
uint32_t strata_begin_read(void);
void strata_end_read(uint32_t token);
/// The counters at which somebody reads, a bit for each. Memory that nobody can reach any longer may be freed once each
/// counter was seen without a reader. Also lets counters come to rest: call it again and again.
uint64_t strata_reads(void);

// System calls. Functions that return an int return 0 or a value of errno, unless their comment says otherwise.

/// Writes the system's message for `code` into `buffer`, always terminated by a zero byte.
void strata_error_message(int code, char *buffer, size_t capacity);

/// The calling thread's errno, for callers that must read or set it.
int strata_errno(void);
void strata_set_errno(int code);

/// Opens a file with O_CLOEXEC. Returns the descriptor, or -1 with errno set.
int strata_open(const char *path, int flags, unsigned mode);

/// Makes a file's content and metadata durable, with F_FULLFSYNC on Apple's systems, or fsync where that is not
/// supported. 0, or -1 with errno set.
int strata_sync(int descriptor);
/// The same without the metadata that is not needed to read the content back. 0, or -1 with errno set.
int strata_sync_data(int descriptor);
/// Asks the system to forget the cached pages of a file.
void strata_drop_cache(int descriptor);

/// Asks the system to read a part of a file into its cache, without waiting for it.
void strata_will_read(int descriptor, int64_t offset, int64_t length);

/// Renames a file unless the new name exists. 0, or -1 with errno set: EEXIST if it exists.
int strata_rename_new(const char *path, const char *new_path);

/// The same as one step that the file system takes; fails with ENOTSUP where it has none.
int strata_rename_fenced(const char *path, const char *new_path);

/// flock without waiting. 0, or -1 with errno set (EWOULDBLOCK if another process has the lock).
int strata_lock(int descriptor, int exclusive);
void strata_unlock(int descriptor);

/// What `strata_stat` and `strata_fstat` return about a file.
typedef struct {
  uint64_t device;
  uint64_t inode;
  int64_t size;
  int is_file;
  int is_directory;
  /// The permission bits, as in `chmod`, followed by the owner and the group.
  uint32_t permissions;
  uint32_t owner;
  uint32_t group;
} strata_file_status;
/// Follows symbolic links. 0, or -1 with errno set.
int strata_stat(const char *path, strata_file_status *status);
int strata_fstat(int descriptor, strata_file_status *status);

/// Gives a file the permissions, the group and, if called by root, the owner of another file. The owner may always read
/// and write it. If the group cannot be set, the file's group gets no permissions. 0, or -1 with errno set.
int strata_take_permissions(int descriptor, const strata_file_status *of);

/// Opens a folder to read its names one by one. NULL with errno set if it cannot be opened.
void *strata_directory_open(const char *path);
/// Returns the next name, valid until the next call; NULL at the end (errno 0) or after a failure (errno set).
const char *strata_directory_next(void *directory);
void strata_directory_close(void *directory);
/// The same as `strata_directory_open`, but fails if the path is itself a symbolic link.
void *strata_directory_open_itself(const char *path);
/// Removes an entry of an open folder, unless that entry is a folder. 0, also if there is no such entry; -1 with errno
/// set.
int strata_directory_remove(void *directory, const char *name);
/// 1 if the path is a symbolic link, 0 if it is something else, -1 with errno set.
int strata_is_link(const char *path);
/// Returns the path of the working directory, which the caller frees with `strata_free`; NULL with errno set.
char *strata_working_directory(void);
void strata_free(void *memory);

/// A condition variable on the monotonic clock. All zeros to begin with, and nothing to be destroyed. Linux only.
typedef struct {
  /// How often it was signalled, and how many threads wait or are about to.
  uint32_t signals, waiting;
} strata_condition;
/// Gives the mutex back, waits for a signal, and takes the mutex again. 0 if the deadline has passed, in nanoseconds of
/// the monotonic clock (INT64_MAX: none), otherwise 1. It may return without a signal.
int strata_condition_wait(strata_condition *condition, pthread_mutex_t *mutex, int64_t deadline);
/// Wakes one of the threads that wait, or all. May be called without the mutex, after the change that they wait for.
void strata_condition_signal(strata_condition *condition, int is_for_all);

/// Begins to watch a folder for writes to its files, and for new names in it. Sets two descriptors: one that receives
/// the notices, and one that ends a wait. 0, or -1 with errno set: ENOTSUP if the system has no such notices for files.
int strata_watch_open(const char *folder, int *notices, int *wake);
/// Waits for a notice, takes all that have arrived, and returns 1. 0 after the timeout, in nanoseconds from now; -2
/// once `strata_watch_wake` was called, and at every call after that; -1 with errno set.
int strata_watch_wait(int notices, int wake, int64_t timeout);
void strata_watch_wake(int wake);
void strata_watch_close(int notices, int wake);

// Threads.

/// Starts a thread that runs `body(context)`. The name is cut to the length that the system allows. The thread blocks
/// the signals of the process, which other threads handle. 0, or a value of errno.
int strata_thread_start(uintptr_t *thread, const char *name, void (*body)(void *), void *context);
int strata_thread_join(uintptr_t thread);
int strata_thread_detach(uintptr_t thread);
/// Lowers the calling thread's priority below that of the process's other threads, where the system has a priority for
/// each thread.
void strata_thread_gives_way(void);
/// The number of processors that the process may run on now; 1 if the system does not say.
int strata_processor_count(void);
/// Tells the processor that the calling thread is waiting for another one in a loop.
static inline void strata_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
/// Whether `thread` is the calling thread.
int strata_thread_is_current(uintptr_t thread);

// Programs.

/// Copies the identity that the linker gave to the executable or library that holds an address: the same bytes for each
/// run of one build. Returns their number, 0 if there is none.
size_t strata_image_identity(const void *address, uint8_t *identity, size_t capacity);
/// How far an address is from the begin of the executable or library that holds it; 0 if none does.
uintptr_t strata_image_offset(uintptr_t address);

#endif
