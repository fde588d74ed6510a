// Notices of changes in a folder, by inotify, and an eventfd that ends a wait.
#include "CStrata.h"
#include <errno.h>
#if defined(__linux__)
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

int strata_watch_open(const char *folder, int *notices, int *wake) {
  *notices = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (*notices < 0) return -1;
  // Watch the folder instead of a file in it, so that the file may be created later, or replaced.
  const uint32_t mask = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;
  int code = 0;
  if (inotify_add_watch(*notices, folder, mask) < 0) code = errno;
  if (code == 0 && (*wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) code = errno;
  if (code == 0) return 0;
  close(*notices);
  errno = code;
  return -1;
}

/// Takes all notices that have arrived. Their content does not matter, because the caller then checks the files itself.
/// 1, or -1 with errno set; ENOENT if the folder was deleted or unmounted, so that no further notices can arrive.
static int take_notices(int notices) {
  _Alignas(struct inotify_event) char buffer[4096];
  int is_gone = 0;
  for (;;) {
    const ssize_t count = read(notices, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) return -1;
    if (count <= 0) break;
    for (ssize_t place = 0; place < count;) {
      const struct inotify_event *event = (const struct inotify_event *)(buffer + place);
      if (event->mask & (IN_IGNORED | IN_UNMOUNT)) is_gone = 1;
      place += (ssize_t)sizeof *event + event->len;
    }
  }
  if (!is_gone) return 1;
  errno = ENOENT;
  return -1;
}

int strata_watch_wait(int notices, int wake, int64_t timeout) {
  if (timeout < 0) timeout = 0;
  struct pollfd both[] = {{.fd = notices, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
  const struct timespec time = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
  const int count = ppoll(both, 2, &time, NULL);
  // A signal ends the wait early. The caller then checks the files, as after a notice.
  if (count < 0) return errno == EINTR ? 1 : -1;
  if (both[1].revents != 0) return -2;
  return count == 0 ? 0 : take_notices(notices);
}

void strata_watch_wake(int wake) {
  const uint64_t one = 1;
  // The write fails only if the counter is at its maximum; then the wait ends too.
  const ssize_t written = write(wake, &one, sizeof one);
  (void)written;
}

void strata_watch_close(int notices, int wake) {
  close(notices);
  close(wake);
}
#else
int strata_watch_open(const char *folder, int *notices, int *wake) {
  (void)folder, (void)notices, (void)wake;
  errno = ENOTSUP;
  return -1;
}

int strata_watch_wait(int notices, int wake, int64_t timeout) {
  (void)notices, (void)wake, (void)timeout;
  errno = ENOTSUP;
  return -1;
}

void strata_watch_wake(int wake) { (void)wake; }
void strata_watch_close(int notices, int wake) { (void)notices, (void)wake; }
#endif
