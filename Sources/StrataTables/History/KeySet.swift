// The keys of one kind of one owner, as one run has them.

internal import StrataBase

/// The pages of some keys: the key with which each begins, and where it is.
final class KeyDirectory: Sendable {
  let places: [RunPlace]
  /// The first keys one after the other, and where each ends. Arrays of their own took most of the time to read them.
  private let bytes: [UInt8]
  private let ends: [Int]

  static let empty = KeyDirectory([], [], [])

  private init(_ bytes: [UInt8], _ ends: [Int], _ places: [RunPlace]) {
    (self.bytes, self.ends, self.places) = (bytes, ends, places)
  }

  convenience init(decoding record: RunRecord) throws(StatePage.Damage) {
    var cursor = record.cursor
    var (bytes, ends, places): ([UInt8], [Int], [RunPlace]) = ([], [], [])
    bytes.reserveCapacity(record.bytes.count)
    var key: [UInt8] = []
    while cursor.remaining > 0 {
      try KeyDirectory.next(&cursor, &key, isFirst: ends.isEmpty)
      guard let place = RunPlace(&cursor) else { throw StatePage.Damage("a page of keys has no place") }
      bytes.append(contentsOf: key)
      ends.append(bytes.count)
      places.append(place)
    }
    self.init(bytes, ends, places)
  }

  var pageCount: Int { ends.count }

  /// Lends the key with which a page begins.
  @inline(__always)
  func withFirst<Result>(_ page: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = page > 0 ? ends[page - 1] : 0
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[page]])) }
  }

  func first(_ page: Int) -> [UInt8] { withFirst(page) { Array($0) } }

  /// Whether a page begins with a key.
  func begins(_ page: Int, with key: [UInt8]) -> Bool {
    withFirst(page) { first in key.withUnsafeBytes { first.hasSameBytes(as: $0) } }
  }

  /// The sections that a run names, ascending.
  static func sections(decoding record: RunRecord) throws(StatePage.Damage) -> [[UInt8]] {
    var cursor = record.cursor
    var sections: [[UInt8]] = []
    var key: [UInt8] = []
    while cursor.remaining > 0 {
      try next(&cursor, &key, isFirst: sections.isEmpty)
      sections.append(key)
    }
    return sections
  }

  /// Reads a key that follows another one.
  static func next(
    _ cursor: inout ByteCursor, _ key: inout [UInt8], isFirst: Bool
  ) throws(StatePage.Damage) {
    // What two keys share is all that they share, so the next byte decides.
    guard let shared = cursor.varint(), shared <= UInt64(key.count), let rest = cursor.lengthPrefixed(),
      isFirst ? shared == 0 : !rest.isEmpty,
      isFirst || Int(shared) == key.count || rest[0] > key[Int(shared)],
      Int(shared) + rest.count <= Tree.keyLengthMax
    else { throw StatePage.Damage("the keys of a run do not ascend") }
    key.removeLast(key.count - Int(shared))
    key.append(contentsOf: rest)
  }

  /// The page that has a key if any has it; nil if the key is before all pages. O(log pages).
  func page(of key: [UInt8]) -> Int? { key.withUnsafeBytes { page(of: $0) } }

  /// - Parameter start: a page that is not after it. Pages near that one are found sooner. O(log distance).
  func page(of key: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
    // The first page that begins after the key is after `low`, which is not, or the first of all, and not after `high`.
    var (low, high, step) = (start, pageCount, 1)
    while low + step < high {
      guard isAfter(low + step, key) else {
        (low, step) = (low + step, step * 2)
        continue
      }
      high = low + step
    }
    while high - low > 1 {
      let middle = (low + high) / 2
      if isAfter(middle, key) { high = middle } else { low = middle }
    }
    return low < high && !(low == start && isAfter(low, key)) ? low : nil
  }

  private func isAfter(_ page: Int, _ key: UnsafeRawBufferPointer) -> Bool {
    withFirst(page) { $0.order(key) > 0 }
  }

  /// The first page that begins at or after a key.
  func firstIndex(from key: [UInt8]) -> Int { key.withUnsafeBytes { firstIndex(from: $0) } }

  private func firstIndex(from key: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, pageCount)
    while low < high {
      let middle = (low + high) / 2
      if withFirst(middle, { $0.order(key) < 0 }) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// One set of keys in one run. A value that holds the run open.
struct KeySet: Sendable {
  let reader: RunReader
  let root: KeySetRoot
  let directory: KeyDirectory

  var isEmpty: Bool { root.places == nil }

  /// The counts of all pages after an event; in a delta, by how much they differ from those at the run's begin. Nil for no
  /// page.
  func pageCounts(at sequence: UInt64) throws(StatePage.Damage) -> KeyCounts? {
    guard let places = root.places else { return nil }
    let counts = try reader.counts(places.tally, at: sequence)
    guard counts.unitCount == directory.places.count else {
      throw StatePage.Damage("a tally of keys has other pages than there are")
    }
    return counts
  }

  /// The sections with the same counts.
  func sectionCounts(at sequence: UInt64) throws(StatePage.Damage) -> SectionCounts {
    guard let places = root.sections else { return SectionCounts() }
    let counts = try reader.counts(places.tally, at: sequence)
    let sections = try reader.sections(of: places.pages)
    guard counts.unitCount == sections.count else {
      throw StatePage.Damage("a tally of keys has other sections than there are")
    }
    return SectionCounts(sections: sections, counts: sections.indices.map { counts.count(of: $0) })
  }

  func cursor(atPage index: Int) throws(StatePage.Damage) -> KeyCursor { KeyCursor(self, page: index) }
}

/// How many keys each of some sections has; in a delta, by how much that differs from the run's begin.
struct SectionCounts {
  /// Ascending.
  private(set) var sections: [[UInt8]] = []
  private(set) var counts: [Int64] = []

  /// - Parameter sections: as many as there are counts.
  init(sections: [[UInt8]] = [], counts: [Int64] = []) {
    assert(sections.count == counts.count, "each section has a count")
    (self.sections, self.counts) = (sections, counts)
  }

  /// Adds counts. O(sections of both).
  mutating func add(_ other: SectionCounts) {
    guard !sections.isEmpty else { return self = other }
    // Most runs name sections that those before them have.
    var places: [Int] = []
    places.reserveCapacity(other.sections.count)
    var place = 0
    for section in other.sections {
      var order = -1
      while place < sections.count {
        order = sections[place].order(against: section)
        guard order < 0 else { break }
        place += 1
      }
      guard order == 0 else { return merge(other) }
      places.append(place)
    }
    for (index, place) in places.enumerated() { counts[place] &+= other.counts[index] }
  }

  private mutating func merge(_ other: SectionCounts) {
    var merged = SectionCounts()
    var (i, j) = (0, 0)
    while i < sections.count || j < other.sections.count {
      let isAtEnd = (i == sections.count, j == other.sections.count)
      let order = isAtEnd.0 ? 1 : isAtEnd.1 ? -1 : sections[i].order(against: other.sections[j])
      merged.sections.append(order <= 0 ? sections[i] : other.sections[j])
      merged.counts.append((order <= 0 ? counts[i] : 0) &+ (order >= 0 ? other.counts[j] : 0))
      if order <= 0 { i += 1 }
      if order >= 0 { j += 1 }
    }
    self = merged
  }
}

/// Walks over the keys of a set, from the begin of any page on.
struct KeyCursor {
  private let set: KeySet
  /// The page that follows the current one.
  private(set) var nextPage: Int
  private var page: RunRecord?
  private var cursor = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  private var moments = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  private var momentCount: UInt64 = 0
  private(set) var key: [UInt8] = []
  private(set) var sectionLength = 0
  private(set) var idLength = 0
  /// Whether the key was there at the run's begin.
  private(set) var isAliveAtBegin = false

  /// Whether the next key is in another page.
  var isAtEndOfPage: Bool { cursor.remaining == 0 }

  init(_ set: KeySet, page: Int = 0) { (self.set, nextPage) = (set, page) }

  /// Leaves out pages before one, at the end of a page.
  mutating func skip(toPage index: Int) {
    assert(isAtEndOfPage && index >= nextPage, "pages are left out inside a page, or backwards")
    nextPage = index
  }

  /// Goes to the next key. False at the end.
  mutating func next() throws(StatePage.Damage) -> Bool {
    let isFirst = cursor.remaining == 0
    if isFirst {
      guard nextPage < set.directory.places.count else { return false }
      let page = try set.reader.record(at: set.directory.places[nextPage])
      cursor = page.cursor
      guard cursor.remaining > 0 else { throw StatePage.Damage("a page of keys is empty") }
      self.page = page
      key.removeAll(keepingCapacity: true)
      nextPage += 1
    }
    try KeyDirectory.next(&cursor, &key, isFirst: isFirst)
    guard !isFirst || set.directory.begins(nextPage - 1, with: key) else {
      throw StatePage.Damage("a page begins with another key than its run says")
    }
    guard let section = cursor.varint(), let id = cursor.varint(), let flags = cursor.varint(),
      section <= UInt64(UInt16.max), id <= UInt64(UInt16.max), Int(section) + Int(id) <= key.count
    else { throw StatePage.Damage("a key of a run is broken") }
    (sectionLength, idLength) = (Int(section), Int(id))
    isAliveAtBegin = flags & 1 == 1
    momentCount = flags >> 1
    guard momentCount > 0 else {
      guard isAliveAtBegin else { throw StatePage.Damage("a key of a run was never there") }
      return true
    }
    guard let bytes = cursor.lengthPrefixed(), momentCount <= UInt64(bytes.count) else {
      throw StatePage.Damage("a key of a run is broken")
    }
    moments = ByteCursor(bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!, count: bytes.count)
    return true
  }

  /// Whether the key is there after an event. O(moments).
  func isAlive(at sequence: UInt64) throws(StatePage.Damage) -> Bool {
    var isAlive = isAliveAtBegin
    try forEachMoment { moment in
      guard moment <= sequence else { return false }
      isAlive.toggle()
      return true
    }
    return isAlive
  }

  /// The key with everything that the run knows of it.
  func record() throws(StatePage.Damage) -> KeyRecord {
    var record = KeyRecord()
    begin(&record)
    try addMoments(to: &record)
    return record
  }

  /// Sets a record to the key, without moments.
  func begin(_ record: inout KeyRecord) {
    // A copy into the record's own bytes: those of the cursor change with the next key.
    record.key.removeAll(keepingCapacity: true)
    record.key.append(contentsOf: key)
    (record.sectionLength, record.idLength, record.isAlive) = (sectionLength, idLength, isAliveAtBegin)
    record.moments.removeAll(keepingCapacity: true)
  }

  func addMoments(to record: inout KeyRecord) throws(StatePage.Damage) {
    try forEachMoment { moment in
      record.moments.append(moment)
      return true
    }
  }

  /// Less than 0 if the key is before that of another cursor, 0 if they are equal.
  func order(_ other: KeyCursor) -> Int {
    key.withUnsafeBytes { key in other.key.withUnsafeBytes { key.order($0) } }
  }

  private func forEachMoment(_ body: (UInt64) -> Bool) throws(StatePage.Damage) {
    var cursor = moments
    let root = set.reader.root
    var last = root.begin
    for index in 0..<momentCount {
      guard let distance = cursor.varint(), distance > 0, distance <= root.end - last,
        index + 1 < momentCount || cursor.remaining == 0
      else { throw StatePage.Damage("the moments of a key are broken") }
      last += distance
      guard body(last) else { return }
    }
  }
}
