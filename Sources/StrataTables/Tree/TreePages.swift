// The page sizes of the trees.

/// Page sizes of the trees, in bytes.
package enum TreePages {
  package static let table = 4096
  package static let view = 4096
  /// Sections change with nearly every item, and a small page is copied faster.
  package static let sections = 1024
}
