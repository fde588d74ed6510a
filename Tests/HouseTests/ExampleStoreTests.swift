// FORMAT.md's whole small store in annotated hex: the bytes on the page are the bytes that the code writes, and
// they decode to what was appended.

import Foundation
import StrataDocuments
import StrataEvents
import StrataLog
import Testing

/// The store of the example: fixed identity and clock, so that every byte is the same each time.
private enum ExampleStore {
  static let id = StoreID(low: 0x8877_6655_4433_2211, high: 0x00FF_EEDD_CCBB_AA99)
  static let path = "/store"
  static let document: DocumentValue = [
    "id": "1-364285768", "status": "Queued",
    "note": "Awaiting assignment. Awaiting assignment. Awaiting assignment.",
  ]

  static func write(to fileSystem: any FileSystem, path: String) throws {
    var options = StoreOptions()
    options.clock = .fixed
    let store = try EventStore.open(fileSystem, path: path, .readWrite, options: options, storeID: id)
    try store.appendBlocking(
      [
        NewEvent(DocumentEvent.put, in: "incident/1-364285768", document, metadata: ["by": "import"])
      ], id: "sample:1")
    try store.appendBlocking(
      [
        NewEvent("opened", in: "ticket/42", ["title": "Printer is offline"]),
        NewEvent("note", in: "ticket/42", payload: .opaque([1, 2, 3])),
      ], time: Timestamp(nanoseconds: 1_700_000_000_000_000_000))
    try store.closeBlocking()
  }
}

/// The files of the section, as the lines of hex say them.
private func filesOfTheSection() throws -> [String: [UInt8]] {
  let page = try Repository.text("FORMAT.md")
  let section = try #require(page.range(of: "\n## A whole small store\n"), "FORMAT.md has no example")
  var files: [String: [UInt8]] = [:]
  var name = ""
  for line in page[section.upperBound...].split(separator: "\n") {
    if line.hasPrefix("## ") { break }
    if line.hasPrefix("FILE ") {
      name = String(line.split(separator: " ")[1])
      files[name] = []
    } else if let match = try /^([0-9a-f]{8})  ((?:[0-9a-f]{2} ?)+)  .*$/.wholeMatch(in: line) {
      #expect(Int(match.1, radix: 16) == files[name]?.count, "a line of \(name) is not where it says")
      files[name]? += match.2.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    } else if let match = try /^([0-9a-f]{8})  \(([0-9]+) zero bytes\)  .*$/.wholeMatch(in: line) {
      #expect(Int(match.1, radix: 16) == files[name]?.count, "a line of \(name) is not where it says")
      files[name]? += [UInt8](repeating: 0, count: try #require(Int(match.2)))
    }
  }
  return files
}

struct ExampleStoreTests {
  @Test func `the example's bytes are the ones that the code writes`() throws {
    // To make the section anew: set STRATA_EXAMPLE to a folder, run this test, and
    // `Tests/Oracle/strata_reader.py annotate` that folder.
    if let folder = ProcessInfo.processInfo.environment["STRATA_EXAMPLE"] {
      try ExampleStore.write(to: PosixFileSystem(), path: folder)
    }
    let fileSystem = MemoryFileSystem()
    try ExampleStore.write(to: fileSystem, path: ExampleStore.path)
    let files = try filesOfTheSection()
    #expect(files.keys.sorted() == ["HEAD", "log/00000000000000000001.seg"])
    for (name, bytes) in files {
      let file = try fileSystem.open("\(ExampleStore.path)/\(name)", .read)
      var written = [UInt8](repeating: 0, count: Int(try file.size()))
      let count = try written.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
      #expect(count == written.count)
      #expect(written == bytes, "\(name) in FORMAT.md is not what the code writes")
    }
  }

  @Test func `the example decodes to what was appended`() throws {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory("\(ExampleStore.path)/log")
    for (name, bytes) in try filesOfTheSection() {
      let file = try fileSystem.open("\(ExampleStore.path)/\(name)", .createNew)
      try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
    let store = try EventStore.open(fileSystem, path: ExampleStore.path, .readOnly, options: StoreOptions())
    #expect(store.id == "11223344-5566-7788-99aa-bbccddeeff00")
    #expect(store.head.sequence == 3)
    let first = try #require(try store.appendBlocking(holding: 1))
    #expect(first.id == "sample:1")
    #expect(try first.events[0].document() == ExampleStore.document)
    #expect(try first.events[0].metadata() == ["by": "import"])
    let second = try #require(try store.appendBlocking(holding: 3))
    #expect(second.sequences == 2...3)
    #expect(second.events.map(\.revision) == [1, 2])
    #expect(second.time == first.time)
    #expect(second.givenTime == Timestamp("2023-11-14T22:13:20Z"))
    #expect(second.events[1].payload == .opaque([1, 2, 3]))
    var verifier = LogVerifier(fileSystem, path: ExampleStore.path)
    #expect(try verifier.run().isOK)
  }
}
