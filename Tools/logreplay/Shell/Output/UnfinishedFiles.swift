// The files that a signal which ends the process must not leave.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The paths of files that are being written under temporary names. One thread adds and forgets them; a signal handler
/// reads them at any moment, so each entry is a pointer that is set and cleared at once, and no path is ever freed.
package enum UnfinishedFiles {
  /// More files than one command writes at the same time. What is beyond it stays.
  private static let countMax = 64

  nonisolated(unsafe) private static let paths: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = {
    let paths = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: countMax)
    paths.initialize(repeating: nil, count: countMax)
    return paths
  }()

  package static func add(_ path: String) {
    guard let free = (0..<countMax).first(where: { paths[$0] == nil }) else { return }
    paths[free] = strdup(path)
  }

  package static func forget(_ path: String) {
    for index in 0..<countMax {
      guard let known = paths[index], strcmp(known, path) == 0 else { continue }
      paths[index] = nil
    }
  }

  /// Removes all of them. Safe in a signal handler.
  static func removeAll() {
    for index in 0..<countMax {
      if let path = paths[index] { unlink(path) }
    }
  }

  /// Makes the list, which a signal handler must not do.
  static func prepare() { _ = paths }
}
