// The folder of one projection's history: the files of its runs, and MANIFEST, which names them.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The head of a run's file.
enum RunFile {
  static let headerLength = 32
  static let magic = Array("STRATARN".utf8)
  /// The version of all files of a history. Another one is ignored, and the history is made again.
  static let major: UInt16 = 3
  static let minor: UInt16 = 0
}

/// Why the file of a run could not be opened.
enum RunLoss: Error {
  /// It has lost its name, or the name is that of another file.
  case gone
  /// The system refused, as where a process has too many files open.
  case refused(StoreError)

  var isRefusal: Bool { if case .refused = self { true } else { false } }

  /// The same for what reads from the run.
  func damage(_ what: String) -> PageDamage {
    var damage = PageDamage(what)
    if case .refused(let error) = self {
      damage.isWanted = true
      if error.isShortage { damage.refusal = error }
    }
    return damage
  }
}

extension StoreError {
  /// Whether a file may be opened later, with nothing done about it.
  var isShortage: Bool { systemCode.map(SystemErrorCode.isShortage) ?? false }
}

/// The files of `derived/history/NAME-VERSION/`. Calls block.
struct HistoryFiles: Sendable {
  let fileSystem: any FileSystem
  let storeID: StoreID
  private let directory: DerivedFolder
  var folder: String { directory.path }

  init(_ log: Log, _ name: StateName) { self.init(log, folder: name.folder) }

  init(_ log: Log, folder name: String) {
    self.init(log.source.catalog.fileSystem, log.layout, log.storeID, folder: name)
  }

  init(_ fileSystem: any FileSystem, _ layout: StoreLayout, _ storeID: StoreID, folder name: String) {
    self.fileSystem = fileSystem
    self.storeID = storeID
    directory = DerivedFolder(fileSystem, layout, in: layout.histories, name)
  }

  private var manifestPath: String { "\(folder)/\(StoreLayout.manifestFile)" }
  private func path(ofRun number: UInt32) -> String { "\(folder)/\(StoreLayout.runFileName(number))" }

  func createFolder() throws(StoreError) { try directory.create() }
  func syncFolder() throws(StoreError) { try directory.sync() }

  // MARK: Runs

  /// The numbers of the runs' files that there are.
  func runFiles() throws(StoreError) -> Set<UInt32> { try directory.numbers(StoreLayout.runFileNumber) }

  /// Creates the file of a run under a number that no file has.
  ///
  /// - Parameter least: the least number that it may get.
  func beginRun(from least: UInt32) throws(StoreError) -> (number: UInt32, file: any File) {
    let last = max(least - 1, try runFiles().max() ?? 0)
    guard last < .max - 1 else {
      throw .invalid(what: "the numbers of runs in \(folder) are used up", next: "delete that folder")
    }
    return (last + 1, try fileSystem.open(path(ofRun: last + 1), .createNew))
  }

  /// Creates a file without a name, for what is not kept: it is gone once it is closed.
  func scratchFile() throws(StoreError) -> any File {
    let (number, file) = try beginRun(from: 1)
    do throws(StoreError) { try fileSystem.remove(path(ofRun: number)) } catch {
      file.close()
      throw error
    }
    return file
  }

  func header(_ number: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: RunFile.headerLength)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      buffer.copyBytes(from: RunFile.magic)
      base.setLittleEndian(RunFile.major, at: 8)
      base.setLittleEndian(RunFile.minor, at: 10)
      base.setLittleEndian(number, at: 12)
      storeID.write(to: base + 16)
    }
    return bytes
  }

  /// Opens a run's file for reading.
  func openRun(_ number: UInt32) throws(RunLoss) -> any File {
    let file: any File
    do throws(StoreError) { file = try fileSystem.open(path(ofRun: number), .read) } catch {
      throw error.systemCode == SystemErrorCode.notFound ? .gone : .refused(error)
    }
    var bytes = [UInt8](repeating: 0, count: RunFile.headerLength)
    let count = try? bytes.lendMutableBytes { buffer throws(StoreError) in try file.read(into: buffer, at: 0)
    }
    guard count == RunFile.headerLength, bytes == header(number) else {
      file.close()
      throw .gone
    }
    return file
  }

  /// A file that cannot be removed now is removed with a later manifest: nothing names it.
  func removeRun(_ number: UInt32) { try? fileSystem.remove(path(ofRun: number)) }

  /// Removes runs that no manifest names any longer. What holds them goes on reading from them.
  func remove(_ runs: ArraySlice<RunReader>) {
    for run in runs {
      run.stayOpen()
      removeRun(run.number)
    }
  }

  // MARK: MANIFEST

  /// The manifest; nil if there is none of this version that is whole. Throws if it is not known whether there is one: no
  /// file can be opened now.
  func manifest() throws(StoreError) -> HistoryManifest? {
    let file: any File
    do throws(StoreError) { file = try fileSystem.open(manifestPath, .read) } catch {
      if error.isShortage { throw error }
      return nil
    }
    defer { file.close() }
    return manifest(in: file)
  }

  /// The file of the manifest, and what it says; nil if there is no such file.
  func openManifest() -> (file: any File, manifest: HistoryManifest?)? {
    (try? fileSystem.open(manifestPath, .read)).map { ($0, manifest(in: $0)) }
  }

  private func manifest(in file: any File) -> HistoryManifest? {
    // A history has few runs: eight of each level, and the bases.
    guard let size = (try? file.size()).flatMap(Int.init(exactly:)), size <= 16 << 20 else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    let count = try? bytes.lendMutableBytes { buffer throws(StoreError) in try file.read(into: buffer, at: 0)
    }
    return count == size ? HistoryManifest(decoding: bytes) : nil
  }

  /// Replaces the manifest. Durable when it returns.
  ///
  /// - Parameter check: called when the new file is there under another name: throws if nothing may be written.
  func replaceManifest(
    with manifest: HistoryManifest, _ check: () throws(StoreError) -> Void
  ) throws(StoreError) {
    let token = fileSystem.freshToken()
    let digits = String(token, radix: 16)
    let name =
      "\(StoreLayout.manifestFile)-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
      + StoreLayout.temporarySuffix
    let path = "\(folder)/\(name)"
    let file = try fileSystem.open(path, .createNew)
    do throws(StoreError) {
      try check()
      try manifest.encoded().lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
      try file.sync()
      file.close()
      // The names of the runs are there before the manifest that names them.
      try syncFolder()
      try fileSystem.rename(path, to: manifestPath)
      try syncFolder()
    } catch {
      file.close()
      try? fileSystem.remove(path)
      throw error
    }
  }

  /// Removes the files of runs that the manifest does not name, and unfinished manifests.
  func removeOthers(than manifest: HistoryManifest?) {
    let named = Set(manifest?.runs.map(\.number) ?? [])
    try? fileSystem.removeFiles(in: folder) { name in
      if let number = StoreLayout.runFileNumber(name) { return !named.contains(number) }
      return StoreLayout.isHistoryFile(name) && (manifest == nil || name != StoreLayout.manifestFile)
    }
  }
}
