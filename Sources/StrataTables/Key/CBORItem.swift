// The head of one CBOR item in a document's bytes, and the end of the item: the code that runs for every row.

internal import StrataDocuments

/// The decoded head of an item (RFC 8949, section 3).
package struct CBORItem {
  /// 0 unsigned, 1 negative, 2 bytes, 3 text, 4 array, 5 map, 6 tag, 7 simple or float.
  package var major: UInt8
  /// The lower five bits of the initial byte; 31 for an indefinite length.
  package var info: UInt8
  /// The argument of the head, 0 for an indefinite length.
  package var argument: UInt64
  /// The length of the head in bytes.
  package var headLength: Int

  /// The head at an offset; nil if the bytes end inside the head, or the head is not well-formed.
  @inline(__always)
  package init?(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
    guard offset < bytes.count, let base = bytes.baseAddress else { return nil }
    let initial = base.load(fromByteOffset: offset, as: UInt8.self)
    major = initial >> 5
    info = initial & 0x1F
    if info < 24 {
      argument = UInt64(info)
      headLength = 1
      return
    }
    guard info != 31 else {
      // No item begins with a break, and integers and tags have no indefinite length.
      guard (2...5).contains(major) else { return nil }
      argument = 0
      headLength = 1
      return
    }
    guard info < 28 else { return nil }
    let width = 1 &<< Int(info &- 24)
    guard bytes.count &- offset > width else { return nil }
    let number = base + offset + 1
    headLength = 1 &+ width
    switch width {
    case 1: argument = UInt64(number.load(as: UInt8.self))
    case 2: argument = UInt64(UInt16(bigEndian: number.loadUnaligned(as: UInt16.self)))
    case 4: argument = UInt64(UInt32(bigEndian: number.loadUnaligned(as: UInt32.self)))
    default: argument = UInt64(bigEndian: number.loadUnaligned(as: UInt64.self))
    }
  }

  @inline(__always)
  package var isIndefinite: Bool { info == 31 }

  /// The bytes of a string of definite length that has this head; nil if there are fewer.
  @inline(__always)
  package func content(in bytes: UnsafeRawBufferPointer, at offset: Int = 0) -> UnsafeRawBufferPointer? {
    let start = offset &+ headLength
    guard argument <= UInt64(bytes.count &- start) else { return nil }
    return UnsafeRawBufferPointer(
      rebasing: bytes[start..<start &+ Int(truncatingIfNeeded: argument)])
  }

  /// The number of a float with this head of major type 7; nil for any other simple value.
  @inline(__always)
  package var float: Double? {
    switch info {
    case 25: Self.half(UInt16(truncatingIfNeeded: argument))
    case 26: Double(Float(bitPattern: UInt32(truncatingIfNeeded: argument)))
    case 27: Double(bitPattern: argument)
    default: nil
    }
  }

  /// The value of an IEEE 754 half-precision number, widened exactly.
  private static func half(_ bits: UInt16) -> Double {
    let fraction = Double(bits & 0x3FF)
    let exponent = Int(bits >> 10 & 0x1F)
    let magnitude: Double
    switch exponent {
    case 0: magnitude = fraction * 0x1p-24
    case 31: magnitude = fraction == 0 ? .infinity : .nan
    default: magnitude = Double(sign: .plus, exponent: exponent - 15, significand: 1 + fraction * 0x1p-10)
    }
    return bits >> 15 == 0 ? magnitude : -magnitude
  }
}

extension CBORItem {
  /// The end of the item at an offset, nil for damaged bytes. Not recursive, so nesting does not use stack.
  /// O(items inside).
  @inline(__always)
  package static func end(of bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard let item = CBORItem(bytes, at: start) else { return nil }
    let next = start &+ item.headLength
    switch item.major {
    case 0, 1, 7: return next
    case 2, 3:
      if item.isIndefinite { break }
      guard item.argument <= UInt64(bytes.count &- next) else { return nil }
      return next &+ Int(truncatingIfNeeded: item.argument)
    default: break
    }
    return endOfContainer(bytes, at: start)
  }

  @inline(never)
  private static func endOfContainer(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
    var offset = start
    // Every item takes at least one byte, so a count above the number of bytes means that the bytes are damaged.
    var pending: UInt64 = 1
    while pending > 0 {
      guard let item = CBORItem(bytes, at: offset) else { return nil }
      pending -= 1
      if item.isIndefinite {
        var reader = CBORReader(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        do { try reader.skip() } catch { return nil }
        offset += reader.offset
        continue
      }
      offset += item.headLength
      let room = UInt64(bytes.count - offset)
      switch item.major {
      case 2, 3:
        guard item.argument <= room else { return nil }
        offset += Int(item.argument)
      case 4:
        guard item.argument <= room else { return nil }
        pending += item.argument
      case 5:
        guard item.argument <= room / 2 else { return nil }
        pending += item.argument * 2
      case 6: pending += 1
      default: break
      }
      guard pending <= UInt64(bytes.count) else { return nil }
    }
    return offset
  }
}
