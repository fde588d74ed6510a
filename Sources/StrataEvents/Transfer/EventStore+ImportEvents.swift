// Importing events from lines: for tasks, from any asynchronous sequence of bytes, and for threads.

internal import StrataBase
internal import StrataLog

extension EventStore {
  /// Appends the events of lines, as `export` writes them and as they can be made by hand: see <doc:EventLines>.
  ///
  /// An export of all events from the beginning, imported into an empty store, gives it the same events with the same
  /// sequences, times, ids and chain; orders to erase that are open in it are carried out before the call returns. The id
  /// of the store stays its own. In a store with other events, each append is added with its own time, id and metadata,
  /// without events of Strata's own streams and without those that were erased; an append without an id gets one that
  /// says where it comes from. So the same lines imported again add nothing.
  ///
  /// The lines are pulled as they can be appended. Appends are durable when the call returns. If it throws, those that
  /// were appended before stay, always the first ones of the input, and importing the same lines again goes on.
  ///
  /// - Parameters:
  ///   - lines: the bytes of the lines, in pieces that may begin and end anywhere.
  ///   - source: a name of the lines, of 1 to 43 bytes of UTF-8, from which appends made by hand get an id if they have
  ///     none. Without it they have none, and importing them again appends them again.
  /// - Throws: `invalid`, with the number of the line, for a line that is damaged, missing, or not of this form; the
  ///   errors of `append`, of which `conflict` and `idReused` are about an append of the lines; what `lines` throws; and
  ///   `CancellationError`.
  @discardableResult
  public func importEvents<Lines: AsyncSequence & Sendable>(
    from lines: Lines, source: String? = nil
  ) async throws -> ImportedEvents where Lines.Element: Sequence<UInt8> {
    let importer = try EventImporter(into: self, source: source)
    // Appending waits for the disk, so it has a thread of its own.
    let thread = machine.thread("strata-import")
    do {
      for try await piece in lines {
        try Task.checkCancellation()
        let bytes = Array(piece)
        try await thread.result { () throws(StoreError) in
          try bytes.lendBytes { bytes throws(StoreError) in try importer.take(bytes) }
        }.get()
      }
      // A sequence may end, and throw nothing, because the task was cancelled: it is then not known to be complete.
      try Task.checkCancellation()
      return try await thread.result { () throws(StoreError) in try importer.finish() }.get()
    } catch {
      _ = await thread.result { () throws(StoreError) in importer.abandon() }
      throw error
    }
  }

  /// Imports lines as `importEvents` does, and blocks the calling thread. Do not call it on the cooperative pool.
  ///
  /// - Parameter next: returns the next bytes of the lines, nil at the end.
  @discardableResult
  public func importEventsBlocking(
    source: String? = nil, from next: () throws -> [UInt8]?
  ) throws -> ImportedEvents {
    let importer = try EventImporter(into: self, source: source)
    do {
      while let piece = try next() {
        try piece.lendBytes { bytes throws(StoreError) in try importer.take(bytes) }
      }
      return try importer.finish()
    } catch {
      importer.abandon()
      throw error
    }
  }

  /// Lends the lines that `export` gives to a body, piece by piece, and blocks the calling thread. Do not call it on the
  /// cooperative pool.
  public func exportBlocking(
    _ selection: EventSelection? = nil, from start: LogPoint = .beginning, to end: LogPoint = .head,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let reader = EventExportReader(self, selection.map { ExportSelection($0) }, from: start, to: end)
    while try reader.lendNext(body) {}
  }
}
