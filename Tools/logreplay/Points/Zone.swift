// Where a clock on the wall stands: the local zone, UTC, or a fixed offset.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The zone in which times are read and shown.
package enum Zone: Hashable, Sendable {
  case utc
  /// So many seconds ahead of UTC.
  case fixed(Int)
  /// What the system's zone says for each moment (`TZ`).
  case local

  /// The seconds that the zone is ahead of UTC at a moment, given in seconds since 1970.
  package func offset(at seconds: Int64) -> Int {
    switch self {
    case .utc: return 0
    case .fixed(let offset): return offset
    case .local:
      var time = time_t(seconds)
      var parts = tm()
      tzset()
      guard localtime_r(&time, &parts) != nil else { return 0 }
      return parts.tm_gmtoff
    }
  }

  /// The moment at which clocks in the zone show a date and time, given as if it were UTC. Of two moments the
  /// earlier; a time that a change of clocks skips is read with the offset before the change.
  package func moment(ofWallClock wall: Int64) -> Int64 {
    let before = Int64(offset(at: wall - 86_400))
    let after = Int64(offset(at: wall + 86_400))
    let early = wall - max(before, after)
    if Int64(offset(at: early)) == max(before, after) { return early }
    let late = wall - min(before, after)
    if Int64(offset(at: late)) == min(before, after) { return late }
    return wall - before
  }
}
