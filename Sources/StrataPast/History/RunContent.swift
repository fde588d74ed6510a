// The document of a version: a whole one, and the differences since.

internal import StrataBase
internal import StrataTables

/// Puts documents together, when they are asked for. The bytes that are given must stay valid until `reset`.
struct RunContent: ~Copyable {
  private struct Difference {
    var prefix: Int
    var suffix: Int
    var middle: UnsafeRawBufferPointer
  }

  private enum Whole {
    case none
    case bytes(UnsafeRawBufferPointer)
    case outside(RecordAddress)
    /// In `buffer`.
    case made
  }

  private var whole = Whole.none
  private var differences: [Difference] = []
  private var buffer = RawBuffer(capacity: 1 << 10)
  private var other = RawBuffer(capacity: 1 << 10)
  /// The record that holds the document.
  private var record: RunRecord?

  init() {}

  mutating func reset() {
    whole = .none
    differences.removeAll(keepingCapacity: true)
    record = nil
  }

  mutating func set(_ bytes: UnsafeRawBufferPointer) {
    reset()
    whole = .bytes(bytes)
  }

  mutating func set(_ address: RecordAddress) {
    reset()
    whole = .outside(address)
  }

  mutating func change(prefix: Int, suffix: Int, _ middle: UnsafeRawBufferPointer) {
    differences.append(Difference(prefix: prefix, suffix: suffix, middle: middle))
  }

  /// The document. Valid until the next call.
  mutating func bytes(_ reader: RunReader) throws(PageDamage) -> UnsafeRawBufferPointer {
    var current: UnsafeRawBufferPointer
    switch whole {
    case .none: throw PageDamage("a version has no document")
    case .bytes(let bytes): current = bytes
    case .outside(let address):
      let record = try reader.record(at: address)
      self.record = record
      current = record.bytes
      whole = .bytes(current)
    case .made: current = buffer.bytes
    }
    guard !differences.isEmpty else { return current }
    for difference in differences {
      guard difference.prefix <= current.count, difference.suffix <= current.count - difference.prefix else {
        throw PageDamage("a difference is of a longer document")
      }
      other.removeAll()
      other.append(UnsafeRawBufferPointer(rebasing: current[..<difference.prefix]))
      other.append(difference.middle)
      other.append(UnsafeRawBufferPointer(rebasing: current[(current.count - difference.suffix)...]))
      swap(&buffer, &other)
      current = buffer.bytes
    }
    differences.removeAll(keepingCapacity: true)
    whole = .made
    return current
  }

  /// Copies the document, so that the bytes that were given need not stay valid.
  mutating func own(_ reader: RunReader) throws(PageDamage) {
    if case .none = whole { return }
    if case .made = whole, differences.isEmpty { return }
    let bytes = try bytes(reader)
    if case .made = whole { return }
    buffer.removeAll()
    buffer.append(bytes)
    whole = .made
    record = nil
  }
}
