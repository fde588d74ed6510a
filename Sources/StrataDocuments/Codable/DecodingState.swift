// The state of one call of the decoder: the bytes, and the reading of each Swift type from them. An item is identified
// by its offset; everything else, even the coding path for an error, can be computed from that.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes of one call. Used by one thread only, and closed when the call returns: if a type has kept its decoder,
/// the decoder then finds an empty input instead of freed memory.
final class DecodingState {
  @exclusivity(unchecked) private(set) var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  @exclusivity(unchecked) private(set) var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Whether the bytes are known to be one well-formed item.
  @exclusivity(unchecked) private(set) var isChecked = false
  /// The keys that the decoded type does not know so far; nil if they are ignored.
  @exclusivity(unchecked) var unknownKeys: UnknownKeys?
  /// The map of one key of a call that decodes a case of an enum: the case and its associated values.
  @exclusivity(unchecked) private var caseItem = CBORWriter(capacity: 64)
  /// The name of the case if the bytes are only the associated values of an enum: see `ItemDecoder.ofCase`.
  @exclusivity(unchecked) private(set) var caseName: UnsafeBufferPointer<UInt8>?
  /// The same bytes within a map of one key, for types that do not ask for the keys of their case.
  @exclusivity(unchecked) private var whole: DecodingState?
  /// The containers around the item whose path was requested last, from the outermost to the innermost.
  private var trail: [PathContainer] = []

  /// The containers of calls before this one; nil if no call follows.
  private let kept: KeptContainers<MapIndex>?
  /// What calls before this one decoded, once one of them decoded a case of an enum.
  @exclusivity(unchecked) private var values: KeptValues?

  /// The most bytes of a case whose memory is left to the next call.
  private static var caseItemLengthMax: Int { 65_536 }

  /// A state that one call after the other may begin with.
  init() { kept = KeptContainers() }

  /// The state of one call.
  init(_ bytes: UnsafeRawBufferPointer, userInfo: [CodingUserInfoKey: any Sendable]) {
    kept = nil
    self.bytes = bytes
    self.userInfo = userInfo
  }

  /// Begins a call. The state is new, or its last call has ended.
  func begin(_ bytes: UnsafeRawBufferPointer, userInfo: [CodingUserInfoKey: any Sendable]) {
    self.bytes = bytes
    self.userInfo = userInfo
    isChecked = false
  }

  /// Begins a call for the associated values of a case, which are copied. The state is new, or its last call has ended.
  func begin(ofCase name: String, _ payload: [UInt8]) {
    caseItem.removeAll()
    caseItem.writeMapHead(count: 1)
    caseItem.writeText(name)
    let start = caseItem.count
    payload.withUnsafeBytes { caseItem.writeEncoded($0) }
    let first = UnsafeRawPointer(caseItem.base) + start
    bytes = UnsafeRawBufferPointer(start: first, count: payload.count)
    let nameCount = name.utf8.count
    let nameStart = (first - nameCount).assumingMemoryBound(to: UInt8.self)
    caseName = UnsafeBufferPointer(start: nameStart, count: nameCount)
    isChecked = false
  }

  /// Begins the check of a case: an object is checked when its keys are looked for.
  func checkCase() throws {
    guard isOpen else { throw corrupted(CodecError(.truncated, at: 0), path: []) }
    if !beginsWithMap { try checkIsOneItem() }
  }

  /// Whether the value of the case may be kept.
  @inline(__always)
  var mayKeepValue: Bool { caseName.map { KeptValues.mayKeep($0, bytes) } ?? false }

  /// The address of what a call before this one decoded from the same case; nil if it is not kept.
  func keptValue(_ type: ObjectIdentifier) -> UnsafeMutableRawPointer? {
    guard let caseName, KeptValues.mayKeep(caseName, bytes) else { return nil }
    if let values { return values.address(type, caseName, bytes) }
    let values = KeptValues()
    self.values = values
    return values.address(type, caseName, bytes)
  }

  /// Keeps the value of the case, which may be kept and was looked for.
  @inline(__always)
  func keep<Value>(_ value: Value, _ type: ObjectIdentifier) { values?.keep(value, type) }

  /// Whether the call is still running, so that the bytes may be read.
  @inline(__always)
  var isOpen: Bool { bytes.count > 0 }

  func close() {
    if let whole {
      whole.close()
      self.whole = nil
    }
    bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    caseName = nil
    if caseItem.count > Self.caseItemLengthMax { caseItem = CBORWriter(capacity: 64) }
    if !trail.isEmpty { trail = [] }
    if !userInfo.isEmpty { userInfo = [:] }
    if unknownKeys != nil { unknownKeys = nil }
    // A type that has kept a container keeps this state with it, which then serves no other call.
    kept?.endCall { $0.owner = self }
  }

  /// The container of the object at an offset: one of an earlier call, or a new one.
  func container<Key: CodingKey>(keyedBy type: Key.Type, at offset: Int) throws -> KeyedDecodingContainer<Key>
  {
    if let kept, let place = kept.lend(ObjectIdentifier(Key.self)) {
      let index = kept.content(at: place)
      try index.read(at: offset)
      unknownKeys?.open(index) { Key(stringValue: $0) != nil }
      return kept.container(at: place, as: KeyedDecodingContainer<Key>.self)
    }
    return try newContainer(keyedBy: type, at: offset)
  }

  /// Apart, because making a container looks up types.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    keyedBy type: Key.Type, at offset: Int
  ) throws -> KeyedDecodingContainer<Key> {
    let index = MapIndex(self)
    try index.read(at: offset)
    unknownKeys?.open(index) { Key(stringValue: $0) != nil }
    let container = KeyedDecodingContainer(ItemKeyedContainer<Key>(index: index))
    if let kept, kept.keep(container, ObjectIdentifier(Key.self), index) { index.owner = nil }
    return container
  }

  /// The number of levels around the bytes.
  @inline(__always)
  var outerDepth: Int { caseName == nil ? 0 : 1 }

  /// The state of a decoder that reads the bytes as a map with one key, the name of the case.
  func wholeMap() -> DecodingState {
    if let whole { return whole }
    guard isOpen, caseName != nil else { return self }
    let item = UnsafeRawBufferPointer(start: caseItem.base, count: caseItem.count)
    let state = DecodingState(item, userInfo: userInfo)
    whole = state
    return state
  }

  @inline(__always)
  func reader(at offset: Int) -> CBORReader { CBORReader(bytes, at: offset) }

  /// Whether the first item is an object.
  var beginsWithMap: Bool { reader(at: 0).nextByte.map { $0 & 0xE0 == CBORMajor.map } ?? false }

  /// Checks that the bytes are one well-formed item, nested no deeper than allowed.
  func checkIsOneItem() throws {
    var reader = CBORReader(bytes)
    do {
      try reader.skip(depth: outerDepth)
      try checkIsEnd(reader.offset)
    } catch {
      throw corrupted(error, path: [])
    }
  }

  /// Records that the first item is well-formed and ends here; throws if more bytes follow.
  func checkIsEnd(_ offset: Int) throws(CodecError) {
    guard offset == bytes.count else { throw CodecError(.trailingBytes, at: offset) }
    isChecked = true
  }

  /// The offset after the item.
  func end(ofItemAt offset: Int) throws -> Int {
    var reader = reader(at: offset)
    do {
      try reader.skip()
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
    return reader.offset
  }
}

// MARK: Errors

extension DecodingState {
  func corrupted(_ error: CodecError, path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(.init(codingPath: path, debugDescription: error.description, underlyingError: error))
  }

  func corrupted(_ explanation: String, at offset: Int) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(to: offset), debugDescription: explanation))
  }

  func mismatch(_ head: CBORHead, _ type: Any.Type, at offset: Int) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: path(to: offset), debugDescription: "expected \(type), found \(head.kind)")
    return head == .null || head == .undefined ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// The keys and indices that lead to the item at an offset.
  ///
  /// A type that tries one kind after another requests the path at every item of a long array, so the path to the last
  /// item is kept. A later item in the same container then costs O(bytes in between), and an earlier one O(log
  /// members). An item in another member is searched for from the beginning of that member.
  func path(to target: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    // The container of a case is outside the bytes.
    guard target >= 0 else { return path }
    if let caseName { path.append(DocumentKey(stringValue: String(decoding: caseName, as: UTF8.self))) }
    var offset = 0
    while offset < target {
      let depth = path.count - outerDepth
      if depth == trail.count {
        guard let container = PathContainer(reader(at: offset)) else { break }
        trail.append(container)
      }
      guard trail[depth].start < target, let index = trail[depth].index(holding: target, reader(at: 0)),
        let (key, value) = trail[depth].member(index, reader(at: 0))
      else { break }
      if trail[depth].entered != index {
        trail.removeSubrange((depth + 1)...)
        trail[depth].entered = index
      }
      path.append(key)
      offset = value
    }
    return path
  }
}

/// An array or a map on the path to an item, and the ends of those members that have been visited.
private struct PathContainer {
  /// The offset of the head, after any tags.
  let start: Int
  let isMap: Bool
  /// The offset of the first member.
  let first: Int
  private var ends: [Int] = []
  /// The index of the member that contains the next container of the path.
  var entered: Int?

  /// Nil if the item is not a container.
  init?(_ reader: CBORReader) {
    var reader = reader
    while true {
      let start = reader.offset
      guard let head = try? reader.readHead() else { return nil }
      switch head {
      case .tag: continue
      case .array: isMap = false
      case .map: isMap = true
      default: return nil
      }
      self.start = start
      first = reader.offset
      return
    }
  }

  /// The index of the first member that ends after the target; nil if the members before it cannot be read.
  mutating func index(holding target: Int, _ reader: CBORReader) -> Int? {
    if let last = ends.last, last > target {
      // In most cases it is the member that was requested last.
      var (low, high) = (0, ends.count - 1)
      if high == 0 || ends[high - 1] <= target { low = high }
      while low < high {
        let middle = (low + high) / 2
        if ends[middle] > target { high = middle } else { low = middle + 1 }
      }
      return low
    }
    var reader = reader
    reader.offset = ends.last ?? first
    repeat {
      guard (try? skipMember(&reader)) != nil else { return nil }
      ends.append(reader.offset)
    } while reader.offset <= target
    return ends.count - 1
  }

  private func skipMember(_ reader: inout CBORReader) throws(CodecError) {
    if isMap { _ = try reader.readText() }
    try reader.skip()
  }

  /// The key of a member that has been visited, and the offset of its value.
  func member(_ index: Int, _ reader: CBORReader) -> (key: DocumentKey, value: Int)? {
    var reader = reader
    reader.offset = index == 0 ? first : ends[index - 1]
    guard isMap else { return (DocumentKey(intValue: index), reader.offset) }
    guard let key = try? reader.readText() else { return nil }
    return (DocumentKey(stringValue: key), reader.offset)
  }
}

// MARK: Scalars

extension DecodingState {
  /// Reads a head, and skips tags other than those of big integers.
  @inline(__always)
  private func readHead(_ reader: inout CBORReader) throws -> CBORHead {
    let start = reader.offset
    do {
      while true {
        let head = try reader.readHead()
        guard case .tag(let tag) = head, tag != CBORTag.positiveBignum, tag != CBORTag.negativeBignum else {
          return head
        }
      }
    } catch {
      throw corrupted(error, path: path(to: start))
    }
  }

  func isNull(at offset: Int) -> Bool {
    let byte = reader(at: offset).nextByte
    return byte == CBORByte.null || byte == CBORByte.undefined
  }

  func decodeBool(at offset: Int) throws -> Bool {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .bool(let value) = head else { throw mismatch(head, Bool.self, at: offset) }
    return value
  }

  @inline(__always)
  func decodeInteger<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) throws -> Value {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    let value: Value? =
      switch head {
      case .unsigned(let value): Value(exactly: value)
      case .negative(let value) where value <= UInt64(Int64.max): Value(exactly: -1 - Int64(value))
      case .negative(let value): Value(exactly: -1 - Int128(value))
      case .float(let value): Value(exactly: value)
      case .tag: Value(try decodeUntagged(at: offset).description)
      default: throw mismatch(head, type, at: offset)
      }
    guard let value else { throw corrupted("a number that \(type) cannot hold", at: offset) }
    return value
  }

  func decodeDouble(at offset: Int) throws -> Double {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    switch head {
    case .float(let value): return value
    case .unsigned(let value): return Double(value)
    case .negative(let value): return Double(-1 - Int128(value))
    case .tag:
      guard let value = Double(try decodeUntagged(at: offset).description), value.isFinite else {
        throw corrupted("a number that Double cannot hold", at: offset)
      }
      return value
    default: throw mismatch(head, Double.self, at: offset)
    }
  }

  func decodeFloat(at offset: Int) throws -> Float {
    let value = try decodeDouble(at: offset)
    let single = Float(value)
    guard single.isFinite || !value.isFinite else {
      throw corrupted("a number that Float cannot hold", at: offset)
    }
    return single
  }

  func decodeString(at offset: Int) throws -> String {
    if let text = plainText(at: offset) {
      guard let string = String(validatingBytes: text) else {
        throw corrupted(CodecError(.notUTF8, at: offset), path: path(to: offset))
      }
      return string
    }
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .text(let count) = head else { throw mismatch(head, String.self, at: offset) }
    do {
      return try reader.readText(count: count, at: offset)
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
  }

  /// The UTF-8, not yet validated, of a text string in one piece whose head takes at most two bytes, as almost every
  /// string is. Nil for anything else, which the caller then reads in the general way.
  @inline(__always)
  private func plainText(at offset: Int) -> UnsafeBufferPointer<UInt8>? {
    guard offset &+ 1 < bytes.count else { return nil }
    let info = bytes[offset] &- CBORMajor.text
    var start = offset &+ 1
    var count = Int(info)
    if info == 24 {
      count = Int(bytes[start])
      start &+= 1
    } else if info > 24 {
      return nil
    }
    guard count <= bytes.count &- start, let base = bytes.baseAddress else { return nil }
    return UnsafeBufferPointer(start: (base + start).assumingMemoryBound(to: UInt8.self), count: count)
  }

  func decodeDocument(at offset: Int) throws -> DocumentValue {
    var reader = reader(at: offset)
    do {
      return try reader.readDocument()
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
  }

  /// Decodes a document without its tags, other than those of big integers.
  private func decodeUntagged(at offset: Int) throws -> DocumentValue {
    var document = try decodeDocument(at: offset)
    while case .tagged(_, let content) = document { document = content.value }
    return document
  }
}

// MARK: Everything else

extension DecodingState {
  /// Decodes a value of any type. The types that have their own form in documents are decoded here, all others by their
  /// `init(from:)`.
  func decode<Value: Decodable>(_ type: Value.Type, at offset: Int) throws -> Value {
    if type == String.self { return unsafeBitCast(try decodeString(at: offset), to: type) }
    if type == Int.self { return unsafeBitCast(try decodeInteger(Int.self, at: offset), to: type) }
    if type == Double.self { return unsafeBitCast(try decodeDouble(at: offset), to: type) }
    if type == Date.self { return unsafeBitCast(try decodeDate(at: offset), to: type) }
    if type == UUID.self { return unsafeBitCast(try decodeUUID(at: offset), to: type) }
    if type == Data.self { return unsafeBitCast(try decodeData(at: offset), to: type) }
    if type == URL.self { return unsafeBitCast(try decodeURL(at: offset), to: type) }
    if type == Decimal.self { return unsafeBitCast(try decodeDecimal(at: offset), to: type) }
    if type == DocumentValue.self { return unsafeBitCast(try decodeDocument(at: offset), to: type) }
    return try type.init(from: ItemDecoder(state: self, offset: offset))
  }

  /// Calls `body` with the UTF-8 of a text string, not yet validated, or throws.
  @inline(__always)
  private func withText<Result>(
    at offset: Int,
    _ type: Any.Type,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) throws -> Result {
    if let text = plainText(at: offset) { return body(text) }
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .text = head else { throw mismatch(head, type, at: offset) }
    return try decodeString(at: offset).withUTF8Bytes(body)
  }

  private func decodeDate(at offset: Int) throws -> Date {
    if let seconds = offsetOfSeconds(inDateAt: offset) {
      return Date(timeIntervalSince1970: try decodeDouble(at: seconds))
    }
    guard let instant = try withText(at: offset, Date.self, { RFC3339.instant($0) }) else {
      throw corrupted("a string that is not a date and time of RFC 3339", at: offset)
    }
    return Date(instant)
  }

  /// The offset of what follows tag 1, which may be inside other tags; nil if there is no tag 1.
  @inline(__always)
  private func offsetOfSeconds(inDateAt offset: Int) -> Int? {
    var reader = reader(at: offset)
    while let byte = reader.nextByte, byte & 0xE0 == CBORMajor.tag, let tag = try? reader.readArgument() {
      switch tag {
      case CBORTag.epochDate: return reader.offset
      case CBORTag.positiveBignum, CBORTag.negativeBignum: return nil
      default: continue
      }
    }
    return nil
  }

  private func decodeUUID(at offset: Int) throws -> UUID {
    if let text = plainText(at: offset), let value = UUID(text: text) { return value }
    var reader = reader(at: offset)
    if case .bytes = try readHead(&reader) {
      let bytes = try decodeBytes(UUID.self, at: offset)
      guard bytes.count == 16 else { throw corrupted("a UUID of \(bytes.count) bytes", at: offset) }
      return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
    guard let value = try withText(at: offset, UUID.self, { UUID(text: $0) }) else {
      throw corrupted("a string that is not a UUID", at: offset)
    }
    return value
  }

  private func decodeData(at offset: Int) throws -> Data { Data(try decodeBytes(Data.self, at: offset)) }

  private func decodeBytes(_ type: Any.Type, at offset: Int) throws -> [UInt8] {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .bytes(let count) = head else { throw mismatch(head, type, at: offset) }
    do {
      return try reader.readBytes(count: count)
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
  }

  private func decodeURL(at offset: Int) throws -> URL {
    guard let value = URL(string: try decodeString(at: offset)) else {
      throw corrupted("a string that is not a URL", at: offset)
    }
    return value
  }

  private func decodeDecimal(at offset: Int) throws -> Decimal {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    let value: Decimal? =
      switch head {
      case .unsigned(let value): Decimal(value)
      case .negative, .float, .text, .tag: Decimal(try decodeUntagged(at: offset))
      default: throw mismatch(head, Decimal.self, at: offset)
      }
    guard let value else { throw corrupted("a value that is not a decimal number", at: offset) }
    return value
  }
}
