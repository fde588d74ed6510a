// Processor time, which other programs on the machine affect little.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The processor time of this process. Other programs that run at the same time affect it less than wall-clock time.
struct ProcessorTime {
  private let start: Double

  static func now() -> ProcessorTime {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return ProcessorTime(start: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }

  /// The processor time since the start, in seconds.
  var seconds: Double { Self.now().start - start }

  static func of(_ body: () throws -> Void) rethrows -> Double {
    let before = now()
    try body()
    return before.seconds
  }
}
