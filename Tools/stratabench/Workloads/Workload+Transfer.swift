// Measures moving rows and events between files and stores: whole runs of `logreplay`, beside `sqlite3`.

internal import Foundation
internal import StrataDocuments

extension Workload {
  /// Each row is an append of its own, with an id of its own, as a user imports it: from the start of the program to its
  /// end. The peer is `.import` of the same rows into a file.
  static func transfer(_ bench: Bench) async throws {
    guard let logreplay = ChildProcess.beside("logreplay") else {
      return report("skipped", "there is no logreplay beside this program: build it in the same way")
    }
    let files = try TransferFiles(bench)
    let sqlite = ["/usr/bin/sqlite3", "/opt/homebrew/bin/sqlite3", "/usr/local/bin/sqlite3"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    var runs: [(name: String, runs: [ChildProcess])] = []
    func measure(_ name: String, _ program: String, _ arguments: [String]) throws {
      let run = try ChildProcess(program, arguments)
      let index = runs.firstIndex { $0.name == name } ?? runs.count
      if index == runs.count { runs.append((name, [])) }
      runs[index].runs.append(run)
    }
    for _ in 0..<bench.rounds {
      let (lines, table, copy) = (
        bench.scratch.fresh("lines"), bench.scratch.fresh("table"), bench.scratch.fresh("copy")
      )
      let rows = ["--table", "incident", "--id", TransferFiles.id]
      if let sqlite {
        try measure(
          Self.peer, sqlite,
          [bench.scratch.fresh("peer"), ".mode csv", ".import \(files.table) incident"])
      }
      try measure("import of JSON lines", logreplay, ["import", lines, files.lines] + rows)
      try measure("import of CSV", logreplay, ["import", table, files.table] + rows)
      try measure("export of events", logreplay, ["export", lines, files.events, "--events", "--force"])
      try measure("import of events", logreplay, ["import", copy, files.events, "--events"])
    }
    let peer = runs.first { $0.name == Self.peer }.map { median($0.runs.map(\.seconds)) }
    for (name, runs) in runs {
      let seconds = median(runs.map(\.seconds))
      let memory = runs.map(\.peakMemory).max() ?? 0
      report(
        name,
        "\(rate(bench.corpus.count, seconds)), processor \(String(format: "%.2f", median(runs.map(\.processorSeconds)))) s, "
          + "\(memory >> 20) MiB"
          + (peer.map { ", \(ratio($0, seconds)) of the rate of \(Self.peer)" } ?? ""))
    }
  }

  private static let peer = "sqlite3 .import"
}

/// The rows of a corpus as files, each with an id of its own.
private struct TransferFiles {
  static let id = "number"

  let lines: String
  let table: String
  /// Where the events are exported to.
  let events: String

  init(_ bench: Bench) throws {
    lines = bench.scratch.fresh("rows") + ".jsonl"
    table = bench.scratch.fresh("rows") + ".csv"
    events = bench.scratch.fresh("events") + ".jsonl"
    let documents = try bench.corpus.lines.map { try DocumentValue(cbor: $0.payload) }
    var names = Set<String>()
    for case .object(let object) in documents { names.formUnion(object.keys) }
    let columns = names.sorted()
    let (lineFile, tableFile) = (try Self.file(lines), try Self.file(table))
    try tableFile.write(contentsOf: Data("\(Self.id),\(columns.joined(separator: ","))\n".utf8))
    for start in stride(from: 0, to: bench.corpus.count, by: 10_000) {
      var (json, csv): ([UInt8], [UInt8]) = ([], [])
      for number in start..<min(start + 10_000, bench.corpus.count) {
        guard case .object(var object) = documents[number % documents.count] else { continue }
        csv += "r-\(number)".utf8
        for column in columns {
          csv.append(UInt8(ascii: ","))
          if case .string(let text)? = object[column] { csv += Self.quoted(text).utf8 }
        }
        csv.append(UInt8(ascii: "\n"))
        object[Self.id] = .string("r-\(number)")
        JSONWriter.append(.object(object), to: &json)
        json.append(UInt8(ascii: "\n"))
      }
      try lineFile.write(contentsOf: json)
      try tableFile.write(contentsOf: csv)
    }
    try lineFile.close()
    try tableFile.close()
  }

  private static func file(_ path: String) throws -> FileHandle {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw ChildProcess.Failure(description: "\(path) cannot be written") }
    return file
  }

  private static func quoted(_ text: String) -> String {
    text.contains { ",\"\n\r".contains($0) } ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
  }
}
