// Document values as keys, directly from their CBOR.

internal import StrataBase
package import StrataDocuments

extension SortKeyWriter {
  /// Appends one component for a value of a document: the bytes of one CBOR item, or nil for a missing field.
  ///
  /// The order is null (also missing and undefined) < false < true < numbers < strings by UTF-8 < bytes.
  /// Numbers of every kind have one exact order: 1 and 1.0 are the same key, −0 is 0, NaN is last. With `.time`,
  /// instants come between numbers and the other strings.
  ///
  /// Throws, without writing anything, for arrays, objects and tags (`.notAKey`; big integers do not count as tags),
  /// for integers above 4,096 bytes and for damaged bytes. O(bytes).
  package mutating func append(
    documentValue item: UnsafeRawBufferPointer?, _ options: SortKeyOptions = []
  ) throws(SortKeyError) {
    let scope = begin(options)
    do {
      try appendItem(item)
    } catch {
      count = scope.start
      end(scope)
      throw error
    }
    end(scope)
  }

  @inline(__always)
  private mutating func appendItem(_ bytes: UnsafeRawBufferPointer?) throws(SortKeyError) {
    guard let bytes else { return appendNil() }
    guard let item = CBORItem(bytes) else { throw .damagedValue }
    switch item.major {
    case 0: append(integer: item.argument, isNegative: false)
    case 1:
      if item.argument == .max {
        append(number: -0x1p64)
      } else {
        append(integer: item.argument &+ 1, isNegative: true)
      }
    case 2:
      guard !item.isIndefinite else { return try appendSlowly(bytes) }
      guard let content = item.content(in: bytes) else { throw .damagedValue }
      append(escaped: content, tag: SortKeyTag.bytes)
    case 3:
      guard !item.isIndefinite else { return try appendSlowly(bytes) }
      guard let content = item.content(in: bytes), UTF8Validation.isValid(content) else {
        throw .damagedValue
      }
      append(text: content)
    case 4: throw .notAKey("\(CBORKind.array)")
    case 5: throw .notAKey("\(CBORKind.map)")
    case 6: try appendTagged(item, bytes)
    default: try appendSimple(item)
    }
  }

  @inline(__always)
  private mutating func append(text: UnsafeRawBufferPointer) {
    if options.contains(.time), let instant = InstantText.instant(text),
      RFC3339.secondsRange.contains(instant.seconds)
    {
      append(instant: instant)
    } else {
      append(utf8: text)
    }
  }

  private mutating func appendSimple(_ item: CBORItem) throws(SortKeyError) {
    switch item.info {
    case 20, 21: append(item.info == 21)
    case 22, 23: appendNil()
    case 25, 26, 27: append(number: item.float ?? .nan)
    default: throw .notAKey("\(CBORKind.simple(UInt8(truncatingIfNeeded: item.argument)))")
    }
  }

  private mutating func appendTagged(
    _ item: CBORItem, _ bytes: UnsafeRawBufferPointer
  ) throws(SortKeyError) {
    guard item.argument == 2 || item.argument == 3 else { throw .notAKey("\(CBORKind.tag(item.argument))") }
    let inner = UnsafeRawBufferPointer(rebasing: bytes[item.headLength...])
    guard let head = CBORItem(inner) else { throw .damagedValue }
    guard head.major == 2 else { throw .notAKey("\(CBORKind.tag(item.argument))") }
    guard !head.isIndefinite else { return try appendSlowly(bytes) }
    guard let content = head.content(in: inner) else { throw .damagedValue }
    try append(bigInteger: content, isNegativeOffset: item.argument == 3)
  }

  /// Appends an integer, or −1 minus an integer, given by its bytes.
  private mutating func append(
    bigInteger content: UnsafeRawBufferPointer, isNegativeOffset: Bool
  ) throws(SortKeyError) {
    guard content.count <= CodecLimits.integerByteCountMax else { throw .integerTooLong }
    guard isNegativeOffset else { return append(bigInteger: content, isNegative: false) }
    var magnitude = [0] + content
    for index in magnitude.indices.reversed() {
      magnitude[index] &+= 1
      if magnitude[index] != 0 { break }
    }
    magnitude.withUnsafeBytes { append(bigInteger: $0, isNegative: true) }
  }

  /// Appends strings of indefinite length, which a deterministic encoding never contains.
  @inline(never)
  private mutating func appendSlowly(_ bytes: UnsafeRawBufferPointer) throws(SortKeyError) {
    var reader = CBORReader(bytes)
    let whole: [UInt8]
    do {
      whole = try reader.readDocument().cbor()
    } catch {
      throw error.reason == .tooLong ? .integerTooLong : .damagedValue
    }
    // `cbor()` writes strings with definite lengths, so this does not recurse again.
    try whole.lendBytes { (bytes) throws(SortKeyError) in try appendItem(bytes) }
  }
}

extension SortKeyReader {
  /// Reads a component that was appended as a document's value, with the same options.
  ///
  /// A missing field is read as null. An integral number with a magnitude below 2⁶⁴ is an integer, whether it was 1 or
  /// 1.0; any other number is a double if a double holds it exactly, otherwise a big integer. An instant (`.time`) is
  /// its text in UTC. Throws `.notReversible` for strings that were folded.
  package mutating func readDocumentValue(_ options: SortKeyOptions = []) throws(SortKeyError)
    -> DocumentValue
  {
    let outer = mask
    if options.contains(.descending) { mask ^= 0xFF }
    defer { mask = outer }
    if readNilIfPresent() { return .null }
    switch try peek() ^ mask {
    case SortKeyTag.false, SortKeyTag.true: return .bool(try Bool(from: &self))
    case SortKeyTag.negative, SortKeyTag.positive, SortKeyTag.nan: return try readNumber()
    case SortKeyTag.instant:
      guard let text = RFC3339.text(try readInstant()) else { throw .malformed }
      return .string(text)
    case SortKeyTag.string, SortKeyTag.transformedString: return .string(try readString())
    case SortKeyTag.bytes: return .bytes(try [UInt8](from: &self))
    default: throw .malformed
    }
  }
}
