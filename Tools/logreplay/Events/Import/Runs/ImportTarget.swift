// The store that an import writes to: opened for writing, and removed if it is new and nothing was appended.

package import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Opens and closes the store of an import.
package struct ImportTarget {
  let path: String
  let wait: LockWaitOptions
  let tables: any ImportTables

  package init(path: String, wait: LockWaitOptions, tables: any ImportTables) {
    self.path = path
    self.wait = wait
    self.tables = tables
  }

  /// The options for the store. Appends wait in memory until they are on disk; 8 MiB of them keep the disk busy.
  static var options: StoreOptions {
    var options = StoreOptions()
    options.pendingBytesMax = 8 << 20
    return options
  }

  /// Imports into the store, closes it, and removes it if it is new and the import failed before its first append.
  func withStore<Report>(
    _ options: StoreOptions = Self.options, _ body: (EventStore) throws(CommandFailure) -> Report
  ) throws(CommandFailure) -> Report {
    var isNew = false
    // Where the system refuses to tell, nothing is removed.
    do throws(StoreError) { isNew = try PosixFileSystem().kind(of: path) == nil } catch {}
    let opened = try open(options)
    defer { try? opened.closeBlocking() }
    do throws(CommandFailure) {
      let report = try body(opened)
      tables.extendState(of: opened)
      return report
    } catch {
      if isNew, opened.head.sequence == 0 { opened.removeEmpty() }
      throw error
    }
  }

  /// The records that the store has now, read while another process may still be writing to it. None if it cannot be
  /// read: opening it for writing then says why.
  func knownRecords(of source: ImportSourceName?) -> ImportKnownRecords {
    var known = ImportKnownRecords()
    guard let source,
      let reader = try? EventStore.openBlocking(at: path, .readOnly, options: Self.options)
    else { return known }
    try? known.read(source, from: reader.log)
    try? reader.closeBlocking()
    return known
  }

  /// The store for reading; nil if there is none yet.
  func reading() throws(CommandFailure) -> EventStore? {
    var options = Self.options
    // A command that reads writes nothing.
    options.readersSaveStates = false
    do throws(StoreError) { return try EventStore.openBlocking(at: path, .readOnly, options: options) } catch
    {
      if error.reason == .notFound { return nil }
      throw CommandFailure(reading: path, error)
    }
  }

  private func open(_ options: StoreOptions) throws(CommandFailure) -> EventStore {
    guard !path.isEmpty else {
      throw CommandFailure(ExitStatus.usage, "the store's path is empty", next: "give the path of a folder")
    }
    let timeout = try wait.timeout()
    do throws(StoreError) {
      return try wait.open(path, options, timeout)
    } catch {
      // Damage is reported with the store's path. Any other error keeps its own exit code: a store that cannot be
      // created is not a missing store.
      throw error.finding == nil ? CommandFailure(error) : CommandFailure(reading: path, error)
    }
  }
}
