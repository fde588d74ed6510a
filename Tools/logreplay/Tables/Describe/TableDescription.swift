// `info --describe`: which fields the rows of a table have.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// The fields of a table at the head of the log.
struct TableDescription {
  private let table: String
  private let items: Int
  private let sequence: UInt64
  private let fields: [FieldSummary]

  /// How many values of a field are shown: to people, and to programs.
  private static let (valuesShown, valuesListed) = (5, 20)
  private static let widthMax = 32

  /// Folds what is not saved, and goes over the rows twice. Blocks.
  init(_ opened: OpenedStore, _ table: String) throws {
    self.table = table
    let last = opened.log.mark.sequence
    let fold = Fold.resuming(opened.log, .documents(only: nil), through: last)
    do throws(StoreError) { try fold.run(through: last) } catch { throw opened.failure(error) }
    sequence = last
    let rows = fold.state.contains(table) ? fold.state[table] : Table(name: table)
    items = rows.count
    var counter = FieldCounter()
    rows.forEachRow { counter.add($0.document) }
    counter.beginSecondPass()
    rows.forEachRow { counter.add($0.document) }
    fields = counter.summaries(commonest: Self.valuesListed)
  }

  var json: [UInt8] {
    var line = JSONLine.document()
    line.field("table", table)
    line.field("items", items)
    line.field("sequence", sequence)
    line.array(
      "fields",
      fields.map { field in
        var line = JSONLine()
        line.field("field", field.path)
        line.field("rows", field.rowCount)
        line.field("types", types(of: field))
        if let count = field.differentValueCount {
          line.field("different", count)
        } else {
          line.null("different")
        }
        line.array(
          "values",
          field.commonestValues.map { value in
            var line = JSONLine()
            line.field("value", value.value)
            line.field("rows", value.rowCount)
            return line.finish()
          })
        return line.finish()
      })
    return line.finish()
  }

  private func types(of field: FieldSummary) -> DocumentValue {
    var object: DocumentObject = [:]
    for (type, count) in field.types { object[type.rawValue] = DocumentValue(count) }
    return .object(object)
  }

  /// A line for each field: its path, how many rows have it, their types, and its most common values.
  func write(_ people: PeopleText, to writer: inout OutputWriter) throws {
    let items = PeopleText.count(items, "item")
    try writer.line("\(people.colored(PeopleText.printable(table), .cyan))  \(items) at seq \(sequence)")
    guard !fields.isEmpty else { return }
    let cells =
      [["field", "rows", "types", "values"]]
      + fields.map { field in
        [
          PeopleText.printable(field.path), PeopleText.count(field.rowCount + objectCount(field)),
          text(ofTypes: field),
          text(ofValues: field),
        ]
      }
    let widths = (0..<3).map { column in cells.map { $0[column].count }.max() ?? 0 }
    for (index, row) in cells.enumerated() {
      let line =
        "  \(row[0])\(PeopleText.padding(row[0], to: widths[0]))  \(PeopleText.padding(row[1], to: widths[1]))\(row[1])"
        + "  \(row[2])\(PeopleText.padding(row[2], to: widths[2]))  \(row[3])"
      try writer.line(index == 0 ? people.colored(line, .dim) : line)
    }
  }

  private func objectCount(_ field: FieldSummary) -> Int {
    max(0, field.types.values.reduce(0, +) - field.rowCount)
  }

  /// `string`, or `string 7, null 2`.
  private func text(ofTypes field: FieldSummary) -> String {
    let types = field.types.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
    if types.count == 1 { return types[0].key.rawValue }
    return types.map { "\($0.key.rawValue) \(PeopleText.count($0.value))" }.joined(separator: ", ")
  }

  /// `3 different: Open 7, Closed 2`; of values that are all different, the first ones alone.
  private func text(ofValues field: FieldSummary) -> String {
    let shown = field.commonestValues.filter { $0.rowCount > 0 }.prefix(Self.valuesShown)
    let values = shown.map { value in
      let text = PeopleText.shortened(PeopleText.heading(value.value), to: Self.widthMax)
      return value.rowCount == 1 ? text : "\(text) \(PeopleText.count(value.rowCount))"
    }
    let count =
      field.differentValueCount.map { "\(PeopleText.count($0)) different" }
      ?? "more than \(PeopleText.count(FieldCounter.candidateCountMax)) different, or long ones"
    let rest = field.differentValueCount == shown.count ? "" : ", …"
    return values.isEmpty
      ? (field.differentValueCount == 0 ? "" : count) : "\(count): \(values.joined(separator: ", "))\(rest)"
  }
}
