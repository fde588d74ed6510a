// Which list of a store: the options that `at`, `diff` and `follow` share.

internal import ArgumentParser

/// The options that make a list: a table, sections, an order, a filter, limits, fields.
struct ListOptions: ParsableArguments, Sendable {
  @Option(help: "The table. May be left out where the store has one that does not begin with $.")
  var table: String?

  @Option(help: "Sections by this field's values. Rows without it are one section, null.")
  var sectionBy: String?

  @Option(help: "Sections by key or key:desc (null first in both), first (of their first items) or count.")
  var sectionOrder: String?

  @Option(
    help: ArgumentHelp(
      """
      Sorts by FIELD[:desc][:time|numeric|nocase][:nullslast]; more of them break ties. Without it rows stand as \
      they were created.
      """,
      discussion: """
        Arrays and objects are no sort or section key: their rows are left out and named on standard error, and \
        the exit code is 3, because the rest of the list is right and still what was asked for.
        """, valueName: "field"))
  var sort: [String] = []

  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: "Only rows that pass this expression. A date in it is written as a point's time, @'yesterday'.")
  var filter: String?

  @Option(help: "At most so many items of the whole list. Counts stay full.")
  var limit: Int?

  @Option(
    help: "At most so many items of each section; 0 for sections with their counts alone. Counts stay full.")
  var limitPerSection: Int?

  @Option(help: "Shows only these fields: a,b.c,$revision,$time.")
  var fields: String?

  /// Whether any of them is given besides the table.
  var isGiven: Bool {
    sectionBy != nil || sectionOrder != nil || !sort.isEmpty || filter != nil || limit != nil
      || limitPerSection != nil || fields != nil
  }
}
