// Which view of which table.

/// A view of one of the tables of a state.
package struct ViewKey: Hashable {
  /// The name's UTF-8, which distinguishes tables.
  package var table: [UInt8]
  package var identity: ViewIdentity

  package init(_ table: String, _ definition: ViewDefinition) {
    self.table = Array(table.utf8)
    identity = definition.identity
  }
}
