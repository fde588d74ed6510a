// The sort of lines by their times, in memory and in a file, against the sort of the standard library.

import Foundation
import StrataBase
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell

struct ImportSorterTests {
  @Test
  func `lines are sorted by time and number, whatever fits into memory and however many runs there are`()
    throws
  {
    let seed =
      ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    let runs = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 500
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    for run in 1...runs {
      let memory = [1, 100, 1000, 1 << 20].randomElement(using: &random)!
      let sorter = ImportLineSorter(
        in: folder.path, memoryMax: memory, fanIn: Int.random(in: 2...5, using: &random))
      var lines: [(key: ImportSortKey, bytes: [UInt8])] = []
      for number in 0..<Int.random(in: 0...60, using: &random) {
        let key = ImportSortKey(time: Int64.random(in: -3...3, using: &random), line: UInt64(number))
        // Now and then a line is longer than the window through which a run is read.
        let length = run % 100 == 0 && number % 9 == 0 ? 200_000 : Int.random(in: 0...80, using: &random)
        lines.append((key, [UInt8](repeating: .random(in: 0...255, using: &random), count: length)))
        try lines[number].bytes.lendBytes { bytes throws(CommandFailure) in try sorter.add(key, bytes) }
      }
      lines.sort { $0.key < $1.key }
      var found: [(ImportSortKey, [UInt8])] = []
      let end = Bool.random(using: &random) ? lines.count : lines.count / 2
      try sorter.forEach { key, bytes in
        found.append((key, Array(bytes)))
        return found.count < end
      }
      let wanted = lines.prefix(max(end, min(1, lines.count)))
      #expect(found.count == wanted.count, "seed \(seed), run \(run)")
      #expect(
        zip(found, wanted).allSatisfy { $0.0 == $1.key && $0.1 == $1.bytes }, "seed \(seed), run \(run)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "no file has a name")
  }

  @Test func `where no temporary file can be made, the error names the folder and TMPDIR`() throws {
    let sorter = ImportLineSorter(in: "/nowhere/at/all", memoryMax: 1)
    let failure = #expect(throws: CommandFailure.self) {
      for number in UInt64(1)...3 {
        try sorter.add(ImportSortKey(time: 0, line: number), UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
    #expect(failure?.place == "/nowhere/at/all" && failure?.next.contains("TMPDIR") == true)
  }
}
