// Finding the tables of a state by their names, of which there may be very many.

internal import StrataBase
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct TableSetTests {
  /// Writes a row of a table.
  private func write(_ name: String, _ sequence: UInt64, to set: inout TableSet) {
    let stamp = Stamp(sequence: sequence, time: 0)
    Array("row".utf8).withUnsafeBytes { bytes in
      set.withTable(name) { $0.put(id: bytes, document: bytes, at: stamp, FoldScratch()) }
    }
  }

  @Test func `the tables of a set are in the order of their first writes, and found by their names`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<30 {
      let names = (0..<Int.random(in: 1...40, using: &random)).map { "table \($0)" }
      var set = TableSet()
      var (written, named): ([String], [String]) = ([], [])
      for sequence in 1...200 as ClosedRange<UInt64> {
        let name = names.randomElement(using: &random)!
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
          let taken = Set(written.filter { _ in Bool.random(using: &random) })
          set.takeBackWrites { taken.contains($0.name) }
          written.removeAll { taken.contains($0) }
        case 1..<5:
          set.withTable(name) { _ in }
          if !written.contains(name), !named.contains(name) { named.append(name) }
        default:
          write(name, sequence, to: &set)
          named.removeAll { $0 == name }
          if !written.contains(name) { written.append(name) }
        }
        #expect(set.tables.map(\.name) == written + named)
        for name in names {
          #expect(set.contains(name) == (written + named).contains(name))
          #expect(set[name].name == name && set[name].isWritten == written.contains(name))
        }
      }
    }
  }

  @Test func `tables whose names have one hash are told apart`() {
    // Made from the definition of XXH64: the first lane of two stripes is the same after both.
    let rest = String(repeating: "a", count: 24)
    let names = [String(repeating: "a", count: 64), "qxsfmure\(rest)[MJqsUFy\(rest)"]
    #expect(XXH64.of(Array(names[0].utf8)) == XXH64.of(Array(names[1].utf8)))
    var set = TableSet()
    for number in 0..<20 as Range<UInt64> { write("\(number)", number + 1, to: &set) }
    #expect(names.allSatisfy { !set.contains($0) })
    write(names[0], 21, to: &set)
    #expect(set.contains(names[0]) && !set.contains(names[1]))
    write(names[1], 22, to: &set)
    for name in names { write(name, 23, to: &set) }
    #expect(set.tables.count == 22 && names.map { set[$0].name } == names && names.allSatisfy(set.contains))
  }
}
