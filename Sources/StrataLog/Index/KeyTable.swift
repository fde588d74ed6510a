// The index of the active segment, in memory: which streams it holds, and which of its events are theirs.
//
//   slots     tag|entry  tag|entry  …      open addressing, linear probing, at most half full
//                 │
//   entries   { hash, base, key in `keys`, count, last }
//                 │                                 │
//   keys      bytes of all keys, back to back       │
//   events                                        { previous, entry }  one for each event of the segment
//
// An entry names its stream's last event, and each event names the one before it in its stream, so an append
// touches one entry and writes one link, and the last events can be taken back. Names live in one arena:
// nothing is allocated for an entry or an event but when an array doubles.

/// A hash table from keys to the events of one segment, for a caller that brings the hash and the locking.
///
/// Sendable without the compiler's proof: the memory behind the pointers belongs to this value alone.
package struct KeyTable: ~Copyable, @unchecked Sendable {
  /// The place of an entry; it stays the same for as long as the table lives.
  package struct EntryIndex: Hashable, Sendable {
    package var rawValue: UInt32

    @inline(__always)
    package init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// What the table holds for one key.
  package struct Entry: BitwiseCopyable, Equatable, Sendable {
    package var hash: UInt64
    /// Events of the stream before this segment.
    package var base: UInt64
    var keyOffset: UInt32
    var keyLength: UInt32
    /// Events of the stream in this segment. Zero where the entry was made and nothing appended, or all of
    /// it taken back.
    package var count: UInt32
    /// The index in the segment of the stream's last event; `KeyTable.none` where it has none.
    package var last: UInt32

    /// Events of the stream up to now: the revision of its last event. It wraps where a log says that a stream
    /// holds 2⁶⁴ events, and then does not continue it.
    package var revision: UInt64 { base &+ UInt64(count) }
  }

  /// The event index that stands for "no event".
  package static var none: UInt32 { .max }
  /// Entries, events and bytes of keys that a table can hold: what 32 bits can name, without `none`.
  package static var countMax: Int { Int(UInt32.max) - 1 }

  /// How many of each this table takes; less than `KeyTable.countMax` for tests alone.
  let countMax: Int

  var slots: UnsafeMutableBufferPointer<UInt64>
  var entries: GrowingArray<Entry>
  var keys: GrowingArray<UInt8>
  var events: GrowingArray<EventLink>

  /// Makes an empty table with room for so many keys and events before anything has to grow.
  package init(keyCapacity: Int = 64, eventCapacity: Int = 256, countMax: Int = KeyTable.countMax) {
    precondition(keyCapacity >= 0 && eventCapacity >= 0, "a capacity is not negative")
    precondition((0...KeyTable.countMax).contains(countMax), "32 bits do not count that far")
    self.countMax = countMax
    slots = Self.makeSlots(forEntries: keyCapacity)
    entries = GrowingArray(capacity: keyCapacity)
    keys = GrowingArray(capacity: keyCapacity * 16)
    events = GrowingArray(capacity: eventCapacity)
  }

  deinit {
    slots.deallocate()
    entries.deallocate()
    keys.deallocate()
    events.deallocate()
  }

  /// Whether one more event fits in, and one more key of this length. What a segment holds may be more than 32 bits
  /// can name, so whoever adds what a file says asks before.
  @inline(__always)
  package func hasRoom(forKeyOf length: Int) -> Bool {
    events.count < countMax && entries.count < countMax && length <= countMax - keys.count
  }

  /// The number of keys.
  package var entryCount: Int { entries.count }

  /// The entry at an index that `find` or `insert` returned.
  package subscript(_ index: EntryIndex) -> Entry {
    @inline(__always)
    get {
      precondition(Int(index.rawValue) < entries.count, "no such entry")
      return entries.start[Int(index.rawValue)]
    }
  }

  /// The key of an entry, valid until the next `insert`.
  package func key(of index: EntryIndex) -> UnsafeRawBufferPointer { key(of: self[index]) }

  /// Bytes that the table has allocated.
  package var allocatedBytes: Int {
    slots.count * 8 + entries.capacity * MemoryLayout<Entry>.stride + keys.capacity
      + events.capacity * MemoryLayout<EventLink>.stride
  }

  @inline(__always)
  func key(of entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys.start + Int(entry.keyOffset), count: Int(entry.keyLength))
  }
}

/// What the table holds for one event of the segment.
struct EventLink: BitwiseCopyable {
  /// The event before it of the same stream, or `KeyTable.none`.
  var previous: UInt32
  /// The entry whose event it is, so that it can be taken back.
  var entry: UInt32
}

/// An array of plain values that doubles. Its owner deallocates it.
struct GrowingArray<Element: BitwiseCopyable> {
  private(set) var start: UnsafeMutablePointer<Element>
  var count = 0
  private(set) var capacity: Int

  init(capacity: Int) {
    self.capacity = max(capacity, 8)
    start = .allocate(capacity: self.capacity)
  }

  func deallocate() { start.deallocate() }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow(by: 1) }
    (start + count).initialize(to: element)
    count += 1
  }

  @inline(__always)
  mutating func append(_ elements: UnsafeBufferPointer<Element>) {
    guard let first = elements.baseAddress else { return }
    if capacity - count < elements.count { grow(by: elements.count) }
    (start + count).initialize(from: first, count: elements.count)
    count += elements.count
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    let larger = max(capacity * 2, count + more)
    let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    moved.moveInitialize(from: start, count: count)
    start.deallocate()
    start = moved
    capacity = larger
    assert(capacity - count >= more, "an array that has grown has the room that was asked for")
  }
}
