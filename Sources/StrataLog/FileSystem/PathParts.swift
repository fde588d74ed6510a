// Paths as the simulated file systems parse them.

/// The components of a path. `a//b/./c` and `/a/b/c` are the same path: there is one root, and the working directory is
/// that root.
package struct PathParts: Hashable, Sendable {
  package var names: [String]

  package init(_ path: String) {
    var path = path
    names = path.withUTF8 { bytes in
      var names: [String] = []
      var begin = 0
      while begin < bytes.count {
        let end = bytes[begin...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
        switch String(decoding: bytes[begin..<end], as: UTF8.self) {
        case "", ".": break
        case "..": _ = names.popLast()
        case let name: names.append(name)
        }
        begin = end + 1
      }
      return names
    }
  }

  package init(names: some Sequence<String>) { self.names = Array(names) }

  /// The folder above; nil for the root.
  package var parent: PathParts? { names.isEmpty ? nil : PathParts(names: names.dropLast()) }

  /// The last name; empty for the root.
  package var name: String { names.last ?? "" }
}
