// A folder that holds the objects of a store: of another disk, or one that machines share.

internal import StrataBase
package import StrataLog

/// Keeps the objects of a store as files of a folder: `log/NUMBER`, with twenty digits.
///
/// An object is written under a name of its own, synced, and renamed to its number only if no file has that, which the
/// file system decides (`RENAME_NOREPLACE`, or `link` where that is missing). Then the folder is synced: what is
/// called put survives a power cut of the machine whose disk it is. On a network file system that is as true as its
/// server makes it.
public final class FolderCarrier: CarrierFiles {
  let root: String
  let fileSystem: any FileSystem
  /// Every number up to here has its name on disk.
  private let durableThrough = Lock<UInt64>(0)
  /// The folders of files whose names are known to be on disk.
  let durableFolders = Lock<Set<String>>([])

  public var name: String { "file:\(root)" }

  /// - Parameter path: the folder, which is created by the first put. Its parent must be there.
  public convenience init(path: String) { self.init(PosixFileSystem(), path: path) }

  package init(_ fileSystem: any FileSystem, path: String) {
    self.fileSystem = fileSystem
    let path = fileSystem.absolutePath(path)
    root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  var log: String { "\(root)/log" }
  private func path(_ number: UInt64) -> String { "\(root)/\(CarrierLog.path(of: number))" }
  func temporary(_ name: String) -> String {
    let token = StoreLayout.token(fileSystem.freshToken())
    return "\(root)/unfinished-\(name)-\(token)\(StoreLayout.temporarySuffix)"
  }

  // MARK: Proving

  public func prove() throws(CarrierError) {
    try refuseStores()
    try run { () throws(StoreError) in
      try makeFolders()
      // What a power cut has left may hold content that is erased. Another process that is about to name such a file tries
      // again; probes are left to their own.
      try fileSystem.removeFiles(in: root) {
        $0.hasPrefix("unfinished-") && !$0.hasPrefix("unfinished-probe-")
          && $0.hasSuffix(StoreLayout.temporarySuffix)
      }
      let (first, second, taken) = (temporary("probe"), temporary("probe"), temporary("probe"))
      defer { for path in [first, second, taken] { try? fileSystem.remove(path) } }
      for path in [first, second] { try write(Array(path.utf8), to: path) }
      try fileSystem.renameFenced(first, to: taken)
      do throws(StoreError) { try fileSystem.renameFenced(second, to: taken) } catch {
        guard error.systemCode == SystemErrorCode.alreadyExists else { throw error }
        guard try read(taken) == Array(first.utf8) else { return false }
        return try fileSystem.kind(of: second) == .file
      }
      return false
    } refusing: {
      CarrierError(
        .unfit, what: "a file of \(name) was replaced by one that may only be created",
        next: "choose a folder of another file system; on this one two writers would both win")
    }
  }

  /// Refuses a folder that is a store, or inside of one: a copy there is lost together with it.
  private func refuseStores() throws(CarrierError) {
    var path = root
    while true {
      let place = path
      let isStore = try asCarrierError { () throws(StoreError) -> Bool in
        let layout = StoreLayout(root: place)
        guard try fileSystem.kind(of: layout.head) == .file else { return false }
        return try fileSystem.kind(of: layout.log) == .directory
      }
      guard !isStore else {
        throw CarrierError(
          .unfit, what: "\(path) is a store, and no place for a copy",
          next: "name a folder outside of any store")
      }
      let parent = StoreLayout(root: path).parent
      guard parent != path, parent != "." else { return }
      path = parent
    }
  }

  private func run(
    _ body: () throws(StoreError) -> Bool, refusing refusal: () -> CarrierError
  ) throws(CarrierError) {
    guard try asCarrierError(body) else { throw refusal() }
  }

  // MARK: Objects

  public func put(_ objects: [CarrierObject]) -> CarrierAnswer {
    for (count, object) in objects.enumerated() {
      do throws(StoreError) {
        guard try put(object) else { return .stopped(count: count, .taken) }
      } catch {
        return .stopped(
          count: count,
          Self.isPermanent(error) ? .refused(asCarrierError(error)) : .unknown(asCarrierError(error)))
      }
    }
    return .stored
  }

  /// Returns false if the number is taken.
  private func put(_ object: CarrierObject) throws(StoreError) -> Bool {
    let path = path(object.number)
    if try fileSystem.kind(of: path) != nil { return false }
    if object.number == 1 { try makeFolders() }
    if durableThrough.withLock({ $0 + 1 < object.number }) {
      guard try fileSystem.kind(of: self.path(object.number - 1)) == .file else {
        throw .refused("look at", self.path(object.number - 1), code: SystemErrorCode.notFound)
      }
      // A power cut keeps any of the names that are not on disk: with two of them, the second without the first.
      try fileSystem.syncDirectory(log)
    }
    let written = temporary(String(object.number))
    do throws(StoreError) {
      try write(object.bytes, to: written)
      try fileSystem.renameFenced(written, to: path)
    } catch {
      try? fileSystem.remove(written)
      // Another process has removed what it took for a leftover.
      if error.systemCode == SystemErrorCode.notFound, try fileSystem.kind(of: log) == .directory {
        throw .refused("rename", written, code: SystemErrorCode.staleHandle)
      }
      guard error.systemCode == SystemErrorCode.alreadyExists else { throw error }
      return false
    }
    try fileSystem.syncDirectory(log)
    durableThrough.withLock { $0 = object.number }
    return true
  }

  public func confirm(_ object: CarrierObject) throws(CarrierError) {
    try asCarrierError { () throws(StoreError) in
      try makeFolders()
      try fileSystem.syncDirectory(log)
    }
  }

  public func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? {
    try asCarrierError { () throws(StoreError) in try read(path(number)) }
      .map { CarrierObject(number: number, bytes: $0) }
  }

  public func hasObject(_ number: UInt64) throws(CarrierError) -> Bool {
    try asCarrierError { () throws(StoreError) in try fileSystem.kind(of: path(number)) != nil }
  }

  public func extent() throws(CarrierError) -> CarrierExtent {
    try asCarrierError { () throws(StoreError) in
      guard try fileSystem.kind(of: log) == .directory else {
        // A disk that is not there has not lost anything.
        try checkParent()
        return CarrierExtent(of: [])
      }
      return CarrierExtent(
        of: try fileSystem.contents(ofDirectory: log).compactMap { SegmentName(digits: $0)?.firstSequence })
    }
  }

  public func replaceObject(_ object: CarrierObject) throws(CarrierError) {
    try asCarrierError { () throws(StoreError) in
      try replace(path(object.number), with: object.bytes)
      try fileSystem.syncDirectory(log)
    }
  }

  public func waitForObject(_ number: UInt64, within interval: Duration) {
    let pause = Gate(())
    _ = pause.wait(timeout: interval) { _ in false }
  }

  // MARK: Files

  /// Makes the folders and their names durable, which an earlier call may have failed to do.
  private func makeFolders() throws(StoreError) {
    let parent = try checkParent()
    try fileSystem.createDirectory(log)
    try fileSystem.syncDirectory(parent)
    try fileSystem.syncDirectory(root)
  }

  /// The folder that the carrier's is in, which has to be there.
  @discardableResult
  private func checkParent() throws(StoreError) -> String {
    let parent = StoreLayout(root: root).parent
    guard try fileSystem.kind(of: parent) == .directory else {
      throw .refused("look at", parent, code: SystemErrorCode.notFound)
    }
    return parent
  }

  /// The whole content of a file; nil if there is none.
  func read(_ path: String) throws(StoreError) -> [UInt8]? {
    let file: any File
    do throws(StoreError) { file = try fileSystem.open(path, .read) } catch {
      switch error.systemCode {
      case SystemErrorCode.notFound?: return nil
      // What is no file is an object that holds nothing, which its reader refuses by name.
      case SystemErrorCode.isDirectory?, SystemErrorCode.notRegularFile?: return []
      default: throw error
      }
    }
    defer { file.close() }
    // What is longer than an object can be has not the length that its header says.
    let size = min(try file.size(), FolderCarrier.sizeMax + 1)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = try bytes.lendMutableBytes { buffer throws(StoreError) in
      try file.read(into: buffer, at: 0)
    }
    return Array(bytes[..<count])
  }

  /// The longest object: a header, and a payload that could not be compressed.
  private static let sizeMax = Int64(FormatLimits.rawLengthMax + WireHeader.lengthMax)

  func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
    let file = try fileSystem.open(path, .createNew)
    defer { file.close() }
    try bytes.lendBytes { bytes throws(StoreError) in
      if bytes.count > 0 { try file.write(bytes, at: 0) }
    }
    try file.sync()
  }

  func replace(_ path: String, with bytes: [UInt8]) throws(StoreError) {
    let written = temporary("replacement")
    do throws(StoreError) {
      try write(bytes, to: written)
      try fileSystem.rename(written, to: path)
    } catch {
      try? fileSystem.remove(written)
      throw error
    }
  }

  // MARK: Errors

  static func isPermanent(_ error: StoreError) -> Bool {
    if case .full = error { return true }
    return [SystemErrorCode.notFound, SystemErrorCode.isLink, SystemErrorCode.notPermitted].contains(
      error.systemCode)
  }

  func asCarrierError<Result>(_ body: () throws(StoreError) -> Result) throws(CarrierError) -> Result {
    do throws(StoreError) { return try body() } catch { throw asCarrierError(error) }
  }

  func asCarrierError(_ error: StoreError) -> CarrierError {
    CarrierError(
      Self.isPermanent(error) ? .refused : .unreachable,
      what: error.what + (error.place.isEmpty ? "" : ": \(error.place)"),
      next: error.next)
  }
}
