// The wall clock, the process id and a pause, without Foundation.

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

/// Returns the id of this process.
package func processID() -> Int32 { getpid() }

/// Pauses the calling thread. Only for Strata's own threads.
package func pauseThread(nanoseconds: Int) {
  var time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  nanosleep(&time, nil)
}
