// The invariants between a table's rows and its views.

extension Table {
  /// Asserts invariants after each change of a row: the number of rows in each view, and all of them if a test enables
  /// that.
  func assertAgreement() {
    for view in views {
      assert(view.count <= rows.count, "a view shows more rows than its table has")
      assert(view.problems.count <= rows.count, "a view reports more rows than its table has")
    }
    assert(!TreeCheck.isOn || checkInvariants() == nil, checkInvariants() ?? "")
  }

  /// Checks every row and every view. Returns a sentence about the first broken invariant, nil if all hold. O(n log n).
  package func checkInvariants() -> String? {
    for tree in [rows, problems] {
      if let sentence = tree.checkInvariants() { return sentence }
    }
    for view in views {
      if let sentence = view.checkInvariants() { return sentence }
      var isOfRow = true
      view.forEachItem(in: 0..<view.count) { if !rows.contains($0.id) { isOfRow = false } }
      if !isOfRow { return "a view shows a row that its table does not have" }
      var leftOut = 0
      view.problems.forEach(in: 0..<view.problems.count) { _, what in
        if !RowProblem.isOfShownRow(what) { leftOut += 1 }
      }
      if leftOut + view.count > rows.count { return "a view shows a row that it leaves out" }
    }
    return nil
  }
}
