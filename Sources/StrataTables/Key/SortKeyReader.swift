// Reads sort keys from borrowed bytes.

/// A position in the bytes of a key.
///
/// No input causes a trap. The reader does not keep the bytes alive: use it only while the pointer is valid.
public struct SortKeyReader {
  let base: UnsafeRawPointer
  let end: Int
  /// The offset of the next component, in bytes from the first one.
  package internal(set) var offset: Int
  /// 0xFF if the bytes were inverted an odd number of times, otherwise 0.
  var mask: UInt8 = 0

  /// A reader at an offset in these bytes. The offset is clamped to their range.
  package init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
    base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = bytes.count
    self.offset = min(max(offset, 0), bytes.count)
  }

  /// Whether all bytes were read.
  package var isAtEnd: Bool { offset >= end }

  /// Reads a value that was appended without options.
  public mutating func read<Value: SortKey>(_ type: Value.Type = Value.self) throws(SortKeyError) -> Value {
    try Value(from: &self)
  }

  /// Reads a value that was appended with these options.
  package mutating func read<Value: SortKey>(
    _ type: Value.Type = Value.self, _ options: SortKeyOptions
  ) throws(SortKeyError) -> Value {
    let outer = mask
    if options.contains(.descending) { mask ^= 0xFF }
    defer { mask = outer }
    return try Value(from: &self)
  }
}

extension SortKeyReader {
  @inline(__always)
  var remaining: Int { end &- offset }

  /// The next byte as it is stored, without moving past it.
  @inline(__always)
  func peek() throws(SortKeyError) -> UInt8 {
    guard offset < end else { throw .truncated }
    return base.load(fromByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  mutating func readByte() throws(SortKeyError) -> UInt8 {
    let byte = try peek() ^ mask
    offset &+= 1
    return byte
  }

  mutating func expect(_ tag: UInt8) throws(SortKeyError) {
    guard try peek() ^ mask == tag else { throw .malformed }
    offset &+= 1
  }

  /// Reads a number, most significant byte first.
  mutating func readBigEndian<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ type: Number.Type, complement: UInt8 = 0
  ) throws(SortKeyError) -> Number {
    guard remaining >= MemoryLayout<Number>.size else { throw .truncated }
    let number = Number(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: Number.self))
    offset &+= MemoryLayout<Number>.size
    return mask ^ complement == 0 ? number : ~number
  }

  /// Reads `count` bytes.
  mutating func readBytes(count: Int, complement: UInt8 = 0) throws(SortKeyError) -> [UInt8] {
    guard remaining >= count else { throw .truncated }
    let raw = UnsafeRawBufferPointer(start: base + offset, count: count)
    offset &+= count
    let change = mask ^ complement
    return change == 0 ? Array(raw) : raw.map { $0 ^ change }
  }

  /// Reads an escaped byte string up to its end.
  mutating func readEscaped() throws(SortKeyError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let byte = try readByte()
      guard byte == 0 else {
        bytes.append(byte)
        continue
      }
      switch try readByte() {
      case SortKeyTag.escaped: bytes.append(0)
      case SortKeyTag.end, SortKeyTag.cut: return bytes
      default: throw .malformed
      }
    }
  }
}
