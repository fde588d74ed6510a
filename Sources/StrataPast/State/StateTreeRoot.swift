// A tree on disk: its root, and how much of the page files it takes.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The root of a tree in the page files.
struct StateTreeRoot: Equatable {
  /// The number of entries; 0 for an empty tree, which has no page.
  var total: UInt32 = 0
  var height: UInt8 = 0
  var address = PageAddress.none
  /// No tree with fewer than 2³² entries is higher, and a stack has room for it.
  static let heightMax = 40

  func append(to bytes: inout RawBuffer) {
    bytes.append(varint: UInt64(total))
    guard total > 0 else { return }
    bytes.append(byte: height)
    StatePage.append(address, to: &bytes)
  }

  init() {}

  init(total: UInt32, height: UInt8, address: PageAddress) {
    self.total = total
    self.height = height
    self.address = address
  }

  /// Reads a root; nil for bytes that are none.
  package init?(_ cursor: inout ByteCursor) {
    guard let total = cursor.varint().flatMap(UInt32.init(exactly:)) else { return nil }
    guard total > 0 else {
      self.init()
      return
    }
    guard let height = cursor.integer(UInt8.self), let address = StatePage.address(&cursor) else {
      return nil
    }
    self.init(total: total, height: height, address: address)
  }
}

/// A tree in the page files.
struct StateTree: Equatable {
  var root = StateTreeRoot()
  /// How many bytes of each page file its pages take.
  var usage = PageUsage()

  func append(to bytes: inout RawBuffer) {
    root.append(to: &bytes)
    guard root.total > 0 else { return }
    usage.append(to: &bytes)
  }

  init() {}

  init(root: StateTreeRoot, usage: PageUsage) {
    self.root = root
    self.usage = usage
  }

  /// Reads a tree's entry; nil for bytes that are none.
  init?(_ cursor: inout ByteCursor) {
    guard let root = StateTreeRoot(&cursor) else { return nil }
    self.root = root
    guard root.total > 0 else { return }
    guard let usage = PageUsage(&cursor) else { return nil }
    self.usage = usage
  }
}
