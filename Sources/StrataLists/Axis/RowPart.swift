// The part of each row that is counted: the fields that groups, sums and filters read.

internal import StrataDocuments
internal import StrataTables

/// Takes the members of documents that some paths begin with, as a document of its own. What a merge patch makes of that
/// part of a row is the part of what it makes of the row.
struct RowPart {
  /// The names of the members, in the order of their keys in deterministic encoding; nil for all members.
  private let members: [(path: FieldPath, key: [UInt8])]?

  /// - Parameter isWhole: whether all members are needed.
  init(_ paths: some Sequence<FieldPath>, isWhole: Bool) {
    guard !isWhole else {
      members = nil
      return
    }
    let names = Set(paths.compactMap(\.names.first))
    members = names.map { (FieldPath(names: [$0]), DocumentValue.string($0).cbor()) }
      .sorted { $0.1.lexicographicallyPrecedes($1.1) }
  }

  /// The part of a document in deterministic encoding, written over `part`.
  @inline(__always)
  func take(from document: UnsafeRawBufferPointer, to part: inout [UInt8]) {
    part.removeAll(keepingCapacity: true)
    guard let members else {
      part.append(contentsOf: document)
      return
    }
    var items: [UnsafeRawBufferPointer?] = []
    if members.count == 1 {
      // Without an array for the most frequent case.
      let item = members[0].path.find(in: document)
      return write(members, { _ in item }, to: &part)
    }
    items.reserveCapacity(members.count)
    for member in members { items.append(member.path.find(in: document)) }
    write(members, { items[$0] }, to: &part)
  }

  /// Changes a part as a merge patch in deterministic encoding changes its row. Returns false if it merges objects inside
  /// of the part, which is for `DocumentValue` to do.
  func merge(_ patch: UnsafeRawBufferPointer, into part: inout [UInt8], _ old: UnsafeRawBufferPointer) -> Bool
  {
    guard let members else { return false }
    var items: [UnsafeRawBufferPointer?] = []
    for member in members {
      guard let new = member.path.find(in: patch), let head = CBORItem(new) else {
        items.append(member.path.find(in: old))
        continue
      }
      if head.major == 5 { return false }
      items.append(head.major == 7 && head.info == 22 ? nil : new)
    }
    part.removeAll(keepingCapacity: true)
    write(members, { items[$0] }, to: &part)
    return true
  }

  @inline(__always)
  private func write(
    _ members: [(path: FieldPath, key: [UInt8])], _ item: (Int) -> UnsafeRawBufferPointer?,
    to part: inout [UInt8]
  ) {
    var count = 0
    for index in members.indices where item(index) != nil { count += 1 }
    if count < 24 {
      part.append(0xA0 | UInt8(count))
    } else {
      part += [0xBB]
      withUnsafeBytes(of: UInt64(count).bigEndian) { part.append(contentsOf: $0) }
    }
    for index in members.indices {
      guard let item = item(index) else { continue }
      part += members[index].key
      part.append(contentsOf: item)
    }
  }
}
