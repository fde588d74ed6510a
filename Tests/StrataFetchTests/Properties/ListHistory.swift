// A random history of one table: its state after each commit, and the rows of a model at that point.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting

struct ListHistory {
  /// The table after some commits.
  struct Moment {
    var set: TableSet
    var model: ModelTable
  }

  let schema: RandomSchema
  private var random: SeededGenerator
  private(set) var now = Moment(set: TableSet(), model: ModelTable())
  private var sequence: UInt64 = 0
  private let scratch = FoldScratch()

  init(_ random: inout SeededGenerator) {
    self.random = random.split()
    schema = RandomSchema(&self.random)
  }

  /// Adds a list's view to the table.
  mutating func add(_ view: ViewDefinition) { now.set.withTable("t") { $0.addView(view) } }

  /// Fills an empty table with rows.
  mutating func fill() {
    for id in schema.ids where Int.random(in: 0..<5, using: &random) > 0 { put(id) }
  }

  /// Makes one commit: one change, a few, many, a whole section moved, rows that are changed and changed back, or all rows
  /// removed.
  mutating func commit() {
    switch Int.random(in: 0..<27, using: &random) {
    case 0..<9: change()
    case 9..<18: for _ in 0..<Int.random(in: 2...5, using: &random) { change() }
    case 18..<21: for _ in 0..<Int.random(in: 6...14, using: &random) { change() }
    case 21..<23: moveSection()
    case 23..<26: changeBack()
    default: for id in schema.ids { remove(id) }
    }
  }

  private mutating func change() {
    let id = schema.ids.randomElement(using: &random)!
    if Int.random(in: 0..<5, using: &random) == 0 { remove(id) } else { put(id) }
  }

  /// Moves all rows of a section into another one.
  private mutating func moveSection() {
    let path = schema.section
    let from = schema.sections.randomElement(using: &random)! ?? .null
    let to = schema.sections.randomElement(using: &random)!
    for id in schema.ids {
      guard var document = now.model.rows[Array(id.utf8)]?.document,
        ModelList.order(document.value(at: path), from) == 0
      else { continue }
      document.set(to, at: path.split(separator: "."))
      put(id, document)
    }
  }

  /// Gives a row or two another content and the old one again, so that only their revisions are others.
  private mutating func changeBack() {
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let id = schema.ids.randomElement(using: &random)!
      guard let document = now.model.rows[Array(id.utf8)]?.document else { continue }
      put(id)
      put(id, document)
    }
  }

  private mutating func put(_ id: String) {
    put(id, schema.document(id, from: now.model.rows[Array(id.utf8)]?.document, &random))
  }

  private mutating func put(_ id: String, _ document: DocumentObject) {
    sequence += 1
    let id = Array(id.utf8)
    now.model.put(id, document, at: sequence)
    Self.put(id, DocumentValue.object(document).cbor(), at: sequence, in: &now.set, scratch)
  }

  private mutating func remove(_ id: String) {
    sequence += 1
    let id = Array(id.utf8)
    now.model.rows[id] = nil
    id.withUnsafeBytes { id in now.set.withTable("t") { $0.remove(id: id, scratch) } }
  }

  private static func put(
    _ id: [UInt8], _ document: [UInt8], at sequence: UInt64, in set: inout TableSet, _ scratch: FoldScratch
  ) {
    id.withUnsafeBytes { id in
      document.withUnsafeBytes { document in
        set.withTable("t") {
          $0.put(id: id, document: document, at: Stamp(sequence: sequence, time: 0), scratch)
        }
      }
    }
  }

  /// A moment rebuilt from its rows alone: a new table, to which the rows and then the view are added.
  func rebuilt(_ moment: Moment, with view: ViewDefinition) -> Moment {
    var set = TableSet()
    set.withTable("t") { _ in }
    for (id, row) in moment.model.rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      // A row keeps the sequence at which it was created, whatever document it gets later.
      if row.created != row.revision {
        Self.put(id, DocumentValue.object(["other": .null]).cbor(), at: row.created, in: &set, scratch)
      }
      Self.put(id, row.bytes, at: row.revision, in: &set, scratch)
    }
    set.withTable("t") { $0.addView(view) }
    return Moment(set: set, model: moment.model)
  }
}
