// Finding the end of a key's component without knowing its type or options.

extension SortKeyReader {
  /// Moves past one component, in whichever direction it was written. O(bytes of the component).
  package mutating func skipComponent() throws(SortKeyError) {
    var tag = try peek()
    while tag == SortKeyTag.presentFirst || tag == SortKeyTag.presentLast {
      offset &+= 1
      tag = try peek()
    }
    offset &+= 1
    if tag == SortKeyTag.nilFirst || tag == SortKeyTag.nilLast { return }
    let outer = mask
    defer { mask = outer }
    mask = tag < 0x80 ? 0 : 0xFF
    switch tag ^ mask {
    case SortKeyTag.false, SortKeyTag.true, SortKeyTag.nan: break
    case SortKeyTag.negative: try skipNumber(complement: 0xFF)
    case SortKeyTag.positive: try skipNumber(complement: 0)
    case SortKeyTag.instant:
      try advance(5)
      if try readBigEndian(UInt32.self) & 1 == 1 { try advance(4) }
    case SortKeyTag.string, SortKeyTag.transformedString, SortKeyTag.bytes: try skipEscaped()
    case SortKeyTag.uuid: try advance(16)
    default: throw .malformed
    }
  }

  /// The length of the component at an offset, in bytes. O(length).
  package static func componentLength(
    of key: UnsafeRawBufferPointer, at offset: Int = 0
  ) throws(SortKeyError) -> Int {
    var reader = SortKeyReader(key, at: offset)
    try reader.skipComponent()
    return reader.offset - offset
  }

  /// The length of the first `count` components, in bytes.
  package static func length(
    ofComponents count: Int, in key: UnsafeRawBufferPointer
  ) throws(SortKeyError) -> Int {
    var reader = SortKeyReader(key)
    for _ in 0..<count { try reader.skipComponent() }
    return reader.offset
  }

  private mutating func advance(_ count: Int) throws(SortKeyError) {
    guard remaining >= count else { throw .truncated }
    offset &+= count
  }

  private mutating func skipNumber(complement: UInt8) throws(SortKeyError) {
    try advance(8)
    try advance(try readLength(complement: complement))
  }

  /// Reads the length of the remainder of a number.
  mutating func readLength(complement: UInt8) throws(SortKeyError) -> Int {
    let byte = try readByte() ^ complement
    if byte < SortKeyTag.longLength { return Int(byte) }
    guard byte == SortKeyTag.longLength else { throw .malformed }
    return Int(try readBigEndian(UInt16.self, complement: complement))
  }

  private mutating func skipEscaped() throws(SortKeyError) {
    let zero = mask
    while offset &+ 1 < end {
      guard base.load(fromByteOffset: offset, as: UInt8.self) == zero else {
        offset &+= 1
        continue
      }
      let next = base.load(fromByteOffset: offset &+ 1, as: UInt8.self) ^ mask
      offset &+= 2
      if next == SortKeyTag.end || next == SortKeyTag.cut { return }
      guard next == SortKeyTag.escaped else { throw .malformed }
    }
    throw .truncated
  }
}
