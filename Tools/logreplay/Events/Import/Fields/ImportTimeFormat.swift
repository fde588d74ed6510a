// What the times of records look like, and how they are read.

internal import LogreplayPoints
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents

/// Why a value is not a time.
struct ImportTimeProblem: Error, Equatable {
  /// What is said after the name of the field; or else the whole of what is said.
  var what: String
  var isWhole = false

  func why(of field: String) -> String {
    isWhole ? what : "the time field \(String(reflecting: field)) \(what)"
  }
}

/// The form of times.
struct ImportTimeFormat: Equatable {
  enum Form: String, CaseIterable {
    /// RFC 3339 as text, also as other programs write it.
    case rfc3339
    /// Seconds, or parts of them, since 1970, as a number or its text.
    case s, ms, us, ns

    /// The number of decimal digits that are nanoseconds.
    var scale: Int {
      switch self {
      case .s: 9
      case .ms: 6
      case .us: 3
      case .ns, .rfc3339: 0
      }
    }
  }

  var form = Form.rfc3339
  /// The zone of times without an offset; nil if they are bad.
  var zone: Zone?

  /// The nanoseconds since 1970 of a time, which is encoded.
  func nanoseconds(_ value: UnsafeRawBufferPointer) throws(ImportTimeProblem) -> Int64 {
    if let text = CBORFields.text(of: value) { return try nanoseconds(text: text) }
    guard form != .rfc3339 else { throw ImportTimeProblem(what: "is not a string") }
    let text: String
    switch try? DocumentValue(cbor: value) {
    case .int(let number): text = String(number)
    case .uint(let number): text = String(number)
    case .double(let number): text = ImportDecimalTime.text(of: number)
    default: throw ImportTimeProblem(what: "is neither a number nor a string")
    }
    return try Array(text.utf8).lendBytes { text throws(ImportTimeProblem) in try nanoseconds(text: text) }
  }

  /// The nanoseconds since 1970 of a time as text.
  func nanoseconds(text: UnsafeRawBufferPointer) throws(ImportTimeProblem) -> Int64 {
    guard form == .rfc3339 else {
      if let time = ImportDecimalTime.nanoseconds(text, scale: form.scale) { return time }
      throw ImportTimeProblem(
        what:
          "\(Self.shown(text)) is not a number of \(form.rawValue) since 1970, from 1677-09-21 to 2262-04-11",
        isWhole: true)
    }
    if let time = Timestamp(utf8: text) { return time.nanoseconds }
    if let time = ImportTimeVariants.nanoseconds(text, zone: zone) { return time }
    if zone == nil, ImportTimeVariants.nanoseconds(text, zone: .utc) != nil {
      throw ImportTimeProblem(
        what: "\(Self.shown(text)) is not a time with an offset (--time-zone says which one it has)",
        isWhole: true)
    }
    throw ImportTimeProblem(
      what: "\(Self.shown(text)) is not a time with an offset (RFC 3339) from 1677-09-21 to 2262-04-11",
      isWhole: true)
  }

  private static func shown(_ text: UnsafeRawBufferPointer) -> String {
    String(reflecting: String(decoding: text.prefix(200), as: UTF8.self))
  }
}
