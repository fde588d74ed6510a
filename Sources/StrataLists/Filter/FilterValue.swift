// A value as a filter sees it: borrowed bytes, not yet decoded.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// One side of a comparison. Valid only inside the call that provides it.
enum FilterValue {
  /// Also a missing, undefined or damaged value.
  case null
  case bool(Bool)
  case integer(magnitude: UInt64, isNegative: Bool)
  case double(Double)
  /// The CBOR item of an integer beyond 64 bits.
  case bigInteger(UnsafeRawBufferPointer)
  case text(UnsafeRawBufferPointer)
  case bytes(UnsafeRawBufferPointer)
  /// The CBOR item of an array.
  case array(UnsafeRawBufferPointer)
  /// An object, or a tagged value: not comparable with anything.
  case other
  /// A date literal of a filter.
  case date(Instant)
  /// A row's own time.
  case time(Timestamp)
}

extension FilterValue {
  var isNull: Bool { if case .null = self { true } else { false } }

  /// Calls the body with the value of a CBOR item.
  @inline(__always)
  static func withValue(of bytes: UnsafeRawBufferPointer, _ body: (FilterValue) -> Bool) -> Bool {
    guard let item = CBORItem(bytes) else { return body(.null) }
    switch item.major {
    case 0: return body(.integer(magnitude: item.argument, isNegative: false))
    case 1:
      guard item.argument < .max else { return body(.double(-0x1p64)) }
      return body(.integer(magnitude: item.argument + 1, isNegative: true))
    case 2, 3:
      if item.isIndefinite { return withWhole(bytes, body) }
      guard let content = item.content(in: bytes) else { return body(.null) }
      return body(item.major == 3 ? .text(content) : .bytes(content))
    case 4: return body(.array(bytes))
    case 7:
      switch item.info {
      case 20, 21: return body(.bool(item.info == 21))
      case 22, 23: return body(.null)
      default: return body(item.float.map { .double($0) } ?? .other)
      }
    case 6 where item.argument == 2 || item.argument == 3: return withBigInteger(bytes, item, body)
    default: return body(.other)
    }
  }

  /// Big integers in deterministic encoding, which have more than eight bytes.
  private static func withBigInteger(
    _ bytes: UnsafeRawBufferPointer, _ item: CBORItem, _ body: (FilterValue) -> Bool
  ) -> Bool {
    let inner = UnsafeRawBufferPointer(rebasing: bytes[item.headLength...])
    guard let head = CBORItem(inner), head.major == 2 else { return body(.other) }
    guard !head.isIndefinite, let content = head.content(in: inner), content.count > 8, content[0] != 0,
      content.count <= CodecLimits.integerByteCountMax
    else { return withWhole(bytes, body) }
    return body(.bigInteger(bytes))
  }

  /// Items that are not in deterministic encoding: decoded and encoded again.
  @inline(never)
  private static func withWhole(_ bytes: UnsafeRawBufferPointer, _ body: (FilterValue) -> Bool) -> Bool {
    var reader = CBORReader(bytes)
    guard let value = try? reader.readDocument() else { return body(.null) }
    return value.cbor().withUnsafeBytes { withValue(of: $0, body) }
  }

  /// Whether this is an array with an element equal to `value`. O(array).
  func hasElement(equalTo value: FilterValue, ignoresCase: Bool) -> Bool {
    hasElement { $0.equals(value, ignoresCase: ignoresCase) }
  }

  /// Whether this is an array with an element that a closure accepts. O(array).
  @inline(__always)
  func hasElement(where isWanted: (FilterValue) -> Bool) -> Bool {
    guard case .array(let bytes) = self, let item = CBORItem(bytes) else { return false }
    var offset = item.headLength
    var pending = item.isIndefinite ? UInt64.max : item.argument
    while pending > 0, offset < bytes.count {
      if item.isIndefinite, bytes[offset] == 0xFF { return false }
      pending -= 1
      guard let end = CBORItem.end(of: bytes, at: offset) else { return false }
      let element = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
      if Self.withValue(of: element, isWanted) { return true }
      offset = end
    }
    return false
  }

  /// Calls the body with the UTF-8 of a string, or of the row's own time; nil for anything else.
  func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    switch self {
    case .text(let utf8): return body(utf8)
    case .time(let time):
      var text = time.description
      return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    default: return nil
    }
  }

  /// Calls the body with two strings, folded if case is ignored; false if either side is not a string.
  func withTexts(
    _ other: FilterValue, ignoresCase: Bool, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    let result = withText { text in
      other.withText { other in
        ignoresCase ? FilterText.withFolded(text, other, body) : body(text, other)
      }
    }
    return (result ?? nil) ?? false
  }
}
