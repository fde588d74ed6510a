// The text in LOCK: who has the lock, and since when.

internal import StrataBase

/// The lines of LOCK. Only the second one decides anything; the others are for messages, and may hold anything.
struct LockText {
  /// The length in bytes up to which LOCK is read.
  static let lengthMax = 256

  /// A process id in decimal digits.
  var process: String?
  /// What `StoreLock.settle` wrote; may be empty.
  var settled = ""
  /// When the lock was taken: UTC to the second, as in RFC 3339.
  var since: String?

  init(process: String, settled: String, since: String) {
    (self.process, self.settled, self.since) = (process, settled, since)
  }

  /// Reads what any process may have written. Lines that are not what they should be are left out.
  init(_ text: String) {
    let lines = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false)
    if let first = lines.first, Int32(first).map({ $0 > 0 }) == true, first.utf8.allSatisfy(Self.isDigit) {
      process = String(first)
    }
    if lines.count > 1 { settled = String(lines[1]) }
    if lines.count > 2, Self.isTime(lines[2]) { since = String(lines[2]) }
  }

  var text: String { "\(process ?? "")\n\(settled)\n\(since ?? "")\n" }

  /// The last writer in words; nil if it is not known.
  var holder: String? {
    process.map { process in "process \(process)" + (since.map { " since \($0)" } ?? "") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Whether a line has the form of a time. Whether there is such a time does not matter for a message.
  private static func isTime(_ line: Substring) -> Bool {
    let form = "0000-00-00T00:00:00Z".utf8
    return line.utf8.count == form.count
      && zip(line.utf8, form).allSatisfy { byte, wanted in
        wanted == UInt8(ascii: "0") ? isDigit(byte) : byte == wanted
      }
  }
}
