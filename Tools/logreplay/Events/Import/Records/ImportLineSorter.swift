// Sorts records by their keys in bounded memory: sorted runs in a temporary file, which are merged.

internal import LogreplayShell
internal import StrataBase

/// Sorts lines by their times; lines with one time stay in the order of the file.
typealias ImportLineSorter = ImportSorter<ImportSortKey>

/// Takes records in any order, and gives them back by their keys, none of which occurs twice.
///
/// Records are held up to `memoryMax`, and then go to the file as one sorted run. In the end up to `fanIn` runs are read at
/// the same time, and more are first merged to fewer. Without a run, nothing is written.
final class ImportSorter<Key: ImportSortable> {
  private struct Entry {
    var key: Key
    var offset: Int
    var count: Int
  }

  private let folder: String
  private let memoryMax: Int
  private let fanIn: Int
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// The bytes that the names of the keys take.
  private var nameBytes = 0
  private var file: ImportSortFile?

  init(in folder: String, memoryMax: Int = 32 << 20, fanIn: Int = 64) {
    self.folder = folder
    self.memoryMax = memoryMax
    self.fanIn = max(2, fanIn)
  }

  func add(_ key: Key, _ line: UnsafeRawBufferPointer) throws(CommandFailure) {
    let held = bytes.count + nameBytes + entries.count * MemoryLayout<Entry>.stride
    if !entries.isEmpty, held + line.count > memoryMax { try endRun() }
    entries.append(Entry(key: key, offset: bytes.count, count: line.count))
    bytes.append(contentsOf: line)
    let name = key.name
    // An array has a head.
    if !name.isEmpty { nameBytes += name.count + 32 }
  }

  /// Calls the body with each line in order, until it returns false.
  func forEach(
    _ body: (Key, UnsafeRawBufferPointer) throws(CommandFailure) -> Bool
  ) throws(CommandFailure) {
    guard file != nil else {
      entries.sort { $0.key < $1.key }
      for entry in entries {
        let goesOn = try bytes.lendBytes { bytes throws(CommandFailure) in
          try body(
            entry.key, UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.count]))
        }
        guard goesOn else { return }
      }
      return
    }
    try endRun()
    bytes = []
    entries = []
    while let file, file.runs.count > fanIn { self.file = try mergedOnce(file) }
    if let file { try merge(file.runs[...], of: file, body) }
  }

  private func endRun() throws(CommandFailure) {
    entries.sort { $0.key < $1.key }
    let file: ImportSortFile
    if let made = self.file { file = made } else { file = try ImportSortFile(in: folder) }
    self.file = file
    for entry in entries {
      try bytes.lendBytes { bytes throws(CommandFailure) in
        try file.add(
          entry.key, UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.count]))
      }
    }
    try file.endRun()
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    nameBytes = 0
  }

  /// A file with one run for every `fanIn` runs of another.
  private func mergedOnce(_ file: ImportSortFile) throws(CommandFailure) -> ImportSortFile {
    let target = try ImportSortFile(in: folder)
    var rest = file.runs[...]
    while !rest.isEmpty {
      try merge(rest.prefix(fanIn), of: file) { key, line throws(CommandFailure) in
        try target.add(key, line)
        return true
      }
      try target.endRun()
      rest = rest.dropFirst(fanIn)
    }
    return target
  }

  /// Few runs are merged, so the least key is found by looking at each.
  private func merge(
    _ runs: ArraySlice<ImportSortFile.Run>, of file: ImportSortFile,
    _ body: (Key, UnsafeRawBufferPointer) throws(CommandFailure) -> Bool
  ) throws(CommandFailure) {
    var readers: [ImportSortRunReader<Key>] = []
    for run in runs { readers.append(try ImportSortRunReader<Key>(run, of: file)) }
    var line: [UInt8] = []
    while true {
      var least: (key: Key, reader: ImportSortRunReader<Key>)?
      for reader in readers {
        if let key = reader.key, least.map({ key < $0.key }) ?? true { least = (key, reader) }
      }
      guard let (key, reader) = least else { return }
      try reader.take(into: &line)
      guard try line.lendBytes({ bytes throws(CommandFailure) in try body(key, bytes) }) else { return }
    }
  }
}
