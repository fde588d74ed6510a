// The checks of one list, and of the batch between two lists.

internal import StrataEvents
internal import StrataViews
@testable internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting

/// A failed check.
struct ListFailure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }

  static func unless(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw ListFailure(what()) }
  }
}

/// A list of the library, and the naive one to compare it with.
struct ModelledList {
  let version: ListVersion
  let list: ModelList
  let model: ModelTable
  let request: ModelRequest

  /// Checks that the list at a moment equals the naive one, in all ways to read it.
  init(_ moment: ListHistory.Moment, _ request: ModelRequest, _ compiled: CompiledList) throws {
    version = ListVersion(moment.set, table: "t", compiled)
    list = ModelList(request, of: moment.model)
    model = moment.model
    self.request = request
    let read = ModelList(version)
    try ListFailure.unless(
      read == list, "the list is not the naive one\n\(request)\nlist:  \(read)\nnaive: \(list)")
    try checkPlaces()
  }

  private func checkPlaces() throws {
    var offset = 0
    for (section, content) in list.sections.enumerated() {
      try ListFailure.unless(version.offset(ofSectionAt: section) == offset, "the offset of a section")
      for (item, row) in content.items.enumerated() {
        let place = ListIndex(section: section, item: item)
        try ListFailure.unless(version.position(atOffset: offset) == place, "the offset of \(place)")
        let found = row.id.withUnsafeBytes { version.position(of: $0) }
        try ListFailure.unless(found == place, "\(row.id) is at \(place), but found at \(found as Any)")
        offset += 1
      }
    }
    try ListFailure.unless(version.itemCount == offset, "\(offset) items, not \(version.itemCount)")
  }
}

/// The batch between two lists, in all its forms.
struct CheckedBatch {
  let diff: ListDiff
  /// The batch with ids and sections as bytes.
  let changes: ListChanges<KeyBytes, KeyBytes>
  private let emitters: EmitterChecks<Int, Int>

  /// Checks that the batch turns the old list into the new one, and that it obeys the laws of batches.
  init(from old: ModelledList, to new: ModelledList) throws {
    let (diff, cost) = ListDiff.found(from: old.version, to: new.version)
    self.diff = diff
    emitters = EmitterChecks(old.list, new.list, diff)
    changes = ListChanges(diff, id: { Array($0.utf8) }, { Array($0) })
    func describe(_ what: String) -> String {
      "\(what)\n\(old.request)\n\(new.request)\n\(old.list)\n\(new.list)\n\(diff)"
    }
    let made: ModelList
    do throws(ModelError) { made = try old.list.applying(diff, toward: new.list) } catch {
      throw ListFailure(describe("the batch does not fit: \(error)"))
    }
    try ListFailure.unless(made == new.list, describe("the batch makes another list: \(made)"))
    let isSameList = old.version.view.definition.identity == new.version.view.definition.identity
    if isSameList {
      // Items that enter or leave, changed rows, and the ends of four walks in each section.
      let crossing = diff.deletions.count + diff.insertions.count
      try ListFailure.unless(
        cost.items <= crossing + 2 * cost.rows + 4 * cost.sections, describe("it costs \(cost)"))
      // Both ways to a batch lead to the same one: by the rows that changed, and by the items that are shown.
      for rowCountMax in [Int.max, 0] {
        let (other, _) = ListDiff.found(from: old.version, to: new.version, rowCountMax: rowCountMax)
        try ListFailure.unless(other == diff, describe("at most \(rowCountMax) rows give \(other)"))
      }
    }
    let laws = BatchLaws(old.list, new.list, old.version, new.version, isSameList: isSameList)
    let broken = laws.broken(by: diff)
    try ListFailure.unless(broken.isEmpty, describe("\(broken)"))
  }

  /// Shows the batch by every emitter on the strict views.
  func checkEmitters() throws { try emitters.checkAll() }

  /// Checks the changes between the lists as diffable snapshots: they turn the old one into the new one, with no more
  /// moves.
  func checkSnapshots() throws {
    let (old, new, changes) = (emitters.old, emitters.new, emitters.changes)
    let between = ListChanges(from: old.snapshot, to: new.snapshot)
    let made = try ArrayList(old).applying(between)
    func describe(_ what: String) -> String { "\(what) between snapshots\n\(between)\n\(old)\n\(new)" }
    try ListFailure.unless(made == ArrayList(new), describe("not the changes"))
    try ListFailure.unless(between.deletions == changes.deletions, describe("other deletions"))
    try ListFailure.unless(between.insertions == changes.insertions, describe("other insertions"))
    try ListFailure.unless(between.moves.count <= changes.moves.count, describe("more moves"))
    try ListFailure.unless(
      between.sectionMoves.count <= changes.sectionMoves.count, describe("more section moves"))
    try ListFailure.unless(between.updates.isEmpty, describe("updates without marks"))
  }

  struct Place: Equatable {
    var id: KeyBytes
    var index: ListIndex
  }

  /// The inserted items with their new indices, and the deleted items with their old ones, ascending.
  var arrivals: [Place] { changes.insertions.map { Place(id: $0.id, index: $0.to) } }
  var departures: [Place] { changes.deletions.reversed().map { Place(id: $0.id, index: $0.from) } }

  /// Appends the batch as bytes.
  func encode(to bytes: inout [UInt8]) { changes.encode(to: &bytes, item: { $0 }, section: { $0 }) }
}

extension ArrayList {
  init(_ data: MockListData<ID, Section>) {
    parts = data.sections.map { Part(section: $0.id, items: $0.cells.map(\.id)) }
  }
}
