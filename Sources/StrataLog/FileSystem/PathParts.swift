// Paths as the simulated file systems parse them.

/// The components of a path. `a//b/./c` and `/a/b/c` are the same path: there is one root, and the working directory is
/// that root.
package struct PathParts: Hashable, Sendable {
  package var names: [String]

  package init(_ path: String) {
    names = []
    for name in path.utf8.split(separator: UInt8(ascii: "/")) {
      let name = String(Substring(name))
      switch name {
      case ".": continue
      case "..": _ = names.popLast()
      default: names.append(name)
      }
    }
  }

  package init(names: some Sequence<String>) { self.names = Array(names) }

  /// The folder above; nil for the root.
  package var parent: PathParts? { names.isEmpty ? nil : PathParts(names: names.dropLast()) }

  /// The last name; empty for the root.
  package var name: String { names.last ?? "" }
}
