// The state of one call of the decoder: the bytes, and what calls leave to each other. An item is identified by its
// offset; everything else, even the coding path for an error, can be computed from that.

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
  var trail: [PathContainer] = []

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
