// Walks over the keys of one run.

internal import StrataBase
internal import StrataTables

/// Walks over the keys of a set, from the begin of any page on.
struct KeyCursor {
  private let set: KeySet
  /// The part of the directory that has the current page; nil before the first one.
  private(set) var part: KeyDirectoryPart?
  /// The page that follows the current one.
  private(set) var nextPage: Int
  private var page: RunRecord?
  private var cursor = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  private(set) var key: [UInt8] = []
  private(set) var sectionLength = 0
  private(set) var idLength = 0
  /// The group of the key, and its number there.
  private(set) var group = -1
  private(set) var number = 0
  /// The numbers that the keys after it have in the page.
  private var numbersLeft = 0..<0
  private var firstNumber = 0
  private var lives = PageLives()

  /// Whether the next key is in another page.
  var isAtEndOfPage: Bool { cursor.remaining == 0 }

  /// Whether the key was there at the run's begin, and at its end.
  var isAliveAtBegin: Bool { lives.begin[number - firstNumber] }
  var isAliveAtEnd: Bool { lives.end[number - firstNumber] }

  /// The parts of the directory that it reads itself do not stay in memory.
  init(_ set: KeySet, page: Int = 0) { (self.set, nextPage) = (set, page) }

  /// Leaves out pages before one, at the end of a page.
  ///
  /// - Parameter part: of the directory, with the page.
  mutating func skip(toPage index: Int, in part: KeyDirectoryPart) {
    assert(isAtEndOfPage && index >= nextPage, "pages are left out inside a page, or backwards")
    assert(part.pages.contains(index), "a page is in another part of the directory")
    (nextPage, self.part) = (index, part)
  }

  /// Goes to the next key. False at the end.
  mutating func next() throws(PageDamage) -> Bool {
    let isFirst = cursor.remaining == 0
    if isFirst {
      guard nextPage < set.directory.pageCount else { return false }
      let part = try part(ofPage: nextPage)
      let page = try set.reader.record(at: part.address(of: nextPage))
      cursor = page.cursor
      self.page = page
      key.removeAll(keepingCapacity: true)
      (group, numbersLeft) = (part.group(of: nextPage), part.numbers(of: nextPage))
      firstNumber = numbersLeft.lowerBound
      lives = try PageLives(&cursor, part, page: nextPage, isBase: set.reader.root.isBase)
      nextPage += 1
    }
    try AscendingKeys.next(&cursor, &key, isFirst: isFirst)
    guard !isFirst || part?.begins(nextPage - 1, with: key) == true else {
      throw PageDamage("a page begins with another key than its run says")
    }
    guard let section = cursor.varint(), let id = cursor.varint(), section <= UInt64(UInt16.max),
      id <= UInt64(UInt16.max), Int(section) + Int(id) <= key.count
    else { throw PageDamage("a key of a run is broken") }
    (sectionLength, idLength) = (Int(section), Int(id))
    guard (numbersLeft.count == 1) == isAtEndOfPage, let number = numbersLeft.popFirst() else {
      throw PageDamage("a page has other keys than its run counts")
    }
    self.number = number
    return true
  }

  private mutating func part(ofPage page: Int) throws(PageDamage) -> KeyDirectoryPart {
    if let part, part.pages.contains(page) { return part }
    let next = try set.part(set.directory.part(ofPage: page), keeps: false)
    part = next
    return next
  }

  /// Less than 0 if the key is before that of another cursor, 0 if they are equal.
  func order(_ other: KeyCursor) -> Int {
    key.withUnsafeBytes { key in other.key.withUnsafeBytes { key.order($0) } }
  }
}

/// Walks over all keys of a set, with everything that the run knows of them.
struct KeyRecordCursor: AscendingSource {
  private let set: KeySet
  private var keys: KeyCursor
  private var group = -1
  private var moments = KeyMoments()

  init(_ set: KeySet, page: Int = 0) { (self.set, keys) = (set, KeyCursor(set, page: page)) }

  /// Whether the next key is in another page.
  var isAtEndOfPage: Bool { keys.isAtEndOfPage }

  /// Goes to the next key. False at the end.
  mutating func next() throws(PageDamage) -> Bool {
    guard try keys.next() else { return false }
    if keys.group != group, let part = keys.part {
      (group, moments) = (keys.group, try set.moments(of: keys.group, in: part))
    }
    let isOdd = moments.moments(of: keys.number).count % 2 == 1
    guard moments.begin[keys.number] == keys.isAliveAtBegin,
      isOdd == (keys.isAliveAtBegin != keys.isAliveAtEnd)
    else { throw PageDamage("a page and a group of keys say different things of a key") }
    return true
  }

  /// Whether the key was there at the run's begin.
  var isAliveAtBegin: Bool { keys.isAliveAtBegin }

  /// The key with everything that the run knows of it.
  func record() -> KeyRecord {
    var record = KeyRecord()
    begin(&record)
    addMoments(to: &record)
    return record
  }

  /// Sets a record to the key, without moments.
  func begin(_ record: inout KeyRecord) {
    // A copy into the record's own bytes: those of the cursor change with the next key.
    record.key.removeAll(keepingCapacity: true)
    record.key.append(contentsOf: keys.key)
    (record.sectionLength, record.idLength, record.isAlive) = (
      keys.sectionLength, keys.idLength, isAliveAtBegin
    )
    record.moments.removeAll(keepingCapacity: true)
  }

  func addMoments(to record: inout KeyRecord) {
    record.moments.append(contentsOf: moments.moments(of: keys.number))
  }

  /// Less than 0 if the key is before that of another cursor, 0 if they are equal.
  func order(_ other: KeyRecordCursor) -> Int { keys.order(other.keys) }
}
