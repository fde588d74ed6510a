// A view: the rows of a table in sections and in order, held by two trees that change together.

/// Items under section ‖ sort keys ‖ id, and sections in their order. A value, as tables are.
///
/// The position of an item is the rank of its section, and its rank after the first key of that section. Moving a
/// section changes one entry of the small tree, however many items the section holds.
package struct View: Sendable {
  package let definition: ViewDefinition
  /// Section ‖ sort keys ‖ id → the lengths of section and id, two little-endian bytes each.
  package internal(set) var items: Tree
  /// Section → the number of its items, eight little-endian bytes. Declared sections are always in this tree.
  package internal(set) var sections: Tree
  /// Order key ‖ section → the length of the order key. Empty if sections are ordered by key.
  var order: Tree
  /// Section → the label that was made for its order when it appeared. Empty unless sections are ranked or compared.
  var labels: Tree
  /// Section ‖ value ‖ id → the lengths of section and id. Empty unless sections are ordered by a value of their items.
  package var values: Tree
  /// Row id → why the row is not shown, or that its key was shortened, as UTF-8.
  package internal(set) var problems: Tree
  /// The lineage of states that this view belongs to; nil unless the program's code may have built another view of the
  /// same rows in another lineage.
  var build: ViewBuild?
  /// The hash of a shown row's id → the number of shown rows with it. Kept if the program's code decides what is shown.
  var marks: Tree
  /// Row id → where the view has the row: see `ItemRecord`. Nil until the program's code is seen to make another key of
  /// an unchanged row.
  var keys: Tree?
  /// Row id → what changed although the row did not, as UTF-8. Only for rows without a problem.
  package internal(set) var drifts: Tree
  /// What the view took of the current step of a fold, and whether that was more than it may.
  var spending = ViewMeter.Spending()
  var isLeaving = false
  /// What runs know of the items, if the view is of a state of the past. The trees may have changed since.
  package var past: (any CountedItems)?

  /// The view of an empty table, which holds the declared sections. O(declared sections × log).
  package init(_ definition: ViewDefinition) {
    self.init(empty: definition)
    addDeclaredSections()
  }

  /// The view without its declared sections.
  package init(empty definition: ViewDefinition) {
    self.definition = definition
    items = Tree(pageSize: TreePages.view)
    sections = Tree(pageSize: TreePages.sections)
    order = Tree(pageSize: TreePages.sections)
    labels = Tree(pageSize: TreePages.sections)
    values = Tree(pageSize: TreePages.view)
    problems = Tree()
    build = definition.holdsLabels || definition.calls != .none ? ViewBuild() : nil
    marks = Tree(pageSize: TreePages.view)
    drifts = Tree()
  }

  /// Adds the declared sections that hold no items.
  package mutating func addDeclaredSections() {
    for section in definition.declaredSections {
      section.withUnsafeBytes { section in
        guard !holds(section) else { return }
        setCount(0, of: section)
        insertOrder(of: section)
      }
    }
  }

  /// The number of items in all sections.
  package var count: Int { items.count }
  /// The number of sections with items, plus the declared sections without items.
  package var sectionCount: Int { sections.count }
}

// MARK: Changing

extension View {
  /// Moves a row from its position to another. Equal keys leave the view unchanged.
  ///
  /// - Parameter old: the key of the previous row, as the functions of the request compute it now.
  mutating func change(id: UnsafeRawBufferPointer, from old: PlacedKey, to new: PlacedKey) {
    defer { assertAgreement() }
    if definition.calls != .none { return changeRecorded(id: id, from: old, to: new) }
    if old.report != nil || new.report != nil, old.report != new.report { note(new.report, for: id) }
    move(id: id, from: old, to: new)
  }

  /// Moves a row from the position that it has in the view to another.
  mutating func move(id: UnsafeRawBufferPointer, from old: PlacedKey, to new: PlacedKey) {
    guard old.isShown || new.isShown else { return }
    let holdsValues = definition.holdsValues
    old.bytes.withUnsafeBytes { oldBytes in
      new.bytes.withUnsafeBytes { newBytes in
        let oldItem = old.isShown ? oldBytes : nil
        let newItem = new.isShown ? newBytes : nil
        let oldSection = oldItem.map { UnsafeRawBufferPointer(rebasing: $0[..<old.sectionLength]) }
        let newSection = newItem.map { UnsafeRawBufferPointer(rebasing: $0[..<new.sectionLength]) }
        if let oldItem, let newItem, oldItem.hasSameBytes(as: newItem) {
          if holdsValues, let oldSection { replaceValue(in: oldSection, id, old.value, new.value) }
          return
        }
        let isSameSection = oldSection.flatMap { old in newSection.map { $0.hasSameBytes(as: old) } } ?? false
        if isSameSection, let oldSection, let oldItem, let newItem {
          let before = beginChange(of: oldSection)
          removeItem(oldItem)
          insertItem(newItem, new)
          if holdsValues {
            removeValue(in: oldSection, id, old.value)
            insertValue(in: oldSection, id, new.value)
          }
          return endChange(of: oldSection, before, by: 0)
        }
        if let oldSection, let oldItem {
          let before = beginChange(of: oldSection)
          removeItem(oldItem)
          if holdsValues { removeValue(in: oldSection, id, old.value) }
          endChange(of: oldSection, before, by: -1)
        }
        if let newSection, let newItem {
          let before = beginChange(of: newSection)
          insertItem(newItem, new)
          if holdsValues { insertValue(in: newSection, id, new.value) }
          endChange(of: newSection, before, by: 1)
        }
      }
    }
  }

  private mutating func removeItem(_ key: UnsafeRawBufferPointer) {
    let exists = items.remove(key)
    assert(exists, "a view does not hold a row that it shows")
  }

  private mutating func insertItem(_ key: UnsafeRawBufferPointer, _ placed: borrowing PlacedKey) {
    var lengths = ItemKey.lengths(section: placed.sectionLength, id: placed.idLength)
    let isNew = withUnsafeBytes(of: &lengths) { items.set(key, $0) }
    assert(isNew, "a view holds a row twice")
  }

  /// The order key of a section before its items change; nil if its order does not depend on items, or the view does
  /// not hold it.
  @inline(__always)
  func beginChange(of section: UnsafeRawBufferPointer) -> [UInt8]? {
    guard definition.dependsOnItems, holds(section) else { return nil }
    return orderKey(of: section)
  }

  /// Updates a section's count and order after a change of its items.
  @inline(__always)
  mutating func endChange(of section: UnsafeRawBufferPointer, _ old: [UInt8]?, by difference: Int) {
    let isDependent = definition.dependsOnItems
    guard difference != 0 || isDependent else { return }
    let change = difference == 0 ? (isNew: false, isGone: false) : addItems(difference, to: section)
    guard isDependent else {
      if change.isNew { insertOrder(of: section) }
      if change.isGone { removeOrder(of: section) }
      return
    }
    moveOrder(of: section, from: old, to: change.isGone ? nil : orderKey(of: section))
  }

  /// Not inlined: the optimizer of Swift 6.3 fails on the two optionals if it knows that a change is none.
  @inline(never)
  private mutating func moveOrder(of section: UnsafeRawBufferPointer, from old: [UInt8]?, to new: [UInt8]?) {
    if old == new { return }
    if let old { removeOrder(old) }
    if let new { setOrder(new, of: section) }
  }

  /// Adjusts the item count of a section, in one descent of the tree unless the section is removed.
  mutating func addItems(
    _ difference: Int, to section: UnsafeRawBufferPointer
  ) -> (isNew: Bool, isGone: Bool) {
    var before: Int?
    var count: UInt64 = 0
    withUnsafeMutableBytes(of: &count) { count in
      _ = sections.set(section, UnsafeRawBufferPointer(count)) { old in
        before = old.map { Int(UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))) }
        assert((before ?? 0) + difference >= 0, "a section's item count is below zero")
        count.storeBytes(of: UInt64((before ?? 0) + difference).littleEndian, as: UInt64.self)
        return (before ?? 0) + difference > 0
      }
    }
    guard (before ?? 0) + difference == 0 else { return (before == nil, false) }
    if isDeclared(section) {
      setCount(0, of: section)
      return (false, false)
    }
    sections.remove(section)
    return (false, true)
  }

  mutating func setCount(_ count: Int, of section: UnsafeRawBufferPointer) {
    var count = UInt64(count).littleEndian
    withUnsafeBytes(of: &count) { _ = sections.set(section, $0) }
  }

  mutating func note(_ problem: RowProblem?, for id: UnsafeRawBufferPointer) {
    guard var what = problem?.what else {
      problems.remove(id)
      return
    }
    what.withUTF8 { text in _ = problems.set(id, UnsafeRawBufferPointer(text)) }
  }
}
