// Passes that make a case shorter.

extension Shrinker {
  /// Removes spans, from the last to the first: with each as many as go of its siblings before it.
  nonisolated(nonsending) func deleteSpans() async {
    var index = best.spans.count - 1
    while index >= 0, !isCutShort {
      index = min(index, best.spans.count - 1)
      if index < 0 { return }
      let run = run(endingAt: index)
      let (spans, choices) = (best.spans, best.choices)
      guard spans[index].start < spans[index].end else {
        index -= 1
        continue
      }
      let count = await largest(through: UInt64(run.count)) { count in
        var candidate = choices
        candidate.removeSubrange(spans[run[Int(count) - 1]].start..<spans[index].end)
        return await attempt(candidate)
      }
      // What was before the removed spans has the same indexes as before.
      index = (count == 0 ? index : run[Int(count) - 1]) - 1
    }
  }

  /// The spans that could be removed together with one, each of which ends where the one after it starts; the given one
  /// first.
  private func run(endingAt index: Int) -> [Int] {
    var run = [index]
    let last = best.spans[index]
    guard last.isElement else { return run }
    var start = last.start
    for other in stride(from: index - 1, through: 0, by: -1) {
      let span = best.spans[other]
      if span.start == last.start, span.end == last.end { continue }
      if span.parent == last.parent, span.isElement, span.end == start, span.start < span.end {
        run.append(other)
        start = span.start
      } else if other == last.parent {
        break
      }
    }
    return run
  }

  /// Replaces what contains others of its type by one of those: a tree by one of its branches.
  nonisolated(nonsending) func replaceByDescendants() async {
    var index = 0
    while index < best.spans.count, !isCutShort {
      let span = best.spans[index]
      var isReplaced = false
      for other in best.spans[(index + 1)...] {
        if other.start >= span.end { break }
        let isSmaller = other.end - other.start < span.end - span.start
        guard isSmaller, other.label == span.label, !other.isElement, !span.isElement else { continue }
        var candidate = best.choices
        candidate.replaceSubrange(span.start..<span.end, with: best.choices[other.start..<other.end])
        if await attempt(candidate) {
          isReplaced = true
          break
        }
      }
      if !isReplaced { index += 1 }
    }
  }

  /// Replaces spans by the simplest value of their generator.
  nonisolated(nonsending) func simplifySpans() async {
    var index = 0
    while index < best.spans.count, !isCutShort {
      let span = best.spans[index]
      index += 1
      guard !span.isElement, best.choices[span.start..<span.end].contains(where: { !$0.isSimplest }) else {
        continue
      }
      let before = Array(best.choices[..<span.start])
      // What the generator makes of nothing is the simplest; it may be shorter, or even longer.
      guard let preview = preview(before), index - 1 < preview.spans.count else { continue }
      let simplest = preview.spans[index - 1]
      guard simplest.start == span.start, simplest.end - simplest.start <= span.end - span.start else {
        continue
      }
      _ = await attempt(before + preview.choices[simplest.start..<simplest.end] + best.choices[span.end...])
    }
  }

  /// Makes one list of two that follow each other: removes the flag that ends the first, and what is before the second.
  nonisolated(nonsending) func joinLists() async {
    var index = best.choices.count - 2
    while index >= 0, !isCutShort {
      defer { index -= 1 }
      guard index + 1 < best.choices.count else { continue }
      let (end, next) = (best.choices[index], best.choices[index + 1])
      guard end.kind == .flag, end.magnitude == 0, next.kind == .flag, next.magnitude == 1 else { continue }
      var candidate = best.choices
      candidate.removeSubrange(index...index + 1)
      _ = await attempt(candidate)
    }
  }

  /// Removes a few choices in a row, whatever they are.
  nonisolated(nonsending) func deleteWindows() async {
    for width in stride(from: 4, through: 1, by: -1) {
      var index = best.choices.count - width
      while index >= 0, !isCutShort {
        defer { index -= 1 }
        guard index + width <= best.choices.count else { continue }
        var candidate = best.choices
        candidate.removeSubrange(index..<index + width)
        _ = await attempt(candidate)
      }
    }
  }

  /// Removes elements of lists, and lowers by one each number above the element's place: what is counted by its place
  /// remains what it was.
  nonisolated(nonsending) func deleteReferred() async {
    var index = best.spans.count - 1
    while index >= 0, !isCutShort {
      defer { index -= 1 }
      guard index < best.spans.count, best.spans[index].isElement else { continue }
      let span = best.spans[index]
      let place = best.spans[..<index].count { $0.isElement && $0.parent == span.parent }
      var candidate = best.choices
      for other in candidate.indices where candidate[other].kind == .integer && !candidate[other].isNegative {
        if candidate[other].magnitude > place { candidate[other].magnitude -= 1 }
      }
      candidate.removeSubrange(span.start..<span.end)
      _ = await attempt(candidate)
    }
  }
}
