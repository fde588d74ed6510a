// One change of one key, on the path from the root to a leaf and back.

/// What a change did to a page.
enum EditOutcome {
  /// The page, which has a single owner, was changed in place.
  case inPlace
  /// `pieces[0]` replaces the page.
  case replaced
  /// Zero, two or three pieces replace the page.
  case restructured
}

/// The change, and what pages hand to their parents.
///
/// Pages are changed from the leaf upwards. Until a parent takes the new page, it still has the old one. So the tree
/// itself keeps alive everything that is read while new pages are written.
struct TreeEdit: ~Copyable {
  private let reads = PageReads()
  let layout: PageLayout
  let key: ByteRun
  var value: ByteRun
  /// The position of the key in its leaf.
  var slot = PageSlot(index: 0, isFound: false, hasPrefix: true)
  /// The leaf with that position. The cache may drop it before it is changed, and then the same entries are read again.
  private(set) var leaf: PageRef?
  /// The path to the key as child indices: four bits for each height, from height 1 to 16.
  private var path: UInt64 = 0
  /// The change in the number of entries.
  var delta = 0
  /// The pages that replace the changed page, each with an owned reference.
  var pieces: (PageRef?, PageRef?, PageRef?) = (nil, nil, nil)
  var pieceCount = 0
  /// The separators between the pieces.
  var separators: ([UInt8], [UInt8]) = ([], [])
  /// Whether the changed page should be joined with a neighbour.
  var isUnderfull = false
  /// The piece that should be joined with the neighbour next to it: 0 or the last.
  var smallPiece: Int?

  init(layout: PageLayout, key: ByteRun, value: ByteRun) {
    self.layout = layout
    self.key = key
    self.value = value
  }

  deinit { withExtendedLifetime(reads) {} }

  /// Finds the key and records the path to it. Lends its value, nil if the tree does not have the key.
  @inline(__always)
  mutating func find(in root: PageRef) -> UnsafeRawBufferPointer? {
    var page = root
    while !page.isLeaf {
      let index = page.childIndex(key)
      path = path << 4 | UInt64(truncatingIfNeeded: index)
      let child = page.link(index)
      child.prefetch()
      page = child.loaded
    }
    slot = page.find(key)
    leaf = page
    return slot.isFound ? page.value(slot.index) : nil
  }

  /// The index of the child that is on the path.
  @inline(__always)
  func childIndex(in page: PageRef) -> Int {
    guard page.height <= 16 else { return page.childIndex(key) }
    let index = Int(truncatingIfNeeded: path >> UInt64(truncatingIfNeeded: 4 * (page.height - 1)) & 15)
    assert(index == page.childIndex(key), "the recorded path does not lead to the key")
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
    assert(index < pieceCount, "a changed page has fewer pieces")
    return (index == 0 ? pieces.0 : index == 1 ? pieces.1 : pieces.2)!
  }

  /// Appends the pieces to a draft, with the given separator before the first piece.
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
