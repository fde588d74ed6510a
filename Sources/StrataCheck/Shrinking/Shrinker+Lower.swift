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

  /// Lowers each number by more than one, where one less does not fail: what must be even, or a multiple of 7.
  nonisolated(nonsending) func lowerBySteps() async {
    for index in best.choices.indices where index < best.choices.count && best.choices[index].kind == .integer
    {
      for width in UInt64(2)...8 where !isCutShort && index < best.choices.count {
        let choice = best.choices[index]
        guard !choice.isForced, choice.magnitude > width else { continue }
        let isLowered = await put(choice.magnitude - width, choice.isNegative, at: [index])
        guard isLowered, index < best.choices.count else { continue }
        let start = best.choices[index].magnitude
        _ = await largest(through: start / width) { count in
          await put(start - count * width, choice.isNegative, at: [index])
        }
      }
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
    if first.magnitude == 0 { return true }
    if first.kind == .flag { return true }
    if first.isNegative { _ = await put(first.magnitude, false, at: indexes) }
    if first.kind == .float { await shortenFraction(indexes) }
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

  /// Lowers floating-point numbers to whole ones, to few binary digits after the point, and to a small whole part.
  nonisolated(nonsending) private func shortenFraction(_ indexes: [Int]) async {
    let value = FloatOrder.value(ofCode: current(indexes).magnitude)
    guard value.isFinite else { return }
    let isNegative = current(indexes).isNegative
    for digits in 0..<10 {
      let scale = Double(1 << digits)
      let short = (value * scale).rounded(.down) / scale
      if short.isFinite, await put(FloatOrder.code(of: short), isNegative, at: indexes) { break }
    }
    let now = FloatOrder.value(ofCode: current(indexes).magnitude)
    let whole = now.rounded(.towardZero)
    guard whole != now, whole < 0x1p52 else { return }
    let (fraction, least) = (now - whole, 1.0)
    if await put(FloatOrder.code(of: least + fraction), isNegative, at: indexes) || whole <= least { return }
    _ = await largest(through: UInt64(whole - least)) { step in
      await put(FloatOrder.code(of: whole - Double(step) + fraction), isNegative, at: indexes)
    }
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
