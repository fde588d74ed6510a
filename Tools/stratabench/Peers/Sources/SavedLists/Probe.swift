// What is measured in a process of its own: this program runs itself, and reads the figures that it prints.

internal import Foundation

/// A library whose store a process opens, and what it then does.
enum Probe: String {
  /// Reads the first page and then the number of rows of each section.
  case page
  /// Reads many rows by random ids.
  case rows
  /// Changes one field of a row of 1 MB a thousand times.
  case largeField
  /// Changes the text of a row of 1 MB, which is nearly all of it, a thousand times.
  case largeText

  /// Times in seconds, memory and writes in bytes.
  typealias Figures = [String: Double]

  static let changeCount = 1_000
  static let readCount = 100_000
  /// The first argument of a process that is a probe.
  static let mark = "probe"

  // MARK: In the process that measures

  /// The figures of a process. Those of the whole of it are `whole` and `processor`.
  func run<Library: SavedIncidents>(
    _ library: Library.Type, _ path: String, rows: Int = 0
  ) throws -> Figures {
    let child = try ChildProcess(ChildProcess.own, [Self.mark, Library.library, rawValue, path, "\(rows)"])
    var figures: Figures = [:]
    for line in child.output.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { figures[String(words[0])] = Double(words[1]) }
    }
    (figures["whole"], figures["processor"]) = (child.seconds, child.processorSeconds)
    return figures
  }

  // MARK: In the process that is measured

  /// Runs what the arguments say: a library, a probe, a path and a number of rows.
  static func main(_ arguments: [String]) async throws {
    guard arguments.count == 4, let probe = Probe(rawValue: arguments[1]), let rows = Int(arguments[3]) else {
      preconditionFailure("the arguments are those of this program")
    }
    let figures =
      arguments[0] == StrataIncidents.library
      ? try await probe.figures(StrataIncidents.self, arguments[2], rows)
      : try await probe.figures(SQLiteIncidents.self, arguments[2], rows)
    for (name, value) in figures { print(name, value) }
  }

  private func figures<Library: SavedIncidents>(
    _ library: Library.Type, _ path: String, _ rows: Int
  ) async throws -> Figures {
    var figures: Figures = [:]
    let isLarge = self == .largeField || self == .largeText
    let before = Self.bytesWritten
    let start = ContinuousClock.now
    let store = try await Library(path, access: isLarge ? .write : .read)
    switch self {
    case .page:
      let page = try await store.firstPage()
      figures["page"] = start.seconds
      let counts = try await store.sectionCounts()
      figures["counts"] = start.seconds
      precondition(page.count == pageLength && counts.count == Incident.sectionCount, "the list is whole")
    case .rows:
      var random = FixedGenerator(seed: 1)
      let ids = (0..<Self.readCount).map { _ in Int.random(in: 0..<rows, using: &random) }
      _ = try await store.firstPage()
      let begin = ContinuousClock.now
      let count = try await store.read(ids)
      figures["rows"] = begin.seconds
      precondition(count == ids.count, "every row is there")
    case .largeField, .largeText:
      var row = Incident.rows(0..<1)[0]
      row.text = Incident.text(0, length: 1_000_000)
      try await store.put([row])
      try await store.keepList()
      for number in 0..<Self.changeCount {
        row.note = number
        if self == .largeText { row.text = Incident.text(number, length: 1_000_000) }
        let page = try await store.changeAndShow(row)
        precondition(page.first?.note == number, "the page has the change")
      }
      try await store.close()
      figures["large"] = start.seconds
      if let before, let after = Self.bytesWritten { figures["written"] = after - before }
    }
    if let memory = ProcessMemory.now() { figures["peak"] = Double(memory.peak) }
    return figures
  }

  /// The bytes that this process has given the system to write to files; nil on a system that does not count them as
  /// Linux does. What is written to mapped files is not among them.
  private static var bytesWritten: Double? {
    guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else { return nil }
    return text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }.flatMap { Double($0.dropFirst(7)) }
  }
}

extension ContinuousClock.Instant {
  /// The seconds since then.
  var seconds: Double { (ContinuousClock.now - self) / .seconds(1) }
}
