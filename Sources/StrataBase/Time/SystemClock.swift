// The wall clock, process ids and a pause, without Foundation.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Returns the time of the system's wall clock, in nanoseconds since 1970-01-01T00:00:00Z.
package func systemNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Returns the time of the system's wall clock, in UTC and to the second, as in RFC 3339: `2026-11-20T18:17:16Z`.
package func systemTimeText() -> String {
  var seconds = time(nil)
  var parts = tm()
  gmtime_r(&seconds, &parts)
  func digits(_ number: Int32, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
  let date = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
  return date + "T\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))Z"
}

/// Returns the id of this process.
package func processID() -> Int32 { getpid() }

/// Whether a process with this id is running, as far as this process may know: one of another container is not seen.
package func processExists(_ id: Int32) -> Bool { kill(id, 0) == 0 || errno == EPERM }

/// Pauses the calling thread. Only for Strata's own threads.
package func pauseThread(nanoseconds: Int) {
  var time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  nanosleep(&time, nil)
}
