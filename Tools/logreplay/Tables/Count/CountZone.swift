// The time zone of `count --time-zone`.

internal import LogreplayPoints
internal import LogreplayShell

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

enum CountZone {
  static let examples = "Europe/Berlin, UTC, +02:00"

  /// The zone with a name; nil if none is given. A named zone becomes the local one of this process.
  static func zone(_ name: String?, utc: Bool) throws(CommandFailure) -> Zone? {
    guard let name else { return nil }
    guard !utc else {
      throw CommandFailure(
        ExitStatus.usage, "--utc and --time-zone both say in which zone the steps are",
        at: "--time-zone \(name)",
        next: "leave one of them out")
    }
    if ["UTC", "Z", "GMT", "Etc/UTC"].contains(name) { return .utc }
    if let offset = offset(name) { return .fixed(offset) }
    // A name that is a path would be read as a file of any folder.
    guard !name.isEmpty, !name.hasPrefix("/"), !name.contains(".."),
      Zone.unknownName(name, folder: folder) == nil
    else {
      throw CommandFailure(
        ExitStatus.usage, "there is no time zone '\(name)'", at: "--time-zone",
        next:
          "give the name of a zone of this system, such as \(examples); timedatectl list-timezones lists them"
      )
    }
    setenv("TZ", name, 1)
    tzset()
    return .local
  }

  private static var folder: String? {
    getenv("TZDIR").flatMap { String(validatingCString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The seconds of `+02:00`, `-0530` or `+2`.
  private static func offset(_ text: String) -> Int? {
    guard let match = text.wholeMatch(of: /([+-])([0-9]{1,2})(?::?([0-9]{2}))?/), let hours = Int(match.2),
      case let minutes = match.3.flatMap({ Int($0) }) ?? 0, hours <= 18, minutes < 60
    else { return nil }
    return (match.1 == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}
