// An open file of a simulated disk.

internal import StrataBase
internal import StrataLog

/// An open file. It keeps its bytes after its name was removed, and its lock until it is closed.
final class SimulatedFile: File {
  let path: String
  private let disk: SimulatedDisk
  private let mode: FileOpenMode
  private let inode: SimulatedImage.Inode
  private let owner: UInt64
  private let isClosed = Lock(false)

  /// The maximum size of a file, so that a wrong offset of the program does not become a huge allocation.
  private static let sizeMax: Int64 = 1 << 32

  init(disk: SimulatedDisk, path: String, mode: FileOpenMode, inode: SimulatedImage.Inode, owner: UInt64) {
    self.disk = disk
    self.path = path
    self.mode = mode
    self.inode = inode
    self.owner = owner
  }

  deinit { close() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    try perform(.read) { (state) throws(StoreError) in
      guard offset >= 0 || buffer.isEmpty else { throw error(.read, SystemErrorCode.invalidArgument) }
      let live = state.image.content(inode).live
      guard offset < live.count, !buffer.isEmpty else { return 0 }
      let range = Int(offset)..<min(Int(offset) + buffer.count, live.count)
      guard !state.image.isUnreadable(inode, range) else { throw error(.read, SystemErrorCode.inputOutput) }
      live.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
      return range.count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    let inode = self.inode
    func write(_ state: inout SimulatedDisk.State, _ count: Int) {
      let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      state.image.change(inode) { $0.write(part, at: Int(offset)) }
    }
    let isTooLarge = offset > Self.sizeMax - Int64(bytes.count)
    let isAllowed = mode != .read && offset >= 0 && !isTooLarge
    let writePart = { (state: inout SimulatedDisk.State, part: Double) in
      if isAllowed { write(&state, Int(part * Double(bytes.count))) }
    }
    try perform(.write, writePart: writePart) { (state) throws(StoreError) in
      guard !bytes.isEmpty else { return }
      guard mode != .read else { throw error(.write, SystemErrorCode.badDescriptor) }
      guard offset >= 0 else { throw error(.write, SystemErrorCode.invalidArgument) }
      guard !isTooLarge else { throw error(.write, SystemErrorCode.fileTooLarge) }
      let room = state.sizeMax(of: inode)
      let fitting = max(0, min(bytes.count, room - Int(offset)))
      write(&state, fitting)
      guard fitting == bytes.count else { throw error(.write, SystemErrorCode.noSpace) }
    }
  }

  func size() throws(StoreError) -> Int64 {
    try perform(.size) { (state) throws(StoreError) in Int64(state.image.content(inode).live.count) }
  }

  func truncate(to size: Int64) throws(StoreError) {
    try perform(.truncate) { (state) throws(StoreError) in
      guard mode != .read, size >= 0 else { throw error(.truncate, SystemErrorCode.invalidArgument) }
      guard size <= Self.sizeMax else { throw error(.truncate, SystemErrorCode.fileTooLarge) }
      guard size <= state.sizeMax(of: inode) else { throw error(.truncate, SystemErrorCode.noSpace) }
      state.image.change(inode) { $0.truncate(to: Int(size)) }
    }
  }

  func sync() throws(StoreError) { try sync(.sync) }

  func syncData() throws(StoreError) { try sync(.syncData) }

  private func sync(_ operation: SimulatedOperation) throws(StoreError) {
    try perform(operation) { (state) throws(StoreError) in
      if let failure = state.takeSyncFailure(of: path) {
        if !failure.keepsData { state.image.change(inode) { $0.loseDirtySectors() } }
        if failure.isReported { throw error(operation, SystemErrorCode.inputOutput) }
      } else {
        state.image.change(inode) { $0.sync(shrinks: operation == .sync) }
      }
    }
  }

  func dropCache() {
    guard !isClosed.withLock({ $0 }) else { return }
    disk.state.withLock { state in
      if !state.isPoweredOff { state.image.change(inode) { $0.dropCache() } }
    }
  }

  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool {
    try perform(.lock) { (state) throws(StoreError) in
      state.locks[inode, default: AdvisoryLocks()].tryLock(kind, owner: owner)
    }
  }

  func unlock() { disk.state.withLock { $0.locks[inode]?.unlock(owner: owner) } }

  var identity: String? { "simulated file \(inode)" }

  func isStillAtItsPath() throws(StoreError) -> Bool {
    try perform(.kind) { (state) throws(StoreError) in state.image.file(at: path) == inode }
  }

  func close() {
    let isFirst = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard isFirst else { return }
    disk.state.withLock { state in
      state.locks[inode]?.unlock(owner: owner)
      if state.locks[inode]?.isEmpty == true { state.locks[inode] = nil }
      state.openCounts[inode]! -= 1
      if state.openCounts[inode] == 0 { state.openCounts[inode] = nil }
    }
  }

  /// Makes a call on this file; throws `EBADF` if it is closed.
  private func perform<Result>(
    _ operation: SimulatedOperation,
    writePart: ((inout SimulatedDisk.State, Double) -> Void)? = nil,
    _ body: (inout SimulatedDisk.State) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard !isClosed.withLock({ $0 }) else { throw error(operation, SystemErrorCode.badDescriptor) }
    return try disk.perform(operation, path, writePart: writePart, body)
  }

  private func error(_ operation: SimulatedOperation, _ code: Int32) -> StoreError {
    .refused(operation.rawValue, path, code: code)
  }
}
