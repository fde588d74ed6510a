// One JSON object, written key by key in a fixed order.

package import StrataDocuments
internal import StrataEvents

/// Appends the members of an object to a byte array. Keys are ASCII and need no escapes.
package struct JSONLine: ~Copyable {
  private(set) var bytes: [UInt8]
  private var isFirst = true

  /// Begins an object in a new array.
  package init() { bytes = [UInt8(ascii: "{")] }

  /// Begins an object at the end of `target`. The array is moved into this value, so that it grows in place instead of
  /// being copied, and `finish(to:)` moves it back.
  @inline(__always)
  package init(movingFrom target: inout [UInt8]) {
    bytes = []
    swap(&bytes, &target)
    bytes.append(UInt8(ascii: "{"))
  }

  /// Closes the object and moves the array back.
  @inline(__always)
  package consuming func finish(to target: inout [UInt8]) {
    bytes.append(UInt8(ascii: "}"))
    swap(&bytes, &target)
  }

  /// Moves the array back without closing the object; the caller writes the rest.
  package consuming func move(to target: inout [UInt8]) { swap(&bytes, &target) }

  /// An object that begins with the schema version, as every document does.
  package static func document() -> JSONLine {
    var line = JSONLine()
    line.field("schema", 1 as UInt64)
    return line
  }

  /// Closes the object and returns its bytes.
  @inline(__always)
  package consuming func finish() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  @inline(__always)
  package mutating func key(_ name: StaticString) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes += $0 }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  @inline(__always)
  package mutating func field(_ name: StaticString, _ value: UInt64) {
    key(name)
    Self.append(value, to: &bytes)
  }

  package mutating func field(_ name: StaticString, _ value: UInt64?) {
    if let value { field(name, value) } else { null(name) }
  }

  package mutating func field(_ name: StaticString, _ value: Int) {
    key(name)
    bytes += String(value).utf8
  }

  package mutating func field(_ name: StaticString, _ value: Bool) {
    key(name)
    bytes += (value ? "true" : "false").utf8
  }

  package mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    JSONWriter.append(value, to: &bytes)
  }

  package mutating func field(_ name: StaticString, _ value: String?) {
    if let value { field(name, value) } else { null(name) }
  }

  package mutating func field(_ name: StaticString, _ value: DocumentValue) {
    key(name)
    JSONWriter.append(value, to: &bytes)
  }

  package mutating func null(_ name: StaticString) { raw(name, "null".utf8) }

  /// Adds a member whose value is already JSON.
  package mutating func raw(_ name: StaticString, _ value: some Collection<UInt8>) {
    key(name)
    bytes += value
  }

  /// Adds an array of values that are already JSON.
  package mutating func array(_ name: StaticString, _ values: [[UInt8]]) {
    raw(name, Array("[".utf8) + values.joined(separator: ",".utf8) + "]".utf8)
  }

  /// Appends a byte of a value that the caller writes itself.
  @inline(__always)
  package mutating func append(byte: UInt8) { bytes.append(byte) }

  package mutating func append(bytes more: [UInt8]) { bytes += more }

  /// Appends a key that is not known at compile time, and its colon.
  package mutating func append(name: String) {
    JSONWriter.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  @inline(__always)
  package mutating func append(number: UInt64) { Self.append(number, to: &bytes) }

  @inline(__always)
  package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
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
