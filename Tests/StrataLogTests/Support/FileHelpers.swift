import Foundation
import StrataBase
import StrataLog
import Testing

extension File {
  func write(_ bytes: [UInt8], at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }

  func write(_ text: String, at offset: Int64 = 0) throws { try write(Array(text.utf8), at: offset) }

  func bytes(at offset: Int64 = 0, count: Int = 1 << 20) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let found = try buffer.withUnsafeMutableBytes { try read(into: $0, at: offset) }
    return Array(buffer[..<found])
  }

  func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }
}

extension FileSystem {
  /// Creates a file with this text, syncing nothing.
  @discardableResult
  func put(_ text: String, at path: String) throws -> any File {
    let file = try open(path, .create)
    try file.write(text)
    return file
  }
}

/// Expects that the call is refused with this number.
func expectFailure(
  _ code: Int32, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  do {
    try body()
    Issue.record("nothing was refused", sourceLocation: sourceLocation)
  } catch {
    #expect((error as? StoreError)?.systemCode == code, "\(error)", sourceLocation: sourceLocation)
  }
}

/// Removes an empty folder.
func removeFolder(_ path: String) -> Bool { rmdir(path) == 0 }
