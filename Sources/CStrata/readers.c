// Readers of memory that another thread may free.
//
// Who wants to free memory first makes it unreachable, and then waits until nobody can still be reading it. For this,
// every read is counted while it lasts, at one of several counters, so that threads seldom share one. A counter that
// was seen at zero after the memory became unreachable has no such reader: whoever begins later does not find it.
//
// With one set of counters, threads that read all the time might never let one of them be seen at zero. So there are
// two sets. New reads use one, until the other has come to rest; then they use that one. This is the idea of sleepable
// read-copy-update: P. McKenney, "Sleepable RCU", LWN 202847 (2006).
#include <stdalign.h>
#include <stdatomic.h>
#include "CStrata.h"

enum { lanes = 32 };

/// As large as a cache line, so that counters of different threads do not disturb each other.
struct counter {
  alignas(64) atomic_uint_fast64_t count;
};

static struct counter counters[2 * lanes];
/// 0 or 1: the set that new reads use.
static atomic_uint_fast32_t set;
static atomic_bool is_counting;
static atomic_uint_fast32_t next_lane;
/// The thread's lane plus 1; 0 before its first read.
static _Thread_local uint32_t lane;

void strata_reads_matter(void) { atomic_store_explicit(&is_counting, 1, memory_order_relaxed); }

uint32_t strata_begin_read(void) {
  if (!atomic_load_explicit(&is_counting, memory_order_relaxed)) return 0;
  if (lane == 0) lane = (uint32_t)(atomic_fetch_add_explicit(&next_lane, 1, memory_order_relaxed) % lanes) + 1;
  uint32_t index = (uint32_t)atomic_load_explicit(&set, memory_order_relaxed) * lanes + lane - 1;
  // Ordered before every read that follows: either the count is seen, or what was made unreachable is not found.
  atomic_fetch_add_explicit(&counters[index].count, 1, memory_order_seq_cst);
#if !defined(__x86_64__)
  // Elsewhere a later read may come before the write of the count.
  atomic_thread_fence(memory_order_seq_cst);
#endif
  return index + 1;
}

void strata_end_read(uint32_t token) {
  if (token != 0) atomic_fetch_sub_explicit(&counters[token - 1].count, 1, memory_order_release);
}

uint64_t strata_reads(void) {
  atomic_thread_fence(memory_order_seq_cst);
  uint64_t busy = 0;
  for (int index = 0; index < 2 * lanes; index++) {
    if (atomic_load_explicit(&counters[index].count, memory_order_seq_cst) != 0) busy |= (uint64_t)1 << index;
  }
  uint_fast32_t now = atomic_load_explicit(&set, memory_order_relaxed);
  uint64_t other = now == 0 ? busy >> lanes : busy & (((uint64_t)1 << lanes) - 1);
  if (other == 0) atomic_store_explicit(&set, 1 - now, memory_order_relaxed);
  return busy;
}
