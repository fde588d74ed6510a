// Suggestions for mistyped names: names that differ from the typed text by a few characters.

/// Finds the names that are similar to a mistyped one.
package enum NearNames {
  /// Names longer than this, in Unicode scalars, are not compared.
  private static let lengthMax = 128
  /// The most names that are suggested.
  private static let countMax = 3

  /// The names at the least distance from a text, ascending. Empty if no name is similar. O(names × length²).
  package static func near(_ text: String, among names: some Sequence<String>) -> [String] {
    let wanted = Array(text.lowercased().unicodeScalars)
    var near: [(distance: Int, name: String)] = []
    for name in names {
      guard let distance = distance(wanted, to: name), near.allSatisfy({ $0.name != name }) else { continue }
      near.append((distance, name))
    }
    // If one name is at distance 3 and another at 1, only the second one is suggested.
    guard let least = near.map(\.distance).min() else { return [] }
    return near.filter { $0.distance == least }.map(\.name)
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(countMax).map { $0 }
  }

  /// The distance between a name and the typed text, ignoring case; nil if the name is not similar. A name that begins
  /// or ends with the typed text is at most at distance 1.
  private static func distance(_ wanted: [Unicode.Scalar], to name: String) -> Int? {
    let name = Array(name.lowercased().unicodeScalars)
    guard !wanted.isEmpty, wanted.count <= lengthMax, name.count <= lengthMax else { return nil }
    // They differ in case only.
    if name == wanted { return 0 }
    let limit = max(1, wanted.count / 3)
    let longer = max(wanted.count, name.count)
    let isPart =
      wanted.count >= 3 && (name.starts(with: wanted) || name.reversed().starts(with: wanted.reversed()))
    guard !isPart else { return min(1, name.count - wanted.count) }
    guard longer - min(wanted.count, name.count) <= limit, longer > 1 else { return nil }
    let edits = edits(from: wanted, to: name)
    // A name in which every character differs is not a typing error.
    return edits <= limit && edits < longer ? edits : nil
  }

  /// The number of characters to insert, delete, replace, or swap with the next one to turn one text into the other.
  /// (Optimal string alignment.) O(a × b).
  static func edits(from a: [Unicode.Scalar], to b: [Unicode.Scalar]) -> Int {
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in b.indices {
        var least = min(last[j + 1], row[j]) + 1
        least = min(least, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[b.count]
  }
}

extension NearNames {
  /// The most names that are listed if none is similar.
  private static let listedMax = 12

  /// `did you mean status?`, or `there are a, b, c` if no name is similar; nil if there are no names at all.
  package static func hint(for text: String, among names: [String]) -> String? {
    let near = near(text, among: names)
    if !near.isEmpty { return "did you mean \(near.joined(separator: ", or "))?" }
    guard !names.isEmpty else { return nil }
    let listed = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(listedMax)
    return "there are " + listed.joined(separator: ", ") + (names.count > listedMax ? ", …" : "")
  }
}
