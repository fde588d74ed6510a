// The walk through two trees at once that skips what they share.
//
// At every height there are two lists of pages, old and new, that hold the same range of keys. A group is a
// run of pages on either side that ends at the same place: the next page is the same one on both sides, or
// the separators behind the last pages are equal. Pages that are the same are skipped, and what is under
// them is added to the ranks. A group is taken apart: its children are the lists of the next height, and
// leaves are merged entry by entry.

struct DifferenceWalk: ~Copyable {
  /// A page of a list, and the separator behind it. At the end of a list there is none.
  struct Item {
    var page: PageRef
    var boundPage: PageRef?
    var boundIndex = 0
  }

  /// The lists of all heights that the walk is in; each height takes what is on top.
  private var stack: [Item] = []
  var oldRank = 0
  var newRank = 0
  var oldKey = KeyBuffer()
  var newKey = KeyBuffer()

  init() {}

  /// False where the body ended the walk.
  mutating func run(_ old: PageRef?, _ new: PageRef?, _ body: (Tree.Difference) -> Bool) -> Bool {
    var heights = (old?.height ?? 0, new?.height ?? 0)
    if let old, let new, old.height == new.height { return takeApart(old, new, body) }
    // The higher tree's lists are taken apart until both are of one height.
    if let old { stack.append(Item(page: old)) }
    var olds = 0..<stack.count
    while heights.0 > heights.1, new != nil { (olds, heights.0) = (pushChildren(olds), heights.0 - 1) }
    let start = stack.count
    if let new { stack.append(Item(page: new)) }
    var news = start..<stack.count
    while heights.1 > heights.0, old != nil { (news, heights.1) = (pushChildren(news), heights.1 - 1) }
    return walk(olds, news, height: max(heights.0, heights.1), body)
  }

  /// Walks two lists on the stack that hold the same range of keys.
  private mutating func walk(
    _ old: Range<Int>, _ new: Range<Int>, height: Int, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    var i = old.lowerBound
    var j = new.lowerBound
    while i < old.upperBound || j < new.upperBound {
      if i < old.upperBound, j < new.upperBound, stack[i].page == stack[j].page {
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

  /// Asks for the next pages that are not the same, so that they come while those before them are compared.
  private func prefetchNext(_ old: Range<Int>, _ new: Range<Int>) {
    var i = old.lowerBound
    var j = new.lowerBound
    while i < old.upperBound, j < new.upperBound, stack[i].page == stack[j].page {
      i += 1
      j += 1
    }
    guard i < old.upperBound, j < new.upperBound else { return }
    stack[i].page.prefetch()
    stack[j].page.prefetch()
  }

  /// Where the group ends that begins at the head of both lists.
  private mutating func groupEnd(_ old: Range<Int>, _ new: Range<Int>) -> (Int, Int) {
    if old.isEmpty || new.isEmpty { return (old.upperBound, new.upperBound) }
    var i = old.lowerBound + 1
    var j = new.lowerBound + 1
    while true {
      let isOldEnd = i == old.upperBound
      let isNewEnd = j == new.upperBound
      if isOldEnd && isNewEnd { return (i, j) }
      if !isOldEnd, !isNewEnd, stack[i].page == stack[j].page { return (i, j) }
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
      return takeApart(stack[old.lowerBound].page, stack[new.lowerBound].page, body)
    }
    if height == 0 { return mergeLeaves(old, new, body) }
    let mark = stack.count
    let oldChildren = pushChildren(old)
    let newChildren = pushChildren(new)
    defer { stack.removeLast(stack.count - mark) }
    return walk(oldChildren, newChildren, height: height - 1, body)
  }

  /// Two pages of one height: what their children begin and end with alike is skipped at once.
  private mutating func takeApart(
    _ old: PageRef, _ new: PageRef, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    var old = old
    var new = new
    var skippedBehind = 0
    while !old.isLeaf {
      assert(old.height == new.height, "two pages of different heights are taken apart together")
      let (oldCount, newCount) = (old.count, new.count)
      let (oldChildren, newChildren) = (old.children, new.children)
      let (oldCounts, newCounts) = (old.counts, new.counts)
      var low = 0
      var behind = 0
      let both = min(oldCount, newCount)
      while low < both, oldChildren[low] == newChildren[low] {
        assert(oldCounts[low] == newCounts[low], "two pages count the entries of one child differently")
        oldRank += Int(oldCounts[low])
        newRank += Int(newCounts[low])
        low += 1
      }
      while behind < both - low, oldChildren[oldCount - 1 - behind] == newChildren[newCount - 1 - behind] {
        skippedBehind += Int(oldCounts[oldCount - 1 - behind])
        behind += 1
      }
      guard oldCount - behind == low + 1, newCount - behind == low + 1 else {
        let mark = stack.count
        push(old, low..<oldCount - behind, bound: nil, 0)
        let middle = stack.count
        push(new, low..<newCount - behind, bound: nil, 0)
        let isDone = walk(mark..<middle, middle..<stack.count, height: old.height - 1, body)
        stack.removeLast(stack.count - mark)
        oldRank += skippedBehind
        newRank += skippedBehind
        return isDone
      }
      old = oldChildren[low]
      new = newChildren[low]
    }
    assert(new.isLeaf, "a leaf is merged with an inner page")
    guard merge(old, new, body) else { return false }
    oldRank += skippedBehind
    newRank += skippedBehind
    return true
  }

  private mutating func pushChildren(_ items: Range<Int>) -> Range<Int> {
    let start = stack.count
    for index in items {
      let item = stack[index]
      push(item.page, 0..<item.page.count, bound: item.boundPage, item.boundIndex)
    }
    return start..<stack.count
  }

  /// Pushes children; behind the last child of a page is what is behind the page.
  private mutating func push(_ page: PageRef, _ range: Range<Int>, bound: PageRef?, _ boundIndex: Int) {
    assert(range.upperBound <= page.count, "a page has no such children")
    for index in range {
      let isLast = index == page.count - 1
      stack.append(
        Item(
          page: page.children[index], boundPage: isLast ? bound : page,
          boundIndex: isLast ? boundIndex : index))
    }
  }

  /// The leaf at a place of the stack.
  func leaf(_ index: Int) -> PageRef { stack[index].page }
}
