// The machine's file system, and a named call of it at which the process dies.

internal import Foundation
internal import StrataBase
internal import StrataLog

/// A call at which the process is killed, the `count`th time that it is made: `write segment`, `sync HEAD`, `rename`.
struct KillPoint: Sendable {
  var call: String
  var count: Int
}

/// Counts the calls of one kind, and kills the process at the chosen one. A write is done by half before.
struct KillingFileSystem: FileSystem {
  let base: any FileSystem
  private let point: KillPoint
  private let left: Lock<Int>

  init(_ base: any FileSystem, at point: KillPoint) {
    self.base = base
    self.point = point
    left = Lock(point.count)
  }

  /// True where the process must die at this call.
  fileprivate func isPoint(_ call: String, _ path: String = "") -> Bool {
    let kind = path.isEmpty ? call : "\(call) \(Self.kind(of: path))"
    guard kind == point.call else { return false }
    return left.withLock { left in
      left -= 1
      return left == 0
    }
  }

  private static func kind(of path: String) -> String {
    if path.hasSuffix("/HEAD") { return "HEAD" }
    if path.contains("/quarantine/") { return "quarantine" }
    if path.contains("/derived/") { return "index" }
    return path.hasSuffix(".tmp") ? "temporary" : "segment"
  }

  fileprivate static func die() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }

  func createDirectory(_ path: String) throws(StoreError) { try base.createDirectory(path) }
  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try base.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try base.kind(of: path) }
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    KillingFile(base: try base.open(path, mode), fileSystem: self)
  }
  func rename(_ path: String, to newPath: String) throws(StoreError) {
    if isPoint("rename") { Self.die() }
    try base.rename(path, to: newPath)
  }
  func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    if isPoint("rename") { Self.die() }
    try base.renameNew(path, to: newPath)
  }
  func remove(_ path: String) throws(StoreError) { try base.remove(path) }
  func syncDirectory(_ path: String) throws(StoreError) {
    if isPoint("sync folder") { Self.die() }
    try base.syncDirectory(path)
  }
}

private final class KillingFile: File {
  private let base: any File
  private let fileSystem: KillingFileSystem

  init(base: any File, fileSystem: KillingFileSystem) {
    self.base = base
    self.fileSystem = fileSystem
  }

  var path: String { base.path }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    try base.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    if fileSystem.isPoint("write", path) {
      try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
      KillingFileSystem.die()
    }
    try base.write(bytes, at: offset)
  }

  func size() throws(StoreError) -> Int64 { try base.size() }

  func truncate(to size: Int64) throws(StoreError) {
    if fileSystem.isPoint("cut", path) { KillingFileSystem.die() }
    try base.truncate(to: size)
  }

  func sync() throws(StoreError) {
    if fileSystem.isPoint("sync", path) { KillingFileSystem.die() }
    try base.sync()
  }

  func syncData() throws(StoreError) {
    if fileSystem.isPoint("sync", path) { KillingFileSystem.die() }
    try base.syncData()
  }

  func dropCache() { base.dropCache() }
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool { try base.tryLock(kind) }
  func unlock() { base.unlock() }
  var identity: String? { base.identity }
  func isStillAtItsPath() throws(StoreError) -> Bool { try base.isStillAtItsPath() }
  func close() { base.close() }
}
