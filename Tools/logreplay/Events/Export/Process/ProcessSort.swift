// Groups the parts of cases and objects on disk, in the order in which each is first met.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments

/// Sorts records by what they belong to. Two sorts with bounded memory: the first brings together what has one id, by
/// the hash of the id, the second orders what is found by the first sequence of each.
struct ProcessSort {
  private let first: ImportLineSorter
  private let second: ImportLineSorter
  /// The number of the next record; 0 is that of a head.
  private var count: UInt64 = 1

  /// - Parameter folder: for temporary files.
  init(in folder: String, memoryMax: Int = 24 << 20) {
    first = ImportLineSorter(in: folder, memoryMax: memoryMax)
    second = ImportLineSorter(in: folder, memoryMax: memoryMax)
  }

  /// Adds a record of something with this id.
  mutating func add(_ id: String, _ record: DocumentValue) throws(CommandFailure) {
    let key = ImportSortKey(time: Int64(bitPattern: XXH64.of(Array(id.utf8))), line: count)
    count += 1
    let bytes = DocumentValue.array([.string(id), record]).cbor()
    try bytes.lendBytes { bytes throws(CommandFailure) in try first.add(key, bytes) }
  }

  /// Calls the body with the records of each id, which come together, in the order of the first ones.
  ///
  /// - Parameter absorb: takes a record into the head of its id, and says whether it did. A head that is not empty comes
  ///   before the other records of its id.
  func forEach(
    absorb: (inout DocumentObject, DocumentValue) -> Bool = { _, _ in false },
    _ body: (_ id: String, _ isFirst: Bool, DocumentValue) throws -> Void
  ) throws {
    /// The ids of the hash that is read, nearly always one: the number of the first record, and the head.
    var hash: Int64?
    var ids: [ProcessText: (begin: UInt64, head: DocumentObject)] = [:]
    func endHash() throws(CommandFailure) {
      for (id, (begin, head)) in ids where !head.isEmpty {
        let bytes = DocumentValue.array([.string(id.text), .object(head)]).cbor()
        try bytes.lendBytes { bytes throws(CommandFailure) in
          try second.add(ImportSortKey(time: Int64(begin), line: 0), bytes)
        }
      }
      ids.removeAll(keepingCapacity: true)
    }
    try Self.forEach(of: first) { key, bytes in
      if hash != key.time { try endHash() }
      hash = key.time
      let (id, record) = try Self.parts(bytes)
      var known = ids[ProcessText(id)] ?? (key.line, [:])
      let isAbsorbed = absorb(&known.head, record)
      ids[ProcessText(id)] = known
      if isAbsorbed { return }
      try second.add(ImportSortKey(time: Int64(known.begin), line: key.line), bytes)
    }
    try endHash()
    var begin: Int64?
    try Self.forEach(of: second) { key, bytes in
      let (id, record) = try Self.parts(bytes)
      try body(id, begin != key.time, record)
      begin = key.time
    }
  }

  /// Calls a body that throws any error.
  private static func forEach(
    of sorter: ImportLineSorter, _ body: (ImportSortKey, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var failure: (any Error)?
    try sorter.forEach { key, bytes throws(CommandFailure) in
      do {
        try body(key, bytes)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  private static func parts(_ bytes: UnsafeRawBufferPointer) throws -> (id: String, record: DocumentValue) {
    guard case .array(let parts) = try DocumentValue(cbor: bytes), parts.count == 2,
      case .string(let id) = parts[0]
    else {
      throw CommandFailure(
        ExitStatus.inputOutput, "the temporary file of the sort was changed", next: "export again")
    }
    return (id, parts[1])
  }
}
