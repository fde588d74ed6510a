// STATE: what a checkpoint promises, in two slots that are written alternately.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// One slot of STATE: see StateFormat.md.
struct StateSlot: Equatable {
  static let length = 512
  static let offsets = [0, 4096]
  static let fileLength = 4096 + 512
  /// The version of all files of a state. Another one is ignored, and the state is folded again.
  static let major: UInt16 = 1
  static let minor: UInt16 = 0

  static let magic = Array("STRATAST".utf8)
  static let timeFlag: UInt32 = 1

  enum Offset {
    static let slotLength = 12
    static let storeID = 16
    static let generation = 32
    static let name = 40
    static let fingerprint = 48
    static let sequence = 56
    static let chain = 64
    static let appends = 72
    static let time = 80
    static let erasures = 88
    static let flags = 96
    static let total = 100
    static let height = 104
    static let file = 108
    static let offset = 112
    static let length = 120
    static let checksumOfRoot = 124
    static let build = 128
    static let checksum = 508
  }

  var storeID: StoreID
  /// Set when the slot is written.
  var generation: UInt64 = 0
  /// The hash of the state's name.
  var name: UInt64
  /// What decides the result of the fold besides the log: see `StateFingerprint`.
  var fingerprint: UInt64
  /// The build of the program that alone may use the state; 0 if any may: see `StateFingerprint`.
  var build: UInt64 = 0
  /// The last event that is folded in, the chain after it, and the number of appends up to it.
  var sequence: UInt64
  var chain: UInt64
  var appends: UInt64
  /// The own time of that event; nil before the first.
  var time: Int64?
  /// The hash of the erasures in the log up to there, as they were before anything was folded.
  var erasures: UInt64
  /// The tree that names everything else: see `StateDirectory`.
  var root: StateTreeRoot
}

extension StateSlot {
  func encoded() -> [UInt8] {
    assert(root.total == 0 || root.address.length > StatePage.headLength, "the root of a state is a record")
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      buffer.copyBytes(from: Self.magic)
      base.setLittleEndian(Self.major, at: 8)
      base.setLittleEndian(Self.minor, at: 10)
      base.setLittleEndian(UInt32(Self.length), at: Offset.slotLength)
      storeID.write(to: base + Offset.storeID)
      base.setLittleEndian(generation, at: Offset.generation)
      base.setLittleEndian(name, at: Offset.name)
      base.setLittleEndian(fingerprint, at: Offset.fingerprint)
      base.setLittleEndian(sequence, at: Offset.sequence)
      base.setLittleEndian(chain, at: Offset.chain)
      base.setLittleEndian(appends, at: Offset.appends)
      base.setLittleEndian(time ?? 0, at: Offset.time)
      base.setLittleEndian(erasures, at: Offset.erasures)
      base.setLittleEndian(time == nil ? 0 : Self.timeFlag, at: Offset.flags)
      base.setLittleEndian(root.total, at: Offset.total)
      base.setLittleEndian(UInt32(root.height), at: Offset.height)
      base.setLittleEndian(root.address.file, at: Offset.file)
      base.setLittleEndian(root.address.offset, at: Offset.offset)
      base.setLittleEndian(root.address.length, at: Offset.length)
      base.setLittleEndian(root.address.checksum, at: Offset.checksumOfRoot)
      base.setLittleEndian(build, at: Offset.build)
      let crc = CRC32C.of(UnsafeRawBufferPointer(start: base, count: Offset.checksum))
      base.setLittleEndian(crc, at: Offset.checksum)
    }
    return bytes
  }

  /// Reads a valid slot of this version; nil for anything else.
  init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.length, let base = bytes.baseAddress,
      bytes.prefix(8).elementsEqual(Self.magic), base.littleEndian(UInt16.self, at: 8) == Self.major,
      base.littleEndian(UInt32.self, at: Offset.slotLength) == UInt32(Self.length),
      base.littleEndian(UInt32.self, at: Offset.checksum)
        == CRC32C.of(UnsafeRawBufferPointer(start: base, count: Offset.checksum)),
      let height = UInt8(exactly: base.littleEndian(UInt32.self, at: Offset.height)),
      base.littleEndian(UInt64.self, at: Offset.offset) <= UInt64(Int64.max) >> 1
    else { return nil }
    storeID = StoreID(at: base + Offset.storeID)
    generation = base.littleEndian(UInt64.self, at: Offset.generation)
    name = base.littleEndian(UInt64.self, at: Offset.name)
    fingerprint = base.littleEndian(UInt64.self, at: Offset.fingerprint)
    build = base.littleEndian(UInt64.self, at: Offset.build)
    sequence = base.littleEndian(UInt64.self, at: Offset.sequence)
    chain = base.littleEndian(UInt64.self, at: Offset.chain)
    appends = base.littleEndian(UInt64.self, at: Offset.appends)
    let flags = base.littleEndian(UInt32.self, at: Offset.flags)
    time = flags & Self.timeFlag == 0 ? nil : base.littleEndian(Int64.self, at: Offset.time)
    erasures = base.littleEndian(UInt64.self, at: Offset.erasures)
    root = StateTreeRoot(
      total: base.littleEndian(UInt32.self, at: Offset.total), height: height,
      address: PageAddress(
        file: base.littleEndian(UInt32.self, at: Offset.file),
        offset: base.littleEndian(UInt64.self, at: Offset.offset),
        length: base.littleEndian(UInt32.self, at: Offset.length),
        checksum: base.littleEndian(UInt32.self, at: Offset.checksumOfRoot)))
    guard generation < .max, root.total == 0 || root.address.length > StatePage.headLength else { return nil }
  }
}
