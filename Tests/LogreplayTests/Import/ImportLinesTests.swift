// Laws of importing lines: order, exactness, idempotence.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportLinesTests {
  @Test func `in a new store line n is sequence n, an append of its own, with its id and time`() async throws
  {
    let folder = try ImportFolder()
    try folder.write(importedLines(1...3000))
    let report = try await folder.importLines("lines.jsonl", "--time", "time")
    #expect(report == ImportReport(read: 3000, appended: 3000, first: 1, last: 3000))
    let appends = try await folder.appends()
    #expect(appends.count == 3000)
    let texts = importedLines(1...3000).split(separator: "\n")
    for (index, append) in appends.enumerated() {
      let number = index + 1
      let hash = String(decoding: ImportSourceName.hex(XXH64.of(Array(texts[index].utf8))), as: UTF8.self)
      #expect(append.id == "lines.jsonl:\(number):\(hash)")
      #expect(append.sequences == UInt64(number)...UInt64(number))
      #expect(append.events[0].stream == "t/i\(number % 97)")
      #expect(append.events[0].type == "$put")
      #expect(append.events[0].metadataBytes.isEmpty)
      #expect(append.time == Timestamp(String(texts[index].suffix(22).prefix(20))))
    }
  }

  @Test func `a value comes back exactly: integers of any size, doubles, 1 and 1.0, empty things`()
    async throws
  {
    let folder = try ImportFolder()
    let values = [
      "9223372036854775807", "-9223372036854775808", "18446744073709551615", "123456789012345678901234567890",
      "-99999999999999999999", "1", "1.0", "-0.0", "0.1", "1e300", "5e-324", "null", "true", "[]", "{}",
      "\"\"",
      "\"\\u0000\\ud83d\\ude00é\"", "[1,[1.5,{\"b\":2,\"a\":null}]]",
    ]
    let text = values.enumerated().map { "{\"id\":\($0),\"v\":\($1)}\n" }.joined()
    try folder.write(text)
    try await folder.importLines()
    let documents = try await folder.documents()
    #expect(documents == text.split(separator: "\n").map { try? DocumentValue(json: String($0)) })
    #expect(documents[5] != documents[6])
    #expect(documents[3]["v"] == DocumentValue(DocumentInteger("123456789012345678901234567890")!))
  }

  @Test func `an id is a string or an integer of any size, and its stream is its text`() async throws {
    let folder = try ImportFolder()
    try folder.write(
      "{\"id\":7}\n{\"id\":\"a/b\"}\n{\"id\":-99999999999999999999}\n{\"id\":18446744073709551615}")
    try await folder.importLines()
    #expect(
      try await folder.appends().map { $0.events[0].stream.text } == [
        "t/7", "t/a/b", "t/-99999999999999999999", "t/18446744073709551615",
      ])
  }

  @Test func `importing again appends only what the file has gained`() async throws {
    let folder = try ImportFolder()
    try folder.write(importedLines(1...500))
    try await folder.importLines()
    #expect(try await folder.importLines() == ImportReport(read: 500, known: 500))
    try folder.write(importedLines(1...700))
    #expect(
      try await folder.importLines()
        == ImportReport(read: 700, appended: 200, known: 500, first: 501, last: 700))
    #expect(try await folder.appends().map(\.line) == Array(1...700))
  }

  @Test func `a file whose every line is known is noted with its source, unless that was named`() async throws
  {
    let folder = try ImportFolder()
    let other = try ImportFolder()
    try folder.write(importedLines(1...3))
    let path = try other.write(importedLines(1...2))
    func notes(_ path: String, _ more: String...) async throws -> [String] {
      folder.notes.withLock { $0 = [] }
      try await folder.run([path, "--table", "t", "--id", "id"] + more)
      return folder.notes.withLock { $0 }
    }
    #expect(try await notes(folder.file("lines.jsonl")).isEmpty)
    let noted = try await notes(path)
    #expect(noted.count == 1)
    #expect(noted.first?.contains("from the source lines.jsonl") == true, "\(noted)")
    #expect(noted.first?.contains("--source") == true, "\(noted)")
    #expect(try await notes(path, "-o", "json").isEmpty)
    for _ in 1...2 { #expect(try await notes(path, "--source", "other").isEmpty) }
    try other.write("")
    #expect(try await notes(path).isEmpty)
    try other.write(importedLines(1...4))
    #expect(try await notes(path).isEmpty)
  }

  @Test func `the last line needs no line feed, and a blank one there is no line`() async throws {
    for ending in ["", "\n", "\n\n", "\n  \t\r\n"] {
      let folder = try ImportFolder()
      try folder.write("{\"id\":1}\n{\"id\":2}" + ending)
      #expect(try await folder.importLines().read == 2, "\(ending.debugDescription)")
    }
  }

  @Test func `a line that was changed is refused with both hashes, and nothing after it is appended`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n{\"id\":2}\n")
    try await folder.importLines()
    try folder.write("{\"id\":1}\n{\"id\":9}\n{\"id\":3}\n")
    let failure = try await folder.failure()
    #expect(failure.code == ExitStatus.corrupt)
    func hash(_ text: String) -> String {
      String(decoding: ImportSourceName.hex(XXH64.of(Array(text.utf8))), as: UTF8.self)
    }
    #expect(failure.what.contains("line 2"))
    #expect(failure.what.contains(hash("{\"id\":2}")))
    #expect(failure.what.contains(hash("{\"id\":9}")))
    #expect(failure.place.hasSuffix("lines.jsonl:2"))
    #expect(try await folder.appends().count == 2)
    // Under another name it is another source.
    #expect(try await folder.importLines("lines.jsonl", "--source", "second").appended == 3)
  }

  @Test func `a line that was changed is found in a segment that is closed, too`() async throws {
    let folder = try ImportFolder()
    // Text that does not compress, so that the first segment is full before the last line.
    var random = SystemRandomNumberGenerator()
    let lines = (1...1100).map { number in
      let noise = (0..<2000).map { _ in String(random.next(), radix: 36) }.joined()
      return "{\"id\":\(number),\"noise\":\"\(noise)\"}\n"
    }
    try folder.write(lines.joined())
    try await folder.importLines()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store + "/log").count > 1)
    #expect(try await folder.importLines().known == 1100)
    try folder.write(lines[..<4].joined() + "{\"id\":5}\n" + lines[5...].joined())
    let failure = try await folder.failure()
    #expect(failure.what.contains("line 5") && !failure.what.contains("unknown"))
  }

  @Test func `Lines that another process imports before the lock is taken are known`() async throws {
    let folder = try ImportFolder()
    let other = try ImportFolder()
    try folder.write(importedLines(1...50))
    try await folder.importLines()
    try other.write(importedLines(1...60))
    try await other.importLines()
    let source = ImportSourceName("lines.jsonl")
    var known = ImportKnownRecords()
    func read(_ folder: ImportFolder) async throws -> [Bool] {
      let store = try await EventStore.open(at: folder.store, .readOnly)
      try known.read(source, from: store.log)
      try await store.close()
      return [1, 50, 51, 70, 71].map { known.contains($0) }
    }
    #expect(try await read(folder) == [true, true, false, false, false])
    try folder.write(importedLines(1...70))
    try await folder.importLines()
    #expect(try await read(folder) == [true, true, true, true, false])
    #expect(try await read(folder) == [true, true, true, true, false], "nothing was appended in between")
    // Another store under the same path has lines of its own.
    #expect(try await read(other) == [true, true, true, false, false])
    #expect(try await read(folder) == [true, true, true, true, false])
  }

  @Test func `a byte order mark is no part of the first line`() async throws {
    let folder = try ImportFolder()
    try folder.write("\u{FEFF}{\"id\":1}\n{\"id\":2}\n")
    #expect(try await folder.importLines().appended == 2)
    try folder.write("{\"id\":1}\n{\"id\":2}\n")
    #expect(try await folder.importLines().known == 2)
    try folder.write("{\"id\":1}\n{\"id\":2}\n\u{FEFF}{\"id\":3}\n")
    #expect(try await folder.failure().code == ExitStatus.corrupt)
  }

  @Test func `merge patches are appended as such`() async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1,\"a\":null}\n")
    try await folder.importLines("lines.jsonl", "--merge")
    #expect(try await folder.appends()[0].events[0].type == "$merge")
  }

  @Test func `gzip is recognised, whatever the name, and a stream that is damaged or cut short is named`()
    async throws
  {
    let folder = try ImportFolder()
    let zipped = try ImportProcess.gzip(Array(importedLines(1...20_000).utf8))
    try folder.write(zipped, to: "lines.jsonl")
    #expect(try await folder.importLines().appended == 20_000)
    for cut in [zipped.count - 4, zipped.count / 2, 30] {
      let second = try ImportFolder()
      try second.write(Array(zipped[..<cut]), to: "lines.jsonl")
      let failure = try await second.failure()
      #expect(failure.code == ExitStatus.corrupt)
      #expect(failure.place == second.file("lines.jsonl"), "\(failure)")
      let appends = try await second.appends()
      #expect(appends.map(\.line) == Array(0..<appends.count).map { $0 + 1 })
      // With the whole file the import goes on where it stopped.
      try second.write(zipped, to: "lines.jsonl")
      let report = try await second.importLines()
      #expect(report.known == UInt64(appends.count) && report.known + report.appended == 20_000)
    }
    var damaged = zipped
    damaged[zipped.count / 2] ^= 0x55
    let third = try ImportFolder()
    try third.write(damaged, to: "lines.jsonl")
    #expect(try await third.failure().code == ExitStatus.corrupt)
  }

  @Test func `a source too long for an id is shortened to one that nobody else has`() {
    let long = ImportSourceName(String(repeating: "é", count: 40))
    #expect(long.bytes.count == 16 + 17)
    #expect(long.appendID(number: ImportSourceName.numberMax, hash: .max).count <= 64)
    #expect(String(validating: long.bytes, as: UTF8.self)?.hasPrefix("éééééééé~") == true)
    let literal = ImportSourceName(String(decoding: long.bytes, as: UTF8.self))
    #expect(literal.bytes != long.bytes)
    #expect(ImportSourceName("a.jsonl").bytes == Array("a.jsonl".utf8))
    let longest = ImportSourceName(String(repeating: "x", count: ImportSourceName.lengthMax))
    #expect(longest.appendID(number: ImportSourceName.numberMax, hash: .max).count == 64)
  }

  @Test func `ids of one source are not taken for another's`() async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n", to: "a")
    try await folder.importLines("a", "--source", "x:1")
    try await folder.importLines("a", "--source", "x")
    #expect(try await folder.importLines("a", "--source", "x") == ImportReport(read: 1, known: 1))
    #expect(try await folder.importLines("a", "--source", "x:1") == ImportReport(read: 1, known: 1))
    #expect(try await folder.appends().count == 2)
  }
}
