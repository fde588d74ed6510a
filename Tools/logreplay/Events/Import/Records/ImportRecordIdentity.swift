// The append ids of imported lines, and which lines of a source the store already has.

internal import StrataBase
internal import StrataLog

/// The name of a source in append ids, which have the form `SOURCE:LINE:HASH`: LINE is the line's number from 1, and
/// HASH the XXH64 of its bytes, without white space at its end, in 16 hex digits.
///
/// An append id has at most 64 bytes. A source of more than 34 bytes, or one that looks like a shortened one, is
/// shortened to its first bytes (at most 17, whole characters), `~`, and the XXH64 of the whole name in 16 hex digits.
struct ImportSourceName {
  /// The greatest line number, below 10¹² so that source, number and hash fit into an id.
  static let numberMax: UInt64 = 999_999_999_999
  static let lengthMax = FormatLimits.appendIDLengthMax - 12 - 16 - 2
  private static let hashLength = 16

  /// The name as it is written in ids.
  let bytes: [UInt8]

  init(_ name: String) {
    let whole = Array(name.utf8)
    guard whole.count > Self.lengthMax || Self.looksShortened(whole) else {
      bytes = whole
      return
    }
    var kept = Self.lengthMax - Self.hashLength - 1
    // A byte 10xxxxxx continues a character: the cut moves back to the beginning of that character.
    while kept > 0, kept < whole.count, whole[kept] & 0xC0 == 0x80 { kept -= 1 }
    bytes = whole.prefix(kept) + [UInt8(ascii: "~")] + Self.hex(XXH64.of(whole))
  }

  private static func looksShortened(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > hashLength, bytes[bytes.count - hashLength - 1] == UInt8(ascii: "~") else {
      return false
    }
    return bytes.suffix(hashLength).allSatisfy { digit($0) != nil }
  }

  /// The append id of a line.
  func appendID(number: UInt64, hash: UInt64) -> [UInt8] {
    var id = bytes
    id.reserveCapacity(FormatLimits.appendIDLengthMax)
    id.append(UInt8(ascii: ":"))
    let digits = id.count
    var rest = number
    repeat {
      id.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    id[digits...].reverse()
    id.append(UInt8(ascii: ":"))
    Self.append(hash, to: &id)
    return id
  }

  /// The prefix of all ids of this source. Ids of other sources have it only if their name begins with this name and
  /// `:`.
  var prefix: [UInt8] { bytes + [UInt8(ascii: ":")] }

  /// The line and the hash of an id that begins with `prefix`; nil if the id belongs to another source.
  func parse(_ id: UnsafeRawBufferPointer) -> (line: UInt64, hash: UInt64)? {
    let rest = UnsafeRawBufferPointer(rebasing: id.dropFirst(prefix.count))
    guard rest.count > Self.hashLength + 1, rest[rest.count - Self.hashLength - 1] == UInt8(ascii: ":"),
      rest[0] != UInt8(ascii: "0")
    else { return nil }
    var line: UInt64 = 0
    for byte in rest.dropLast(Self.hashLength + 1) {
      guard let digit = Self.digit(byte), digit < 10, line <= Self.numberMax / 10 else { return nil }
      line = line * 10 + digit
    }
    var hash: UInt64 = 0
    for byte in rest.suffix(Self.hashLength) {
      guard let digit = Self.digit(byte) else { return nil }
      hash = hash << 4 | digit
    }
    return (line, hash)
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    default: nil
    }
  }

  /// 16 hex digits in lower case.
  static func hex(_ value: UInt64) -> [UInt8] {
    var digits: [UInt8] = []
    append(value, to: &digits)
    return digits
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 60 as UInt64, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: value >> shift) & 0xF
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}

/// The set of lines of a source that the store has: the first ones up to some line, with a hole for each that was bad.
/// One bit per line, in pages, so that it stays small for long files and for scattered line numbers.
struct ImportKnownRecords {
  private var pages: [UInt64: [UInt64]] = [:]
  /// The greatest number of a line in the set; 0 if it is empty.
  private(set) var last: UInt64 = 0
  /// How far which log was read.
  private var place: Place?
  private static let pageBits: UInt64 = 1 << 16

  private struct Place {
    var store: StoreID
    /// The first sequence of the log: lines before it are unknown.
    var begin: UInt64
    var end: LogMark
  }

  /// Reads the ids of the source that a log has and this set does not know: those after what was read before, or all if
  /// it was another log.
  ///
  /// This reads the log, which takes long where it is long. So an import reads it before it takes the writer's lock, and
  /// then only what was appended in between.
  mutating func read(_ source: ImportSourceName, from log: Log) throws(StoreError) {
    let mark = log.mark
    var read: UInt64 = 0
    if let place, place.store == log.storeID, place.begin == mark.logBegin,
      place.end.sequence <= mark.sequence, try log.chain(after: place.end.sequence) == place.end.chain
    {
      read = place.end.sequence
    } else {
      pages = [:]
      last = 0
    }
    try log.index.forEachID(prefix: source.prefix, after: read) { id in
      if let (line, _) = source.parse(id) { insert(line) }
      return true
    }
    place = Place(store: log.storeID, begin: mark.logBegin, end: mark.visible)
  }

  mutating func insert(_ line: UInt64) {
    let (page, bit) = line.quotientAndRemainder(dividingBy: Self.pageBits)
    pages[page, default: Array(repeating: 0, count: Int(Self.pageBits / 64))][Int(bit / 64)] |=
      1 << (bit % 64)
    last = max(last, line)
  }

  func contains(_ line: UInt64) -> Bool {
    let (page, bit) = line.quotientAndRemainder(dividingBy: Self.pageBits)
    guard let words = pages[page] else { return false }
    return words[Int(bit / 64)] & (1 << (bit % 64)) != 0
  }
}
