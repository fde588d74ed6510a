// JSON: what is read is written so that it reads back.

internal import StrataDocuments
internal import StrataEvents

enum JSONTarget {
  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: bytes) } catch {
      return try law(
        error.offset <= bytes.count && error.line >= 1 && error.column >= 1,
        "an error outside the text: \(error)")
    }
    try law(isEqual(value, try read(value.jsonBytes())), "\(value) reads back otherwise")
    try law(
      isEqual(value, try read(value.jsonBytes(.pretty))), "\(value) reads back otherwise from pretty text")
    try CBORTarget.document(value, value.cbor())
  }

  /// What a value is as JSON is JSON, and stays the same when it is read and written again.
  static func text(_ value: DocumentValue) throws(BrokenLaw) {
    // A tag is written as an object, so the text may be deeper than what may be read.
    guard value.depth <= CodecLimits.depthMax / 2 else { return }
    let written = value.jsonBytes()
    try law(try read(written).jsonBytes() == written, "JSON changes when it is read: \(value)")
  }

  private static func read(_ text: [UInt8]) throws(BrokenLaw) -> DocumentValue {
    do throws(JSONError) { return try DocumentValue(json: text) } catch {
      throw BrokenLaw("what is written is no JSON: \(error), \(String(decoding: text, as: UTF8.self))")
    }
  }

  private static func isEqual(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    a == b && a.cbor() == b.cbor()
  }
}
