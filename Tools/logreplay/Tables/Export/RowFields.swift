// The fields of a row's document, found in its bytes; their values are not decoded.

internal import StrataTables

/// The names and values of the last document that was read, borrowed from its bytes.
///
/// Neighbouring rows mostly have fields of the same names. So what was found out about the names, as their order or the
/// columns that they belong to, holds until `layout` changes.
struct RowFields {
  /// The UTF-8 of each name, in the order of the document's bytes.
  private(set) var names: [UnsafeRawBufferPointer] = []
  /// The CBOR item of each value.
  private(set) var values: [UnsafeRawBufferPointer] = []
  /// The indexes of the fields, ascending by the names' UTF-8.
  private(set) var ascending: [Int] = []
  /// Raised whenever a document has other names than the one before it.
  private(set) var layout = 0
  /// The names of the last document, owned.
  private(set) var known: [[UInt8]] = []

  /// Reads a document, whose bytes must outlive the use of the fields. Returns false if it is damaged. O(items).
  mutating func read(_ document: UnsafeRawBufferPointer) -> Bool {
    names.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    guard let head = CBORItem(document), head.major == 5, !head.isIndefinite,
      head.argument <= UInt64(document.count / 2)
    else { return false }
    var offset = head.headLength
    var isKnown = layout > 0 && head.argument == UInt64(known.count)
    for index in 0..<Int(head.argument) {
      guard let key = CBORItem(document, at: offset), key.major == 3, !key.isIndefinite,
        let name = key.content(in: document, at: offset)
      else { return false }
      offset += key.headLength + name.count
      guard let end = CBORItem.end(of: document, at: offset) else { return false }
      names.append(name)
      values.append(UnsafeRawBufferPointer(rebasing: document[offset..<end]))
      offset = end
      if isKnown, !known[index].withUnsafeBytes({ $0.hasSameBytes(as: name) }) { isKnown = false }
    }
    if !isKnown { beginLayout() }
    return true
  }

  private mutating func beginLayout() {
    known = names.map { Array($0) }
    ascending = known.indices.sorted { known[$0].lexicographicallyPrecedes(known[$1]) }
    layout += 1
  }
}
