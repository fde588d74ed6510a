// The items of a list of the past, counted and read where runs have them.

internal import StrataBase
internal import StrataTables
internal import Synchronization

/// The items of one list after an event, as runs have them. Safe to use from several threads.
///
/// A rank in the items' tree makes the pages on the way to it. Here it is counted in a page and a group of each run, where a
/// section begins is known, and a few items are read from a page or two of each run. Many looks are better answered
/// from pages of the tree, since these stay.
final class PastItems: CountedItems {
  /// The items as a tree, as it was made.
  let tree: Tree
  private let source: Source
  private let keys: KeysAt
  /// Ascending.
  private let sections: [[UInt8]]
  /// How many items are in the sections before each.
  private let starts: [Int]
  private let noteDamage: @Sendable () -> Void
  private let lookCount = Atomic<Int>(0)

  /// How often items are read without the tree: making the pages around one takes as long as about ten such reads.
  private static let lookCountMax = 8
  /// The most items that are read so at a time.
  private static let itemCountMax = 256

  /// Where items are read from.
  struct Source {
    let set: RunSet
    /// See `KeyOwner.number`.
    let owner: UInt64
    let sequence: UInt64
    let healing: PastHealing
  }

  init(
    _ tree: Tree, _ source: Source, _ keys: KeysAt, _ sections: [(section: [UInt8], count: Int)]
  ) {
    (self.tree, self.source, self.keys, noteDamage) = (tree, source, keys, source.healing.noteDamage)
    self.sections = sections.map(\.section)
    var (starts, count): ([Int], Int) = ([], 0)
    for section in sections {
      starts.append(count)
      count += section.count
    }
    self.starts = starts
  }

  /// The rank of a section's first item, or of where it would be. O(log sections).
  func start(of section: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, sections.count)
    while low < high {
      let middle = (low + high) / 2
      if sections[middle].withUnsafeBytes({ $0.order(section) < 0 }) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low < starts.count ? starts[low] : tree.count
  }

  func section(at rank: Int) -> [UInt8] { sections[index(ofSectionAt: rank)] }

  /// The last section that begins at a rank or before it.
  private func index(ofSectionAt rank: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= rank { low = middle } else { high = middle }
    }
    return low
  }

  func items(in ranks: Range<Int>) -> CopiedItems? {
    guard !ranks.isEmpty, ranks.count <= Self.itemCountMax,
      lookCount.add(1, ordering: .relaxed).newValue <= Self.lookCountMax
    else { return nil }
    let (first, last) = (index(ofSectionAt: ranks.lowerBound), index(ofSectionAt: ranks.upperBound - 1))
    var items = CopiedItems()
    do throws(PageDamage) {
      let next = last + 1 < sections.count ? sections[last + 1] : nil
      try keys.forEach(
        in: ranks, from: sections[first], to: next,
        of: starts[first]..<(next == nil ? tree.count : starts[last + 1])
      ) { items.append($0.bytes, sectionLength: $0.sectionLength, idLength: $0.idLength) }
      return items
    } catch {
      noteDamage()
      return nil
    }
  }

  /// Another key of a version would make the counts of the keys wrong, which is damage.
  func isOfOneHistory(with other: any CountedItems) -> Bool {
    guard let other = other as? PastItems else { return false }
    let (a, b) = (source, other.source)
    return a.healing.history == b.healing.history && a.owner == b.owner
      && RunSet.common(a.set, at: a.sequence, b.set, at: b.sequence) != nil
  }

  /// What `Tree.ranks` says of the items; nil if the runs have lost something. O(keys · runs · log n).
  func ranks(of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer) -> (ranks: [Int], areAllFound: Bool)? {
    do throws(PageDamage) {
      let found = try self.keys.ranks(of: keys, in: bytes, on: source.healing.parallel)
      guard found.ranks.allSatisfy({ (0...tree.count).contains($0) }) else {
        throw PageDamage("the runs count other keys than they have")
      }
      return found
    } catch {
      noteDamage()
      return nil
    }
  }
}
