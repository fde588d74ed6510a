// What a sync will append, in order, while it is not known yet whether anything may be.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// Rows in ascending order of their ids, in a file without a name. Without a row there is no file.
final class ImportSyncSpool {
  private let folder: String
  private var file: ImportSortFile?
  private(set) var count: UInt64 = 0

  init(in folder: String) { self.folder = folder }

  func add(_ id: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer) throws(CommandFailure) {
    let file: ImportSortFile
    if let made = self.file { file = made } else { file = try ImportSortFile(in: folder) }
    self.file = file
    count += 1
    try file.add(ImportRowKey(id: Array(id), number: count), document)
  }

  /// Calls the body with each row, until it returns false. To be called once, after the last was added.
  func forEach(
    _ body: (_ id: [UInt8], _ document: UnsafeRawBufferPointer) throws(CommandFailure) -> Bool
  ) throws(CommandFailure) {
    guard let file else { return }
    try file.endRun()
    var document: [UInt8] = []
    for run in file.runs {
      let rows = try ImportSortRunReader<ImportRowKey>(run, of: file)
      while let key = rows.key {
        try rows.take(into: &document)
        let goesOn = try document.lendBytes { bytes throws(CommandFailure) in try body(key.name, bytes) }
        guard goesOn else { return }
      }
    }
  }
}
