// Passes that change several choices at a time.

extension Shrinker {
  /// Puts the elements of a list in the order of their choices, the simplest first.
  nonisolated(nonsending) func sortSiblings() async {
    var parents: [Int] = []
    for span in best.spans where parents.last != span.parent { parents.append(span.parent) }
    for parent in Set(parents).sorted() where !isCutShort { await sort(childrenOf: parent) }
  }

  nonisolated(nonsending) private func sort(childrenOf parent: Int) async {
    var place = 1
    var isWhole = true
    while !isCutShort {
      let children = siblings(parent)
      guard children.count > 1 else { return }
      let contents = children.map { Array(best.choices[$0.start..<$0.end]) }
      if isWhole {
        isWhole = false
        let sorted = contents.sorted { $0.isSimpler(than: $1) }
        if await attempt(replacing(children, by: sorted)) { return }
        continue
      }
      // Each one as far to the front as it goes.
      guard place < contents.count else { return }
      let simpler = contents[..<place].firstIndex { contents[place].isSimpler(than: $0) }
      if let simpler {
        let (from, all) = (place, contents)
        _ = await largest(through: UInt64(from - simpler)) { distance in
          var moved = all
          moved.insert(moved.remove(at: from), at: from - Int(distance))
          return await attempt(replacing(children, by: moved))
        }
        if await swap(children, simpler, place) { continue }
      }
      place += 1
    }
  }

  nonisolated(nonsending) private func swap(_ children: [Span], _ one: Int, _ other: Int) async -> Bool {
    guard siblings(children[0].parent).count == children.count else { return false }
    var contents = siblings(children[0].parent).map { Array(best.choices[$0.start..<$0.end]) }
    contents.swapAt(one, other)
    return await attempt(replacing(siblings(children[0].parent), by: contents))
  }

  /// The children of a span that may change places: of one type, or the elements of a list.
  private func siblings(_ parent: Int) -> [Span] {
    let children = best.spans.filter { $0.parent == parent && $0.start < $0.end }
    guard let first = children.first else { return [] }
    return children.filter { $0.label == first.label && $0.isElement == first.isElement }
  }

  private func replacing(_ children: [Span], by contents: [[Choice]]) -> [Choice] {
    var result: [Choice] = []
    result.reserveCapacity(best.choices.count)
    var place = 0
    for (child, content) in zip(children, contents) {
      result += best.choices[place..<child.start]
      result += content
      place = child.end
    }
    return result + best.choices[place...]
  }

  /// Lowers two choices by the same amount, or one by what the other is raised by.
  nonisolated(nonsending) func lowerPairs() async {
    var first = 0
    while first < best.choices.count, !isCutShort {
      defer { first += 1 }
      guard isNumber(first), !best.choices[first].isSimplest else { continue }
      var (second, distance) = (first + 1, 0)
      while second < best.choices.count, distance < 4, isNumber(first), !best.choices[first].isSimplest {
        defer { second += 1 }
        guard isNumber(second) else { continue }
        distance += 1
        await lower(first, with: second, isSame: true)
        await lower(first, with: second, isSame: false)
      }
    }
  }

  private func isNumber(_ index: Int) -> Bool {
    best.choices.indices.contains(index) && best.choices[index].kind == .integer
      && !best.choices[index].isForced
  }

  nonisolated(nonsending) private func lower(_ first: Int, with second: Int, isSame: Bool) async {
    guard isNumber(first), isNumber(second) else { return }
    let (choices, one, other) = (best.choices, best.choices[first], best.choices[second])
    let limit =
      isSame && one.isNegative == other.isNegative ? min(one.magnitude, other.magnitude) : one.magnitude
    guard limit > 0 else { return }
    nonisolated(nonsending) func move(_ step: UInt64) async -> Bool {
      // Towards the target of the first; the second goes the same way, or the other.
      let isDown = isSame != one.isNegative
      guard let lowered = one.at(one.magnitude - step, isNegative: one.isNegative),
        let moved = other.moved(by: step, isDown: isDown)
      else { return false }
      var candidate = choices
      (candidate[first], candidate[second]) = (lowered, moved)
      return await attempt(candidate)
    }
    if await move(limit) { return }
    _ = await largest(through: limit) { step in await move(step) }
  }
}

extension Choice {
  /// Returns the same choice, further up or down by a distance, or nil if its range does not go there.
  fileprivate func moved(by step: UInt64, isDown: Bool) -> Choice? {
    if magnitude == 0 || isNegative == isDown {
      let (sum, isOver) = magnitude.addingReportingOverflow(step)
      return isOver ? nil : at(sum, isNegative: isDown)
    }
    return step <= magnitude
      ? at(magnitude - step, isNegative: isNegative) : at(step - magnitude, isNegative: isDown)
  }
}
