// Views in every order of sections: a view that is built at once equals one that changes have built.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct ViewOrderTests {
  /// A document is `s ‖ value`: its first byte is the section, 0 for nil, its last the value, 0 for nil.
  private static func definition(_ name: String, _ order: SectionOrder, nilsLast: Bool = false)
    -> ViewDefinition
  {
    let declared: [Int?] = name.hasSuffix("declared") ? [nil, 3, 77] : []
    return ViewDefinition(
      identity: ViewIdentity(name), sectionOrder: order, areNilsLast: nilsLast, declared: declared.map(key)
    ) { (row, writer) throws(RowProblem) in
      guard row.document[0] != 255 else { return nil }
      guard row.document[1] != 5 else { throw RowProblem(what: "five") }
      writer.append(row.document[0] == 0 ? nil : Int(row.document[0]))
      let section = writer.count
      writer.append(Int(row.document[1]))
      let end = writer.count
      if case .extreme(let aggregate) = order {
        let value = row.document[2] == 0 ? nil : Int(row.document[2])
        writer.append(value, aggregate.isMaximum ? [] : .nilsLast)
      }
      return PlacedLengths(section: section, value: writer.count - end)
    }
  }

  private static func key(_ section: Int?) -> [UInt8] {
    var writer = SortKeyWriter()
    writer.append(section)
    return writer.bytes
  }

  private static func number(_ key: UnsafeRawBufferPointer) -> Int? {
    var reader = SortKeyReader(key)
    return try? reader.read(Int?.self)
  }

  private static let orders: [(String, SectionOrder)] = [
    ("key", .key), ("keyDescending", .keyDescending), ("list", .list([key(4), key(nil), key(2)])),
    ("first", .first), ("count", .count),
    ("ranked", .ranked { section, writer in writer.append((number(section) ?? 9) % 3) }),
    ("compared", .compared { a, b in (number(a) ?? 9) % 4 > (number(b) ?? 9) % 4 }),
    ("greatest", .extreme(SectionAggregate(isMaximum: true, isDescending: true))),
    ("least", .extreme(SectionAggregate(isMaximum: false, isDescending: false))),
  ]

  /// The sections, each with its count, and the ids of all items.
  private func content(_ view: View) -> [String] {
    var content: [String] = []
    for place in 0..<view.sectionCount {
      let section = view.withSection(at: place) { section, count in
        content.append("\(Self.number(section) ?? -1): \(count)")
        return Array(section)
      }
      section.withUnsafeBytes { section in
        #expect(view.rank(ofSection: section) == place && view.holds(section))
        let start = view.start(of: section)
        view.forEachItem(in: start..<start + view.itemCount(of: section)) { item in
          content.append(String(decoding: item.id, as: UTF8.self))
        }
      }
    }
    return content
  }

  private func entries(_ tree: Tree) -> [[[UInt8]]] {
    var entries: [[[UInt8]]] = []
    tree.forEach(in: 0..<tree.count) { entries.append([Array($0), Array($1)]) }
    return entries
  }

  @Test
  func
    `R17 A view that changes keep up to date is the one that is built at once, in every order of sections`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let definitions = Self.orders.flatMap { name, order in
      [
        Self.definition(name, order), Self.definition(name + " last", order, nilsLast: true),
        Self.definition(name + " declared", order),
        Self.definition(name + " last, declared", order, nilsLast: true),
      ]
    }
    let parallel = Parallel(threads: .system, threadCountMax: 3)
    for _ in 0..<12 {
      var table = Table(name: "t")
      for definition in definitions { table.addView(definition) }
      let scratch = FoldScratch()
      for sequence in 1...120 {
        let id = "\(Int.random(in: 0..<20, using: &random))"
        let bytes = (0..<3).map { _ in UInt8.random(in: 0..<6, using: &random) }
        let document = Int.random(in: 0..<8, using: &random) == 0 ? [255, 0, 0] : bytes
        let isRemoved = Int.random(in: 0..<4, using: &random) == 0
        // The full check of 36 views is slow, so most changes are not followed by one.
        TreeCheck.$isOn.withValue(sequence % 10 == 0) {
          Array(id.utf8).withUnsafeBytes { id in
            if isRemoved { return table.remove(id: id, scratch) }
            document.withUnsafeBytes {
              table.put(id: id, document: $0, at: Stamp(sequence: UInt64(sequence), time: 0), scratch)
            }
          }
        }
        guard sequence % 20 == 0 else { continue }
        for definition in definitions {
          let kept = try #require(table.view(definition.identity))
          for partCount in [1, 2, 7, 30] {
            let built = View(definition, of: table, on: parallel, partCount: partCount)
            #expect(content(kept) == content(built), "\(definition.identity)")
            #expect(kept.sectionCount == built.sectionCount)
            #expect(entries(kept.values) == entries(built.values))
            #expect(entries(kept.marks) == entries(built.marks))
            #expect(entries(kept.problems) == entries(built.problems))
          }
        }
        // From here on the changes go to views that were built at once.
        for definition in definitions {
          table.removeView(definition.identity)
          table.addView(definition)
        }
      }
    }
  }

  @Test(arguments: [0, 1, 2, 3])
  func `R17 A comparison keeps its order where every section comes between the same two`(_ way: Int) throws {
    // Only few labels fit between two others by halving, so all of these orders force some to be redistributed.
    let count = 2_000
    let numbers: [Int] =
      switch way {
      case 0: (0..<count).map { $0 % 2 == 0 ? $0 / 2 : count - $0 / 2 }  // From both ends to the middle.
      case 1: [0] + (1..<count).reversed()  // Always after the first.
      case 2: Array((0..<count).reversed())  // Always before the first.
      default: [0, count] + (1..<count - 1)  // Always before the last.
      }
    let definition = ViewDefinition(
      identity: ViewIdentity("compared"),
      sectionOrder: .compared { (Self.number($0) ?? 0) > (Self.number($1) ?? 0) }
    ) { row, writer in
      writer.append(row.document.loadUnaligned(as: Int.self))
      return PlacedLengths(section: writer.count)
    }
    var table = Table(name: "t")
    table.addView(definition)
    let scratch = FoldScratch()
    for number in numbers {
      Array("\(number)".utf8).withUnsafeBytes { id in
        withUnsafeBytes(of: number) {
          table.put(id: id, document: $0, at: Stamp(sequence: 1, time: 0), scratch)
        }
      }
    }
    let view = try #require(table.view(definition.identity))
    let shown = (0..<view.sectionCount).map {
      view.withSection(at: $0) { section, _ in Self.number(section) }
    }
    #expect(shown == numbers.sorted(by: >))
    for (place, number) in shown.enumerated() {
      #expect(Self.key(number).withUnsafeBytes { view.rank(ofSection: $0) } == place)
    }
  }
}
