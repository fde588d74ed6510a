// The error of a system call that failed.

/// A failed call to the file system: the operation, the path, and the system's error number.
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
