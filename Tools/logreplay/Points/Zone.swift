// Time zones: the local zone, UTC, or a fixed offset.

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
  /// This many seconds ahead of UTC.
  case fixed(Int)
  /// The system's local zone (`TZ`), with its own offset for each moment.
  case local

  /// The given `TZ` value if the system does not know it and would silently use UTC; nil if it knows the value or none
  /// is given.
  package static func unknownName(_ name: String?, folder: String? = nil) -> String? {
    // The name of a file may follow a colon.
    guard let name, case let file = name.first == ":" ? String(name.dropFirst()) : name, !file.isEmpty,
      !utcNames.contains(file), name.wholeMatch(of: rule) == nil
    else { return nil }
    let path = file.hasPrefix("/") ? file : "\(folder ?? "/usr/share/zoneinfo")/\(file)"
    var status = stat()
    let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    return isFile ? nil : name
  }

  /// Names that need no file, because the fallback for unknown names, UTC, is right for them.
  private static let utcNames: Set<String> = [
    "UTC", "GMT", "UCT", "Z", "Zulu", "Universal", "Greenwich", "Etc/UTC", "Etc/GMT", "Etc/UCT", "Etc/Zulu",
    "Etc/Universal", "Etc/Greenwich",
  ]

  /// A zone given by its own offset and rules: `CET-1CEST,M3.5.0,M10.5.0/3`, `<+03>-3`.
  nonisolated(unsafe) private static let rule =
    /(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)[+-]?[0-9]{1,2}(?::[0-9]{2}){0,2}(?:(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>).*)?/

  /// How many seconds the zone is ahead of UTC at a moment, given in seconds since 1970.
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

  /// The moment at which clocks in the zone show a date and time, given as if it were UTC. If a clock change makes two
  /// moments possible, the earlier one; a time that a change skips is read with the offset before the change.
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
