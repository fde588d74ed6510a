// Imports lines of events: an export, or what was made by hand.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Imports the events of one input into an open store.
struct ImportEvents {
  let input: ImportInput
  let store: EventStore
  let source: String?
  let note: (String) -> Void

  init(_ input: ImportInput, into store: EventStore, source: String?, note: @escaping (String) -> Void) {
    self.input = input
    self.store = store
    self.note = note
    self.source = source.map { String(decoding: ImportSourceName($0).bytes, as: UTF8.self) }
  }

  /// The options for a store: what another one took is taken, up to the limits of the format.
  static func options(_ options: StoreOptions) -> StoreOptions {
    var options = options
    options.appendSizeMax = FormatLimits.rawLengthMax - AppendDraft.headLengthMax
    options.payloadSizeMax = options.appendSizeMax
    options.metadataSizeMax = options.appendSizeMax
    options.appendEventsMax = FormatLimits.rawLengthMax
    return options
  }

  /// Imports everything, or everything before the first line that cannot be imported.
  func importAll() throws(CommandFailure) -> ImportReport {
    let importer: EventImporter
    do throws(StoreError) { importer = try EventImporter(into: store, source: source) } catch {
      throw CommandFailure(error)
    }
    if source == nil,
      try input.peek().lendBytes({ !EventLineFormat.isExport($0) })
    {
      note(
        "\(input.name) without --source: appends without an id get none, so importing the lines again appends them "
          + "again")
    }
    var progress = TransferProgress(unit: "events")
    defer { progress.end() }
    do throws(CommandFailure) {
      var buffer = [UInt8](repeating: 0, count: 256 << 10)
      while true {
        let count = try buffer.lendMutableBytes { bytes throws(CommandFailure) in try input.read(into: bytes)
        }
        if count == 0 { break }
        try taking(importer) { () throws(StoreError) in
          try buffer.lendBytes { bytes throws(StoreError) in
            try importer.take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
          }
        }
        progress.update(importer.report.eventsRead) { [input] in input.fractionRead }
      }
      try input.finish()
      let events = try taking(importer) { () throws(StoreError) in try importer.finish() }
      return report(events)
    } catch {
      importer.abandon()
      throw error
    }
  }

  /// Runs a step of the import; its error gets the name of the input.
  private func taking<Result>(
    _ importer: EventImporter, _ body: () throws(StoreError) -> Result
  ) throws(CommandFailure) -> Result {
    do throws(StoreError) { return try body() } catch {
      importer.abandon()
      var failure = CommandFailure(error)
      if let line = importer.failedLine {
        failure.what =
          "the append that begins on line \(line) of \(input.name) could not be appended: \(failure.what)"
        failure.next += " (what comes before it stays, and is not appended again)"
      }
      if failure.place.isEmpty { failure.place = input.name }
      throw failure
    }
  }

  private func report(_ events: ImportedEvents) -> ImportReport {
    var report = ImportReport(unit: "appends")
    report.read = events.appendsRead
    report.appended = events.appended
    report.known = events.known
    report.raised = events.raised
    report.first = events.sequences?.lowerBound
    report.last = events.sequences?.upperBound
    report.events = ImportEventCounts(events: events)
    report.isPart = input.rest != nil
    if events.openOrdersLeftOut > 0 {
      note(
        "logreplay: warning: the export has \(counted(events.openOrdersLeftOut, "order")) to erase that was not carried "
          + "out there; the events that it names are in this store now: erase them here with logreplay erase")
    }
    if events.eventsRead == 0 {
      note("logreplay: \(PeopleText.printable(input.name)) has no events")
    }
    return report
  }
}
