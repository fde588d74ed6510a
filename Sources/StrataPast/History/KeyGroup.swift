// When the keys of a group were there: a bit for each key, and the events that changed one.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// One bit for each key of a group, by its number there.
struct KeyBits: Equatable, Sendable {
  /// The most keys of a group.
  static let countMax = 256

  private var words = SIMD4<UInt64>()

  subscript(key: Int) -> Bool { words[key >> 6] >> UInt64(key & 63) & 1 == 1 }

  mutating func toggle(_ key: Int) { words[key >> 6] ^= 1 << UInt64(key & 63) }

  /// How many of the keys with smaller numbers have their bit set. O(1).
  func count(below key: Int) -> Int {
    var count = 0
    for word in 0..<4 where word << 6 < key {
      let left = key - word << 6
      count += (left < 64 ? words[word] & (1 << UInt64(left) - 1) : words[word]).nonzeroBitCount
    }
    return count
  }

  /// The first key whose bit is set, from one on. O(1).
  func first(from key: Int) -> Int? {
    for word in key >> 6..<4 {
      let bits = word == key >> 6 ? words[word] & (.max << UInt64(key & 63)) : words[word]
      if bits != 0 { return word << 6 + bits.trailingZeroBitCount }
    }
    return nil
  }

  /// A byte for eight keys, the lowest bit for the first of them.
  func append(_ count: Int, to bytes: inout RawBuffer) {
    for byte in 0..<(count + 7) / 8 {
      bytes.append(byte: UInt8(truncatingIfNeeded: words[byte >> 3] >> (UInt64(byte & 7) * 8)))
    }
  }

  init() {}

  /// Nil if bytes are missing, or a bit is of no key.
  init?(_ cursor: inout ByteCursor, _ count: Int) {
    guard let bytes = cursor.bytes(UInt64(count + 7) / 8) else { return nil }
    for (index, byte) in bytes.enumerated() {
      words[index >> 3] |= UInt64(byte) << (UInt64(index & 7) * 8)
    }
    guard first(from: count) == nil else { return nil }
  }
}

/// Which keys of a group are there after an event.
struct KeyLives {
  /// The keys that are there.
  let now: KeyBits
  /// Those that were there at the begin of a delta; none of a base.
  let begin: KeyBits

  /// How many of the keys with smaller numbers are there; in a delta, by how much that differs from the run's begin.
  func count(below key: Int) -> Int64 { Int64(now.count(below: key) - begin.count(below: key)) }
}

/// Which keys of a page were there at the begin of its run, and at the end, by their places in the page.
struct PageLives {
  private(set) var begin = KeyBits()
  private(set) var end = KeyBits()

  init() {}

  mutating func add(_ record: KeyRecord, _ index: Int) {
    if record.isAlive { begin.toggle(index) }
    if record.isAliveAtEnd { end.toggle(index) }
  }

  func append(_ count: Int, to bytes: inout RawBuffer) {
    begin.append(count, to: &bytes)
    end.append(count, to: &bytes)
  }

  /// Reads the head of a page.
  init(
    _ cursor: inout ByteCursor, _ part: KeyDirectoryPart, page: Int, isBase: Bool
  ) throws(PageDamage) {
    let count = part.numbers(of: page).count
    guard let begin = KeyBits(&cursor, count), let end = KeyBits(&cursor, count) else {
      throw PageDamage("a page of keys does not say which were there")
    }
    (self.begin, self.end) = (begin, end)
    guard atEnd(isBase: isBase).count(below: count) == part.countAtEnd(of: page..<page + 1) else {
      throw PageDamage("a page has other keys at its end than its run counts")
    }
  }

  /// The keys at the run's end.
  func atEnd(isBase: Bool) -> KeyLives { KeyLives(now: end, begin: isBase ? KeyBits() : begin) }
}

/// All events at which the keys of a group appeared and disappeared.
struct KeyMoments {
  /// The keys that were there at the run's begin.
  let begin: KeyBits
  /// Those of one key after the other, each ascending, and where those of each key end.
  private let moments: [UInt64]
  private let ends: [Int]

  /// Of no key.
  init() { (begin, moments, ends) = (KeyBits(), [], []) }

  /// - Parameter changes: ascending by their events.
  fileprivate init(_ begin: KeyBits, _ keyCount: Int, _ changes: [(key: UInt8, moment: UInt64)]) {
    var ends = [Int](repeating: 0, count: keyCount + 1)
    for change in changes { ends[Int(change.key) + 1] += 1 }
    for key in 0..<keyCount { ends[key + 1] += ends[key] }
    var moments = [UInt64](repeating: 0, count: changes.count)
    for (key, moment) in changes {
      moments[ends[Int(key)]] = moment
      ends[Int(key)] += 1
    }
    (self.begin, self.moments, self.ends) = (begin, moments, ends)
  }

  func moments(of key: Int) -> ArraySlice<UInt64> { moments[(key > 0 ? ends[key - 1] : 0)..<ends[key]] }
}

// MARK: Writing

/// Collects the moments of a group's keys, and writes them in chunks: what was there at one moment is in one chunk.
///
/// ```
/// chunk  a bit for each key that was there before the chunk's first event, then changes: event, number of the key
/// ```
struct KeyGroupWriter: ~Copyable {
  private let begin: UInt64
  private var bits = KeyBits()
  private(set) var keyCount = 0
  /// The event as its distance from the run's begin, × 256 + the number of the key.
  private var changes: [UInt64] = []

  init(begin: UInt64) { self.begin = begin }

  mutating func add(_ record: KeyRecord) {
    assert(keyCount < KeyBits.countMax, "a group has more keys than there are bits")
    if record.isAlive { bits.toggle(keyCount) }
    for moment in record.moments { changes.append((moment &- begin) << 8 | UInt64(keyCount)) }
    keyCount += 1
  }

  /// Writes the group, and begins another one.
  ///
  /// - Parameter changeCountMin: the fewest changes in a chunk that another one follows.
  /// - Returns: the chunks.
  mutating func finish(_ output: RunOutput, changeCountMin: Int) throws(StoreError) -> [KeyChunk] {
    changes.sort()
    var chunks: [KeyChunk] = []
    var buffer = RawBuffer(capacity: 1 << 12)
    var start = 0
    repeat {
      let end = KeyChunk.end(from: start, of: changes.count, changeCountMin: changeCountMin) {
        changes[$0] >> 8
      }
      // What follows counts from the run's begin.
      let first = chunks.isEmpty ? 0 : changes[start] >> 8
      buffer.removeAll()
      bits.append(keyCount, to: &buffer)
      var last = first
      for change in changes[start..<end] {
        let number = UInt8(truncatingIfNeeded: change)
        buffer.append(varint: change >> 8 &- last)
        buffer.append(byte: number)
        last = change >> 8
        bits.toggle(Int(number))
      }
      chunks.append(KeyChunk(first: first, address: try output.append(buffer.bytes)))
      start = end
    } while start < changes.count
    (bits, keyCount) = (KeyBits(), 0)
    changes.removeAll(keepingCapacity: true)
    return chunks
  }
}

// MARK: Reading

/// A chunk of a group, as it is read.
private struct OpenChunk {
  private let record: RunRecord
  private var cursor: ByteCursor
  private let keyCount: Int
  private let end: UInt64
  private var last: UInt64
  /// The keys that were there before the chunk's first event.
  let begin: KeyBits

  init(_ set: KeySet, _ chunk: KeyChunk, _ keyCount: Int) throws(PageDamage) {
    record = try set.reader.record(at: chunk.address)
    cursor = record.cursor
    (self.keyCount, end) = (keyCount, set.reader.root.end)
    last = set.reader.root.begin + chunk.first
    guard let bits = KeyBits(&cursor, keyCount) else {
      throw PageDamage("a group of keys is cut short")
    }
    begin = bits
  }

  /// The next change; nil after the last one.
  @inline(__always)
  mutating func next() throws(PageDamage) -> (key: UInt8, moment: UInt64)? {
    guard cursor.remaining > 0 else { return nil }
    guard let distance = cursor.mediumVarint(), distance <= end - last,
      let key = cursor.integer(UInt8.self), Int(key) < keyCount
    else { throw PageDamage("the moments of a group of keys are broken") }
    last += distance
    return (key, last)
  }
}

extension KeySet {
  /// Which keys of a group are there after an event. O(changes of a chunk).
  ///
  /// - Parameter part: of the directory, with the group.
  func lives(
    of group: Int, in part: KeyDirectoryPart, at sequence: UInt64
  ) throws(PageDamage) -> KeyLives {
    let (chunks, keyCount, root) = (part.chunks(of: group), part.keyCount(of: group), reader.root)
    let index = chunks.lastIndex { root.begin + $0.first <= sequence } ?? chunks.startIndex
    var chunk = try OpenChunk(self, chunks[index], keyCount)
    let begin: KeyBits
    if root.isBase {
      begin = KeyBits()
    } else {
      begin = index == chunks.startIndex ? chunk.begin : try OpenChunk(self, chunks.first!, keyCount).begin
    }
    var now = chunk.begin
    while let change = try chunk.next(), change.moment <= sequence { now.toggle(Int(change.key)) }
    return KeyLives(now: now, begin: begin)
  }

  /// When the keys of a group were there. O(changes of the group).
  func moments(of group: Int, in part: KeyDirectoryPart) throws(PageDamage) -> KeyMoments {
    let keyCount = part.keyCount(of: group)
    var changes: [(key: UInt8, moment: UInt64)] = []
    var (begin, now): (KeyBits?, KeyBits) = (nil, KeyBits())
    // So a key has at most one change at an event, and what is collected is bounded.
    var last = [UInt64](repeating: reader.root.begin, count: keyCount)
    for known in part.chunks(of: group) {
      var chunk = try OpenChunk(self, known, keyCount)
      guard begin == nil || chunk.begin == now else {
        throw PageDamage("a group of keys goes on with others than there were")
      }
      begin = begin ?? chunk.begin
      now = chunk.begin
      let first = reader.root.begin + known.first
      // One that follows another chunk begins with its first change, after all of that one.
      var isBegun = known.first == 0
      guard isBegun || changes.last?.moment ?? 0 < first else {
        throw PageDamage("the chunks of a group of keys overlap")
      }
      while let change = try chunk.next() {
        guard last[Int(change.key)] < change.moment, isBegun || change.moment == first else {
          throw PageDamage("the changes of a group of keys do not ascend")
        }
        isBegun = true
        last[Int(change.key)] = change.moment
        now.toggle(Int(change.key))
        changes.append(change)
      }
      guard isBegun else { throw PageDamage("a chunk of a group of keys has no change") }
    }
    let moments = KeyMoments(begin ?? KeyBits(), keyCount, changes)
    for key in 0..<keyCount where moments.moments(of: key).isEmpty {
      guard reader.root.isBase, moments.begin[key] else {
        throw PageDamage("a key of a run was never there")
      }
    }
    return moments
  }
}
