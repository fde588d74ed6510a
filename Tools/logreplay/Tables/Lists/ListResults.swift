// The aggregates of a list, as JSON and as text for people.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The aggregates of one section, or of a whole list, by their names.
struct ListResults: Equatable {
  var names: [String] = []
  var values: [AggregateValue] = []

  /// Adds `"aggregates":{"sum:amount":V}` if there are any, and `"aggregatesLeftOut":{"sum:amount":{"notFinite":n,
  /// "otherKinds":n}}` if they leave out values.
  func add(to line: inout JSONLine) {
    guard !names.isEmpty else { return }
    line.object("aggregates", zip(names, values).map { ($0, $1.value.jsonBytes()) })
    addLeftOut(to: &line)
  }

  private func addLeftOut(to line: inout JSONLine) {
    let leftOut = zip(names, values).filter { $1.notFiniteCount > 0 || $1.otherKindCount > 0 }
    guard !leftOut.isEmpty else { return }
    line.object(
      "aggregatesLeftOut",
      leftOut.map { name, value in
        var counts = JSONLine()
        if value.notFiniteCount > 0 { counts.field("notFinite", value.notFiniteCount) }
        if value.otherKindCount > 0 { counts.field("otherKinds", value.otherKindCount) }
        return (name, counts.finish())
      })
  }

  /// Adds `"aggregates":{"sum:amount":[old,new]}` with those that changed, if there are any.
  func addChanges(since old: ListResults, to line: inout JSONLine) {
    let changes = changes(since: old)
    guard !changes.isEmpty else { return }
    line.object(
      "aggregates",
      changes.map {
        (
          $0.name,
          Array("[".utf8) + $0.old.value.jsonBytes() + Array(",".utf8) + $0.new.value.jsonBytes()
            + Array("]".utf8)
        )
      })
    addLeftOut(to: &line)
  }

  private func changes(
    since old: ListResults
  ) -> [(name: String, old: AggregateValue, new: AggregateValue)] {
    zip(names, zip(old.values, values)).filter { $1.0 != $1.1 }.map { ($0, $1.0, $1.1) }
  }

  /// `  sum:amount=12`, empty if there are no aggregates.
  func text() -> String {
    zip(names, values).map { "  \(PeopleText.printable($0))=\(Self.text($1))" }.joined()
  }

  /// `  sum:amount: 12 → 15` of those that changed.
  func text(since old: ListResults) -> String {
    changes(since: old).map { change in
      "  \(PeopleText.printable(change.name)): \(Self.text(change.old)) → \(Self.text(change.new))"
    }.joined()
  }

  private static func text(_ value: AggregateValue) -> String {
    var leftOut: [String] = []
    if value.otherKindCount > 0 { leftOut.append("\(PeopleText.count(value.otherKindCount)) of other kinds") }
    if value.notFiniteCount > 0 { leftOut.append("\(PeopleText.count(value.notFiniteCount)) not finite") }
    let word = PeopleText.word(value.value)
    return leftOut.isEmpty ? word : "\(word) (without \(leftOut.joined(separator: ", ")))"
  }
}

extension ListState {
  /// The aggregates of a section.
  func results(inSectionAt place: Int) -> ListResults {
    version.withSection(at: place) { key, _, _ in
      guard let totals = version.totals else { return ListResults() }
      return results(totals) { totals.value(ofPart: $0, in: key) }
    }
  }

  /// The aggregates of the whole list.
  var results: ListResults {
    guard let totals = version.totals else { return ListResults() }
    return results(totals) { totals.value(ofPart: $0) }
  }

  private func results(_ totals: ListTotals, _ value: (Int) -> AggregateValue) -> ListResults {
    let names = totals.plan.names
    return ListResults(
      names: names,
      values: names.indices.map { index in
        var result = value(index)
        // Rows keep their times as nanoseconds.
        if ["min:$time", "max:$time"].contains(names[index]), case .int(let nanoseconds) = result.value {
          result.value = .string(Timestamp(nanoseconds: nanoseconds).description)
        }
        return result
      })
  }
}

extension JSONLine {
  /// Adds an object whose keys are not known at compile time and whose values are JSON already.
  fileprivate mutating func object(_ name: StaticString, _ members: [(name: String, value: [UInt8])]) {
    raw(name, "{".utf8)
    for (index, member) in members.enumerated() {
      if index > 0 { append(byte: UInt8(ascii: ",")) }
      append(name: member.name)
      append(bytes: member.value)
    }
    append(byte: UInt8(ascii: "}"))
  }
}
