// The kept corpus, through each target's function, without a fuzzer.

import FuzzTargets
import Testing

@Suite struct CorpusTests {
  @Test(arguments: FuzzTarget.allCases)
  func `every kept input keeps the laws of its target`(target: FuzzTarget) throws {
    let inputs = try PackedCorpus.inputs(target)
    #expect(inputs.count > 10, "the corpus of \(target) is missing")
    for (name, bytes) in inputs {
      #expect(throws: Never.self, "\(target)/\(name)") { try target.run(bytes) }
    }
  }

  @Test func `the kept corpus is small`() throws {
    var size = 0
    for target in FuzzTarget.allCases {
      size += try PackedCorpus.inputs(target).reduce(0) { $0 + $1.bytes.count }
    }
    #expect(size <= 1 << 20)
  }

  @Test func `a line of a corpus is a name and escaped bytes, and nothing else`() throws {
    let line = #"a-1="x\\y\"\x00\xFF=""#
    let (name, bytes) = try PackedCorpus.input(Array(line.utf8)[...])
    #expect(name == "a-1")
    #expect(bytes == Array("x\\y\"".utf8) + [0, 0xFF] + Array("=".utf8))
    #expect(try PackedCorpus.input(Array(#"empty="""#.utf8)[...]).bytes.isEmpty)
    for line in [
      "a", "a=", #"a=""#, #"="x""#, #"a="x"#, #"a="\""#, #"a="\x0""#, #"a="\n""#, #"a="x"y""#, "a=\"\u{1}\"",
    ] {
      #expect(throws: PackedCorpus.MalformedLine.self, "\(line)") {
        try PackedCorpus.input(Array(line.utf8)[...])
      }
    }
  }
}
