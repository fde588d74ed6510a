// One change of one key on its way from the root to a leaf and back.

/// What became of a page.
enum EditOutcome {
  /// The page, which nobody else has, was changed where it is.
  case inPlace
  /// `pieces[0]` takes its place.
  case replaced
  /// None, two or three pieces take its place.
  case restructured
}

/// The change, and what the pages hand to their parents.
///
/// Pages are changed from the leaf upwards. Until a parent takes the new page in, the old one is still where
/// it was, so everything that is read while new pages are written is kept alive by the tree itself.
struct TreeEdit {
  let layout: PageLayout
  let key: ByteRun
  var value: ByteRun
  /// The place of the key in its leaf.
  var place = PagePlace(index: 0, isFound: false, hasPrefix: true)
  /// Which child it is under: four bits for each height, from height 1 to 16.
  private var path: UInt64 = 0
  /// Entries more or less.
  var delta = 0
  /// The pages that take the place of the one that was changed, each with a reference.
  var pieces: (PageRef?, PageRef?, PageRef?) = (nil, nil, nil)
  var pieceCount = 0
  /// What separates the pieces.
  var separators: ([UInt8], [UInt8]) = ([], [])
  /// True where the page that was changed should be joined with a neighbour.
  var isUnderfull = false
  /// The piece that should be joined with the neighbour beyond it: 0 or the last.
  var smallPiece: Int?

  init(layout: PageLayout, key: ByteRun, value: ByteRun) {
    self.layout = layout
    self.key = key
    self.value = value
  }

  /// Finds the key and the way to it. Lends its value, nil where it is not there.
  @inline(__always)
  mutating func find(in root: PageRef) -> UnsafeRawBufferPointer? {
    var page = root
    while !page.isLeaf {
      let index = page.childIndex(key)
      path = path << 4 | UInt64(truncatingIfNeeded: index)
      page = page.children[index]
      page.prefetch()
    }
    place = page.find(key)
    return place.isFound ? page.value(place.index) : nil
  }

  /// The child of an inner page that is on the way.
  @inline(__always)
  func childIndex(in page: PageRef) -> Int {
    guard page.height <= 16 else { return page.childIndex(key) }
    let index = Int(truncatingIfNeeded: path >> UInt64(truncatingIfNeeded: 4 * (page.height - 1)) & 15)
    assert(index == page.childIndex(key), "the way that was noted is not that to the key")
    return index
  }

  mutating func hand(_ page: PageRef) -> EditOutcome {
    pieces = (page, nil, nil)
    pieceCount = 1
    return .replaced
  }

  mutating func hand(_ left: PageRef, _ separator: [UInt8], _ right: PageRef) -> EditOutcome {
    assert(left.height == right.height, "a page is split into two of different heights")
    pieces = (left, right, nil)
    separators = (separator, [])
    pieceCount = 2
    return .restructured
  }

  mutating func handNothing() -> EditOutcome {
    pieceCount = 0
    return .restructured
  }

  func piece(_ index: Int) -> PageRef {
    assert(index < pieceCount, "a page that was changed has fewer pieces")
    return (index == 0 ? pieces.0 : index == 1 ? pieces.1 : pieces.2)!
  }

  /// Appends the pieces to a draft; the first one behind the given separator.
  mutating func append(to draft: inout InnerDraft, separator: ByteRun) {
    for index in 0..<pieceCount {
      guard index > 0 else {
        draft.append(owned: piece(0), separator: separator)
        continue
      }
      let bytes = index == 1 ? separators.0 : separators.1
      bytes.withUnsafeBytes { draft.append(owned: piece(index), separator: ByteRun($0)) }
    }
  }
}

/// The separator between two neighbouring leaves.
func separator(between left: PageRef, _ right: PageRef) -> [UInt8] {
  var leftKey = KeyBuffer()
  var rightKey = KeyBuffer()
  return Array(
    shortestSeparator(leftKey.key(of: left, left.count - 1), rightKey.key(of: right, 0)).buffer)
}
