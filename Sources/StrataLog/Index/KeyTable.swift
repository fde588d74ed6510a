// The in-memory index of the active segment: which streams it has, and which events belong to each.
//
//   slots     tag|entry  tag|entry  …      open addressing, linear probing, at most half full
//                 │
//   entries   { hash, base, key in `keys`, count, last }
//                 │                                 │
//   keys      bytes of all keys, back to back       │
//   events                                        { previous, entry }  one for each event of the segment
//
// An entry names its stream's last event, and each event names the previous one of its stream. So an append touches one
// entry and writes one link, and the last events can be removed again. Keys are stored in one arena: an entry or an
// event allocates memory only when an array doubles.

/// A hash table from keys to the events of one segment. The caller provides the hash and the locking.
///
/// Sendable without the compiler's proof: only this value owns the memory that its pointers refer to.
package struct KeyTable: ~Copyable, @unchecked Sendable {
  /// The index of an entry, which never changes while the table exists.
  package struct EntryIndex: Hashable, Sendable {
    package var rawValue: UInt32

    @inline(__always)
    package init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// The data of one key.
  package struct Entry: BitwiseCopyable, Equatable, Sendable {
    package var hash: UInt64
    /// Events of the stream before this segment.
    package var base: UInt64
    var keyOffset: UInt32
    var keyLength: UInt32
    /// Events of the stream in this segment. Zero if nothing was appended to a new entry, or all of it was removed
    /// again.
    package var count: UInt32
    /// The index in the segment of the stream's last event; `KeyTable.none` if it has none.
    package var last: UInt32

    /// Events of the stream up to now: the revision of its last event. It wraps if a log claims that a stream holds 2⁶⁴
    /// events, and then does not continue it.
    package var revision: UInt64 { base &+ UInt64(count) }
  }

  /// The event index that means "no event".
  package static var none: UInt32 { .max }
  /// The most entries, events and bytes of keys that a table can hold: what 32 bits can name, without `none`.
  package static var countMax: Int { Int(UInt32.max) - 1 }

  /// The limit of each for this table; less than `KeyTable.countMax` only in tests.
  let countMax: Int

  var slots: UnsafeMutableBufferPointer<UInt64>
  var entries: GrowingArray<Entry>
  var keys: GrowingArray<UInt8>
  var events: GrowingArray<EventLink>

  /// Creates an empty table with room for that many keys and events before anything has to grow.
  package init(keyCapacity: Int = 64, eventCapacity: Int = 256, countMax: Int = KeyTable.countMax) {
    precondition(keyCapacity >= 0 && eventCapacity >= 0, "a capacity is not negative")
    precondition(
      (0...KeyTable.countMax).contains(countMax), "countMax is not negative and at most KeyTable.countMax")
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

  /// Whether there is room for one more event, and for one more key of this length. A segment may hold more than 32
  /// bits can name, so a caller that adds what a file contains must check first.
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

  /// The bytes that the table has allocated.
  package var allocatedBytes: Int {
    slots.count * 8 + entries.capacity * MemoryLayout<Entry>.stride + keys.capacity
      + events.capacity * MemoryLayout<EventLink>.stride
  }

  @inline(__always)
  func key(of entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys.start + Int(entry.keyOffset), count: Int(entry.keyLength))
  }
}

/// The data of one event of the segment.
struct EventLink: BitwiseCopyable {
  /// The previous event of the same stream, or `KeyTable.none`.
  var previous: UInt32
  /// The entry that the event belongs to, so that the event can be removed.
  var entry: UInt32
}

/// An array of plain values that doubles when it is full. Its owner deallocates it.
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
    assert(capacity - count >= more, "a grown array has the requested room")
  }
}
