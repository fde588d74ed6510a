// One page of a tree: a header and a run of bytes, allocated together.
//
// A leaf (height 0), from the front:
//
//   header   24 bytes, the fields of PageHeader
//   address    24 bytes, a PageAddress: where the same page is on disk, if it is
//   prefix   the common prefix of all keys in the page, padded to 8 bytes
//   slots    16 bytes per entry, in ascending order of keys: the 8 key bytes after the prefix, the offset of the
//            rest, the key's length after the prefix, the value's length
//   free     not yet used
//   heap     for each entry, in any order: the key bytes that are not in the slot, then the value
//
// An inner page is built once, exactly as large as needed; only its children and counts change in place:
//
//   header   24 bytes
//   address    24 bytes
//   prefix   the common prefix of all separators, padded to 8 bytes
//   slots    16 bytes per separator; child i holds the keys k with separator[i - 1] <= k < separator[i]
//   children one reference per child
//   counts   4 bytes per child: the number of entries under it
//   heap     the bytes of the separators that are not in the slots
//
// A child that is on disk and was not read yet is a stub, which has a header and an address as the page has, and then says
// how the page is read: see PageStub.

/// The header of a page.
@usableFromInline
package struct PageHeader {
  /// The number of entries of a leaf, or of children of an inner page.
  var count: UInt16
  /// The number of levels below this page; 0 for a leaf.
  var height: UInt8
  var flags: PageFlags
  /// The index of the last insertion into a leaf, which reveals insertions in arrival order.
  var hint: UInt16
  var prefixLength: UInt16
  /// The bytes after the header and the address.
  var capacity: UInt32
  /// The offset of the heap from the end of the address.
  var heapTop: UInt32
  /// Bytes of the heap that no entry uses any longer.
  var garbage: UInt32
  /// The number of entries in the page and below it.
  var total: UInt32

  static let noHint = UInt16.max
  /// The offset of the header in the object. Before it the runtime stores the type and the reference count.
  static let offset = 2 * MemoryLayout<Int>.size
  /// The bytes of an allocation that are not available to entries.
  static let overhead = MemoryLayout<PageHeader>.size + MemoryLayout<PageAddress>.size + offset
}

/// What kind of page a page is.
@usableFromInline
struct PageFlags: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A leaf that was made for one entry too large to share a page.
  static let large = PageFlags(rawValue: 1)
  /// Not a page, but where to find one.
  static let stub = PageFlags(rawValue: 2)
}

/// Where a page is in the page files of a state: see StateFormat.md.
///
/// A page's own address is set by the thread that writes the state to disk, while it holds the whole tree, and cleared by
/// the owner of the page when it changes the page. Both never happen at the same time, because a page that a held tree
/// can reach is copied before it is changed; and a copy is made without reading the address.
///
/// The place of a stub never changes, so any thread may read it; where its page is by now is said by `addressOnDisk`. A
/// leaf that a stub is for has no address itself: a tree may take it over without the stub, and would not learn that the
/// file is given up.
package struct PageAddress: Hashable {
  /// From the beginning of the file, in bytes.
  package var offset: UInt64 = 0
  /// The number of the page file.
  package var file: UInt32 = 0
  /// The length of the record in bytes; 0 for a page that is not on disk.
  package var length: UInt32 = 0
  /// The checksum of the record.
  package var checksum: UInt32 = 0
  private var unused: UInt32 = 0

  package static let none = PageAddress()

  init() {}

  package init(file: UInt32, offset: UInt64, length: UInt32, checksum: UInt32) {
    self.file = file
    self.offset = offset
    self.length = length
    self.checksum = checksum
  }

  @inline(__always) package var isNone: Bool { length == 0 }
}

/// The storage of a page or of a stub. A page owns a reference to each child.
@usableFromInline
package final class Page: ManagedBuffer<PageHeader, UInt64> {
  deinit {
    withUnsafeMutablePointerToHeader { header in
      if header.pointee.flags.contains(.stub) { return PageStub.of(header).end() }
      guard header.pointee.height > 0 else { return }
      let children = PageRef.children(header)
      for index in 0..<Int(header.pointee.count) { children[index].prefetchCount() }
      for index in 0..<Int(header.pointee.count) { children[index].reference.release() }
    }
  }
}

/// One key of a page: an entry of a leaf or a separator of an inner page.
package struct Slot {
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

  package static let size = MemoryLayout<Slot>.stride
}
