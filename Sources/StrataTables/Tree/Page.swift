// One page of a tree: a header and a run of bytes, allocated together.
//
// A leaf (height 0), from the front:
//
//   header   24 bytes, the fields of PageHeader
//   prefix   the common prefix of all keys in the page, padded to 8 bytes
//   slots    16 bytes per entry, in ascending order of keys: the 8 key bytes after the prefix, the offset of the
//            rest, the key's length after the prefix, the value's length
//   free     not yet used
//   heap     for each entry, in any order: the key bytes that are not in the slot, then the value
//
// An inner page is built once, exactly as large as needed; only its children and counts change in place:
//
//   header   24 bytes
//   prefix   the common prefix of all separators, padded to 8 bytes
//   slots    16 bytes per separator; child i holds the keys k with separator[i - 1] <= k < separator[i]
//   children one reference per child
//   counts   4 bytes per child: the number of entries under it
//   heap     the bytes of the separators that are not in the slots

/// The header of a page.
@usableFromInline
struct PageHeader {
  /// The number of entries of a leaf, or of children of an inner page.
  var count: UInt16
  /// The number of levels below this page; 0 for a leaf.
  var height: UInt8
  /// True for a leaf that was made for one entry too large to share a page.
  var isLarge: Bool
  /// The index of the last insertion into a leaf, which reveals insertions in arrival order.
  var hint: UInt16
  var prefixLength: UInt16
  /// The bytes after the header.
  var capacity: UInt32
  /// The offset of the heap from the end of the header.
  var heapTop: UInt32
  /// Bytes of the heap that no entry uses any longer.
  var garbage: UInt32
  /// The number of entries in the page and below it.
  var total: UInt32

  static let noHint = UInt16.max
  /// The offset of the header in the object. Before it the runtime stores the type and the reference count.
  static let offset = 2 * MemoryLayout<Int>.size
  /// The bytes of an allocation that are not available after the header.
  static let overhead = MemoryLayout<PageHeader>.size + offset
}

/// The storage of a page. It owns a reference to each child.
@usableFromInline
final class Page: ManagedBuffer<PageHeader, UInt64> {
  deinit {
    withUnsafeMutablePointerToHeader { header in
      guard header.pointee.height > 0 else { return }
      let children = PageRef.children(header)
      for index in 0..<Int(header.pointee.count) { children[index].prefetchCount() }
      for index in 0..<Int(header.pointee.count) { children[index].reference.release() }
    }
  }
}

/// One key of a page: an entry of a leaf or a separator of an inner page.
struct Slot {
  /// The 8 key bytes after the prefix as a big-endian number, padded with zeros if the key is shorter.
  var head: UInt64
  /// The length of the key after the prefix.
  var suffixLength: UInt16
  /// The offset of the rest of the key and the value in a leaf.
  var leafOffset: UInt16
  /// In a leaf the length of the value; in an inner page the offset of the rest of the separator.
  var wide: UInt32

  /// The number of key bytes in the heap.
  @inline(__always) var restLength: Int { max(0, Int(suffixLength) - 8) }
  @inline(__always) var valueLength: Int { Int(wide) }
  /// The number of heap bytes that this entry takes in a leaf.
  @inline(__always) var heapLength: Int { restLength + valueLength }

  static let size = MemoryLayout<Slot>.stride
}
