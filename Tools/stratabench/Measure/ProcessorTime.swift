// Time that others who use the machine do not lengthen.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Time of the processor that the program was given: another program that runs beside it counts less than
/// on the clock.
struct ProcessorTime {
  private let start: Double

  static func now() -> ProcessorTime {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return ProcessorTime(start: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }

  /// Since then.
  var seconds: Double { Self.now().start - start }

  static func of(_ body: () throws -> Void) rethrows -> Double {
    let before = now()
    try body()
    return before.seconds
  }
}
