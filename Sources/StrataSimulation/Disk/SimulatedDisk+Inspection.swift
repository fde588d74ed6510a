// Inspecting and damaging a simulated disk in tests, without calls of FileSystem, so that nothing is counted.

internal import StrataBase
internal import StrataLog

extension SimulatedDisk {
  /// The paths of all files, in ascending order.
  package var paths: [String] { state.withLock { $0.image.paths() } }

  /// The number of open files; a file that was opened twice counts twice.
  package var openFileCount: Int { state.withLock { $0.openCounts.values.reduce(0, +) } }

  /// The bytes that a program would read; nil if there is no such file.
  package func contents(_ path: String) -> [UInt8]? {
    state.withLock { state in state.image.file(at: path).map { state.image.content($0).live } }
  }

  /// The bytes that a program would read of each file in a folder and its subfolders, in the order of their paths.
  package func contents(in folder: String) -> [[UInt8]] {
    paths.filter { $0.hasPrefix(folder + "/") }.compactMap { contents($0) }
  }

  /// Replaces a file's bytes, both live and durable.
  /// - Precondition: there is such a file.
  package func replace(_ path: String, _ bytes: [UInt8]) {
    state.withLock { state in
      guard let inode = state.image.file(at: path) else {
        preconditionFailure("there is no file \(path) to replace")
      }
      state.image.change(inode) { $0 = SimulatedContent(durable: bytes) }
    }
  }

  /// Flips one bit, where bit 0 is the lowest of the first byte. The file then is as it was except for that bit, and
  /// all of it is durable.
  /// - Precondition: there is such a file, and it has that bit.
  package func flipBit(_ path: String, _ bit: Int) {
    guard var bytes = contents(path), bytes.indices.contains(bit / 8) else {
      preconditionFailure("\(path) has no bit \(bit)")
    }
    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    replace(path, bytes)
  }

  /// Makes bytes of a file unreadable, as bad sectors are.
  ///
  /// A read of any of them fails with `EIO`, even after a crash or a rename, until `makeReadable` is called.
  /// Overwriting them does not make them readable.
  /// - Precondition: there is such a file.
  package func makeUnreadable(_ path: String, _ bytes: Range<Int>) {
    state.withLock { state in
      guard let inode = state.image.file(at: path) else {
        preconditionFailure("there is no file \(path) to damage")
      }
      state.image.makeUnreadable(inode, bytes)
    }
  }

  /// Makes every byte readable again.
  package func makeReadable() { state.withLock { $0.image.makeReadable() } }

  /// Creates a file with these bytes, and the folders that contain it. All of it is durable.
  package func add(_ path: String, _ bytes: [UInt8]) {
    state.withLock { state in
      let parts = PathParts(path)
      var folder = SimulatedImage.root
      for name in parts.names.dropLast() {
        if state.image.folders[folder]?.live[name] == nil { state.image.addFolder(name, in: folder) }
        state.image.syncFolder(folder)
        guard let next = state.image.folders[folder]?.live[name], state.image.folders[next] != nil else {
          preconditionFailure("one of the folders of \(path) is a file")
        }
        folder = next
      }
      let inode = state.image.file(at: path) ?? state.image.addFile(parts.name, in: folder)
      state.image.syncFolder(folder)
      state.image.change(inode) { $0 = SimulatedContent(durable: bytes) }
    }
  }

  /// Removes a file, durably.
  package func delete(_ path: String) {
    state.withLock { state in
      let parts = PathParts(path)
      guard state.image.file(at: path) != nil, case .success(let parent) = state.image.parent(of: parts)
      else {
        preconditionFailure("there is no file \(path) to delete")
      }
      state.image.removeFile(parts.name, in: parent)
      state.image.syncFolder(parent)
      state.image.removeUnreachable(open: state.openInodes)
    }
  }
}
