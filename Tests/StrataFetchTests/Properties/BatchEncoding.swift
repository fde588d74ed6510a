// A batch as bytes, which are equal for equal batches, in every process and on every machine.

@testable import StrataLists

extension ListChanges {
  /// Appends every part of the batch in order. Numbers are eight little-endian bytes; parts of variable length begin
  /// with their count.
  ///
  /// - Parameters:
  ///   - item: an item's id as bytes.
  ///   - section: a section as bytes.
  func encode(
    to bytes: inout [UInt8], item: (ItemID) -> [UInt8], section: (Section) -> [UInt8]
  ) {
    func add(_ number: Int) { withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 } }
    func add(_ text: [UInt8]) {
      add(text.count)
      bytes += text
    }
    func add(_ place: ListIndex) {
      add(place.section)
      add(place.item)
    }
    func add(_ fields: [String]) {
      add(fields.count)
      for field in fields { add(Array(field.utf8)) }
    }
    func add<Part>(_ parts: [Part], _ body: (Part) -> Void) {
      add(parts.count)
      for part in parts { body(part) }
    }
    // A sequence is never -1.
    add(fromSequence.map { Int($0) } ?? -1)
    add(toSequence.map { Int($0) } ?? -1)
    add(deletions) {
      add(item($0.id))
      add($0.from)
    }
    add(sectionDeletions) {
      add(section($0.section))
      add($0.from)
    }
    add(sectionInsertions) {
      add(section($0.section))
      add($0.to)
      add($0.count)
    }
    add(sectionMoves) {
      add(section($0.section))
      add($0.from)
      add($0.to)
    }
    add(insertions) {
      add(item($0.id))
      add($0.to)
    }
    add(moves) {
      add(item($0.id))
      add($0.from)
      add($0.to)
      add(($0.isChanged ? 1 : 0) + ($0.isReload ? 2 : 0))
      add($0.changedFields)
    }
    add(updates) {
      add(item($0.id))
      add($0.from)
      add($0.to)
      add($0.isReload ? 2 : 0)
      add($0.changedFields)
    }
    add(sectionUpdates) {
      add(section($0.section))
      add($0.from)
      add($0.to)
      add($0.count)
      add($0.isReload ? 2 : 0)
    }
  }
}
