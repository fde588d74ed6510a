// Exports the events of a range as a process: OCEL 2.0 or XES.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
package import StrataEvents

/// Writes the events of a store for programs that mine processes.
///
/// The range is read twice for OCEL, which names types and objects apart from events, and once for XES, whose events are
/// sorted by their cases. What is sorted is in memory up to some 24 MiB, and then in temporary files.
package struct ExportProcess {
  let request: ExportRequest
  let selection: ExportSelection?
  let mapping: ProcessMapping
  let format: ExportFormat

  package init(
    request: ExportRequest, selection: ExportSelection?, mapping: ProcessMapping, format: ExportFormat
  ) {
    self.request = request
    self.selection = selection
    self.mapping = mapping
    self.format = format
  }

  package func run() throws {
    let target = try ExportTarget(request.target, replaces: request.replaces)
    let reader = ProcessReader(request, selection, mapping)
    var counts: ProcessCounts
    switch format {
    case .xes: counts = try writeXES(reader, target)
    case .ocelSQLite:
      let database = try OCELSQLWriter(in: folder)
      counts = try writeOCEL(
        reader, begin: { try database.begin(objectTypes: $0, eventTypes: $1) },
        object: { try database.object($0) }, event: { try database.event($0) })
      try database.finish(into: target)
    default:
      var writer = OCELJSONWriter(target)
      var isInEvents = false
      counts = try writeOCEL(
        reader, begin: { try writer.begin(objectTypes: $0, eventTypes: $1) },
        object: { try writer.object($0) },
        event: {
          if !isInEvents { try writer.beginEvents() }
          isInEvents = true
          try writer.event($0)
        })
      if !isInEvents { try writer.beginEvents() }
      try writer.end()
    }
    try request.opened.throwDamage(if: request.resolver.dependsOnEnd || request.hasOpenEnd)
    try target.finish()
    try report(counts, target)
  }

  /// Where temporary files are made: the folder TMPDIR, or else the one in which the store is.
  private var folder: String { ImportSortFile.folder(besides: request.opened.path) }

  // MARK: OCEL

  private func writeOCEL(
    _ reader: ProcessReader, begin: (ProcessTypes, ProcessTypes) throws -> Void,
    object: (ProcessObject) throws -> Void, event: (ProcessEvent) throws -> Void
  ) throws -> ProcessCounts {
    var objects = ProcessObjects(in: folder)
    var activities = ProcessTypes("activities", member: "activity")
    try reader.forEach { item in
      switch item {
      case .event(let event):
        try objects.add(event.objects)
        try activities.add(event.activity, event.attributes)
      case .change(let change): try objects.add(change)
      }
    }
    try begin(objects.types, activities)
    var count: UInt64 = 0
    try objects.forEach {
      try object($0)
      count += 1
    }
    try reader.forEach { item in if case .event(let found) = item { try event(found) } }
    var counts = reader.counts
    counts.objects = count
    return counts
  }

  // MARK: XES

  private func writeXES(_ reader: ProcessReader, _ target: ExportTarget) throws -> ProcessCounts {
    var cases = ProcessSort(in: folder)
    var category: String?
    /// The id of a stream is that of a case only among the streams of one category.
    func check(_ found: String) throws(CommandFailure) {
      guard let known = category, !known.utf8.elementsEqual(found.utf8) else { return category = found }
      throw CommandFailure(
        ExitStatus.usage,
        "the events are in streams of the categories \(String(reflecting: known)) and \(String(reflecting: found)): "
          + "a case is a stream of one",
        next: "choose one with --category, or name the field of the case as \"case\" in the mapping")
    }
    try reader.forEach { item in
      switch item {
      case .event(let event):
        if event.caseID == nil { try check(event.category) }
        try cases.add(event.caseID ?? event.stream, event.record)
      case .change(let change):
        try check(change.category)
        try cases.add(
          change.stream, ["k": .int(change.kind.rawValue), "v": .object(change.attributes)])
      }
    }
    var writer = XESWriter(target)
    try writer.begin()
    var count: UInt64 = 0
    try cases.forEach(absorb: Self.absorb) { id, isFirst, record in
      let event = ProcessEvent(record)
      if isFirst {
        count += 1
        var attributes: DocumentObject = [:]
        if event == nil, case .object(let head) = record { attributes = head }
        try writer.trace(id, attributes)
      }
      if let event { try writer.event(event) }
    }
    try writer.end()
    var counts = reader.counts
    counts.objects = count
    return counts
  }

  /// The attributes of a case are the last ones of its row.
  private static func absorb(_ attributes: inout DocumentObject, _ record: DocumentValue) -> Bool {
    guard case .int(let number)? = record["k"], case .object(let values)? = record["v"] else { return false }
    if ProcessRowChange.Kind(rawValue: number) != .merge { attributes = [:] }
    for (name, value) in values { attributes[name] = value.isNull ? nil : value }
    return true
  }

  // MARK: The report

  /// On standard error if the export is on standard output.
  private func report(_ counts: ProcessCounts, _ target: ExportTarget) throws {
    let isXES = format == .xes
    if counts.events == 0, counts.changes > 0 {
      Terminal.note(
        "logreplay: every event is that of a row, which is \(isXES ? "a case" : "an object") here and no event: name in a "
          + "mapping the field that is the \"activity\"")
    }
    if !isXES, counts.withoutObject > 0 {
      Terminal.note(
        "logreplay: warning: \(counted(counts.withoutObject, "event")) without an object: pm4py leaves "
          + "\(counts.withoutObject == 1 ? "it" : "them") out")
    }
    let text: String
    if request.output.format.isJSON {
      var line = JSONLine.document()
      line.field("events", counts.events)
      line.field(isXES ? "cases" : "objects", counts.objects)
      line.field("rows", counts.changes)
      if !isXES { line.field("withoutObject", counts.withoutObject) }
      line.field("nested", counts.nested)
      line.field("bytes", target.byteCount)
      text = String(decoding: line.finish(), as: UTF8.self)
    } else {
      text =
        "\(counted(counts.events, "event")) of \(counted(counts.objects, isXES ? "case" : "object")) exported to "
        + PeopleText.printable(target.name)
        + (counts.changes > 0 ? ", with \(counted(counts.changes, "change")) of rows as attributes" : "")
        + (counts.nested > 0 ? ", without \(counted(counts.nested, "field")) that hold no single value" : "")
    }
    guard !target.isStandardOutput else {
      if request.output.requestedFormat != nil { Terminal.note(text) }
      return
    }
    var output = OutputWriter()
    try output.line(text)
    try output.flush()
  }
}

extension ProcessEvent {
  /// The event in a sort by cases.
  var record: DocumentValue {
    [
      "n": DocumentValue(sequence), "t": .int(time), "a": .string(activity), "v": .object(attributes),
    ]
  }

  /// Nil if a record is no event.
  init?(_ record: DocumentValue) {
    guard case .object(let object) = record, object.count == 4, case .int(let sequence)? = record["n"],
      case .int(let time)? = record["t"], case .string(let activity)? = record["a"],
      case .object(let attributes)? = record["v"]
    else { return nil }
    self.init(
      sequence: UInt64(clamping: sequence), time: time, activity: activity, category: "", stream: "",
      attributes: attributes)
  }
}
