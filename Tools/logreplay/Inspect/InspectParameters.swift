// The parameters of a request, and their limits.

internal import LogreplayShell
internal import LogreplayTables

/// The limits of one request.
public enum InspectLimits {
  /// The bytes of a path with its query, and of a head in all.
  public static let targetLengthMax = 8192
  public static let headLengthMax = 16_384
  static let parameterCountMax = 40
  /// The lines of a list, the events, the changes and the columns of a histogram that one answer has.
  static let lineCountMax = 500
  static let eventCountMax = 200
  static let changeCountMax = 2000
  static let columnCountMax = 400
  /// The lists that are kept for the next request, and the requests that are answered at the same time.
  static let listCountMax = 4
  static let workCountMax = 16
  static let threadCountMax = 4
  /// The pages that follow the store at the same time.
  public static let feedCountMax = 16
  /// The events that are read for one answer.
  static let readCountMax: UInt64 = 300_000
}

/// A query, decoded.
struct InspectParameters {
  private var values: [(name: String, value: String)] = []

  init(_ query: Substring) throws(CommandFailure) {
    for part in query.split(separator: "&") {
      guard values.count < InspectLimits.parameterCountMax else {
        throw Self.failure("a request has at most \(InspectLimits.parameterCountMax) parameters", "the query")
      }
      let name = part.prefix { $0 != "=" }
      guard let name = Self.decoded(name),
        let value = Self.decoded(part.dropFirst(part.prefix { $0 != "=" }.count + 1))
      else { throw Self.failure("the query is not UTF-8 in percent encoding", "the query") }
      values.append((name, value))
    }
  }

  static func failure(_ what: String, _ place: String) -> CommandFailure {
    CommandFailure(ExitStatus.usage, what, at: place, next: "correct the request")
  }

  /// Nil if the bytes are no UTF-8, or a percent sign has no two digits after it.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The value of a parameter; nil if it is missing or empty.
  subscript(_ name: String) -> String? {
    values.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  func all(_ name: String) -> [String] { values.filter { $0.name == name && !$0.value.isEmpty }.map(\.value) }

  /// A number within a range; the default if it is missing.
  func number(_ name: String, in range: ClosedRange<Int>, default value: Int) throws(CommandFailure) -> Int {
    guard let text = self[name] else { return value }
    guard let number = Int(text), range.contains(number) else {
      throw Self.failure("\(name) is a number from \(range.lowerBound) to \(range.upperBound)", name)
    }
    return number
  }

  func sequence(_ name: String) throws(CommandFailure) -> UInt64? {
    guard let text = self[name] else { return nil }
    guard let number = UInt64(text) else { throw Self.failure("\(name) is a sequence", name) }
    return number
  }

  /// The options that define a list, as `logreplay at` takes them.
  var listWords: [String] {
    var words: [String] = []
    for (name, option) in [
      ("table", "--table"), ("view", "--view"), ("section", "--section-by"), ("order", "--section-order"),
      ("where", "--where"), ("fields", "--fields"),
    ] {
      if let value = self[name] { words.append("\(option)=\(value)") }
    }
    return words + all("sort").map { "--sort=\($0)" }
  }
}
