// Keys that are too long for a tree: cut sort keys stay a total order, shortened sections stay apart.

internal import StrataDocuments
internal import StrataSimulation
@testable internal import StrataTables
internal import Testing

@Suite struct SortKeyShorteningTests {
  /// The key of a row as a view has it, with another limit for the sort keys.
  private func placed(_ key: [UInt8], _ id: String, _ lengthMax: Int) -> (key: [UInt8], length: Int)? {
    guard key.count > lengthMax else { return (key + Array(id.utf8), key.count) }
    guard let cut = key.withUnsafeBytes({ SortKeyCut.of($0, to: lengthMax) }) else { return nil }
    #expect(cut.length + cut.mark.count <= lengthMax)
    return (Array(key[..<cut.length]) + cut.mark + Array(id.utf8), cut.length)
  }

  private func components(
    _ random: inout SeededGenerator, _ options: [SortKeyOptions], like other: [DocumentValue]?
  ) -> (values: [DocumentValue], key: [UInt8]) {
    var writer = SortKeyWriter()
    var values: [DocumentValue] = []
    for (index, options) in options.enumerated() {
      var value = other?[index] ?? random.scalar()
      if other == nil || random.chance(30) {
        value = random.chance(50) ? .string(random.text()) : random.scalar()
      }
      if case .string(let text) = value, random.chance(30) { value = .string(text + random.text()) }
      values.append(value)
      value.cbor().withUnsafeBytes { value in
        do throws(SortKeyError) { try writer.append(documentValue: value, options) } catch {}
      }
    }
    return (values, writer.bytes)
  }

  @Test func `R16 Rows with sort keys that are cut are in a total order, by the beginning of the keys`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let all: [SortKeyOptions] = [
      [], .descending, .nilsLast, [.descending, .caseInsensitive], .numeric, .time,
    ]
    var cutCount = 0
    for _ in 0..<3_000 {
      let options = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        all.randomElement(using: &random) ?? []
      }
      let a = components(&random, options, like: nil)
      let b = components(&random, options, like: random.chance(70) ? a.values : nil)
      let lengthMax = Int.random(in: 4...24, using: &random)
      // Ids that begin with the rest of the other key are the most likely to be taken for it.
      let ids = [
        "", "a", "b", "\u{0}\u{1}", "\u{0}", String(decoding: b.key.dropFirst(lengthMax - 2), as: UTF8.self),
      ]
      let (idA, idB) = (ids.randomElement(using: &random) ?? "", ids.randomElement(using: &random) ?? "")
      guard let placedA = placed(a.key, idA, lengthMax), let placedB = placed(b.key, idB, lengthMax) else {
        Issue.record("\(a.key) or \(b.key) has no place to be cut")
        continue
      }
      if a.key.count > lengthMax { cutCount += 1 }
      if placedA.key == placedB.key {
        #expect(idA == idB, "two rows have one key: \(a.values) \(b.values)")
      }
      if a.key == b.key {
        #expect(order(placedA.key, placedB.key) == order(Array(idA.utf8), Array(idB.utf8)), "\(a.values)")
      }
      let common = zip(a.key, b.key).prefix { $0 == $1 }.count
      if common < min(placedA.length, placedB.length) {
        #expect(order(placedA.key, placedB.key) == order(a.key, b.key), "\(a.values) \(b.values)")
      }
    }
    #expect(cutCount > 500)
  }

  @Test func `R16 Long sections stay apart, and have values that lead back to them`() throws {
    let most = SectionBytes.lengthMax
    let long = String(repeating: "m\u{0}é", count: 10_000)
    let texts = [long, long + "a", long + "b", "b" + long, String(repeating: "漢", count: 11_000)]
    var keys: [[UInt8]] = []
    for text in texts {
      let whole = key(text)
      #expect(whole.count > most)
      let shortened = try #require(SectionBytes.shortened(whole))
      #expect(shortened.count <= most && SectionBytes.mayBeShortened(shortened))
      let value = try decoded(shortened, as: String.self)
      #expect(value.contains("…") && text.utf8.starts(with: value.utf8.prefix(20_000)))
      #expect(key(value) == shortened && SectionBytes.shortened(shortened) == shortened)
      keys.append(shortened)
    }
    #expect(Set(keys).count == texts.count)
    let bytes = [UInt8](repeating: 0, count: 20_000)
    for value in [bytes, bytes + [0], bytes + [1]] {
      let shortened = try #require(SectionBytes.shortened(key(value)))
      let read = try decoded(shortened, as: [UInt8].self)
      #expect(key(read) == shortened && shortened.count <= most)
      keys.append(shortened)
    }
    #expect(Set(keys).count == texts.count + 3)
    let short = key(String(repeating: "a", count: most - 3))
    #expect(short.count == most && SectionBytes.shortened(short) == short)
  }

  @Test func `R16 A section of several parts keeps each of them`() throws {
    let (a, b) = (String(repeating: "a", count: 40_000), String(repeating: "b", count: 40_000))
    let shortened = try #require(SectionBytes.shortened(key(a) + key(7) + key(b)))
    let parts = try shortened.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      let parts = (try reader.read(String.self), try reader.read(Int.self), try reader.read(String.self))
      #expect(reader.isAtEnd)
      return parts
    }
    #expect(parts.0.hasPrefix("aaaa") && parts.1 == 7 && parts.2.hasPrefix("bbbb"))
    #expect(SectionBytes.mayBeShortened(shortened))
    #expect(SectionBytes.shortened([UInt8](repeating: 0, count: 40_000)) == nil)
    #expect(SectionBytes.shortened((0..<4_000).flatMap { key($0) }) == nil)
  }

  @Test func `R78 Exactly the keys that may have been shortened are seen as such`() throws {
    func isShortened(_ key: [UInt8]) -> Bool { SectionBytes.mayBeShortened(key) }
    // One part is shortened to its share and the other stays, so the whole is far below the limit.
    let (a, b) = (String(repeating: "a", count: 30_000), String(repeating: "b", count: 2_010))
    let mixed = try #require(SectionBytes.shortened(key(a) + key(b)))
    #expect(mixed.count < 20_000 && isShortened(mixed) && isShortened(key(a) + key(a) + key(a)))
    #expect(
      !isShortened(key(a)) && !isShortened(key(a.dropLast(100) + "") + key(7)) && !isShortened(key("x")))
    for count in 31_800...31_997 { #expect(!isShortened(key(String(repeating: "é", count: count / 2)))) }
    #expect(isShortened([UInt8](repeating: 0, count: 9)) && isShortened(Array(mixed.dropLast())))
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var count = 0
    for _ in 0..<500 {
      let lengths = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        Int.random(in: 0...40_000, using: &random)
      }
      let whole = lengths.flatMap { length in
        length % 3 == 0
          ? key([UInt8](repeating: UInt8(length % 2), count: length / 2))
          : key(String(repeating: ["m", "é", "漢", "\u{0}"][length % 4], count: length / 3))
      }
      guard whole.count > SectionBytes.lengthMax, let shortened = SectionBytes.shortened(whole) else {
        continue
      }
      count += 1
      #expect(isShortened(shortened), "\(lengths)")
    }
    #expect(count > 100)
  }

  @Test func `R76 A row with the longest id, section and sort keys has a place in every order of sections`() {
    let orders: [SectionOrder] = [
      .key, .keyDescending, .first, .count, .ranked { section, writer in writer.append(raw: section) },
      .extreme(SectionAggregate(isMaximum: true, isDescending: true)),
    ]
    let zeros = String(repeating: "\u{0}", count: 40_000)
    let ids = [String(repeating: "\u{0}", count: 32_000), String(repeating: "i", count: 32_000), "short"]
    for (number, order) in orders.enumerated() {
      let definition = ViewDefinition(identity: ViewIdentity(number), sectionOrder: order, calls: .none) {
        (row, writer) throws(RowProblem) in
        let text = String(decoding: row.document, as: UTF8.self)
        writer.append(text)
        let isShortened = try writer.shortenSection()
        let section = writer.count
        writer.append(text, .descending)
        let end = writer.count
        if case .extreme = order { writer.append(text) }
        return PlacedLengths(section: section, value: writer.count - end, isShortened: isShortened)
      }
      var view = View(definition)
      var (old, new) = ([String: PlacedKey](), PlacedKey())
      var writer = SortKeyWriter()
      for text in [zeros, zeros + "1", "s", zeros + "2", nil] {
        for id in ids {
          let bytes = (text.map { Array($0.utf8) } ?? [])
          Array(id.utf8).withUnsafeBytes { id in
            bytes.withUnsafeBytes { document in
              let row = RowView(id: id, revision: 1, created: 1, time: 0, document: document)
              new.place(text == nil ? nil : row, by: definition, &writer)
            }
            let key = String(decoding: id, as: UTF8.self)
            view.change(id: id, from: old[key] ?? PlacedKey(), to: new)
            old[key] = new
          }
          #expect(new.problem == nil && new.isShown == (text != nil))
        }
        #expect(view.count == (text == nil ? 0 : 3) && view.checkInvariants() == nil)
        #expect(view.problems.count == (text == nil || text == "s" ? 0 : 3))
      }
    }
  }

  @Test func `keys without case are those of the folded text`() {
    #expect(key("ΟΔΟΣ", .caseInsensitive) == key("οδος", .caseInsensitive))
    #expect(key("οδος", .caseInsensitive) == key("οδοσ", .caseInsensitive))
    #expect(key("Straße", .caseInsensitive) == key("STRASSE", .caseInsensitive))
    #expect(key("STRAẞE", .caseInsensitive) == key("strasse", .caseInsensitive))
    #expect(key("ﬁ2", [.caseInsensitive, .numeric]) == key("FI002", [.caseInsensitive, .numeric]))
    #expect(key("ſ", .caseInsensitive) == key("S", .caseInsensitive))
    #expect(key("É", .caseInsensitive) != key("E", .caseInsensitive))
    #expect(order(key("straßf", .caseInsensitive), key("STRASSE", .caseInsensitive)) == 1)
  }
}
