// Declared sections are shown wherever the window is: all windows over all orders of sections, one by one.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables
internal import Testing

@Suite struct DeclaredWindowTests {
  private static let sections = ["a", "b", "c", "d", "e", "f"]
  private static let declared = ["a", "b", "bb", "e"]

  private static func key(_ section: String) -> [UInt8] {
    var writer = SortKeyWriter()
    writer.append(section)
    return writer.bytes
  }

  /// A table of six sections with one to three rows each, and a view in which some are declared, one of them without
  /// rows.
  private func fixture(_ order: SectionOrder, isDeclaring: Bool = true) throws -> (Table, View) {
    var set = TableSet()
    let scratch = FoldScratch()
    var sequence: UInt64 = 0
    for (place, section) in Self.sections.enumerated() {
      for row in 0..<1 + place % 3 {
        sequence += 1
        let document = DocumentValue.object(["s": .string(section)]).cbor()
        let id = Array("\(section)\(row)".utf8)
        id.withUnsafeBytes { id in
          document.withUnsafeBytes { document in
            set.withTable("t") {
              $0.put(id: id, document: document, at: Stamp(sequence: sequence, time: 0), scratch)
            }
          }
        }
      }
    }
    let list = try ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["s"])).compiled {
      (row) throws(RowProblem) in try DocumentRow(row)
    }
    let definition = ViewDefinition(
      identity: ViewIdentity("declared"), sectionOrder: order,
      declared: isDeclaring ? Self.declared.map(Self.key) : [], place: list.definition.place)
    return (set["t"], View(definition, of: set["t"]))
  }

  private func version(_ table: Table, _ view: View, _ window: ListWindows) -> ListVersion {
    ListVersion(table: table, view: view, window: window, isSectioned: true, sequence: 9, time: nil)
  }

  /// What a window must show of a whole list, found by counting.
  private func expected(_ whole: ModelList, _ window: ListWindows, _ declared: [String]) -> ModelList {
    var list = whole
    for place in list.sections.indices {
      list.sections[place].items = ModelList.cut(list.sections[place].items, window.section)
    }
    let all = list.sections.indices.flatMap { place in list.sections[place].items.map { (place, $0) } }
    for place in list.sections.indices { list.sections[place].items = [] }
    for (place, item) in ModelList.cut(all, window.list) { list.sections[place].items.append(item) }
    list.sections.removeAll { section in
      section.items.isEmpty && !declared.contains { section.value == .string($0) }
    }
    return list
  }

  @Test(arguments: [SectionOrder.key, .keyDescending, .list([key("d"), key("a")]), .first, .count])
  func
    `R44 A declared section is shown where the window shows none of it, and every window is what counting gives`(
      order: SectionOrder
    ) throws
  {
    for isDeclaring in [true, false] {
      let (table, view) = try fixture(order, isDeclaring: isDeclaring)
      let declared = isDeclaring ? Self.declared : []
      let whole = ModelList(version(table, view, .all))
      var previous = version(table, view, .all)
      for own in [ListWindow.all, .first(1), .last(2), .first(2, after: 1), .first(0)] {
        for offset in 0..<14 {
          for (length, pin) in [
            (4, ListWindow.Pin.beginning), (4, .end), (1, .end), (nil, .beginning), (0, .end),
          ] {
            let window = ListWindows(list: ListWindow(length: length, offset: offset, pin: pin), section: own)
            let list = version(table, view, window)
            let shown = ModelList(list)
            #expect(shown == expected(whole, window, declared), "\(window)")
            #expect(list.itemCount == shown.sections.reduce(0) { $0 + $1.items.count })
            var count = 0
            for (place, section) in shown.sections.enumerated() {
              let text = if case .string(let text) = section.value { text } else { "" }
              #expect(Self.key(text).withUnsafeBytes { list.index(ofSection: $0) } == place)
              #expect(list.offset(ofSectionAt: place) == count, "\(window) \(place)")
              for item in section.items.indices {
                #expect(list.position(atOffset: count) == ListIndex(section: place, item: item))
                count += 1
              }
            }
            // From each window to the next.
            let before = ModelList(previous)
            #expect(
              try before.applying(ListDiff(from: previous, to: list), toward: shown) == shown, "\(window)")
            previous = list
          }
        }
      }
    }
  }

  @Test
  func `R44 A declared section keeps its place on either side of the window`() throws {
    let (table, view) = try fixture(.key)
    // Of a, bb, ccc, d, ee, fff: the c's.
    let list = version(table, view, ListWindows(list: .first(3, after: 3)))
    #expect(ModelList(list).sections.map(\.value) == ["a", "b", "bb", "c", "e"])
    #expect(ModelList(list).sections.map(\.items.count) == [0, 0, 0, 3, 0])
    #expect(ModelList(list).sections.map(\.count) == [1, 2, 0, 3, 2])
  }
}
