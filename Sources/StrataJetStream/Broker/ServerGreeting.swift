// What a server says before anything is asked: its version.

internal import StrataBase
internal import StrataDocuments

/// The first line of a server: `INFO` and an object. The C client reads it and keeps the version to itself.
struct ServerGreeting: Equatable, Sendable {
  let name: String
  let version: String
  let messageSizeMax: Int

  /// The longest line that is read.
  static let lengthMax = 64 << 10

  /// Reads the line; nil for anything else. What follows the line is not looked at.
  init?(_ bytes: [UInt8]) {
    let prefix = Array("INFO ".utf8)
    guard bytes.starts(with: prefix), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    guard let value = try? DocumentValue(json: Array(bytes[prefix.count..<end])),
      let version = value["version"]?.text, let size = value["max_payload"]?.unsigned
    else { return nil }
    self.version = version
    // A name is for messages only.
    name = String((value["server_name"]?.text ?? "").prefix(64))
    messageSizeMax = Int(clamping: size)
  }
}
