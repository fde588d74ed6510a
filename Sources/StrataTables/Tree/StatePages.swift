// Pages as they are written to page files: without free space and garbage, their children as addresses.

package import StrataBase
internal import StrataLog

/// The bytes of one page, and of the record that holds them: see StateFormat.md.
package enum StatePage {
  /// Checksum, raw length, flags.
  package static let headLength = 12
  static let compressedFlag: UInt32 = 1
}

// MARK: Encoding

extension StatePage {
  /// Appends a page's raw form. The children of an inner page must have addresses.
  ///
  /// - Parameter address: returns where a child is.
  package static func encode(
    _ page: PageRef, to bytes: inout RawBuffer, address: (PageRef) -> PageAddress = { $0.addressOnDisk }
  ) {
    bytes.append(byte: UInt8(truncatingIfNeeded: page.height))
    bytes.append(varint: UInt64(page.count))
    var buffer = KeyBuffer()
    buffer.begin(page)
    guard page.isLeaf else {
      for index in 0..<page.count {
        bytes.append(varint: UInt64(page.counts[index]))
        append(address(page.link(index)), to: &bytes)
      }
      for index in 0..<page.count - 1 { append(buffer.separator(page, index), to: &bytes) }
      return
    }
    bytes.append(varint: UInt64(page.prefixLength))
    bytes.append(page.prefix.buffer)
    for index in 0..<page.count {
      let key = buffer.leafKey(page, index)
      let value = page.value(index)
      bytes.append(varint: UInt64(key.count - page.prefixLength))
      bytes.append(varint: UInt64(value.count))
      bytes.append(UnsafeRawBufferPointer(rebasing: key.buffer[page.prefixLength...]))
      bytes.append(value)
    }
  }

  package static func append(_ address: PageAddress, to bytes: inout RawBuffer) {
    assert(!address.isNone, "a page is written before its children")
    bytes.append(varint: UInt64(address.file))
    bytes.append(varint: address.offset)
    bytes.append(varint: UInt64(address.length))
    bytes.append(integer: address.checksum)
  }

  private static func append(_ run: ByteRun, to bytes: inout RawBuffer) {
    bytes.append(varint: UInt64(run.count))
    bytes.append(run.buffer)
  }

  /// Appends the record of raw bytes: compressed if that saves an eighth. Returns its checksum.
  package static func appendRecord(_ raw: UnsafeRawBufferPointer, to bytes: inout RawBuffer) -> UInt32 {
    let start = bytes.count
    let bound = max(raw.count, 64)
    _ = bytes.reserve(headLength + bound)
    bytes.count += headLength
    let target = UnsafeMutableRawBufferPointer(start: bytes.base + bytes.count, count: bound)
    let stored = Compression.compress(raw, into: target)
    if let stored { bytes.count += stored } else { bytes.append(raw) }
    let head = bytes.base + start
    head.setLittleEndian(UInt32(truncatingIfNeeded: raw.count), at: 4)
    head.setLittleEndian(stored == nil ? 0 : compressedFlag, at: 8)
    let checksum = CRC32C.of(UnsafeRawBufferPointer(start: head + 4, count: bytes.count - start - 4))
    head.setLittleEndian(checksum, at: 0)
    return checksum
  }
}

// MARK: Decoding

extension StatePage {
  /// Reads an address; nil for bytes that are none.
  package static func address(_ cursor: inout ByteCursor) -> PageAddress? {
    guard let file = cursor.varint().flatMap(UInt32.init(exactly:)), let offset = cursor.varint(),
      let length = cursor.varint().flatMap(UInt32.init(exactly:)), let checksum = cursor.integer(UInt32.self),
      length > headLength, offset <= UInt64(Int64.max) - UInt64(length)
    else { return nil }
    return PageAddress(file: file, offset: offset, length: length, checksum: checksum)
  }

  /// Checks a record against the address that names it, and lends its raw bytes.
  package static func withRaw<Result>(
    _ record: UnsafeRawBufferPointer, of address: PageAddress,
    _ body: (UnsafeRawBufferPointer) throws(PageDamage) -> Result
  ) throws(PageDamage) -> Result {
    let (stored, rawLength) = try checked(record, of: address)
    guard let rawLength else { return try body(stored) }
    let raw = try decompressed(stored, rawLength)
    defer { raw.deallocate() }
    return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(raw)[..<rawLength]))
  }

  /// The raw bytes of a record, and how many they are. The caller frees them; there may be one more.
  package static func raw(
    _ record: UnsafeRawBufferPointer, of address: PageAddress
  ) throws(PageDamage) -> (bytes: UnsafeMutableRawBufferPointer, count: Int) {
    let (stored, rawLength) = try checked(record, of: address)
    if let rawLength { return (try decompressed(stored, rawLength), rawLength) }
    let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, stored.count), alignment: 16)
    raw.copyMemory(from: stored)
    return (raw, stored.count)
  }

  private static func decompressed(
    _ stored: UnsafeRawBufferPointer, _ rawLength: Int
  ) throws(PageDamage) -> UnsafeMutableRawBufferPointer {
    let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, rawLength), alignment: 16)
    guard Compression.decompress(stored, into: UnsafeMutableRawBufferPointer(rebasing: raw[..<rawLength]))
    else {
      raw.deallocate()
      throw PageDamage("a record cannot be decompressed")
    }
    return raw
  }

  /// What a record stores, and the length of its raw bytes if they are compressed.
  private static func checked(
    _ record: UnsafeRawBufferPointer, of address: PageAddress
  ) throws(PageDamage) -> (stored: UnsafeRawBufferPointer, rawLength: Int?) {
    guard record.count == Int(address.length), let base = record.baseAddress else {
      throw PageDamage("a record is cut short")
    }
    let checksum = CRC32C.of(UnsafeRawBufferPointer(rebasing: record[4...]))
    guard base.littleEndian(UInt32.self, at: 0) == checksum, checksum == address.checksum else {
      throw PageDamage("a record's checksum does not match")
    }
    let rawLength = Int(base.littleEndian(UInt32.self, at: 4))
    let flags = base.littleEndian(UInt32.self, at: 8)
    let stored = UnsafeRawBufferPointer(rebasing: record[headLength...])
    guard flags & ~compressedFlag == 0 else { throw PageDamage("a record has unknown flags") }
    guard flags & compressedFlag != 0 else {
      guard rawLength == stored.count else { throw PageDamage("a record has a wrong length") }
      return (stored, nil)
    }
    guard rawLength <= Compression.rawLengthMax(stored: stored.count) else {
      throw PageDamage("a record claims more bytes than it can hold")
    }
    return (stored, rawLength)
  }

  /// One child of an inner page on disk.
  package struct Child {
    package var address: PageAddress
    package var total: UInt32
    /// The separator before the child; empty for the first.
    package var separator: [UInt8]
  }

  /// What a record holds, before it becomes a page.
  package enum Content {
    case leaf(PageRef)
    case inner([Child])
  }

  /// Reads a page's raw form. The caller owns the leaf.
  ///
  /// - Parameters:
  ///   - height: what the page's parent says.
  ///   - isValid: whether an entry is one that the tree may hold.
  package static func decode(
    _ raw: UnsafeRawBufferPointer, height: Int, _ layout: PageLayout, _ isValid: EntryCheck
  ) throws(PageDamage) -> Content {
    guard let base = raw.baseAddress else { throw PageDamage("a page is empty") }
    var cursor = ByteCursor(base, count: raw.count)
    guard cursor.integer(UInt8.self).map(Int.init) == height else {
      throw PageDamage("a page has another height")
    }
    guard let count = cursor.varint().flatMap(Int.init(exactly:)), count > 0, count <= raw.count else {
      throw PageDamage("a page has no entries, or too many")
    }
    let content: Content =
      height == 0
      ? .leaf(try leaf(&cursor, count, layout, isValid)) : .inner(try children(&cursor, count))
    guard cursor.remaining == 0 else {
      if case .leaf(let page) = content { page.release() }
      throw PageDamage("a page is longer than its entries")
    }
    return content
  }

  private static func children(_ cursor: inout ByteCursor, _ count: Int) throws(PageDamage) -> [Child] {
    guard count <= PageLayout.childCountMax else { throw PageDamage("a page has too many children") }
    var children: [Child] = []
    for _ in 0..<count {
      guard let total = cursor.varint().flatMap(UInt32.init(exactly:)), total > 0,
        let address = address(&cursor)
      else { throw PageDamage("a child has no address") }
      children.append(Child(address: address, total: total, separator: []))
    }
    for index in 1..<max(1, count) {
      guard let separator = cursor.lengthPrefixed(), separator.count <= Tree.keyLengthMax else {
        throw PageDamage("a page lacks a separator")
      }
      children[index].separator = Array(separator)
    }
    return children
  }

  private static func leaf(
    _ cursor: inout ByteCursor, _ count: Int, _ layout: PageLayout, _ isValid: EntryCheck
  ) throws(PageDamage) -> PageRef {
    guard count <= max(1, layout.area / Slot.size) else { throw PageDamage("a leaf has too many entries") }
    guard let prefix = cursor.lengthPrefixed() else { throw PageDamage("a leaf lacks its prefix") }
    var heapBytes = 0
    var entries: [(suffix: ByteRun, value: ByteRun)] = []
    entries.reserveCapacity(count)
    for _ in 0..<count {
      guard let suffixLength = cursor.varint(), let valueLength = cursor.varint(),
        let suffix = cursor.bytes(suffixLength), let value = cursor.bytes(valueLength)
      else { throw PageDamage("an entry is cut short") }
      let keyLength = prefix.count + suffix.count
      guard keyLength <= Tree.keyLengthMax, value.count <= Tree.valueLengthMax else {
        throw PageDamage("an entry is too long")
      }
      guard isValid(keyLength, value) else { throw PageDamage("an entry cannot be one of its tree") }
      // All keys of a leaf have the prefix, so their order is that of the rests.
      if let last = entries.last, last.suffix.order(against: ByteRun(suffix)) >= 0 {
        throw PageDamage("the keys of a leaf do not ascend")
      }
      let isLarge = layout.isLarge(keyLength: keyLength, valueLength: value.count)
      guard !isLarge || count == 1 && prefix.isEmpty else {
        throw PageDamage("a large entry shares its page")
      }
      heapBytes += max(0, suffix.count - 8) + value.count
      entries.append((ByteRun(suffix), ByteRun(value)))
    }
    let size = PageRef.slotsOffset(prefix.count) + count * Slot.size + heapBytes
    let isLarge = layout.isLarge(
      keyLength: prefix.count + entries[0].suffix.count, valueLength: entries[0].value.count)
    guard isLarge || size <= layout.area else { throw PageDamage("a leaf holds more than a page") }
    // As large as the pages that changes make, so that the first change need not move the entries.
    let capacity = isLarge ? size : min(layout.area, max(208, 2 * size))
    var writer = LeafWriter(
      prefix: ByteRun(prefix), heapBytes: heapBytes, capacity: capacity, isLarge: isLarge)
    for entry in entries { writer.append(suffix: entry.suffix, entry.value) }
    return writer.finish()
  }
}

/// Whether an entry is one that its tree may hold, by what reads of it rely on.
package typealias EntryCheck = @Sendable (_ keyLength: Int, _ value: UnsafeRawBufferPointer) -> Bool
