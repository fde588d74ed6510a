// One page of a tree: a header and a run of bytes, allocated together.
//
// A leaf (height 0), from the front:
//
//   header   24 bytes, the fields of PageHeader
//   prefix   what all keys of the page begin with, padded to 8 bytes
//   slots    16 bytes an entry, in ascending order of keys: the 8 key bytes behind the prefix, where the rest
//            is, how long the key is behind the prefix, how long the value is
//   free     not yet used
//   heap     for each entry, in any order: the key bytes behind those of the slot, then the value
//
// An inner page is built once and as large as it must be; only its children and counts change in place:
//
//   header   24 bytes
//   prefix   what all separators begin with, padded to 8 bytes
//   slots    16 bytes a separator; child i holds the keys k with separator[i - 1] <= k < separator[i]
//   children one reference a child
//   counts   4 bytes a child: the entries under it
//   heap     the bytes of the separators behind those of the slots

/// What a page says about itself.
@usableFromInline
struct PageHeader {
  /// Entries of a leaf, children of an inner page.
  var count: UInt16
  /// How many pages are below on the way to an entry: 0 is a leaf.
  var height: UInt8
  /// True for a leaf that was made for one entry too large to share a page.
  var isLarge: Bool
  /// Where the last entry was put into a leaf: arrival order is seen by it.
  var hint: UInt16
  var prefixLength: UInt16
  /// Bytes behind the header.
  var capacity: UInt32
  /// Where the heap begins, from the end of the header.
  var heapTop: UInt32
  /// Bytes of the heap that belong to nothing any more.
  var garbage: UInt32
  /// How many entries are in the page and under it.
  var total: UInt32

  static let noHint = UInt16.max
  /// What the runtime puts before the header: the type and the count of references.
  static let offset = 2 * MemoryLayout<Int>.size
  /// Bytes of a page that are not behind its header.
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
  /// The 8 key bytes behind the prefix as a big-endian number, zeros where the key is shorter.
  var head: UInt64
  /// How long the key is behind the prefix.
  var suffixLength: UInt16
  /// Where a leaf's heap has the rest of the key and the value.
  var leafOffset: UInt16
  /// The length of the value in a leaf; in an inner page where the heap has the rest of the separator.
  var wide: UInt32

  /// How many key bytes are in the heap.
  @inline(__always) var restLength: Int { max(0, Int(suffixLength) - 8) }
  @inline(__always) var valueLength: Int { Int(wide) }
  /// How many bytes of a leaf's heap are this entry's.
  @inline(__always) var heapLength: Int { restLength + valueLength }

  static let size = MemoryLayout<Slot>.stride
}
