// The memory that trees with shared pages take together, updated as trees are added and removed.

/// Counts the pages of some trees, each page once however many of the trees share it.
///
/// For each page it keeps the number of added trees and counted pages that refer to the page. The children of a page
/// are counted once as long as that number is above zero. So adding or removing a tree costs O(pages that it shares
/// with none of the others).
///
/// A tree must be found as it was added when it is removed. So a page that is read from disk later belongs to its stub,
/// and is not counted; and no tree may be added that a checkpoint writes, since that puts stubs in the place of leaves.
package struct PageTally {
  private var holders: [UnsafeMutableRawPointer: Int] = [:]
  /// The bytes of all pages, as `TreeStatistics` counts them.
  package private(set) var bytes = 0

  package init() {}

  /// Adds a tree, which must stay alive until it is removed.
  package mutating func add(_ tree: Tree) {
    guard let root = tree.root else { return }
    PageReads.of(root) { add(PageRef(root)) }
  }

  /// Removes a tree that was added.
  package mutating func remove(_ tree: Tree) {
    guard let root = tree.root else { return }
    PageReads.of(root) { remove(PageRef(root)) }
    assert(!holders.isEmpty || bytes == 0, "bytes remain although no page is counted")
  }

  private mutating func add(_ page: PageRef) {
    let count = holders[page.reference.toOpaque(), default: 0]
    holders[page.reference.toOpaque()] = count + 1
    guard count == 0 else { return }
    bytes += page.allocatedBytes
    guard !page.isLeaf, !page.isStub else { return }
    for index in 0..<page.count { add(page.link(index)) }
  }

  private mutating func remove(_ page: PageRef) {
    let count = holders[page.reference.toOpaque()]
    assert(count != nil, "a page is removed that was never counted")
    guard let count else { return }
    holders[page.reference.toOpaque()] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    bytes -= page.allocatedBytes
    assert(bytes >= 0, "more bytes are removed than were counted")
    guard !page.isLeaf, !page.isStub else { return }
    for index in 0..<page.count { remove(page.link(index)) }
  }
}
