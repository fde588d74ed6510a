// A snapshot as a value: one test for each rule of its vocabulary.

internal import Foundation
@testable internal import StrataLists
@testable internal import StrataViews
internal import Testing

@Suite struct DiffableRuleTests {
  private typealias Snapshot = DiffableSnapshot<Int, String>

  private let three = DiffableSnapshot<Int, String>(sections: [("a", [0, 1, 2]), ("b", [3, 4]), ("c", [])])

  /// The error of calls that are attempted on a copy, after a check that they changed nothing.
  private func failure(_ snapshot: Snapshot, _ body: (inout Snapshot) -> Void) -> DiffableSnapshotError? {
    var copy = snapshot
    do throws(DiffableSnapshotError) { try copy.attempt(body) } catch {
      #expect(copy == snapshot, "\(error)")
      #expect(copy.reloadedItemIdentifiers == snapshot.reloadedItemIdentifiers)
      #expect(copy.reconfiguredItemIdentifiers == snapshot.reconfiguredItemIdentifiers)
      for item in copy.itemIdentifiers { #expect(copy.index(of: item) == snapshot.index(of: item)) }
      return error
    }
    return nil
  }

  private func changed(_ body: (inout Snapshot) -> Void) -> String {
    var copy = three
    body(&copy)
    return copy.description
  }

  @Test
  func `R1 To change a copy leaves the original as it is, also where both were looked at before`() {
    #expect(three.indexOfItem(4) == 4)
    var copy = three
    copy.deleteItems([0])
    copy.appendItems([9], toSection: "b")
    copy.deleteSections(["c"])
    copy.reloadItems([1])
    #expect(three.description == "a: 0, 1, 2 | b: 3, 4 | c: ")
    #expect(copy.description == "a: 1, 2 | b: 3, 4, 9")
    #expect(three.indexOfItem(4) == 4)
    #expect(copy.indexOfItem(4) == 3)
    #expect(three.contains(0) && !three.contains(9) && three.contains(section: "c"))
    #expect(three.reloadedItemIdentifiers == [])
  }

  @Test
  func `R2 The counts are those of the identifiers, and these the sections' one after the other`() {
    #expect(three.numberOfItems == 5 && three.numberOfSections == 3)
    #expect(three.itemIdentifiers == [0, 1, 2, 3, 4])
    #expect(three.sectionIdentifiers == ["a", "b", "c"])
    #expect(
      three.sectionIdentifiers.flatMap { three.itemIdentifiers(inSection: $0) } == three.itemIdentifiers)
    #expect(three.sectionIdentifiers.map { three.numberOfItems(inSection: $0) } == [3, 2, 0])
    #expect(!three.isEmpty && Snapshot().isEmpty && Snapshot(sections: [("a", [])]).isEmpty)
  }

  @Test
  func `R3 A lookup of what is absent gives nil, and of what is there its place among all`() {
    #expect(three.indexOfItem(3) == 3 && three.indexOfItem(9) == nil)
    #expect(three.index(of: 3) == ListIndex(section: 1, item: 0) && three.index(of: 9) == nil)
    #expect(three.indexOfSection("b") == 1 && three.indexOfSection("z") == nil)
    #expect(three.sectionIdentifier(containingItem: 4) == "b")
    #expect(three.sectionIdentifier(containingItem: 9) == nil)
    #expect(three.sectionIdentifier(at: 2) == "c")
    #expect(three.itemIdentifiers(inSection: "z") == [] && three.numberOfItems(inSection: "z") == 0)
  }

  @Test
  func
    `R4 Items without a section go to the last one; without any section, or to an unknown one, they throw`()
  {
    #expect(changed { $0.appendItems([7, 8]) } == "a: 0, 1, 2 | b: 3, 4 | c: 7, 8")
    #expect(changed { $0.appendItems([7], toSection: "a") } == "a: 0, 1, 2, 7 | b: 3, 4 | c: ")
    #expect(
      failure(Snapshot()) { $0.appendItems([1]) }
        == .noSections)
    #expect(
      failure(three) { $0.appendItems([1], toSection: "z") }
        == .unknownSection("z"))
  }

  @Test
  func `R4 The form that does not throw stops the program`() async {
    await #expect(processExitsWith: .failure) {
      var snapshot = DiffableSnapshot<Int, String>()
      snapshot.appendItems([1])
    }
    await #expect(processExitsWith: .failure) { _ = DiffableSnapshot(sections: [("a", [1, 1])]) }
    // A copy that outlives its attempt.
    await #expect(processExitsWith: .failure) {
      var snapshot = DiffableSnapshot<Int, String>()
      var copy = snapshot
      try snapshot.attempt { copy = $0 }
      copy.appendItems([1])
    }
  }

  @Test
  func `R4 An attempt makes all of its changes or none, and throws its first error`() throws {
    var seen = ""
    let error = failure(three) { snapshot in
      snapshot.deleteSections(["b"])
      snapshot.reloadItems([1])
      snapshot.appendItems([9, 0, 9])
      seen = "\(snapshot), 2 at \(snapshot.indexOfItem(2) ?? -1)"
      snapshot.moveItem(0, afterItem: 7)
    }
    // The invalid call changed nothing.
    #expect(seen == "a: 0, 1, 2 | c: , 2 at 2")
    #expect(error == .duplicateItem("9"))
    var copy = three
    try copy.attempt { snapshot throws(DiffableSnapshotError) in
      snapshot.deleteItems([0])
      snapshot.moveItem(1, afterItem: 4)
      try snapshot.attempt { $0.reloadItems([1]) }
    }
    #expect(copy.description == "a: 2 | b: 3, 4, 1 | c: " && copy.reloadedItemIdentifiers == [1])
    #expect(throws: DiffableSnapshotError.unknownItem("9")) {
      try copy.attempt { snapshot throws(DiffableSnapshotError) in
        snapshot.deleteAllItems()
        try snapshot.attempt { $0.reloadItems([9]) }
      }
    }
    // The changes move an item that is deleted by then.
    let changes = three.difference(from: copy)
    #expect(throws: DiffableSnapshotError.self) {
      try copy.attempt { snapshot throws(DiffableSnapshotError) in
        snapshot.deleteItems([1])
        try snapshot.apply(changes)
      }
    }
    #expect(copy.description == "a: 2 | b: 3, 4, 1 | c: " && copy.indexOfItem(1) == 3)
  }

  @Test
  func `R5 To append or insert nothing does nothing`() {
    let same = three.description
    #expect(changed { $0.appendItems([]) } == same)
    #expect(changed { $0.appendSections([]) } == same)
    #expect(changed { $0.insertItems([], beforeItem: 1) } == same)
    #expect(changed { $0.insertItems([], afterItem: 1) } == same)
    #expect(changed { $0.insertSections([], beforeSection: "b") } == same)
    #expect(changed { $0.insertSections([], afterSection: "b") } == same)
  }

  @Test
  func `R6 What is inserted stands directly before or after, together and in its order`() {
    #expect(changed { $0.insertItems([8, 7], beforeItem: 1) } == "a: 0, 8, 7, 1, 2 | b: 3, 4 | c: ")
    #expect(changed { $0.insertItems([8, 7], afterItem: 4) } == "a: 0, 1, 2 | b: 3, 4, 8, 7 | c: ")
    #expect(
      changed { $0.insertSections(["y", "x"], beforeSection: "b") }
        == "a: 0, 1, 2 | y:  | x:  | b: 3, 4 | c: ")
    #expect(
      changed { $0.insertSections(["y", "x"], afterSection: "b") } == "a: 0, 1, 2 | b: 3, 4 | y:  | x:  | c: "
    )
  }

  @Test
  func `R7 To delete what is unknown does nothing, and what is named twice is deleted once`() {
    #expect(changed { $0.deleteItems([3, 100, 3, 0]) } == "a: 1, 2 | b: 4 | c: ")
    var copy = three
    copy.reloadItems([3, 0])
    copy.reloadSections(["b"])
    copy.deleteSections(["b", "z", "b"])
    #expect(copy.numberOfSections == 2 && copy.numberOfItems == 3)
    #expect(!copy.contains(3) && copy.sectionIdentifier(containingItem: 3) == nil)
    #expect(copy.reloadedItemIdentifiers == [0] && copy.reloadedSectionIdentifiers == [])
    copy.appendSections(["b"])
    copy.appendItems([3])
    #expect(copy.reloadedItemIdentifiers == [0] && copy.reloadedSectionIdentifiers == [])
    copy.deleteAllItems()
    #expect(copy.description == "a:  | c:  | b: " && copy.reloadedItemIdentifiers == [])
    copy.appendItems([0], toSection: "a")
    #expect(copy.description == "a: 0 | c:  | b: ")
  }

  @Test
  func `R8 An item moves across sections, not at all before itself, and an unknown one moves nothing`() {
    #expect(changed { $0.moveItem(4, beforeItem: 1) } == "a: 0, 4, 1, 2 | b: 3 | c: ")
    #expect(changed { $0.moveItem(0, afterItem: 2) } == "a: 1, 2, 0 | b: 3, 4 | c: ")
    #expect(changed { $0.moveItem(1, beforeItem: 1) } == three.description)
    #expect(changed { $0.moveItem(1, afterItem: 1) } == three.description)
    for (item, other) in [(9, 1), (1, 9), (9, 9)] {
      #expect(
        failure(three) { $0.moveItem(item, beforeItem: other) }
          == .unknownItem("9"))
      #expect(
        failure(three) { $0.moveItem(item, afterItem: other) }
          == .unknownItem("9"))
    }
  }

  @Test
  func `R9 A section moves with its items and marks`() {
    var sections = DiffableSnapshot<Int, Int>(sections: [(0, [10]), (1, []), (2, [12])])
    sections.reloadItems([10])
    sections.reloadSections([0])
    var copy = sections
    copy.moveSection(0, beforeSection: 2)
    #expect(copy.sectionIdentifiers == [1, 0, 2])
    #expect(copy.itemIdentifiers(inSection: 0) == [10] && copy.indexOfItem(12) == 1)
    #expect(copy.reloadedItemIdentifiers == [10] && copy.reloadedSectionIdentifiers == [0])
    copy = sections
    copy.moveSection(0, afterSection: 2)
    #expect(copy.sectionIdentifiers == [1, 2, 0] && copy.itemIdentifiers == [12, 10])
    copy = sections
    copy.moveSection(1, beforeSection: 2)
    copy.moveSection(1, afterSection: 1)
    #expect(copy == sections)
    #expect(throws: DiffableSnapshotError.unknownSection("9")) {
      try copy.attempt { $0.moveSection(9, beforeSection: 9) }
    }
    #expect(throws: DiffableSnapshotError.unknownSection("9")) {
      try copy.attempt { $0.moveSection(1, afterSection: 9) }
    }
    #expect(copy == sections)
  }

  @Test
  func `R10 What is named twice in a call is an error, and what is there already moves into its place`() {
    #expect(changed { $0.appendItems([1, 9, 3], toSection: "c") } == "a: 0, 2 | b: 4 | c: 1, 9, 3")
    #expect(changed { $0.insertItems([4, 2], beforeItem: 1) } == "a: 0, 4, 2, 1 | b: 3 | c: ")
    #expect(changed { $0.insertItems([0, 1, 3], afterItem: 1) } == "a: 0, 1, 3, 2 | b: 4 | c: ")
    #expect(changed { $0.appendSections(["a", "d"]) } == "b: 3, 4 | c:  | a: 0, 1, 2 | d: ")
    #expect(changed { $0.replaceItems(in: "a", with: [3, 1, 9]) } == "a: 3, 1, 9 | b: 4 | c: ")
    #expect(
      failure(three) { $0.appendItems([9, 0, 4, 9]) }
        == .duplicateItem("9"))
    #expect(
      failure(three) { $0.insertItems([3, 3], beforeItem: 0) }
        == .duplicateItem("3"))
    #expect(
      failure(three) { $0.appendSections(["x", "a", "x"]) }
        == .duplicateSection("x"))
    #expect(throws: DiffableSnapshotError.duplicateItem("1")) {
      try Snapshot(validating: [("a", [1]), ("b", [1])])
    }
    #expect(throws: DiffableSnapshotError.duplicateSection("a")) {
      try Snapshot(validating: [("a", [1]), ("a", [2])])
    }
  }

  @Test
  func
    `R11 A mark on an absent item is an error, one on an absent section is ignored, and none changes an order`()
  {
    #expect(
      failure(three) { $0.reloadItems([0, 9]) }
        == .unknownItem("9"))
    #expect(
      failure(three) { $0.reconfigureItems([0, 9]) }
        == .unknownItem("9"))
    var copy = three
    copy.reloadSections(["z", "b", "a"])
    copy.reloadItems([3, 0])
    copy.reconfigureItems([4, 2])
    #expect(copy.description == three.description && copy.numberOfItems == 5)
    #expect(copy.reloadedSectionIdentifiers == ["a", "b"])
    #expect(copy.reloadedItemIdentifiers == [0, 3] && copy.reconfiguredItemIdentifiers == [2, 4])
    copy.removeMarks()
    #expect(copy.reloadedItemIdentifiers + copy.reconfiguredItemIdentifiers == [])
    #expect(copy.reloadedSectionIdentifiers == [])
  }

  @Test
  func `R13 Snapshots are equal where their structure is, also by hash, and survive being coded`() throws {
    var marked = three
    marked.reloadItems([3, 1])
    marked.reconfigureItems([0])
    marked.reloadSections(["b"])
    #expect(marked == three && Set([marked, three]).count == 1)
    var other = three
    other.moveItem(0, afterItem: 1)
    #expect(other != three)
    other.moveItem(0, beforeItem: 1)
    // Built in another way, with other slots.
    other.deleteSections(["a"])
    other.insertSections(["a"], beforeSection: "b")
    other.appendItems([0, 1, 2], toSection: "a")
    #expect(other == three && other.hashValue == three.hashValue)
    #expect(Snapshot(sections: [("a", [1])]) != Snapshot(sections: [("a", []), ("b", [1])]))
    let decoded = try JSONDecoder().decode(Snapshot.self, from: JSONEncoder().encode(marked))
    #expect(decoded == marked && decoded.indexOfItem(4) == 4)
    #expect(decoded.reloadedItemIdentifiers == [1, 3] && decoded.reconfiguredItemIdentifiers == [0])
    #expect(decoded.reloadedSectionIdentifiers == ["b"])
  }

  @Test(arguments: [
    #"{"sections":[{"id":"a","items":[1,1]}]}"#,
    #"{"sections":[{"id":"a","items":[1]},{"id":"b","items":[1]}]}"#,
    #"{"sections":[{"id":"a","items":[]},{"id":"a","items":[]}]}"#,
    #"{"sections":[{"id":"a","items":[1]}],"reloadedItems":[2]}"#,
    #"{"sections":[{"id":"a","items":[1]}],"reloadedItems":[1],"reconfiguredItems":[1]}"#,
    #"{"sections":[{"id":"a","items":[1]}],"reconfiguredItems":[1,1]}"#,
    #"{"sections":[{"id":"a","items":[1]}],"reloadedSections":["b"]}"#,
    #"{"sections":[{"id":"a","items":[1]}],"reloadedSections":["a","a"]}"#,
    #"{"sections":[{"id":"a","items":"1"}]}"#, #"{"sections":[{"id":"a"}]}"#, "{}", "[]", "7",
  ])
  func `R13 Bytes that name something twice do not decode`(_ text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Snapshot.self, from: Data(text.utf8)) }
  }

  @Test
  func `R13 An error says what, where, and what to do next`() {
    #expect(
      "\(DiffableSnapshotError.unknownItem("9"))".contains("the item 9 is not in the snapshot; append it"))
    #expect(
      "\(DiffableSnapshotError.identifiersCollide("é", "e\u{301}"))".contains(#""\u{00E9}" and "e\u{0301}""#))
    #expect("\(DiffableSnapshotError.identifiersCollide("nan", "nan"))".contains("not equal to itself"))
  }
}
