// Repositories for tests: made by `git fast-import`, so that any bytes can be paths and any time a commit's.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

/// A repository in the making.
final class ImportGitSample {
  let path: String
  private let folder: ImportFolder
  private var script: [UInt8] = []
  private var mark = 0
  /// The mark of the last commit on the main branch.
  private var last = 0

  init(_ folder: ImportFolder, name: String = "repository") throws {
    self.folder = folder
    path = folder.file(name)
    try git(["init", "-q", "--bare", path], in: folder.path)
  }

  /// A change of one path.
  enum Change {
    case file([UInt8], String, mode: String = "100644")
    case submodule([UInt8], String)
    case delete([UInt8])
  }

  /// Adds a commit to the main branch, or one beside it, and returns its mark.
  @discardableResult
  func commit(
    _ subject: String, _ changes: [Change], at seconds: Int, from parent: Int? = nil,
    merging merged: Int? = nil,
    isSide: Bool = false
  ) -> Int {
    mark += 1
    let commitMark = mark
    add("commit refs/heads/\(isSide ? "side" : "main")\nmark :\(commitMark)\n")
    add("author Ann Öther <ann@example.org> \(seconds - 100) +0530\n")
    add("committer Cy \"The\" Bot <cy@example.org> \(seconds) +0100\n")
    data(Array(subject.utf8))
    let from = parent ?? last
    if from > 0 { add("from :\(from)\n") }
    if let merged { add("merge :\(merged)\n") }
    for change in changes {
      switch change {
      case .file(let path, let text, let mode):
        add("M \(mode) inline \(quoted(path))\n")
        data(Array(text.utf8))
      case .submodule(let path, let hash): add("M 160000 \(hash) \(quoted(path))\n")
      case .delete(let path): add("D \(quoted(path))\n")
      }
    }
    add("\n")
    if !isSide { last = commitMark }
    return commitMark
  }

  /// Hands everything to git.
  func finish() throws {
    let process = try ImportProcess.run(
      "/usr/bin/env",
      ["git", "-C", path, "fast-import", "--quiet", "--force", "--export-marks=" + path + "/marks"],
      input: script)
    try #require(process.code == 0, "\(process.errors)")
    try git(["symbolic-ref", "HEAD", "refs/heads/main"])
  }

  /// The hashes of all commits that were handed to git, in their order.
  func hashes() throws -> [String] {
    let lines = try String(contentsOfFile: path + "/marks", encoding: .utf8).split(separator: "\n")
    let marks = lines.compactMap { line -> (Int, String)? in
      let words = line.dropFirst().split(separator: " ")
      return words.count == 2 ? Int(words[0]).map { ($0, String(words[1])) } : nil
    }
    return marks.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// What git prints.
  @discardableResult
  func git(_ arguments: [String], in folder: String? = nil) throws -> String {
    String(decoding: try gitBytes(arguments, in: folder), as: UTF8.self)
  }

  func gitBytes(_ arguments: [String], in folder: String? = nil) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git", "-C", folder ?? path] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "git \(arguments)")
    return Array(data)
  }

  /// Writes a commit that may be odd in ways that git itself avoids, with its parent's tree. Returns its hash.
  func oddCommit(
    after parent: String, author: String = "Ann <ann@example.org> 1700000000 +0000",
    committer: String = "Cy <cy@example.org> 1700000000 +0000", tree: String? = nil
  ) throws -> String {
    let tree = try git(["rev-parse", (tree ?? parent) + "^{tree}"])
    let text = "tree \(tree)parent \(parent)\nauthor \(author)\ncommitter \(committer)\n\nodd\n"
    let written = try ImportProcess.run(
      "/usr/bin/env",
      ["git", "-C", path, "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
      input: Array(text.utf8))
    try #require(written.code == 0, "\(written.errors)")
    return written.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Removes an object from the repository.
  func remove(_ object: String) throws {
    let packs = try takePacks()
    if !packs.isEmpty {
      let unpacked = try ImportProcess.run(
        "/usr/bin/env", ["git", "-C", path, "unpack-objects", "-q"], input: packs)
      try #require(unpacked.code == 0, "\(unpacked.errors)")
    }
    try FileManager.default.removeItem(atPath: path + "/objects/\(object.prefix(2))/\(object.dropFirst(2))")
  }

  /// Takes the packs out of the repository, and returns their bytes.
  private func takePacks() throws -> [UInt8] {
    let folder = path + "/objects/pack"
    var bytes: [UInt8] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      if name.hasSuffix(".pack") {
        bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
      }
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
    return bytes
  }

  /// The commits along first parents, oldest first.
  func history(_ ref: String = "HEAD") throws -> [String] {
    try git(["rev-list", "--first-parent", "--reverse", ref]).split(separator: "\n").map { String($0) }
  }

  private func add(_ text: String) { script += Array(text.utf8) }

  private func data(_ bytes: [UInt8]) {
    add("data \(bytes.count)\n")
    script += bytes
    add("\n")
  }

  private func quoted(_ path: [UInt8]) -> String {
    "\""
      + path.map { byte in
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      }.joined() + "\""
  }
}

extension ImportGitSample {
  /// Names that are hard to quote, to print, or to tell apart.
  static let oddNames: [[UInt8]] = oddTexts.map { Array($0.utf8) } + oddBytes

  private static let oddTexts: [String] = [
    "plain.txt", "with space.txt", "ünïcode-名前.txt", "tab\there", "new\nline", "quo\"te", "\"quoted\"",
    "back\\slash", "\"caf\\351.txt\"", "-dash", ":colon", "commit 12", "a/b/c/deep.txt", "dir with space/ x",
    "e\u{301}", "é", "*", "[x]", "trailing ", ".hidden/.x", "\u{7F}\u{1}", "名/前/\"x",
  ]

  /// Latin-1, and bytes that are nothing.
  private static let oddBytes: [[UInt8]] = [
    bytes("caf", 0xE9, ".txt"), bytes("dir", 0xFF, "/ü\"\n\u{7}x"), bytes("ok/", 0x80, ""),
  ]

  private static func bytes(_ before: String, _ byte: UInt8, _ after: String) -> [UInt8] {
    Array(before.utf8) + [byte] + Array(after.utf8)
  }

  /// A history with everything that a tree can hold and do, of so many commits along first parents.
  static func random(_ folder: ImportFolder, commits count: Int, seed: UInt64) throws -> ImportGitSample {
    var random = SeededGenerator(seed: seed)
    let sample = try ImportGitSample(folder)
    var seconds = 1_600_000_000
    let folders = (0..<4).map { Array("sub\($0)/".utf8) }
    for number in 1...count {
      // Committers' clocks run backwards now and then.
      seconds += Int.random(in: -50...500, using: &random)
      var changes: [Change] = []
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let name = oddNames.randomElement(using: &random)!
        let path = Bool.random(using: &random) ? name : folders.randomElement(using: &random)! + name
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: changes.append(.delete(path))
        case 2: changes.append(.file(path, "../target", mode: "120000"))
        case 3: changes.append(.file(path, "#!/bin/sh\n", mode: "100755"))
        case 4: changes.append(.submodule(path, String(repeating: "0123456789", count: 4)))
        // A file takes the place of a folder, or a folder that of a file.
        case 5: changes.append(.file(Array("sub1".utf8), "a file now"))
        case 6: changes.append(.file(path + Array("/below".utf8), "a folder now"))
        default:
          changes.append(.file(path, String(repeating: "x", count: Int.random(in: 0...3000, using: &random))))
        }
      }
      if number > 3, number % 7 == 0 {
        let side = sample.commit(
          "side \(number)", [.file(Array("side\(number)".utf8), "s"), .delete(oddNames[0])], at: seconds,
          isSide: true)
        sample.commit("merge", changes, at: seconds + 5, merging: side)
      } else {
        sample.commit(number % 5 == 0 ? "" : "subject \(number): \"ü\"\n\nbody", changes, at: seconds)
      }
    }
    try sample.finish()
    return sample
  }
}

extension ImportFolder {
  /// Imports into the test's store with appends of at most so many bytes, in this process.
  func importGit(
    _ sample: ImportGitSample, _ ref: String = "HEAD", appendSizeMax: Int,
    _ before: (EventStore) throws -> Void = { _ in }
  ) throws -> ImportReport {
    var options = StoreOptions()
    options.appendSizeMax = appendSizeMax
    options.payloadSizeMax = appendSizeMax
    let store = try EventStore.openBlocking(at: store, options: options)
    defer { try? store.closeBlocking() }
    try before(store)
    let repository = ImportGitRepository(sample.path)
    let history = try ImportGitHistory(
      repository, .firstParents(of: try repository.resolve(ref)), into: store, isShallow: false
    ) { [notes] note in notes.withLock { $0.append(note) } }
    return try history.importAll()
  }
}

/// The table `file` as the events leave it.
struct ImportGitState {
  /// By stream, whose names are equal when their bytes are; Swift's strings are equal when they look alike.
  var items: [StreamName: DocumentValue] = [:]

  mutating func apply(_ append: RecordedAppend) throws {
    for event in append.events where event.stream.category == "file" {
      items[event.stream] = event.type == "$delete" ? nil : try event.document()
    }
  }

  /// The items in the bytes of `git ls-tree -r -z -l`.
  func listing() throws -> [UInt8] {
    var lines: [(path: [UInt8], head: String)] = []
    for (stream, item) in items {
      let id = stream.id
      guard case .string(let mode)? = item["mode"], case .string(let blob)? = item["blob"] else {
        throw CancellationError()
      }
      let isSubmodule = mode == "160000"
      var size = "-"
      if case .int(let number)? = item["size"] { size = String(number) }
      let padded = String(repeating: " ", count: max(0, 7 - size.count)) + size
      let path = item["quoted"] == .bool(true) ? Self.unquoted(id) : Array(id.utf8)
      lines.append((path, "\(mode) \(isSubmodule ? "commit" : "blob") \(blob) \(padded)\t"))
    }
    lines.sort { $0.path.lexicographicallyPrecedes($1.path) }
    return lines.flatMap { Array($0.head.utf8) + $0.path + [0] }
  }

  /// The bytes behind a text that git has quoted.
  private static func unquoted(_ text: String) -> [UInt8] {
    let letters: [UInt8: UInt8] = [
      UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10,
      UInt8(ascii: "v"): 11,
      UInt8(ascii: "f"): 12, UInt8(ascii: "r"): 13,
    ]
    var bytes: [UInt8] = []
    var rest = Array(text.utf8).dropFirst().dropLast()
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      if let first = Int(String(UnicodeScalar(escape)), radix: 8), let second = rest.popFirst(),
        let third = rest.popFirst()
      {
        bytes.append(UInt8(first * 64 + Int(second - 48) * 8 + Int(third - 48)))
      } else {
        bytes.append(letters[escape] ?? escape)
      }
    }
    return bytes
  }
}
