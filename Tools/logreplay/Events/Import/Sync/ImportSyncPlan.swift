// The first phase of a sync: the input, sorted by ids, beside the table, which is in the same order.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// The differences between an input and a table, without any of them being made.
///
/// Both are in the order of ids, so each is gone through once, and what is in memory does not grow with them. Documents
/// are compared by the bytes of their deterministic encoding, as a table does where a row is put into it that it has: so
/// the order of keys and white space are no difference, and 1 and 1.0 are two values.
final class ImportSyncPlan {
  /// Rows to put, and rows to delete.
  let puts: ImportSyncSpool
  let deletions: ImportSyncSpool
  private(set) var report: ImportSyncReport
  /// The first id that came twice, with the numbers of its records.
  private(set) var firstTwice: (id: [UInt8], first: UInt64, second: UInt64)?

  init(in folder: String, _ report: ImportSyncReport) {
    puts = ImportSyncSpool(in: folder)
    deletions = ImportSyncSpool(in: folder)
    self.report = report
  }

  /// Compares sorted records with the rows of a table. To be called once.
  ///
  /// - Parameters:
  ///   - records: each with its document, or without bytes where the record says that its row is to be deleted.
  ///   - table: nil for one without rows.
  func compare(
    _ records: ImportSorter<ImportRowKey>, with table: (any ImportTableRows)?
  ) throws(CommandFailure) {
    let rows = table?.scan()
    report.rows = UInt64(table?.count ?? 0)
    var row = rows?.next()
    var last: ImportRowKey?
    try records.forEach { key, document throws(CommandFailure) in
      if let last, last.name == key.name {
        report.twice += 1
        if firstTwice == nil { firstTwice = (key.name, last.number, key.number) }
        return true
      }
      last = key
      // A record of a deleted row is as if it were not in the input.
      guard !document.isEmpty else { return true }
      while let old = row, key.order(old) > 0 {
        try delete(old)
        row = rows?.next()
      }
      guard let old = row, key.order(old) == 0 else {
        report.added += 1
        try put(key, document)
        return true
      }
      if rows?.hasDocument(document) ?? false {
        report.same += 1
      } else {
        report.changed += 1
        try put(key, document)
      }
      row = rows?.next()
      return true
    }
    while let old = row {
      try delete(old)
      row = rows?.next()
    }
    withExtendedLifetime(table) {}
  }

  private func put(_ key: ImportRowKey, _ document: UnsafeRawBufferPointer) throws(CommandFailure) {
    try key.name.lendBytes { id throws(CommandFailure) in try puts.add(id, document) }
  }

  private func delete(_ id: UnsafeRawBufferPointer) throws(CommandFailure) {
    report.gone += 1
    try deletions.add(id, UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
