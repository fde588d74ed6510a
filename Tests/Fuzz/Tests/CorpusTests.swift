// The kept corpus, through each target's function, without a fuzzer.

import Foundation
import FuzzTargets
import Testing

@Suite struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpus")

  private static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let folder = folder.appendingPathComponent(target.rawValue)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      (name, Array(try Data(contentsOf: folder.appendingPathComponent(name))))
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `every kept input keeps the laws of its target`(target: FuzzTarget) throws {
    let inputs = try Self.inputs(target)
    #expect(inputs.count > 10, "the corpus of \(target) is missing")
    for (name, bytes) in inputs {
      #expect(throws: Never.self, "\(target)/\(name)") { try target.run(bytes) }
    }
  }

  @Test func `the kept corpus is small`() throws {
    var size = 0
    for target in FuzzTarget.allCases { size += try Self.inputs(target).reduce(0) { $0 + $1.bytes.count } }
    #expect(size <= 1 << 20)
  }
}
