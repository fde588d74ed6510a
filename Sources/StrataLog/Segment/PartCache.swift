// Decoded parts of blocks that were read singly, as many as a bound allows.

internal import StrataBase

/// Keeps what reads of single events decoded last, and drops other parts when there are too many bytes of them. One for the
/// segments of a store. Safe to use from several threads: each block belongs to one of a few shards, and a read holds
/// the lock of one of them for as long as a lookup takes.
///
/// A short block is kept decoded. A long one is kept packed, once it was read twice within the reads that `seen`
/// remembers, and parts of it decoded beside it. Scans of the log do not ask the cache, and add nothing.
///
/// Which part is evicted is decided by a `CacheRing` for each shard. A new part counts as not asked for, so that parts that
/// are read once evict each other first.
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
    /// What was evicted for other parts.
    package var evictedCount = 0
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

  /// Only while its shard is locked.
  fileprivate final class Entry: CacheEntry {
    let name: Name
    let content: Content
    let byteCount: Int
    var cacheIndex: Int?
    var isUsed = false

    init(_ name: Name, _ content: Content, byteCount: Int) {
      (self.name, self.content, self.byteCount) = (name, content, byteCount)
    }

    func unmark() -> Bool {
      defer { isUsed = false }
      return isUsed
    }
  }

  fileprivate struct Shard {
    var entries: [Name: Entry] = [:]
    var ring: CacheRing<Entry>
    var evictedCount = 0
    /// Hashes of long blocks that were read and are not kept, each at an index that follows from it. Empty before the first.
    var seen: [UInt32] = []
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
  /// The number of hashes in a shard's `seen`.
  private let seenCount: Int
  /// One block is remembered for that many bytes of the bound.
  private static let bytesForSeen = 1024

  package init(limit: Int) {
    self.limit = max(0, limit)
    let count = limit >= Self.shardedLimit ? Self.shardCountMax : 1
    let limit = self.limit / count
    seenCount = limit / Self.bytesForSeen
    shards = (0..<count).map { _ in Lock(Shard(ring: CacheRing(limit: limit))) }
  }

  /// Says how to ask for the bytes that other things have of the bound. This cache takes what they leave of it, and a
  /// quarter in any case.
  package func share(with others: @escaping @Sendable () -> Int) { self.others.withLock { $0 = others } }

  /// The bytes that this cache may have now.
  package var room: Int {
    let others = others.withLock { $0 }?() ?? 0
    return max(limit - max(0, others), limit / 4)
  }

  private var shardRoom: Int { room / shards.count - MemoryLayout<UInt32>.stride * seenCount }

  package var statistics: Statistics {
    shards.reduce(into: Statistics()) { sum, shard in
      shard.withLock { shard in
        sum.partCount += shard.entries.count
        sum.byteCount += shard.ring.byteCount + MemoryLayout<UInt32>.stride * shard.seen.count
        sum.evictedCount += shard.evictedCount
      }
    }
  }

  private func shard(of key: Key) -> Lock<Shard> {
    shards.count > 1 ? shards[Int(key.hash >> 8 & 0xFF_FFFF) % shards.count] : shards[0]
  }

  /// Some events of a block, among them the one with a sequence, if they are there or can be unpacked.
  ///
  /// - Parameter lastWanted: of the events before a sequence, the last one that is wanted too.
  func part(_ key: Key, holding sequence: UInt64, lastWanted: ((_ end: UInt64) -> UInt64)? = nil)
    -> EventPart?
  {
    let shard = shard(of: key)
    guard let (content, index) = shard.withLock({ $0.find(key, sequence) }) else { return nil }
    switch content {
    case .decoded(let part):
      // The table of blocks may be a forged one, which has the block at another sequence.
      return part.firstSequence <= sequence && sequence < part.endSequence ? part : nil
    case .packed(let block):
      let last = lastWanted?(block.endSequence(ofPart: index)) ?? sequence
      let (part, mayBeKept) = block.part(index, holding: sequence, through: last)
      if mayBeKept { add(.decoded(part), Name(key: key, part: UInt32(index + 1))) }
      return part
    }
  }

  /// Whether the cache has a block.
  func has(_ key: Key) -> Bool { shard(of: key).withLock { $0.entries[Name(key: key)] != nil } }

  /// Whether a block is worth packing: it was read before, is not kept, and would fit. Remembers that it was read.
  func admits(_ key: Key, _ header: BlockHeader) -> Bool {
    guard seenCount > 0, Int(header.storedLength) < shardRoom / 4 else { return false }
    return shard(of: key).withLock { shard in
      if shard.seen.isEmpty { shard.seen = [UInt32](repeating: 0, count: seenCount) }
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
    // What is evicted is released after the lock.
    var evicted: [Entry] = []
    shard(of: name.key).withLock { shard in
      guard shard.entries[name] == nil else { return }
      // A part that was decoded while its block was dropped, or evicted, has nothing to be found by.
      guard name.part == 0 || shard.entries[Name(key: name.key)] != nil else { return }
      evicted = shard.ring.evict(for: byteCount, within: room)
      for entry in evicted { shard.entries[entry.name] = nil }
      shard.evictedCount += evicted.count
      let entry = Entry(name, content, byteCount: byteCount)
      shard.entries[name] = entry
      shard.ring.add(entry)
      assert(shard.entries.count == shard.ring.entries.count, "each entry is in the ring")
    }
  }

  /// Drops everything of an open file.
  func drop(file: UInt64) { drop { $0.key.file == file } }

  /// Drops everything.
  func dropAll() { drop { _ in true } }

  private func drop(where isDropped: (Name) -> Bool) {
    for shard in shards {
      var dropped: [Entry] = []
      shard.withLock { shard in
        dropped = shard.ring.entries.filter { isDropped($0.name) }
        for entry in dropped {
          shard.ring.remove(entry)
          shard.entries[entry.name] = nil
        }
      }
    }
  }
}

extension PartCache.Shard {
  /// What there is of a block: the part with an event, or the whole block. If that is packed, also the index of the part.
  fileprivate func find(
    _ key: PartCache.Key, _ sequence: UInt64
  ) -> (content: PartCache.Content, part: Int)? {
    guard let entry = entries[PartCache.Name(key: key)] else { return nil }
    entry.isUsed = true
    guard case .packed(let block) = entry.content else { return (entry.content, 0) }
    guard block.header.firstSequence <= sequence, sequence < block.header.nextSequence else { return nil }
    let number = block.index(of: sequence)
    guard let part = entries[PartCache.Name(key: key, part: UInt32(number + 1))] else {
      return (entry.content, number)
    }
    part.isUsed = true
    return (part.content, number)
  }
}
