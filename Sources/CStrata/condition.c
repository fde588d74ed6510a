// A condition variable on a futex.
//
// The one of glibc before version 2.41 can lose a signal where three or more threads wait (its bug 25847), and a pool of
// threads would then leave work undone until more arrives. Here a signal is a number that changes: a thread sleeps only
// while the number is still the one that it saw while it held the mutex. The cost is a wake-up for nothing when a signal
// comes between that look and the sleep, which every condition variable may have.
#include "CStrata.h"
#if defined(__linux__)
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// What SYS_futex takes also where the type of time in C is wider.
typedef struct {
  long seconds, nanoseconds;
} kernel_time;

int strata_condition_wait(strata_condition *condition, pthread_mutex_t *mutex, int64_t deadline) {
  __atomic_fetch_add(&condition->waiting, 1, __ATOMIC_SEQ_CST);
  const uint32_t seen = __atomic_load_n(&condition->signals, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(mutex);
  const kernel_time end = {.seconds = (long)(deadline / 1000000000), .nanoseconds = (long)(deadline % 1000000000)};
  const long code = syscall(
      SYS_futex, &condition->signals, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline == INT64_MAX ? NULL : &end, NULL,
      FUTEX_BITSET_MATCH_ANY);
  const int is_over = code != 0 && errno == ETIMEDOUT;
  __atomic_fetch_sub(&condition->waiting, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_lock(mutex);
  return is_over ? 0 : 1;
}

void strata_condition_signal(strata_condition *condition, int is_for_all) {
  // First the number, then the look at who waits: a thread that is not counted yet will see the new number.
  __atomic_fetch_add(&condition->signals, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&condition->waiting, __ATOMIC_SEQ_CST) == 0) return;
  syscall(SYS_futex, &condition->signals, FUTEX_WAKE_PRIVATE, is_for_all ? INT_MAX : 1, NULL, NULL, 0);
}
#endif
