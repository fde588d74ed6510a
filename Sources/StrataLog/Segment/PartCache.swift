// Decoded parts of blocks that were read singly, as many as a bound allows.

internal import StrataBase

/// Keeps what reads of single events decoded last, and drops other parts when there are too many bytes of them. One for the
/// segments of a store. Safe to use from several threads: each block belongs to one of a few shards, and a read holds
/// the lock of one of them for as long as a lookup takes.
///
/// A short block is kept decoded. A long one is kept packed, once it was read twice within the reads that `seen`
/// remembers, and parts of it decoded beside it. Scans of the log do not ask the cache, and add nothing.
///
/// Which part is dropped is decided by CLOCK (F. Corbató, "A Paging Experiment with the Multics System", 1968): a hand
/// goes around the parts, and drops those that were not asked for since it last passed. A new part counts as not asked
/// for, so that parts that are read once drop each other first.
///
/// A block is named by the number of an open file and not by the name of its segment: what a rewrite replaced is never
/// found again, also by a read that began before.
package final class PartCache: Sendable {
  /// The position of a block in an open file.
  struct Key: Hashable, Sendable {
    /// `SegmentHandle.number`.
    var file: UInt64
    var offset: UInt64

    fileprivate var hash: UInt64 {
      let mixed = (offset ^ file << 40) &* 0x9E37_79B9_7F4A_7C15
      return mixed ^ mixed >> 32
    }
  }

  /// The name of a block or of a part of it.
  fileprivate struct Name: Hashable {
    var key: Key
    /// The index of a part of a packed block plus 1; 0 for the block.
    var part: UInt32 = 0

    func hash(into hasher: inout Hasher) { hasher.combine(key.hash &+ UInt64(part)) }
  }

  package struct Statistics: Sendable, Equatable {
    package var partCount = 0
    package var byteCount = 0
    /// What was dropped for other parts.
    package var dropCount = 0
  }

  fileprivate enum Content {
    case decoded(EventPart)
    case packed(PackedBlock)

    var byteCount: Int {
      switch self {
      case .decoded(let part): part.byteCount
      case .packed(let block): block.byteCount
      }
    }
  }

  fileprivate struct Entry {
    var name: Name
    var content: Content
    var byteCount: Int
    var isUsed = false
  }

  fileprivate struct Shard {
    /// The index of each entry in the ring.
    var indices: [Name: Int] = [:]
    var ring: [Entry] = []
    var hand = 0
    var byteCount = 0
    var dropCount = 0
    /// Hashes of long blocks that were read and are not kept, each at an index that follows from it.
    var seen: [UInt32]
  }

  /// The bound in bytes.
  package let limit: Int
  private let shards: [Lock<Shard>]
  /// The bytes that other things have of the same bound.
  private let others = Lock<(@Sendable () -> Int)?>(nil)

  /// Below this bound there is one shard.
  private static let shardedLimit = 16 << 20
  private static let shardCountMax = 8
  /// Blocks up to this decoded length are kept decoded.
  static let shortLength = 2 * PackedBlock.partLength
  /// The bytes of a shard's `seen`.
  private let seenByteCount: Int
  /// One block is remembered for that many bytes of the bound.
  private static let bytesForSeen = 1024

  package init(limit: Int) {
    self.limit = max(0, limit)
    let count = limit >= Self.shardedLimit ? Self.shardCountMax : 1
    let seenCount = self.limit / count / Self.bytesForSeen
    shards = (0..<count).map { _ in Lock(Shard(seen: [UInt32](repeating: 0, count: seenCount))) }
    seenByteCount = 4 * seenCount
  }

  /// Says how to ask for the bytes that other things have of the bound. This cache takes what they leave of it, and a
  /// quarter in any case.
  package func share(with others: @escaping @Sendable () -> Int) { self.others.withLock { $0 = others } }

  /// The bytes that this cache may have now.
  package var room: Int {
    let others = others.withLock { $0 }?() ?? 0
    return max(limit - max(0, others), limit / 4)
  }

  private var shardRoom: Int { room / shards.count - seenByteCount }

  package var statistics: Statistics {
    shards.reduce(into: Statistics()) { sum, shard in
      shard.withLock { shard in
        sum.partCount += shard.ring.count
        sum.byteCount += shard.byteCount + 4 * shard.seen.count
        sum.dropCount += shard.dropCount
      }
    }
  }

  private func shard(of key: Key) -> Lock<Shard> {
    shards.count > 1 ? shards[Int(key.hash >> 8 & 0xFF_FFFF) % shards.count] : shards[0]
  }

  /// Some events of a block, among them the one with a sequence, if they are there or can be unpacked.
  func part(_ key: Key, holding sequence: UInt64) -> EventPart? {
    let shard = shard(of: key)
    guard let (content, index) = shard.withLock({ $0.find(key, sequence) }) else { return nil }
    switch content {
    case .decoded(let part): return sequence < part.endSequence ? part : nil
    case .packed(let block):
      let (part, isWhole) = block.part(index, holding: sequence)
      if isWhole { add(.decoded(part), Name(key: key, part: UInt32(index + 1))) }
      return part
    }
  }

  /// Whether the cache has a block.
  func has(_ key: Key) -> Bool { shard(of: key).withLock { $0.indices[Name(key: key)] != nil } }

  /// Whether a block is worth packing: it was read before, is not kept, and would fit. Remembers that it was read.
  func admits(_ key: Key, _ header: BlockHeader) -> Bool {
    guard Int(header.storedLength) < shardRoom / 4 else { return false }
    return shard(of: key).withLock { shard in
      guard !shard.seen.isEmpty else { return false }
      let hash = UInt32(truncatingIfNeeded: key.hash) | 1
      let index = Int(key.hash >> 33) % shard.seen.count
      defer { shard.seen[index] = hash }
      return shard.seen[index] == hash
    }
  }

  func add(_ part: EventPart, _ key: Key) { add(.decoded(part), Name(key: key)) }

  func add(_ block: PackedBlock, _ key: Key) { add(.packed(block), Name(key: key)) }

  /// Adds what is not there yet. What is longer than a shard has room for is not kept.
  private func add(_ content: Content, _ name: Name) {
    let byteCount = content.byteCount
    let room = shardRoom
    guard byteCount <= room else { return }
    // What was dropped is released after the lock.
    var dropped: [Content] = []
    shard(of: name.key).withLock { shard in
      guard shard.indices[name] == nil else { return }
      while shard.byteCount + byteCount > room { dropped.append(shard.dropNext()) }
      shard.indices[name] = shard.ring.count
      shard.ring.append(Entry(name: name, content: content, byteCount: byteCount))
      shard.byteCount += byteCount
    }
  }

  /// Drops everything of an open file.
  func drop(file: UInt64) { drop { $0.name.key.file == file } }

  /// Drops everything.
  func dropAll() { drop { _ in true } }

  private func drop(where isDropped: (Entry) -> Bool) {
    for shard in shards {
      var dropped: [Content] = []
      shard.withLock { shard in
        var index = 0
        while index < shard.ring.count {
          if isDropped(shard.ring[index]) {
            dropped.append(shard.ring[index].content)
            shard.remove(at: index)
          } else {
            index += 1
          }
        }
      }
    }
  }
}

extension PartCache.Shard {
  /// What there is of a block: the part with an event, or the whole block. If that is packed, also the index of the part.
  fileprivate mutating func find(
    _ key: PartCache.Key, _ sequence: UInt64
  ) -> (content: PartCache.Content, part: Int)? {
    guard let index = indices[PartCache.Name(key: key)] else { return nil }
    ring[index].isUsed = true
    guard case .packed(let block) = ring[index].content else { return (ring[index].content, 0) }
    let number = block.index(of: sequence)
    guard let part = indices[PartCache.Name(key: key, part: UInt32(number + 1))] else {
      return (ring[index].content, number)
    }
    ring[part].isUsed = true
    return (ring[part].content, number)
  }

  /// Takes an entry out; the last one of the ring gets its index.
  fileprivate mutating func remove(at index: Int) {
    let entry = ring[index]
    indices[entry.name] = nil
    byteCount -= entry.byteCount
    let last = ring.removeLast()
    if index < ring.count {
      ring[index] = last
      indices[last.name] = index
    }
    assert(indices.count == ring.count && byteCount >= 0, "each entry has one index in the ring")
  }

  /// Takes out the next entry that was not asked for since the hand passed it. There must be one.
  fileprivate mutating func dropNext() -> PartCache.Content {
    while true {
      if hand >= ring.count { hand = 0 }
      guard ring[hand].isUsed else { break }
      ring[hand].isUsed = false
      hand += 1
    }
    let content = ring[hand].content
    remove(at: hand)
    dropCount += 1
    return content
  }
}
