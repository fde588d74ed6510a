// Optional keys: nil before every value, or after if the options request it.

/// Nil is one byte, and any other value is encoded as itself. Only a value whose own key begins with a nil (an optional
/// of an optional, a pair whose first half is nil) is marked as present.
extension Optional: SortKey where Wrapped: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    guard let value = self else { return writer.appendNil() }
    let start = writer.count
    value.encode(to: &writer)
    writer.markPresent(at: start)
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    if reader.readNilIfPresent() {
      self = nil
    } else {
      try reader.skipPresentMark()
      self = try Wrapped(from: &reader)
    }
  }
}

extension SortKeyWriter {
  /// Appends the component for nil, null, or a missing field.
  public mutating func appendNil() {
    reserve(1)
    store((options.contains(.nilsLast) ? SortKeyTag.nilLast : SortKeyTag.nilFirst) ^ mask)
  }

  /// Whether the bytes written from an offset on are a nil and nothing else.
  package func isNil(from start: Int) -> Bool {
    SortKeyTag.isNil(UnsafeRawBufferPointer(start: base + start, count: count - start))
  }

  /// Whether what was written is a NaN and nothing else.
  package var isNaN: Bool { count == 1 && base.load(as: UInt8.self) == SortKeyTag.nan }

  /// Inserts a mark before the component at an offset if it begins with a nil or a mark.
  @inline(__always)
  fileprivate mutating func markPresent(at start: Int) {
    guard count > start else { return }
    let first = base.load(fromByteOffset: start, as: UInt8.self) ^ mask
    switch first {
    case SortKeyTag.nilFirst, SortKeyTag.presentFirst: insert(SortKeyTag.presentFirst ^ mask, at: start)
    case SortKeyTag.nilLast, SortKeyTag.presentLast: insert(SortKeyTag.presentLast ^ mask, at: start)
    default: break
    }
  }

  @inline(never)
  private mutating func insert(_ byte: UInt8, at start: Int) {
    reserve(1)
    (base + start + 1).copyMemory(from: base + start, byteCount: count - start)
    base.storeBytes(of: byte, toByteOffset: start, as: UInt8.self)
    count += 1
  }
}

extension SortKeyReader {
  /// Moves past a nil if one is next.
  mutating func readNilIfPresent() -> Bool {
    guard offset < end else { return false }
    let byte = base.load(fromByteOffset: offset, as: UInt8.self)
    guard byte == SortKeyTag.nilFirst || byte == SortKeyTag.nilLast else { return false }
    offset &+= 1
    return true
  }

  fileprivate mutating func skipPresentMark() throws(SortKeyError) {
    let byte = try peek()
    if byte == SortKeyTag.presentFirst || byte == SortKeyTag.presentLast { offset &+= 1 }
  }
}
