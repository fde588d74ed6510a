// The walk over two trees at once, which skips the pages that they share.
//
// At every height there are two lists of pages, old and new, that cover the same range of keys. A group is a run of
// pages on both sides that ends at the same key: either the next page is the same on both sides, or the separators
// after the last pages are equal. Pages that are the same on both sides are skipped, and their entry counts are added
// to the ranks. A group is taken apart: the children of its pages are the lists of the next lower height, and leaves
// are merged entry by entry.

struct DifferenceWalk: ~Copyable {
  /// A page of a list, which may be a stub, and the separator after it. The last page of a list has no separator.
  struct Item {
    var page: PageRef
    var boundPage: PageRef?
    var boundIndex = 0
  }

  /// The lists of all heights that the walk is in; each height uses the top of the stack.
  private var stack: [Item] = []
  var oldRank = 0
  var newRank = 0
  var oldKey = KeyBuffer()
  var newKey = KeyBuffer()

  init() {}

  /// Walks all differences. Returns false if the body ended the walk.
  mutating func run(_ old: PageRef?, _ new: PageRef?, _ body: (Tree.Difference) -> Bool) -> Bool {
    var heights = (old?.height ?? 0, new?.height ?? 0)
    if let old, let new, old.height == new.height { return takeApart(old.loaded, new.loaded, body) }
    // The lists of the higher tree are taken apart until both have the same height.
    if let old { stack.append(Item(page: old)) }
    var olds = 0..<stack.count
    while heights.0 > heights.1, new != nil { (olds, heights.0) = (pushChildren(olds), heights.0 - 1) }
    let start = stack.count
    if let new { stack.append(Item(page: new)) }
    var news = start..<stack.count
    while heights.1 > heights.0, old != nil { (news, heights.1) = (pushChildren(news), heights.1 - 1) }
    return walk(olds, news, height: max(heights.0, heights.1), body)
  }

  /// Walks two lists on the stack that cover the same range of keys.
  private mutating func walk(
    _ old: Range<Int>, _ new: Range<Int>, height: Int, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    var i = old.lowerBound
    var j = new.lowerBound
    while i < old.upperBound || j < new.upperBound {
      if i < old.upperBound, j < new.upperBound, stack[i].page.isSame(as: stack[j].page) {
        assert(stack[i].page.height == height, "a list of one height holds a page of another")
        let total = stack[i].page.total
        oldRank += total
        newRank += total
        i += 1
        j += 1
        continue
      }
      let (iEnd, jEnd) = groupEnd(i..<old.upperBound, j..<new.upperBound)
      assert(iEnd > i || jEnd > j, "a group of pages is empty, and the walk would not end")
      prefetchNext(iEnd..<old.upperBound, jEnd..<new.upperBound)
      guard takeApart(i..<iEnd, j..<jEnd, height: height, body) else { return false }
      i = iEnd
      j = jEnd
    }
    return true
  }

  /// Prefetches the next pages that are not shared, so that they arrive while the pages before them are compared.
  private func prefetchNext(_ old: Range<Int>, _ new: Range<Int>) {
    var i = old.lowerBound
    var j = new.lowerBound
    while i < old.upperBound, j < new.upperBound, stack[i].page.isSame(as: stack[j].page) {
      i += 1
      j += 1
    }
    guard i < old.upperBound, j < new.upperBound else { return }
    stack[i].page.prefetch()
    stack[j].page.prefetch()
  }

  /// The end of the group that begins at the start of both lists.
  private mutating func groupEnd(_ old: Range<Int>, _ new: Range<Int>) -> (Int, Int) {
    if old.isEmpty || new.isEmpty { return (old.upperBound, new.upperBound) }
    var i = old.lowerBound + 1
    var j = new.lowerBound + 1
    while true {
      let isOldEnd = i == old.upperBound
      let isNewEnd = j == new.upperBound
      if isOldEnd && isNewEnd { return (i, j) }
      if !isOldEnd, !isNewEnd, stack[i].page.isSame(as: stack[j].page) { return (i, j) }
      let order = isOldEnd ? 1 : isNewEnd ? -1 : boundOrder(stack[i - 1], stack[j - 1])
      if order == 0 { return (i, j) }
      if order < 0 { i += 1 } else { j += 1 }
    }
  }

  private mutating func boundOrder(_ old: Item, _ new: Item) -> Int {
    oldKey.begin(old.boundPage!)
    newKey.begin(new.boundPage!)
    return oldKey.separator(old.boundPage!, old.boundIndex)
      .order(against: newKey.separator(new.boundPage!, new.boundIndex))
  }

  private mutating func takeApart(
    _ old: Range<Int>, _ new: Range<Int>, height: Int, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    if old.count == 1, new.count == 1 {
      return takeApart(stack[old.lowerBound].page.loaded, stack[new.lowerBound].page.loaded, body)
    }
    if height == 0 { return mergeLeaves(old, new, body) }
    let mark = stack.count
    let oldChildren = pushChildren(old)
    let newChildren = pushChildren(new)
    defer { stack.removeLast(stack.count - mark) }
    return walk(oldChildren, newChildren, height: height - 1, body)
  }

  /// Takes apart two pages of one height. Shared children at the beginning and at the end are skipped.
  private mutating func takeApart(
    _ old: PageRef, _ new: PageRef, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    var old = old
    var new = new
    var skippedAfter = 0
    while !old.isLeaf {
      assert(old.height == new.height, "two pages of different heights are taken apart together")
      let (oldCount, newCount) = (old.count, new.count)
      let (oldCounts, newCounts) = (old.counts, new.counts)
      var low = 0
      var after = 0
      let both = min(oldCount, newCount)
      while low < both, old.link(low).isSame(as: new.link(low)) {
        assert(oldCounts[low] == newCounts[low], "two pages count the entries of one child differently")
        oldRank += Int(oldCounts[low])
        newRank += Int(newCounts[low])
        low += 1
      }
      while after < both - low,
        old.link(oldCount - 1 - after).isSame(as: new.link(newCount - 1 - after))
      {
        skippedAfter += Int(oldCounts[oldCount - 1 - after])
        after += 1
      }
      guard oldCount - after == low + 1, newCount - after == low + 1 else {
        let mark = stack.count
        push(old, low..<oldCount - after, bound: nil, 0)
        let middle = stack.count
        push(new, low..<newCount - after, bound: nil, 0)
        let isDone = walk(mark..<middle, middle..<stack.count, height: old.height - 1, body)
        stack.removeLast(stack.count - mark)
        oldRank += skippedAfter
        newRank += skippedAfter
        return isDone
      }
      old = old.child(low)
      new = new.child(low)
    }
    assert(new.isLeaf, "a leaf is merged with an inner page")
    guard merge(old, new, body) else { return false }
    oldRank += skippedAfter
    newRank += skippedAfter
    return true
  }

  private mutating func pushChildren(_ items: Range<Int>) -> Range<Int> {
    let start = stack.count
    for index in items {
      let item = stack[index]
      let page = item.page.loaded
      push(page, 0..<page.count, bound: item.boundPage, item.boundIndex)
    }
    return start..<stack.count
  }

  /// Pushes children. The separator after the last child of a page is the one after the page.
  private mutating func push(_ page: PageRef, _ range: Range<Int>, bound: PageRef?, _ boundIndex: Int) {
    assert(range.upperBound <= page.count, "a page has no such children")
    for index in range {
      let isLast = index == page.count - 1
      stack.append(
        Item(
          page: page.link(index), boundPage: isLast ? bound : page,
          boundIndex: isLast ? boundIndex : index))
    }
  }

  /// The leaf at an index of the stack.
  func leaf(_ index: Int) -> PageRef { stack[index].page.loaded }
}
