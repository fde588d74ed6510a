// The file of a run that notes what is read of it, and what the system is asked for before.

internal import StrataBase
internal import StrataLog

/// What the files of some runs are asked for, in turn.
final class FileCalls: Sendable {
  enum Call: Equatable {
    case willRead(run: Int, offset: Int64)
    case read(run: Int, offset: Int64)
  }

  let calls = Lock<[Call]>([])
}

/// The file of a run, which notes what is read.
final class NotingFile: File {
  private let base: any File
  private let run: Int
  private let noted: FileCalls

  init(_ base: any File, run: Int, _ noted: FileCalls) {
    (self.base, self.run, self.noted) = (base, run, noted)
  }

  var path: String { base.path }
  var identity: String? { base.identity }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    noted.calls.withLock { $0.append(.read(run: run, offset: offset)) }
    return try base.read(into: buffer, at: offset)
  }
  func willRead(at offset: Int64, count: Int) {
    noted.calls.withLock { $0.append(.willRead(run: run, offset: offset)) }
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    try base.write(bytes, at: offset)
  }
  func size() throws(StoreError) -> Int64 { try base.size() }
  func truncate(to size: Int64) throws(StoreError) { try base.truncate(to: size) }
  func sync() throws(StoreError) { try base.sync() }
  func syncData() throws(StoreError) { try base.syncData() }
  func dropCache() { base.dropCache() }
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool { try base.tryLock(kind) }
  func unlock() { base.unlock() }
  func isStillAtItsPath() throws(StoreError) -> Bool { try base.isStillAtItsPath() }
  func close() { base.close() }
}
