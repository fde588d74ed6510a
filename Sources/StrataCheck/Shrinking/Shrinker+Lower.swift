// Passes that bring choices nearer to their targets.

extension Shrinker {
  /// Lowers each choice alone, from the first to the last.
  nonisolated(nonsending) func lowerEach() async {
    var index = 0
    while index < best.choices.count, !isCutShort {
      if !best.choices[index].isSimplest {
        let isLowest = await lower([index])
        if isLowest, best.choices.indices.contains(index), !best.choices[index].isSimplest {
          await lowerAndDelete(index)
        }
      }
      index += 1
    }
  }

  /// Lowers each number by two, where one less does not fail.
  nonisolated(nonsending) func lowerByTwo() async {
    for index in best.choices.indices where !isCutShort && index < best.choices.count {
      let choice = best.choices[index]
      guard choice.kind == .integer, !choice.isForced, choice.magnitude > 2 else { continue }
      _ = await put(choice.magnitude - 2, choice.isNegative, at: [index])
    }
  }

  /// Lowers choices that are equal at once.
  nonisolated(nonsending) func lowerTogether() async {
    var seen: Set<Choice> = []
    while !isCutShort {
      var groups: [Choice: [Int]] = [:]
      for (index, choice) in best.choices.enumerated() where !choice.isSimplest && choice.kind != .flag {
        groups[choice, default: []].append(index)
      }
      let next = groups.filter { $0.value.count > 1 && !seen.contains($0.key) }.values.min { $0[0] < $1[0] }
      guard let next else { return }
      seen.insert(best.choices[next[0]])
      _ = await lower(next)
    }
  }

  /// Lowers the choices at all the indexes, which are equal, as far as one number can say it.
  /// - Returns: whether the last attempt, one step lower, failed.
  nonisolated(nonsending) private func lower(_ indexes: [Int]) async -> Bool {
    let first = best.choices[indexes[0]]
    if await put(0, false, at: indexes) { return false }
    if first.kind == .flag { return true }
    if first.isNegative { _ = await put(first.magnitude, false, at: indexes) }
    if first.kind == .float {
      let whole = FloatOrder.value(ofCode: first.magnitude).rounded(.towardZero)
      if whole.isFinite {
        _ = await put(FloatOrder.code(of: whole), current(indexes).isNegative, at: indexes)
      }
    }
    if first.magnitude > 16 {
      // By halves: the number of bits is found before the number.
      let (start, isNegative) = (current(indexes).magnitude, current(indexes).isNegative)
      _ = await largest(through: UInt64(63 - start.leadingZeroBitCount)) { shift in
        await put(start >> shift, isNegative, at: indexes)
      }
    }
    let (start, isNegative) = (current(indexes).magnitude, current(indexes).isNegative)
    if start > 1 {
      _ = await largest(through: start - 1) { step in await put(start - step, isNegative, at: indexes) }
    }
    // The next simpler one may be on the other side of the target.
    let now = current(indexes)
    if !now.isNegative, now.magnitude > 1, await put(now.magnitude - 1, true, at: indexes) { return false }
    return true
  }

  private func current(_ indexes: [Int]) -> Choice {
    indexes[0] < best.choices.count ? best.choices[indexes[0]] : Choice(.flag, up: 0)
  }

  nonisolated(nonsending) private func put(_ magnitude: UInt64, _ isNegative: Bool, at indexes: [Int]) async
    -> Bool
  {
    guard let last = indexes.last, last < best.choices.count else { return false }
    var candidate = best.choices
    for index in indexes {
      guard let choice = candidate[index].at(magnitude, isNegative: isNegative) else { return false }
      candidate[index] = choice
    }
    return await attempt(candidate)
  }

  /// Lowers a choice on which the number of later ones depends, and removes as many elements after it.
  nonisolated(nonsending) private func lowerAndDelete(_ index: Int) async {
    guard best.choices[index].kind == .integer else { return }
    var isLowered = true
    while isLowered, !isCutShort, index < best.choices.count {
      isLowered = false
      let choice = best.choices[index]
      guard choice.magnitude > 0, let lowered = choice.at(choice.magnitude - 1, isNegative: choice.isNegative)
      else {
        return
      }
      var candidate = best.choices
      candidate[index] = lowered
      // Only where fewer choices are read than before does something have to go.
      guard let preview = preview(candidate), preview.choices.count != best.choices.count else { return }
      for span in best.spans where span.start > index && span.isElement {
        var shorter = candidate
        shorter.removeSubrange(span.start..<span.end)
        if await attempt(shorter) {
          isLowered = true
          break
        }
      }
    }
  }
}
