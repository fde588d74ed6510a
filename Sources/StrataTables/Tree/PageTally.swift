// What trees that share pages take up together, kept as trees come and go.

/// Counts the pages of some trees, each page once however many of them share it.
///
/// A page is counted as often as a counted page, or a tree, leads to it, and what is below it as often as it is
/// counted at all: so a tree that is added or removed costs O(pages that it shares with none of the others).
package struct PageTally {
  private var holders: [UnsafeMutableRawPointer: Int] = [:]
  /// Bytes of all pages, as `TreeStatistics` counts them.
  package private(set) var bytes = 0

  package init() {}

  /// Adds a tree, which has to live until it is removed.
  package mutating func add(_ tree: Tree) {
    guard let root = tree.root else { return }
    withExtendedLifetime(root) { add(PageRef(root)) }
  }

  /// Removes a tree that was added.
  package mutating func remove(_ tree: Tree) {
    guard let root = tree.root else { return }
    withExtendedLifetime(root) { remove(PageRef(root)) }
    assert(!holders.isEmpty || bytes == 0, "bytes are left where no page is")
  }

  private mutating func add(_ page: PageRef) {
    let count = holders[page.reference.toOpaque(), default: 0]
    holders[page.reference.toOpaque()] = count + 1
    guard count == 0 else { return }
    bytes += page.allocatedBytes
    guard !page.isLeaf else { return }
    for index in 0..<page.count { add(page.children[index]) }
  }

  private mutating func remove(_ page: PageRef) {
    let count = holders[page.reference.toOpaque()]
    assert(count != nil, "a page is taken out that was never counted")
    guard let count else { return }
    holders[page.reference.toOpaque()] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    bytes -= page.allocatedBytes
    assert(bytes >= 0, "more bytes are taken out than were counted")
    guard !page.isLeaf else { return }
    for index in 0..<page.count { remove(page.children[index]) }
  }
}
