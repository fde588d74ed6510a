// Sections ordered by a comparison: each gets a number between those of its neighbours.

/// Trees are ordered by bytes, which a comparison does not produce. So the position of a new section is found by
/// binary search, and the section gets a label between the labels of its neighbours, which it keeps.
///
/// If there is no room between two labels, the labels around them are spread evenly: over the smallest aligned range of
/// labels that is sparse enough, where a larger range has to be sparser. That relabels O(log n) sections for each new
/// section, amortised over all of them (Bender, Cole, Demaine, Farach-Colton and Zito, "Two simplified algorithms for
/// maintaining order in a list", 2002).
extension View {
  typealias Label = UInt128

  /// The distance between the last label and the label of a section after all others.
  private static var step: Label { 1 << 64 }

  /// Assigns a label to a new section. O(log² n), and O(log n) calls of the comparison. A comparison that contradicts
  /// itself produces an arbitrary order, but nothing worse.
  mutating func setLabel(of section: UnsafeRawBufferPointer, _ precedes: SectionOrder.Comparison) {
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      // Copied: no page is being read while the program compares, which may take any time.
      let other = order.withEntry(at: middle) { key, length in Array(Self.section(key, length)) }
      let isBefore = other.withUnsafeBytes { stands($0, before: section, precedes) }
      if isBefore { low = middle + 1 } else { high = middle }
    }
    if let label = label(at: low) { return keep(label, of: section) }
    spread(around: label(ofSectionAt: max(0, low - 1)))
    guard let label = label(at: low) else {
      preconditionFailure("labels were spread and there is no room between them")
    }
    keep(label, of: section)
  }

  /// Whether the sections that both views hold are in the same order in both. That holds unless sections are compared,
  /// the views were built separately, and the comparison contradicted itself. O(1), or O(sections) for views that were
  /// built separately.
  package func hasSectionOrder(of other: View) -> Bool {
    !definition.isCompared || build === other.build || sections(heldBy: other) == other.sections(heldBy: self)
  }

  /// Lends the sections whose order key differs in the other view although their rows may be the same: if the views
  /// were built separately, the program's code may have ranked the sections differently, or computed other values from
  /// their rows. Lends nothing for other views, or if sections are compared. O(sections) for such views.
  package func forEachSectionOrderedApart(from other: View, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard definition.asksForSectionOrder, build !== other.build else { return }
    Tree.forEachDifference(from: order, to: other.order) { difference in
      guard let length = difference.oldValue ?? difference.newValue else { return }
      body(Self.section(difference.key, length))
    }
  }

  private func sections(heldBy other: View) -> [[UInt8]] {
    var common: [[UInt8]] = []
    order.forEach(in: 0..<order.count) { key, length in
      let section = Self.section(key, length)
      if other.holds(section) { common.append(Array(section)) }
    }
    return common
  }

  private func stands(
    _ a: UnsafeRawBufferPointer, before b: UnsafeRawBufferPointer, _ precedes: SectionOrder.Comparison
  ) -> Bool {
    if precedes(a, b) { return true }
    if precedes(b, a) { return false }
    if definition.areNilsLast, SortKeyTag.isNil(a) != SortKeyTag.isNil(b) { return SortKeyTag.isNil(b) }
    return a.order(b) < 0
  }

  /// A label for a section at the index `place` of the order; nil if its neighbours leave no room.
  private func label(at rank: Int) -> Label? {
    let before = rank > 0 ? label(ofSectionAt: rank - 1) : nil
    let after = rank < order.count ? label(ofSectionAt: rank) : nil
    switch (before, after) {
    case (nil, nil): return 1 << 127
    case (let before?, nil):
      let room = Label.max - before
      return room > 0 ? before + max(1, min(Self.step, room / 2)) : nil
    case (nil, let after?): return after > 0 ? after - max(1, min(Self.step, after / 2)) : nil
    case (let before?, let after?): return after - before > 1 ? before + (after - before) / 2 : nil
    }
  }

  private func label(ofSectionAt rank: Int) -> Label {
    order.withEntry(at: rank) { key, _ in Label(bigEndian: key.loadUnaligned(as: Label.self)) }
  }

  private mutating func keep(_ label: Label, of section: UnsafeRawBufferPointer) {
    withUnsafeBytes(of: label.bigEndian) { _ = labels.set(section, $0) }
  }

  private static func section(
    _ key: UnsafeRawBufferPointer, _ length: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[Int(UInt32(littleEndian: length.loadUnaligned(as: UInt32.self)))...])
  }

  /// Makes room on both sides of a label.
  private mutating func spread(around label: Label) {
    for bits in stride(from: 4, through: 126, by: 2) {
      let size = Label(1) << Label(bits)
      let first = label & ~(size - 1)
      let (end, isLast) = first.addingReportingOverflow(size)
      let range = rank(of: first)..<(isLast ? order.count : rank(of: end))
      // Fewer labels than the square root of the range: then the gap between two labels is at least the root.
      guard UInt64(range.count) < 1 << UInt64(bits / 2) else { continue }
      var sections: [[UInt8]] = []
      order.forEach(in: range) { key, length in sections.append(Array(Self.section(key, length))) }
      for section in sections {
        section.withUnsafeBytes { section in removeOrder(orderKey(of: section)) }
      }
      let gap = size / Label(sections.count + 1)
      assert(gap > 1, "labels are spread over a range that leaves no room between them")
      for (index, section) in sections.enumerated() {
        section.withUnsafeBytes { section in
          keep(first + gap * Label(index + 1), of: section)
          setOrder(orderKey(of: section), of: section)
        }
      }
      return
    }
  }

  private func rank(of label: Label) -> Int {
    withUnsafeBytes(of: label.bigEndian) { order.rank(of: $0).rank }
  }
}
