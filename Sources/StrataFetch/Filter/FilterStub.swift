public import StrataTables
package import StrataEvents
public struct FilterError: Error, Hashable, Sendable { }
public struct Filter: Hashable, Sendable {
  public init(_ text: String) throws(FilterError) {}
  package func compiled() -> CompiledFilter { CompiledFilter() }
}
package struct CompiledFilter: Sendable {
  package func matches(_ row: RowView, section: () -> DocumentValue) -> Bool { true }
}
