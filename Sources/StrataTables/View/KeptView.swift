// A view that is saved with its table: what makes it the same view in the next process.

internal import StrataBase

/// The name under which a view is saved, and what decides its content besides the rows.
package struct KeptView: Sendable, Hashable {
  package let name: String
  /// All that the program's request says, as text: the same in every process for the same request.
  package let identity: String
  /// The code that makes the keys: a view of another fingerprint is built again.
  package let fingerprint: UInt64

  /// Raised whenever Strata makes other keys of the same rows than before.
  private static let keyNumber = 3
  /// The same for lists whose keys the program's code makes.
  private static let programKeyNumber = 3

  /// - Parameter program: the type whose program makes the keys; nil if they depend on the rows' bytes alone. The result
  ///   is nil if nothing says which build of the program that is.
  package init?(name: String, identity: String, program: Any.Type?) {
    self.name = name
    self.identity = identity
    var code = "keys \(Self.keyNumber), Unicode \(CaseFolding.unicodeVersion)"
    if let program {
      guard let build = ProgramImage.identity(of: program) else { return nil }
      code += ", \(Self.programKeyNumber) in \(build)"
    }
    fingerprint = XXH64.of(Array(code.utf8))
  }

  package init(name: String, identity: String, fingerprint: UInt64) {
    self.name = name
    self.identity = identity
    self.fingerprint = fingerprint
  }
}

/// A view that was saved, before a list of this process asks for it.
package protocol SavedView: AnyObject, Sendable {
  var kept: KeptView { get }

  /// The view over the rows as they are now; nil if it is not the view of this definition, or cannot be read. Reads
  /// from disk. O(sections + changes since it was saved · log n).
  func view(_ definition: ViewDefinition, over now: Tree) -> View?
}

/// The trees of a view.
package struct ViewTrees: Sendable {
  /// One of the trees, by its number on disk.
  package enum Kind: Int, CaseIterable, Sendable {
    case items, sections, order, labels, values, problems, marks, drifts, keys
  }

  private var trees: [Kind: Tree] = [:]

  package init() {}

  /// Nil only for `keys`, which few views have.
  package subscript(_ kind: Kind) -> Tree? {
    get { trees[kind] }
    set { trees[kind] = newValue }
  }
}

extension View {
  /// A view as it was saved; nil if its trees do not belong together. O(sections · log): the items are only counted.
  package init?(_ definition: ViewDefinition, _ trees: ViewTrees) {
    self.init(empty: definition)
    guard let items = trees[.items], let sections = trees[.sections], let order = trees[.order],
      let labels = trees[.labels], let values = trees[.values], let problems = trees[.problems],
      let marks = trees[.marks], let drifts = trees[.drifts]
    else { return nil }
    (self.items, self.sections, self.order, self.labels) = (items, sections, order, labels)
    (self.values, self.problems, self.marks, self.drifts) = (values, problems, marks, drifts)
    keys = trees[.keys]
    guard order.count == (definition.isOrderedByKey ? 0 : sections.count),
      labels.count == (definition.holdsLabels ? sections.count : 0),
      values.count == (definition.holdsValues ? items.count : 0),
      keys.map({ $0.count == items.count }) ?? true,
      definition.declaredSections.allSatisfy({ $0.withUnsafeBytes { holds($0) } }),
      checkSections(withItems: false) == nil
    else { return nil }
  }

  package var trees: ViewTrees {
    var trees = ViewTrees()
    trees[.items] = items
    trees[.sections] = sections
    trees[.order] = order
    trees[.labels] = labels
    trees[.values] = values
    trees[.problems] = problems
    trees[.marks] = marks
    trees[.drifts] = drifts
    trees[.keys] = keys
    return trees
  }

  /// Lends each tree whose pages are read when they are looked into.
  mutating func forEachTree<Failure: Error>(
    _ body: (inout Tree, ViewTrees.Kind) throws(Failure) -> Void
  ) throws(Failure) {
    try body(&items, .items)
    try body(&values, .values)
    try body(&problems, .problems)
    try body(&marks, .marks)
    try body(&drifts, .drifts)
    if var tree = keys {
      keys = nil
      defer { keys = tree }
      try body(&tree, .keys)
    }
  }

  /// Follows the changes of its table's rows from one version to another. O(changes · log n).
  package mutating func catchUp(from old: Tree, to new: Tree) {
    var keys = ViewScratch()
    var differences = RowDifferences()
    while true {
      differences.read(from: old, to: new)
      while !differences.isDone {
        _ = differences.next(old, new) { id, old, new in keys.change(&self, id: id, from: old, to: new) }
      }
      if differences.isLast { break }
    }
  }
}

extension ViewTrees.Kind {
  package var pageSize: Int {
    switch self {
    case .items, .values, .marks, .keys: TreePages.view
    case .sections, .order, .labels: TreePages.sections
    case .problems, .drifts: Tree().pageSize
    }
  }

  /// Whether an entry is one that the tree may hold, as far as reading it relies on that.
  package func isValid(_ keyLength: Int, _ value: UnsafeRawBufferPointer, isCompared: Bool) -> Bool {
    func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int = 0) -> Int? {
      guard value.count >= offset + MemoryLayout<Number>.size else { return nil }
      return Int(exactly: Number(littleEndian: value.loadUnaligned(fromByteOffset: offset, as: type)))
    }
    switch self {
    case .items, .values:
      guard value.count == 4, let section = number(UInt16.self), let id = number(UInt16.self, at: 2) else {
        return false
      }
      return section + id <= keyLength
    case .sections: return value.count == 8 && number(UInt64.self).map { $0 <= Int(UInt32.max) } ?? false
    case .order:
      guard value.count == 4, let length = number(UInt32.self) else { return false }
      return length <= keyLength && (!isCompared || length >= MemoryLayout<View.Label>.size)
    case .labels: return !isCompared || value.count == MemoryLayout<View.Label>.size
    case .marks: return keyLength == 8 && value.count == 4
    case .keys:
      guard let section = number(UInt16.self), let key = number(UInt16.self, at: 2) else { return false }
      return 4 + key <= value.count && section + keyLength <= key
    case .problems, .drifts: return true
    }
  }
}

extension ViewTrees.Kind {
  /// Whether a tree of this kind is read whole when its view is opened: it has few entries, and each is compared with
  /// the others before the view is used.
  package var isReadWhole: Bool {
    switch self {
    case .sections, .order, .labels: true
    case .items, .values, .problems, .marks, .drifts, .keys: false
    }
  }

  /// What an entry of a tree of this kind must satisfy.
  package func check(isCompared: Bool) -> EntryCheck {
    { keyLength, value in isValid(keyLength, value, isCompared: isCompared) }
  }
}
