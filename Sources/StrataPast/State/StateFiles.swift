// The folder of one state: its page files, and STATE, which names the newest root.

internal import StrataBase
internal import StrataLog

/// The files of one projection's state, `derived/state/NAME-VERSION/`. Calls block.
struct StateFiles: Sendable {
  /// A page file that this process began and appends to.
  struct PageFile: Sendable {
    var number: UInt32
    var file: any File
    /// The bytes that are written.
    var length: UInt64
  }

  static let headerLength = 64
  static let magic = Array("STRATAPG".utf8)

  let fileSystem: any FileSystem
  let storeID: StoreID
  private let directory: DerivedFolder
  var folder: String { directory.path }

  init(_ log: Log, _ name: StateName) { self.init(log, folder: name.folder) }

  init(_ log: Log, folder: String) {
    fileSystem = log.source.catalog.fileSystem
    storeID = log.storeID
    directory = DerivedFolder(fileSystem, log.layout, in: log.layout.states, folder)
  }

  // MARK: Page files

  private func path(ofPages number: UInt32) -> String { "\(folder)/\(StoreLayout.pageFileName(number))" }

  /// The numbers of the page files that there are.
  func pageFiles() throws(StoreError) -> Set<UInt32> { try directory.numbers(StoreLayout.pageFileNumber) }

  func createFolder() throws(StoreError) { try directory.create() }
  func syncFolder() throws(StoreError) { try directory.sync() }

  /// Begins a page file under a number that no file has, and that is above another one, without its header.
  func beginPageFile(above least: UInt32) throws(StoreError) -> PageFile {
    let last = max(least, try pageFiles().max() ?? 0)
    guard last < .max else {
      throw .invalid(what: "the numbers of page files in \(folder) are used up", next: "delete that folder")
    }
    let number = last + 1
    let file = try fileSystem.open(path(ofPages: number), .createNew)
    return PageFile(number: number, file: file, length: UInt64(Self.headerLength))
  }

  /// Creates a file without a name, for what is not kept: it is gone once it is closed. Another thread may begin a page file
  /// at the same time, so its number is one that none has by chance.
  func scratchFile() throws(StoreError) -> any File {
    let number = UInt32(truncatingIfNeeded: fileSystem.freshToken()) >> 1 | 1 << 30
    let file = try fileSystem.open(path(ofPages: number), .createNew)
    do throws(StoreError) { try fileSystem.remove(path(ofPages: number)) } catch {
      file.close()
      throw error
    }
    return file
  }

  func writeHeader(of page: PageFile) throws(StoreError) {
    try header(page.number).lendBytes { bytes throws(StoreError) in try page.file.write(bytes, at: 0) }
  }

  private func header(_ number: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.headerLength)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      buffer.copyBytes(from: Self.magic)
      base.setLittleEndian(StateSlot.major, at: 8)
      base.setLittleEndian(StateSlot.minor, at: 10)
      base.setLittleEndian(number, at: 12)
      storeID.write(to: base + 16)
      let end = Self.headerLength - 4
      base.setLittleEndian(CRC32C.of(UnsafeRawBufferPointer(start: base, count: end)), at: end)
    }
    return bytes
  }

  /// Opens a page file for reading; nil if there is none, or it is another file.
  func openPages(_ number: UInt32) -> (any File)? {
    guard let file = try? fileSystem.open(path(ofPages: number), .read) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.headerLength)
    let count = try? bytes.lendMutableBytes { buffer throws(StoreError) in try file.read(into: buffer, at: 0)
    }
    guard count == Self.headerLength, bytes == header(number) else { return nil }
    return file
  }

  /// The length of a page file in bytes; nil if it cannot be opened.
  func length(ofPages number: UInt32) -> UInt64? {
    guard let file = openPages(number) else { return nil }
    defer { file.close() }
    return (try? file.size()).flatMap(UInt64.init(exactly:))
  }

  /// The bytes of all files of the state.
  func byteCount() throws(StoreError) -> UInt64 {
    var sum = UInt64(StateSlot.fileLength)
    for number in try pageFiles() { sum = sum.addingSaturated(length(ofPages: number) ?? 0) }
    return sum
  }

  /// A file that cannot be removed now is removed after a later checkpoint: nothing names it.
  func removePageFile(_ number: UInt32) { try? fileSystem.remove(path(ofPages: number)) }

  // MARK: STATE

  /// The valid slots of STATE, the newest first. None if the file cannot be read.
  func slots() -> [StateSlot] {
    guard let file = try? fileSystem.open("\(folder)/\(StoreLayout.stateFile)", .read) else { return [] }
    defer { file.close() }
    return Self.slots(in: file).compactMap { $0 }.sorted { $0.generation > $1.generation }
  }

  private static func slots(in file: any File) -> [StateSlot?] {
    var bytes = [UInt8](repeating: 0, count: StateSlot.fileLength)
    let count = try? bytes.lendMutableBytes { buffer throws(StoreError) in try file.read(into: buffer, at: 0)
    }
    return bytes.withUnsafeBytes { bytes in
      StateSlot.offsets.map { offset in
        guard let count, count >= offset + StateSlot.length else { return nil }
        return StateSlot(
          decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + StateSlot.length]))
      }
    }
  }

  /// STATE, open for writing. If the file is removed afterwards, as an erasure does, the state has no name.
  func openState() throws(StoreError) -> any File {
    try fileSystem.open("\(folder)/\(StoreLayout.stateFile)", .create)
  }

  /// The newest valid slot of STATE; nil without one.
  static func newestSlot(in file: any File) -> StateSlot? {
    slots(in: file).compactMap { $0 }.max { $0.generation < $1.generation }
  }

  /// Writes the older slot of STATE and makes it durable. Returns it with its generation.
  @discardableResult
  func write(_ slot: StateSlot, to file: any File) throws(StoreError) -> StateSlot {
    let slots = Self.slots(in: file)
    let generations = slots.map { $0?.generation ?? 0 }
    var slot = slot
    slot.generation = (generations.max() ?? 0) + 1
    let older = generations[0] <= generations[1] ? 0 : 1
    try slot.encoded().lendBytes { bytes throws(StoreError) in
      try file.write(bytes, at: Int64(StateSlot.offsets[older]))
    }
    try file.sync()
    try syncFolder()
    return slot
  }
}
