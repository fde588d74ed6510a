// What is erased in a log, as the headers of its segments say.

internal import StrataBase

/// The erased events of a log at some moment: the marks of the segments that have any. What was made from the log
/// earlier holds erased content if these are not the same.
package struct SegmentErasures: Sendable, Equatable {
  /// The segments with erased events and their marks, ascending.
  private let marks: [(segment: SegmentName, mark: UInt64)]

  package static func == (a: SegmentErasures, b: SegmentErasures) -> Bool {
    a.marks.elementsEqual(b.marks, by: ==)
  }

  /// - Parameter marks: of segments, ascending; `ErasureMark.unknown` where only the events say what is erased.
  init(_ marks: [(segment: SegmentName, mark: UInt64)]) {
    self.marks = marks.filter { $0.mark != ErasureMark.none.value }
  }

  /// The hash of what is erased in the segments that begin at or before a sequence.
  package func hash(through sequence: UInt64) -> UInt64 {
    var bytes: [UInt8] = []
    for (segment, mark) in marks where segment.firstSequence <= sequence {
      withUnsafeBytes(of: segment.firstSequence.littleEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: mark.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return XXH64.of(bytes)
  }
}

extension StoreLayout {
  /// Removes the files of all kinds, as `Log.removeStates()` does, from a store of which the caller holds
  /// the lock.
  func removeStates(_ fileSystem: any FileSystem) throws(StoreError) {
    for parent in derivedKinds {
      guard try fileSystem.kind(of: parent) == .directory else { continue }
      guard try !fileSystem.isLink(parent) else { throw .linked(path: parent) }
      for name in try fileSystem.contents(ofDirectory: parent) {
        try removeDerived(in: "\(parent)/\(name)", fileSystem)
      }
    }
  }

  /// Removes the derived files of one projection, as `removeStates` does.
  package func removeDerived(in folder: String, _ fileSystem: any FileSystem) throws(StoreError) {
    guard try fileSystem.kind(of: folder) == .directory else { return }
    guard try !fileSystem.isLink(folder) else { throw .linked(path: folder) }
    try fileSystem.removeFiles(in: folder, where: StoreLayout.isDerivedFile)
    try fileSystem.syncDirectory(folder)
  }
}
