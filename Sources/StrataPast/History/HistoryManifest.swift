// MANIFEST: the runs of a history, and what the log was at their boundaries.

internal import StrataBase
internal import StrataLog

/// One run in the manifest, and the log at its end.
struct ManifestRun: Equatable, Sendable {
  var number: UInt32
  /// How often its events were merged.
  var level: UInt32
  /// The length of its file.
  var length: UInt64
  var address: RecordAddress
  var begin: UInt64
  var end: UInt64
  /// The chain after `end`, the number of appends up to it, and the own time of the last one.
  var chain: UInt64
  var appends: UInt64
  var time: Int64
  /// The hash of the erasures in the log up to `end`.
  var erasures: UInt64
}

/// The contents of MANIFEST: see HistoryFormat.md.
struct HistoryManifest: Equatable, Sendable {
  static let magic = Array("STRATAHM".utf8)
  static let headLength = 64

  var storeID: StoreID
  /// The hash of the projection's name, and what decides the fold besides the log: as in a state.
  var name: UInt64
  var fingerprint: UInt64
  var build: UInt64
  /// A number that no file has had, and all greater ones.
  var nextNumber: UInt32 = 1
  /// In order, without gaps between them.
  var runs: [ManifestRun] = []
}

extension HistoryManifest {
  func encoded() -> [UInt8] {
    var bytes = RawBuffer(capacity: 1 << 10)
    bytes.pad(to: Self.headLength)
    assert(zip(runs, runs.dropFirst()).allSatisfy { $0.end == $1.begin }, "a history has no gaps")
    assert(runs.allSatisfy { $0.begin < $0.end }, "a run has an event")
    assert(runs.allSatisfy { $0.number < nextNumber }, "the number of a run is not given again")
    for run in runs {
      bytes.append(varint: UInt64(run.number))
      bytes.append(varint: UInt64(run.level))
      bytes.append(varint: run.length)
      run.address.append(to: &bytes)
      bytes.append(varint: run.begin)
      bytes.append(varint: run.end)
      bytes.append(integer: run.chain)
      bytes.append(varint: run.appends)
      bytes.append(integer: run.time)
      bytes.append(integer: run.erasures)
    }
    let base = bytes.base
    Self.magic.withUnsafeBytes { base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    base.setLittleEndian(RunFile.major, at: 8)
    base.setLittleEndian(RunFile.minor, at: 10)
    base.setLittleEndian(UInt32(truncatingIfNeeded: bytes.count), at: 12)
    storeID.write(to: base + 16)
    base.setLittleEndian(name, at: 32)
    base.setLittleEndian(fingerprint, at: 40)
    base.setLittleEndian(build, at: 48)
    base.setLittleEndian(nextNumber, at: 56)
    base.setLittleEndian(CRC32C.of(bytes.bytes, zeroing: 60), at: 60)
    return Array(bytes.bytes)
  }

  /// Reads a whole manifest of this version; nil for anything else.
  init?(decoding bytes: [UInt8]) {
    guard let manifest = bytes.withUnsafeBytes({ HistoryManifest(in: $0) }) else { return nil }
    self = manifest
  }

  private init?(in bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.headLength, let base = bytes.baseAddress,
      bytes.prefix(8).elementsEqual(Self.magic), base.littleEndian(UInt16.self, at: 8) == RunFile.major,
      base.littleEndian(UInt32.self, at: 12) == UInt32(exactly: bytes.count),
      base.littleEndian(UInt32.self, at: 60) == CRC32C.of(bytes, zeroing: 60)
    else { return nil }
    storeID = StoreID(at: base + 16)
    name = base.littleEndian(UInt64.self, at: 32)
    fingerprint = base.littleEndian(UInt64.self, at: 40)
    build = base.littleEndian(UInt64.self, at: 48)
    nextNumber = base.littleEndian(UInt32.self, at: 56)
    guard nextNumber > 0 else { return nil }
    var cursor = ByteCursor(base + Self.headLength, count: bytes.count - Self.headLength)
    while cursor.remaining > 0 {
      guard let number = cursor.varint().flatMap(UInt32.init(exactly:)), number < nextNumber,
        let level = cursor.varint().flatMap(UInt32.init(exactly:)), let length = cursor.varint(),
        let address = RecordAddress(&cursor), let begin = cursor.varint(), let end = cursor.varint(),
        begin < end,
        runs.last.map({ $0.end == begin }) ?? true, let chain = cursor.integer(UInt64.self),
        let appends = cursor.varint(), let time = cursor.integer(Int64.self),
        let erasures = cursor.integer(UInt64.self)
      else { return nil }
      runs.append(
        ManifestRun(
          number: number, level: level, length: length, address: address, begin: begin, end: end,
          chain: chain,
          appends: appends, time: time, erasures: erasures))
    }
  }
}
