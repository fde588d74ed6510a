// A raw payload read field by field, the plain way, for what the decoder says to be held against.

internal import StrataBase
internal import StrataLog

/// What stands in a payload, by the tables of FORMAT.md.
struct PlainPayload {
  private(set) var events = 0
  private(set) var appends = 0
  private(set) var firstTime = FormatLimits.noTime
  private(set) var lastTime = FormatLimits.noTime
  /// True where every byte is what a block of 1.0 may hold.
  private(set) var isRight = false
  /// Revision, H(head), H(names) and H(content) of each event.
  private var hashes: [(revision: UInt64, head: UInt64, names: UInt64, content: UInt64)] = []

  init(_ raw: UnsafeRawBufferPointer) {
    var bytes = raw[...]
    isRight = true
    while isRight, !bytes.isEmpty {
      guard let append = Self.sized(&bytes), take(append) else {
        isRight = false
        return
      }
    }
  }

  func chain(from header: BlockHeader) -> UInt64 {
    var chain = header.chainBefore
    for (number, event) in hashes.enumerated() {
      chain = Chain.next(
        after: chain, sequence: header.firstSequence + UInt64(number), revision: event.revision,
        head: event.head, names: event.names, content: event.content)
    }
    return chain
  }

  private typealias Bytes = Slice<UnsafeRawBufferPointer>

  private mutating func take(_ append: Bytes) -> Bool {
    var rest = append
    guard let flags = Self.varint(&rest), flags < 8, let count = Self.varint(&rest), count > 0,
      let time = Self.integer(&rest, 8).map(Int64.init(bitPattern:)), time != .min, time >= lastTime
    else { return false }
    if flags & 1 != 0, Self.integer(&rest, 8) == nil { return false }
    if flags & 2 != 0 {
      guard let id = Self.sized(&rest), (1...64).contains(id.count) else { return false }
    }
    let head = XXH64.of(UnsafeRawBufferPointer(rebasing: append[..<rest.startIndex]))
    var left = count
    while left > 0, let event = Self.sized(&rest), take(event, head: head) { left -= 1 }
    guard left == 0, rest.isEmpty else { return false }
    if appends == 0 { firstTime = time }
    lastTime = time
    appends += 1
    return true
  }

  private mutating func take(_ event: Bytes, head: UInt64) -> Bool {
    var rest = event
    guard let kind = rest.popFirst(), kind == 1 || kind == 2 || kind >= 128, Self.varint(&rest) == 0,
      let revision = Self.integer(&rest, 8), revision > 0
    else { return false }
    let names = rest
    guard let stream = Self.sized(&rest), (1...1024).contains(stream.count), Self.isText(stream),
      let type = Self.sized(&rest), (1...255).contains(type.count), Self.isText(type)
    else { return false }
    let namesHash = XXH64.of(UnsafeRawBufferPointer(rebasing: names[..<rest.startIndex]))
    var content: UInt64
    if kind == 1 {
      content = XXH64.of(UnsafeRawBufferPointer(rebasing: rest))
      guard Self.varint(&rest) != nil, let salt = Self.sized(&rest), salt.isEmpty || salt.count == 16,
        Self.sized(&rest) != nil, Self.sized(&rest) != nil, rest.isEmpty
      else { return false }
    } else {
      guard let written = Self.integer(&rest, 8) else { return false }
      content = written
      if kind == 2 {
        guard Self.varint(&rest) != nil, rest.isEmpty else { return false }
      }
    }
    events += 1
    hashes.append((revision, head, namesHash, content))
    return true
  }

  // MARK: Fields

  private static func isText(_ bytes: Bytes) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  private static func integer(_ bytes: inout Bytes, _ count: Int) -> UInt64? {
    guard bytes.count >= count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func varint(_ bytes: inout Bytes) -> UInt64? {
    let length = (bytes.firstIndex { $0 < 128 } ?? bytes.endIndex) - bytes.startIndex + 1
    guard length <= 10, length <= bytes.count else { return nil }
    let digits = bytes.prefix(length)
    bytes = bytes.dropFirst(length)
    if length > 1, digits.last == 0 { return nil }
    if length == 10, digits.last != 1 { return nil }
    return digits.reversed().reduce(0) { $0 << 7 | UInt64($1 & 127) }
  }

  private static func sized(_ bytes: inout Bytes) -> Bytes? {
    guard let count = varint(&bytes), count <= UInt64(bytes.count) else { return nil }
    defer { bytes = bytes.dropFirst(Int(count)) }
    return bytes.prefix(Int(count))
  }
}
