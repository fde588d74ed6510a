// `--aggregate`: what is counted, summed and compared in each section of a list.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataDocuments
internal import StrataLists
internal import StrataTables

/// The aggregates of a list, shared by `at`, `diff` and `follow`.
struct AggregateOptions: ParsableArguments, Sendable {
  @Option(
    help: ArgumentHelp(
      """
      Show with each section, and of the whole list, the FUNCTION of a field's values: count, sum, avg, min, max, first \
      or last, as in sum:amount; or count alone, for all rows. Repeatable.
      """,
      discussion: """
        They are of all rows that pass --where, also of those that a limit hides. A sum is exact, and rounded once where \
        it is no integer. Null and missing values do not count. Values that are no numbers (for min, max, first and \
        last: arrays and objects) and NaN are left out, and their number is shown. first and last are the ids of the rows \
        with the least and the greatest value.
        """, valueName: "function:field"))
  var aggregate: [String] = []

  /// The query with these aggregates.
  func added(to query: ListQuery) throws(CommandFailure) -> ListQuery {
    guard !aggregate.isEmpty else { return query }
    var (query, request) = (query, ListRequest(DocumentRow.self))
    for text in aggregate {
      do throws(ListError) {
        request = request.aggregated(try ListAggregate(text))
        query.list.aggregates =
          try request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }.aggregates
      } catch {
        throw CommandFailure(
          ExitStatus.usage, "'\(text)' is not an aggregate", at: "--aggregate \(text)",
          next: "write count, or count, sum, avg, min, max, first or last, a colon and a field: sum:amount")
      }
    }
    return query
  }

  /// Throws a usage error if aggregates are requested of a format that has rows alone.
  func check(_ output: OutputOptions) throws(CommandFailure) {
    guard !aggregate.isEmpty, output.format == .csv || output.format == .jsonl else { return }
    throw CommandFailure(
      ExitStatus.usage, "\(output.format.rawValue) has a line for each row, and none for sections",
      at: "--aggregate",
      next: "choose short, table or json with -o")
  }
}
