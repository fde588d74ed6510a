// How large the pages of each tree are.

/// Page sizes of the trees, in bytes.
package enum TreePages {
  package static let table = 4096
  package static let view = 4096
  /// Sections change with nearly every item: a small page is copied sooner.
  package static let sections = 1024
}
