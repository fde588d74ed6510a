// Prints what the files of a history hold, as lines of text or as JSON objects.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// Dumps MANIFEST of one history, or one of its runs.
final class HistoryPrinter {
  private let dump: HistoryDump
  private let isJSON: Bool
  private let isArray: Bool
  private let withPayload: Bool
  private let people: PeopleText
  private var output = OutputWriter()
  private var isFirst = true

  /// - Parameter folder: a folder in `derived/history`.
  init(
    path: String, folder: String, output: OutputOptions, withPayload: Bool,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(CommandFailure) {
    isJSON = output.format.isJSON
    isArray = output.format == .json
    self.withPayload = withPayload
    people = PeopleText(zone: output.zone, isColored: output.isColored)
    let layout = StoreLayout(root: path)
    let folders: [String]
    do throws(StoreError) { folders = try HistoryDump.folders(fileSystem, layout) } catch {
      throw CommandFailure(reading: path, error)
    }
    guard folders.contains(folder) else {
      let known = folders.map { PeopleText.printable($0) }.joined(separator: ", ")
      throw CommandFailure(
        ExitStatus.notFound, "there is no history \(PeopleText.printable(folder))",
        at: "\(path)/\(StoreLayout.historiesPath)",
        next: folders.isEmpty ? "logreplay checkpoint --history keeps one" : "there are \(known)")
    }
    dump = HistoryDump(fileSystem, layout, folder: folder)
  }

  /// Prints the manifest, or everything that the run with a number holds.
  func run(number: UInt32?) throws {
    if isArray { output.bytes.append(UInt8(ascii: "[")) }
    do {
      let manifest = try dump.manifest()
      if let number { try printRun(number, manifest) } else { try printManifest(manifest) }
    } catch let problem as HistoryDump.Problem {
      try finish()
      throw CommandFailure(
        ExitStatus.corrupt, problem.what, at: problem.file,
        next: "nothing in it is truth: delete its folder, and the history is made again")
    }
    try finish()
  }

  private func finish() throws {
    if isArray { output.bytes += (isFirst ? "]\n" : "\n]\n").utf8 }
    try output.flush()
  }

  private func add(_ text: @autoclosure () -> String, _ line: (inout JSONLine) -> Void) throws {
    if isJSON {
      if isArray { output.bytes += (isFirst ? "\n" : ",\n").utf8 }
      isFirst = false
      var object = JSONLine.document()
      line(&object)
      output.bytes += object.finish()
      if !isArray { output.bytes.append(UInt8(ascii: "\n")) }
    } else {
      output.bytes += (text() + "\n").utf8
    }
    try output.flushIfLarge()
  }

  private func time(_ nanoseconds: Int64) -> String { people.time(Timestamp(nanoseconds: nanoseconds)) }

  // MARK: MANIFEST

  private func printManifest(_ manifest: HistoryDump.Manifest) throws {
    let hexes = [manifest.name, manifest.fingerprint, manifest.build].map { LogPosition.hex($0) }
    let file = dump.path(StoreLayout.manifestFile)
    try add(
      people.colored(
        "\(PeopleText.printable(file)): \(counted(manifest.byteCount, "byte")), store \(manifest.storeID)",
        .cyan)
        + "\nname \(hexes[0])  fingerprint \(hexes[1])  build \(hexes[2])  next run \(manifest.nextNumber)"
    ) { line in
      line.field("file", file)
      line.field("kind", "manifest")
      line.field("bytes", manifest.byteCount)
      line.field("store", "\(manifest.storeID)")
      line.field("name", hexes[0])
      line.field("fingerprint", hexes[1])
      line.field("build", hexes[2])
      line.field("nextNumber", UInt64(manifest.nextNumber))
    }
    for run in manifest.runs {
      try add(
        [
          people.colored("run \(run.number)", .yellow), "level \(run.level)", counted(run.byteCount, "byte"),
          "root @\(run.rootOffset)", "seq \(run.begin &+ 1)…\(run.end)", counted(run.appends, "append"),
          time(run.time),
          "chain \(LogPosition.hex(run.chain))", "erasures \(LogPosition.hex(run.erasures))",
        ].joined(separator: "  ")
      ) { line in
        line.field("kind", "run")
        line.field("number", UInt64(run.number))
        line.field("level", UInt64(run.level))
        line.field("bytes", run.byteCount)
        line.field("rootOffset", run.rootOffset)
        line.field("first", run.begin &+ 1)
        line.field("last", run.end)
        line.field("appends", run.appends)
        line.field("lastTime", "\(Timestamp(nanoseconds: run.time))")
        line.field("chain", LogPosition.hex(run.chain))
        line.field("erasures", LogPosition.hex(run.erasures))
      }
    }
  }

  // MARK: A run

  private func printRun(_ number: UInt32, _ manifest: HistoryDump.Manifest) throws {
    guard let run = manifest.runs.first(where: { $0.number == number }) else {
      let numbers = manifest.runs.map { "\($0.number)" }.joined(separator: ", ")
      throw CommandFailure(
        ExitStatus.notFound, "the manifest names no run \(number)", at: dump.path(StoreLayout.manifestFile),
        next: "it names \(numbers.isEmpty ? "none" : numbers)")
    }
    try dump.forEachEntry(of: run, in: manifest) { try print($0, run) }
  }

  private func print(_ entry: HistoryDump.Entry, _ run: HistoryDump.Run) throws {
    switch entry {
    case .root(let root): try print(root, run)
    case .table(let number, let first, let name):
      try add("table \(number)  \(PeopleText.printable(name))  first written to by seq \(first)") { line in
        line.field("kind", "table")
        line.field("number", UInt64(number))
        line.field("name", name)
        line.field("first", first)
      }
    case .failure(let sequence, let what):
      try add("failure  seq \(sequence)  \(PeopleText.printable(what))") { line in
        line.field("kind", "failure")
        line.field("sequence", sequence)
        line.field("what", what)
      }
    case .row(let number, let table, let id):
      let id = String(decoding: id, as: UTF8.self)
      try add(people.colored("row \(number)", .yellow) + "  table \(table)  \(PeopleText.printable(id))") {
        line in
        line.field("kind", "row")
        line.field("number", number)
        line.field("table", UInt64(table))
        line.field("id", id)
      }
    case .version(let sequence, let time, let kind, let bytes): try print(sequence, time, kind, bytes)
    case .keys(let keys):
      let owner = keys.owner == 0 ? "all rows" : "list \(LogPosition.hex(keys.owner))"
      try add(
        people.colored("keys of \(owner): \(keys.kind)", .yellow)
          + "  \(counted(keys.keys, "key"))  \(counted(keys.pages, "page"))  count \(keys.count)"
      ) { line in
        line.field("kind", "keys")
        line.field("owner", LogPosition.hex(keys.owner))
        line.field("of", keys.kind)
        line.field("keys", keys.keys)
        line.field("pages", keys.pages)
        line.field("count", Int(keys.count))
      }
    case .section(let section, let count):
      try add("    section \(BlockPrinter.hex(section))  count \(count)") { line in
        line.field("kind", "section")
        line.field("section", BlockPrinter.hex(section))
        line.field("count", Int(count))
      }
    case .key(let key): try print(key)
    case .event(let sequence, let time, let endsAppend, let hasFailed, let rows):
      let notes = (endsAppend ? ", ends its append" : "") + (hasFailed ? ", could not be applied" : "")
      let changed = rows.isEmpty ? "no row" : "rows " + rows.map { "\($0)" }.joined(separator: " ")
      try add("seq \(sequence)  \(self.time(time))  \(changed)\(notes)") { line in
        line.field("kind", "event")
        line.field("sequence", sequence)
        line.field("time", "\(Timestamp(nanoseconds: time))")
        line.field("endsAppend", endsAppend)
        line.field("hasFailed", hasFailed)
        line.array("rows", rows.map { Array("\($0)".utf8) })
      }
    }
  }

  private func print(_ key: HistoryDump.Key) throws {
    let parts = [key.section, key.sort].map { BlockPrinter.hex(Array($0)) }
    let id = String(decoding: key.id, as: UTF8.self)
    let moments = key.moments.map { "\($0)" }
    try add(
      "    key \(parts.filter { !$0.isEmpty }.joined(separator: " "))  \(PeopleText.printable(id))"
        + (key.isAlive ? "  from before" : "")
        + (moments.isEmpty ? "" : "  seq " + moments.joined(separator: " "))
    ) { line in
      line.field("kind", "key")
      line.field("section", parts[0])
      line.field("sort", parts[1])
      line.field("id", id)
      line.field("isFromBefore", key.isAlive)
      line.array("moments", moments.map { Array($0.utf8) })
    }
  }

  private func print(_ root: HistoryDump.Root, _ run: HistoryDump.Run) throws {
    let file = dump.path(run.file)
    try add(
      people.colored(
        "\(PeopleText.printable(file)): \(counted(run.byteCount, "byte")), \(root.isBase ? "base" : "delta")",
        .cyan)
        + "\nseq \(root.begin &+ 1)…\(root.end)  \(counted(root.appends, "append"))  \(counted(root.changes, "change"))  "
        + "\(counted(root.failures, "failure"))  \(counted(root.rows, "row"))  \(counted(root.versions, "version"))"
    ) { line in
      line.field("file", file)
      line.field("kind", root.isBase ? "base" : "delta")
      line.field("first", root.begin &+ 1)
      line.field("last", root.end)
      line.field("appends", root.appends)
      line.field("changes", root.changes)
      line.field("failures", root.failures)
      line.field("rows", root.rows)
      line.field("versions", root.versions)
    }
  }

  private func print(
    _ sequence: UInt64, _ time: Int64, _ kind: HistoryDump.VersionKind, _ bytes: UnsafeRawBufferPointer
  ) throws {
    var (created, name): (UInt64?, String) = (nil, "gone")
    switch kind {
    case .gone: break
    case .document(let sequence): (created, name) = (sequence, "document")
    case .problem: name = "problem"
    }
    let reason = kind == .problem ? String(decoding: bytes, as: UTF8.self) : nil
    var text = "    seq \(sequence)  \(self.time(time))  \(name)"
    if let created { text += "  \(counted(bytes.count, "byte"))  created by seq \(created)" }
    if let reason { text += ": \(PeopleText.printable(reason))" }
    let payload = withPayload && created != nil ? Array(bytes) : nil
    if let payload { text += "\n" + BlockPrinter.hexDump(payload).dropLast() }
    try add(text) { line in
      line.field("kind", "version")
      line.field("sequence", sequence)
      line.field("time", "\(Timestamp(nanoseconds: time))")
      line.field("content", name)
      if let created {
        line.field("created", created)
        line.field("bytes", bytes.count)
      }
      if let reason { line.field("problem", reason) }
      if let payload { line.field("payload", BlockPrinter.hex(payload)) }
    }
  }
}
