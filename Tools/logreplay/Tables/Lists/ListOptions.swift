// The options that define a list, shared by `at`, `diff` and `follow`.

internal import ArgumentParser

/// The options that define a list: a table, sections, an order, a filter, limits, fields.
struct ListOptions: ParsableArguments, Sendable {
  @Option(help: "The table. Optional if the store has only one table whose name does not begin with $.")
  var table: String?

  @Option(
    help: ArgumentHelp(
      "The projection whose saved table it is, where documents or other projections have one of that name.",
      discussion: """
        An application's projection saves its tables from time to time, and has them at every point where it keeps a \
        history. `at` and `follow` show the newest that are not after the point; `diff` and `bisect` need both points.
        """, valueName: "projection"))
  var savedBy: String?

  @Option(
    help: ArgumentHelp(
      "The kept list of this name: its table, sections, orders and filter.",
      discussion: """
        Made by `logreplay keep`, or by an application that keeps a list of fields. `follow` ends once `keep` changes \
        or removes the list; what an application makes of its own list meanwhile is not noticed.
        """,
      valueName: "name"
    ))
  var view: String?

  @Option(
    help: "Group rows into sections by this field's value. Rows without the field form the section null.")
  var sectionBy: String?

  @Option(
    help:
      "The order of the sections: key or key:desc (null first in both), first (by their first items), or count."
  )
  var sectionOrder: String?

  @Option(
    help: ArgumentHelp(
      """
      Sort by FIELD[:desc][:time|numeric|nocase][:nullslast]. Repeatable: later ones break ties. Default: the order \
      in which the rows were created.
      """,
      discussion: """
        Null and missing values come first, with :desc too, unless :nullslast is given.

        Arrays and objects cannot be sort or section keys. Rows with such a key are left out and reported on \
        standard error, and the exit code is 3; the rest of the list is still printed and correct.
        """, valueName: "field"))
  var sort: [String] = []

  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: "Show only rows that match this expression. Write times in it as @'TIME', for example @'yesterday'."
  )
  var filter: String?

  @Option(help: "Show at most this many items of the list. Counts still include all items.")
  var limit: Int?

  @Option(
    help:
      """
      Show at most this many items per section. Counts still include all items. 0 shows only sections and counts, in \
      `at` alone: what changes in a list is shown item by item.
      """
  )
  var limitPerSection: Int?

  @Option(help: "Show only these fields, such as a,b.c,$revision,$time.")
  var fields: String?

  /// The first option that says what a kept list says.
  var firstDefining: String? {
    if sectionBy != nil { return "--section-by" }
    if sectionOrder != nil { return "--section-order" }
    if !sort.isEmpty { return "--sort" }
    return filter != nil ? "--where" : nil
  }

  /// Whether any option other than the table and the view is given.
  var isGiven: Bool {
    sectionBy != nil || sectionOrder != nil || !sort.isEmpty || filter != nil || limit != nil
      || limitPerSection != nil || fields != nil
  }
}
