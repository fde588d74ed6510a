// Which events of a range an export has, and how its first line says so.

internal import StrataDocuments
package import StrataLog

/// Events that are chosen for an export. Without one, an export has all events, those of Strata's own streams too.
package struct ExportSelection: Sendable {
  /// What the first line of the export says about the choice.
  package var description: [(name: String, values: [String])]
  package var contains: @Sendable (borrowing EventView, _ sequence: UInt64, _ time: Int64) -> Bool
  /// The same choice as far as an index can make it.
  var indexed: EventSelection

  package init(
    _ description: [(name: String, values: [String])], in indexed: EventSelection = .all.includingInternal(),
    contains: @escaping @Sendable (borrowing EventView, _ sequence: UInt64, _ time: Int64) -> Bool
  ) {
    self.description = description
    self.indexed = indexed
    self.contains = contains
  }

  init(_ selection: EventSelection) {
    let named = selection.byName
    var description: [(name: String, values: [String])] = []
    if let stream = named.stream { description.append(("stream", [stream])) }
    if let category = named.category { description.append(("category", [category])) }
    if let types = named.types { description.append(("type", types)) }
    if !named.includesInternal { description.append(("own", ["excluded"])) }
    if named.hasConditions { description.append(("content", ["filtered"])) }
    self.init(description, in: selection) { event, sequence, time in
      selection.contains(event, sequence: sequence, time: time)
    }
  }
}
