// The part that a store has among its copies on other machines: a file of the store's folder.

internal import StrataBase

/// What REPLICA says: whether this store writes for its copies, follows, or was overtaken. A store without the file has no
/// copies that follow it.
package struct ReplicaMark: Equatable, Sendable {
  package enum Role: UInt8, Sendable {
    /// Appends here, and puts what it appended where others follow.
    case writer = 1
    /// Takes events only from the member that writes.
    case follower = 2
    /// Wrote until another member took over; or was moved aside, or is a restore that did not end.
    case fenced = 3
    /// Was rebuilt from a copy up to an event, and goes its own way since then.
    case fork = 4
  }

  package var role: Role
  package var storeID: StoreID
  /// What tells this store from the other copies.
  package var member: StoreID
  /// Of a fork: the store that it comes from, and the end that it has in common with it.
  package var origin = StoreID(low: 0, high: 0)
  package var originSequence: UInt64 = 0
  package var originChain: UInt64 = 0
  /// Of a writer: whether something of this store was in the carrier. One that is empty later has lost it, or is not the
  /// place that its name says.
  package var hasShipped = false
  /// Of a fenced store: whether it is a restore that did not end.
  package var isUnfinished = false
  /// Of a follower: every order to erase up to this sequence was carried out here.
  package var erasedThrough: UInt64 = 0
  /// Where the objects are, as a URL without secrets.
  package var carrier: String
  /// Of a store that was overtaken: by whom, and where.
  package var reason = ""

  package init(_ role: Role, of storeID: StoreID, member: StoreID, carrier: String) {
    self.role = role
    self.storeID = storeID
    self.member = member
    self.carrier = carrier
  }

  package static let magic = Array("STRR".utf8)
  package static let textLengthMax = 4096
  private static let fixedLength = 104
  private static let shippedFlag: UInt8 = 1
  private static let unfinishedFlag: UInt8 = 2
  private enum Offset {
    static let version = 4
    static let role = 6
    static let flags = 7
    static let checksum = 8
    static let storeID = 16
    static let member = 32
    static let origin = 48
    static let originSequence = 64
    static let originChain = 72
    static let erasedThrough = 80
    static let carrierLength = 88
    static let reasonLength = 92
  }

  package func encoded() -> [UInt8] {
    var reason = reason
    while reason.utf8.count > Self.textLengthMax { reason.removeLast() }
    let texts = [Array(carrier.utf8), Array(reason.utf8)]
    var bytes = [UInt8](repeating: 0, count: Self.fixedLength)
    for text in texts { bytes += text }
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      base.copyMemory(from: Self.magic, byteCount: Self.magic.count)
      base.setLittleEndian(UInt16(1), at: Offset.version)
      base.setLittleEndian(role.rawValue, at: Offset.role)
      let flags = (hasShipped ? Self.shippedFlag : 0) | (isUnfinished ? Self.unfinishedFlag : 0)
      base.setLittleEndian(flags, at: Offset.flags)
      storeID.write(to: base + Offset.storeID)
      member.write(to: base + Offset.member)
      origin.write(to: base + Offset.origin)
      base.setLittleEndian(originSequence, at: Offset.originSequence)
      base.setLittleEndian(originChain, at: Offset.originChain)
      base.setLittleEndian(erasedThrough, at: Offset.erasedThrough)
      base.setLittleEndian(UInt32(texts[0].count), at: Offset.carrierLength)
      base.setLittleEndian(UInt32(texts[1].count), at: Offset.reasonLength)
      let crc = CRC32C.of(UnsafeRawBufferPointer(buffer), zeroing: Offset.checksum)
      base.setLittleEndian(crc, at: Offset.checksum)
    }
    return bytes
  }

  /// Decodes the file. Throws what it is not.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(DecodingProblem) {
    guard bytes.count >= Self.fixedLength, let base = bytes.baseAddress,
      bytes.prefix(Self.magic.count).elementsEqual(Self.magic),
      base.littleEndian(UInt32.self, at: Offset.checksum) == CRC32C.of(bytes, zeroing: Offset.checksum)
    else { throw .damaged("the file is cut short, or its checksum differs") }
    let version = base.littleEndian(UInt16.self, at: Offset.version)
    let code = base.littleEndian(UInt8.self, at: Offset.role)
    guard version == 1, let role = Role(rawValue: code) else {
      throw .unsupported("version \(version), role \(code) of REPLICA")
    }
    let lengths = [Offset.carrierLength, Offset.reasonLength].map { base.littleEndian(UInt32.self, at: $0) }
    guard lengths.allSatisfy({ $0 <= UInt32(Self.textLengthMax) }),
      bytes.count == Self.fixedLength + Int(lengths[0]) + Int(lengths[1])
    else { throw .damaged("the lengths in the file are not its own") }
    self.role = role
    let flags = base.littleEndian(UInt8.self, at: Offset.flags)
    (hasShipped, isUnfinished) = (flags & Self.shippedFlag != 0, flags & Self.unfinishedFlag != 0)
    storeID = StoreID(at: base + Offset.storeID)
    member = StoreID(at: base + Offset.member)
    origin = StoreID(at: base + Offset.origin)
    originSequence = base.littleEndian(UInt64.self, at: Offset.originSequence)
    originChain = base.littleEndian(UInt64.self, at: Offset.originChain)
    erasedThrough = base.littleEndian(UInt64.self, at: Offset.erasedThrough)
    let texts = bytes[Self.fixedLength...]
    carrier = String(decoding: texts.prefix(Int(lengths[0])), as: UTF8.self)
    reason = String(decoding: texts.dropFirst(Int(lengths[0])), as: UTF8.self)
  }

  /// Reads the file of a store; nil if it has none. Throws `damaged` if its bytes are not those that were written.
  package static func read(
    _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(StoreError) -> ReplicaMark? {
    guard let kind = try fileSystem.kind(of: layout.replica) else { return nil }
    guard kind == .file else {
      throw .damaged(
        StoreFinding(
          .misplaced, file: StoreLayout.replicaName, offset: 0, first: 0, last: 0,
          what: "what has the name of the file is no file"))
    }
    let file = try fileSystem.open(layout.replica, .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: fixedLength + 2 * textLengthMax + 1)
    let count = try bytes.lendMutableBytes { buffer throws(StoreError) in
      try file.read(into: buffer, at: 0)
    }
    func finding(_ kind: StoreFinding.Class, _ what: String) -> StoreFinding {
      StoreFinding(kind, file: StoreLayout.replicaName, offset: 0, first: 0, last: 0, what: what)
    }
    return try bytes.lendBytes { buffer throws(StoreError) in
      do throws(DecodingProblem) {
        return try ReplicaMark(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      } catch {
        switch error {
        case .damaged(let what): throw StoreError.damaged(finding(.corrupt, what))
        case .unsupported(let what): throw StoreError.unsupported(finding(.unsupported, what))
        }
      }
    }
  }

  /// Puts the mark in place of the store's, on disk when it returns. The caller has the store's lock.
  package func write(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError) {
    guard carrier.utf8.count <= Self.textLengthMax else {
      throw .outsideFormat(what: "the carrier's name", actual: carrier.utf8.count, limit: Self.textLengthMax)
    }
    let token = StoreLayout.token(fileSystem.freshToken())
    let temporary = "\(layout.log)/\(StoreLayout.replicaName)-\(token)\(StoreLayout.temporarySuffix)"
    do throws(StoreError) {
      let file = try fileSystem.open(temporary, .createNew)
      defer { file.close() }
      try encoded().lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
      try file.sync()
      try fileSystem.rename(temporary, to: layout.replica)
    } catch {
      try? fileSystem.remove(temporary)
      throw error
    }
    try fileSystem.syncDirectory(layout.root)
  }

  /// Why a store with this mark takes no appends; nil if it does.
  package var refusal: StoreError? {
    switch role {
    case .writer, .fork: nil
    case .follower:
      .replica(
        .following, place: carrier,
        what: "the store follows the one that writes, and takes no events of its own",
        next: "append on the machine that writes, or take over")
    case .fenced:
      .replica(
        .fenced, place: carrier, what: reason.isEmpty ? "another machine has taken over the store" : reason,
        next: isUnfinished
          ? "remove the folder, and restore again"
          : "rejoin (logreplay replicate STORE --rejoin), which keeps apart what only this store has, and follows; until "
            + "then it can be read")
    }
  }
}
