// Names of tables.

/// What a table may be called.
package enum TableName {
  /// Whether a table is one of Strata's own.
  package static func isInternal(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "$") }

  /// Whether a command may write rows into a table of this name.
  package static func isOne(_ name: String) -> Bool {
    !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && !isInternal(name)
  }
}
