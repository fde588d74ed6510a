// The wall clock, without Foundation.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Nanoseconds since 1970-01-01T00:00:00Z by the system's wall clock.
package func systemNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The id of this process.
package func processID() -> Int32 { getpid() }

/// Holds this thread up. For threads of our own.
package func pauseThread(nanoseconds: Int) {
  var time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  nanosleep(&time, nil)
}
