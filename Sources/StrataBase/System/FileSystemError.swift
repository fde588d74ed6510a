// A system call that failed.

/// A call that the file system refused: which, on what, and the system's number for the reason.
package struct FileSystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The call, as a verb: `open`, `read`, `sync`.
  package var operation: String
  package var path: String
  /// The value of `errno`.
  package var code: Int32

  package init(_ operation: String, _ path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  package var description: String { "cannot \(operation) \(path): \(systemMessage(code))" }
}
