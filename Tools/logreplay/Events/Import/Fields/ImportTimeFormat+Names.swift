// The forms of times and their zones, as options and mappings name them.

internal import LogreplayPoints
internal import LogreplayShell

extension ImportTimeFormat {
  /// - Parameters:
  ///   - form: the name of the form; nil for the usual one.
  ///   - zone: the zone of times without an offset; nil if they are bad.
  ///   - place: where a name is said, `time-format` or `time-zone`, for messages.
  init(
    _ form: String?, zone: String?, at place: (String) -> String
  ) throws(CommandFailure) {
    self.init()
    if let form {
      guard let known = Form(rawValue: form) else {
        throw CommandFailure(
          ExitStatus.usage, "'\(form)' is not a form of times", at: place("time-format"),
          next: "the forms are " + Form.allCases.map(\.rawValue).joined(separator: ", "))
      }
      self.form = known
    }
    guard let zone else { return }
    switch zone.lowercased() {
    case "utc", "z": self.zone = .utc
    case "local": self.zone = .local
    default:
      guard let offset = ImportTimeVariants.seconds(ofOffset: zone) else {
        throw CommandFailure(
          ExitStatus.usage, "'\(zone)' is not a time zone", at: place("time-zone"),
          next: "write utc, an offset such as +01:00, or local with the variable TZ: "
            + "TZ=Europe/Berlin logreplay import … --time-zone local")
      }
      self.zone = .fixed(offset)
    }
  }
}
