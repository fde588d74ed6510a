// What the views of a table promise of its rows.

extension Table {
  /// Asserts what holds after each change of a row: how many rows the views show, and where a test wants it, which.
  func assertAgreement() {
    for view in views {
      assert(view.count <= rows.count, "a view shows more rows than its table has")
      assert(view.problems.count + view.count <= rows.count, "a view shows a row that it has a problem with")
    }
    assert(!TreeCheck.isOn || checkInvariants() == nil, checkInvariants() ?? "")
  }

  /// Looks at every row and every view. A sentence about the first law that is broken, nil where none is. O(n log n).
  package func checkInvariants() -> String? {
    for tree in [rows, problems] {
      if let sentence = tree.checkInvariants() { return sentence }
    }
    for view in views {
      if let sentence = view.checkInvariants() { return sentence }
      var isOfRow = true
      view.forEachItem(in: 0..<view.count) { if !rows.contains($0.id) { isOfRow = false } }
      if !isOfRow { return "a view shows a row that its table does not have" }
    }
    return nil
  }
}
