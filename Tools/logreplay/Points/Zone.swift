// Time zones: the local zone, UTC, or a fixed offset.

internal import StrataDocuments

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

  /// The moment at which clocks in the zone show a date and time, given as if it were UTC.
  package func moment(ofWallClock wall: Int64) -> WallClockMoment {
    let before = Int64(offset(at: wall - 86_400))
    let after = Int64(offset(at: wall + 86_400))
    let (early, late) = (wall - max(before, after), wall - min(before, after))
    let isEarly = Int64(offset(at: early)) == max(before, after)
    let isLate = Int64(offset(at: late)) == min(before, after)
    if early != late {
      if isEarly, isLate { return WallClockMoment(seconds: early, other: .later(late)) }
      if !isEarly, !isLate { return WallClockMoment(seconds: wall - before, other: .after(wall - after)) }
    }
    return WallClockMoment(seconds: isEarly ? early : late)
  }
}

/// The moment that a date and time of clocks stand for, in seconds since 1970, as RFC 5545 reads them: if clocks show it
/// twice, the first time; if a change skips it, with the offset before the change.
package struct WallClockMoment: Hashable, Sendable {
  package enum Other: Hashable, Sendable {
    /// Clocks show the time once more, at this moment.
    case later(Int64)
    /// No clock shows the time. With the offset after the change it would be this moment.
    case after(Int64)
  }

  package var seconds: Int64
  /// What else the date and time could stand for.
  package var other: Other?

  /// `2026-10-25 02:30 is shown twice …`; nil if the time is one moment.
  func note(on text: String) -> String? {
    guard let other else { return nil }
    func time(_ seconds: Int64) -> String {
      RFC3339.text(Instant(seconds: seconds, attoseconds: 0)).map { $0.prefix(19) + "Z" } ?? "\(seconds)"
    }
    let taken = "is read as \(time(seconds))"
    let choice = "; write an offset to choose"
    switch other {
    case .later(let moment):
      return "'\(text)' is shown twice by the clocks of the zone: it \(taken), "
        + "not as \(time(moment))\(choice)"
    case .after(let moment):
      return "'\(text)' is skipped by the clocks of the zone: it \(taken), "
        + "with the offset before the change, not as \(time(moment)), with the one after it\(choice)"
    }
  }
}
