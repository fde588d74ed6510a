// Whole files in and out of memory.

internal import StrataBase
internal import StrataLog

extension MemoryFileSystem {
  /// Puts a file there, and the folders above it.
  func add(_ path: String, _ bytes: [UInt8]) throws(StoreError) {
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try createDirectory(String(path[..<slash]))
    }
    let file = try open(path, .create)
    defer { file.close() }
    try file.truncate(to: 0)
    try bytes.lendBytes { (bytes) throws(StoreError) in try file.write(bytes, at: 0) }
  }

  func bytes(of path: String) throws(StoreError) -> [UInt8] {
    let file = try open(path, .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
    _ = try bytes.lendMutableBytes { (bytes) throws(StoreError) in try file.read(into: bytes, at: 0) }
    return bytes
  }

  /// Every file of a store that no open may change: all but LOCK and what is derived.
  func evidence(of store: String) throws(StoreError) -> [String: [UInt8]] {
    let layout = StoreLayout(root: store)
    var files: [String: [UInt8]] = [:]
    for folder in [layout.root, layout.log, layout.quarantine] where try kind(of: folder) == .directory {
      for name in try contents(ofDirectory: folder) {
        let path = "\(folder)/\(name)"
        guard path != layout.lock, try kind(of: path) == .file else { continue }
        files[path] = try bytes(of: path)
      }
    }
    return files
  }
}
