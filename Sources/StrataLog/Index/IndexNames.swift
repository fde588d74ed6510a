// The names in an index: streams, categories and types, and what a page of them is.

internal import StrataBase

/// What names an index can list and find.
package enum IndexedKind: Sendable, CaseIterable {
  /// Whole names of streams.
  case stream
  /// The part of a stream's name before the first `/`, or the whole name if there is none.
  case category
  /// Types of events.
  case type
}

/// A name and how many visible events of the log have it.
package struct IndexedName: Equatable, Sendable {
  /// UTF-8, if a writer of Strata wrote the log.
  package var name: [UInt8]
  package var count: UInt64

  package init(name: [UInt8], count: UInt64) {
    self.name = name
    self.count = count
  }

  package var text: String { String(decoding: name, as: UTF8.self) }
}

/// The first byte of each key in an index file, which says what the key is.
package enum IndexTag: UInt8, Sendable, CaseIterable {
  /// A stream without an id: it is its own category, and has no other entry for that.
  case bareStream = 0x62
  /// The category of streams with an id.
  case category = 0x63
  /// A stream with an id.
  case stream = 0x73
  case type = 0x74

  var isStream: Bool { self == .bareStream || self == .stream }
}

/// A key of an index: what it is, and the name.
struct IndexKey: Hashable, Sendable {
  var tag: IndexTag
  var name: [UInt8]

  /// The keys under which the events of a name are.
  static func keys(of name: [UInt8], _ kind: IndexedKind) -> [IndexKey] {
    let isBare = !name.contains(UInt8(ascii: "/"))
    switch kind {
    case .stream: return [IndexKey(tag: isBare ? .bareStream : .stream, name: name)]
    case .category:
      // A name with a slash is no category.
      return isBare ? [IndexKey(tag: .bareStream, name: name), IndexKey(tag: .category, name: name)] : []
    case .type: return [IndexKey(tag: .type, name: name)]
    }
  }
}

extension IndexedKind {
  /// The tags under which the names of this kind are.
  var tags: [IndexTag] {
    switch self {
    case .stream: [.bareStream, .stream]
    case .category: [.bareStream, .category]
    case .type: [.type]
    }
  }
}

/// What names a caller wants: those with a prefix, after one, up to a limit.
struct NamePage: Sendable {
  var prefix: [UInt8]
  var after: [UInt8]?
  var limit: Int

  /// The least name that the page can hold.
  var start: [UInt8] {
    guard let after, prefix.lexicographicallyPrecedes(after) || prefix == after else { return prefix }
    // The least name after another one has one more byte.
    return after + [0]
  }

  /// Whether a name is not before the page.
  func isReached(by name: UnsafeRawBufferPointer) -> Bool {
    start.withUnsafeBytes { name.order(against: $0) >= 0 }
  }

  /// The first names of two ascending lists; of a name in both, the sum of its counts.
  func merge(_ a: [IndexedName], _ b: [IndexedName]) -> [IndexedName] {
    guard !a.isEmpty, !b.isEmpty else { return a.isEmpty ? b : a }
    var merged: [IndexedName] = []
    var (left, right) = (a[...], b[...])
    while merged.count < limit, let next = left.first ?? right.first {
      guard let other = right.first, !left.isEmpty else {
        merged.append(next)
        if left.isEmpty { right.removeFirst() } else { left.removeFirst() }
        continue
      }
      if next.name == other.name {
        merged.append(IndexedName(name: next.name, count: next.count.addingSaturated(other.count)))
        left.removeFirst()
        right.removeFirst()
      } else if next.name.lexicographicallyPrecedes(other.name) {
        merged.append(next)
        left.removeFirst()
      } else {
        merged.append(other)
        right.removeFirst()
      }
    }
    return merged
  }
}
