// One JSON object, written key by key in the order in which the contract lists them.

internal import StrataDocuments
internal import StrataEvents

/// Appends an object's members to bytes that somebody else holds. Keys are ASCII and need no escapes.
struct JSONLine: ~Copyable {
  private(set) var bytes: [UInt8]
  private var isFirst = true

  /// Begins an object of its own.
  init() { bytes = [UInt8(ascii: "{")] }

  /// Begins an object behind what `target` holds. The array is moved here, so that it is grown in place and
  /// not copied, and goes back with `finish(to:)`.
  @inline(__always)
  init(movingFrom target: inout [UInt8]) {
    bytes = []
    swap(&bytes, &target)
    bytes.append(UInt8(ascii: "{"))
  }

  /// Closes the object and moves everything back.
  @inline(__always)
  consuming func finish(to target: inout [UInt8]) {
    bytes.append(UInt8(ascii: "}"))
    swap(&bytes, &target)
  }

  /// Moves everything back without closing the object: the rest is put together by hand.
  consuming func move(to target: inout [UInt8]) { swap(&bytes, &target) }

  /// An object with the version that every answer begins with.
  static func document() -> JSONLine {
    var line = JSONLine()
    line.field("schema", 1 as UInt64)
    return line
  }

  /// Closes the object and gives the bytes back.
  @inline(__always)
  consuming func finish() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  @inline(__always)
  mutating func key(_ name: StaticString) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes += $0 }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  @inline(__always)
  mutating func field(_ name: StaticString, _ value: UInt64) {
    key(name)
    Self.append(value, to: &bytes)
  }

  mutating func field(_ name: StaticString, _ value: UInt64?) {
    if let value { field(name, value) } else { null(name) }
  }

  mutating func field(_ name: StaticString, _ value: Int) {
    key(name)
    bytes += String(value).utf8
  }

  mutating func field(_ name: StaticString, _ value: Bool) {
    key(name)
    bytes += (value ? "true" : "false").utf8
  }

  mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    JSONWriter.append(value, to: &bytes)
  }

  mutating func field(_ name: StaticString, _ value: String?) {
    if let value { field(name, value) } else { null(name) }
  }

  mutating func field(_ name: StaticString, _ value: DocumentValue) {
    key(name)
    JSONWriter.append(value, to: &bytes)
  }

  mutating func null(_ name: StaticString) { raw(name, "null".utf8) }

  /// A value that is JSON already.
  mutating func raw(_ name: StaticString, _ value: some Collection<UInt8>) {
    key(name)
    bytes += value
  }

  /// An array of values that are JSON already.
  mutating func array(_ name: StaticString, _ values: [[UInt8]]) {
    raw(name, Array("[".utf8) + values.joined(separator: ",".utf8) + "]".utf8)
  }

  /// Part of a value that is put together by hand.
  @inline(__always)
  mutating func append(byte: UInt8) { bytes.append(byte) }

  mutating func append(bytes more: [UInt8]) { bytes += more }

  /// A key that is not known beforehand, with its colon.
  mutating func append(name: String) {
    JSONWriter.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  @inline(__always)
  mutating func append(number: UInt64) { Self.append(number, to: &bytes) }

  @inline(__always)
  static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value
      var first = 20
      repeat {
        first -= 1
        digits.initializeElement(at: first, to: UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
      } while rest > 0
      bytes += UnsafeMutableBufferPointer(rebasing: digits[first...])
    }
  }
}
