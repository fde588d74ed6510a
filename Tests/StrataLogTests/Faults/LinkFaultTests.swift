// Fault 50: links, folders, pipes and names of others in a store, on the machine's file system.

import Foundation
import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite(.serialized) struct LinkFaultTests {
  private let folder: TemporaryFolder
  private let posix = PosixFileSystem()
  private var path: String { folder.file("store") }
  private var outside: String { folder.file("outside") }
  private var layout: StoreLayout { StoreLayout(root: path) }

  private static let append = ModelAppend([ModelEvent(stream: "s", type: "t", payload: [1, 2, 3])])
  /// Names that Strata gives, and others.
  private static let names = [
    "00000000000000000009.seg.tmp", "00000000000000000009.idx.tmp", "00000000000000000001-4096-3.tail",
    "x.tmp", "notes.txt",
  ]

  init() throws {
    folder = try TemporaryFolder()
    let log = try Log.openWriter(posix, path: path, options: StoreOptions())
    _ = try log.appendBlocking(Self.append.draft())
    try log.close()
  }

  /// Moves a file or folder of the store elsewhere, among files that a writer would remove, and links it.
  private func link(_ name: String) throws {
    try posix.createDirectory(name.hasPrefix("log/") ? "\(outside)/log" : outside)
    try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: "\(outside)/\(name)")
    if try posix.kind(of: "\(outside)/\(name)") == .directory {
      for file in Self.names { try posix.put("mine", at: "\(outside)/\(name)/\(file)").close() }
    }
    try FileManager.default.createSymbolicLink(
      atPath: "\(path)/\(name)", withDestinationPath: "\(outside)/\(name)")
  }

  private func files(_ folder: String) throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: folder))
  }

  @Test(arguments: ["log", "derived", "quarantine", "HEAD", "LOCK", "log/00000000000000000001.seg"])
  func `fault 50: a link in a store keeps writers out and is followed by none, and readers read`(
    name: String
  ) throws {
    try link(name)
    let before = try files(outside)
    do throws(StoreError) {
      try Log.openWriter(posix, path: path, options: StoreOptions()).close()
      Issue.record("a writer follows the link")
    } catch { #expect(error == .linked(path: "\(path)/\(name)")) }
    #expect(try files(outside) == before)
    let reader = try Log.openReader(posix, path: path, options: StoreOptions())
    #expect(reader.mark.sequence == 1)
    try reader.close()
    #expect(try files(outside) == before)
  }

  @Test func `fault 50: a link that comes while a store is open is not followed when quarantine is emptied`()
    throws
  {
    let log = try Log.openWriter(posix, path: path, options: StoreOptions())
    try link("quarantine")
    let before = try files(outside)
    #expect(throws: StoreError.linked(path: layout.quarantine)) { try log.emptyQuarantine() }
    #expect(try files(outside) == before)
    try log.close()
  }

  @Test func `states are not removed through a link, and the erasure says so`() throws {
    let log = try Log.openWriter(posix, path: path, options: StoreOptions())
    let state = "\(outside)/$documents-1"
    try posix.createDirectory(state)
    try posix.put("mine", at: "\(state)/STATE").close()
    try FileManager.default.createSymbolicLink(atPath: layout.states, withDestinationPath: outside)
    #expect(throws: StoreError.linked(path: layout.states)) { try log.removeStates() }
    try FileManager.default.removeItem(atPath: layout.states)
    try posix.createDirectory(layout.states)
    let link = "\(layout.states)/$documents-1"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: state)
    #expect(throws: StoreError.linked(path: link)) { try log.removeStates() }
    #expect(try files(outside) == ["$documents-1", "$documents-1/STATE"])
    try log.close()
  }

  @Test func `a backup does not go through a link`() throws {
    let log = try Log.openReader(posix, path: path, options: StoreOptions())
    let target = folder.file("backup")
    try posix.createDirectory(target)
    try posix.createDirectory(outside)
    for name in Self.names { try posix.put("mine", at: "\(outside)/\(name)").close() }
    try FileManager.default.createSymbolicLink(atPath: "\(target)/log", withDestinationPath: outside)
    let before = try files(outside)
    var backup = LogBackup(of: log, to: posix, path: target)
    #expect(throws: StoreError.linked(path: "\(target)/log")) { try backup.run() }
    #expect(try files(outside) == before)
    try log.close()
  }

  @Test func `the path of a store may be a link`() throws {
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let log = try Log.openWriter(posix, path: link, options: StoreOptions())
    _ = try log.appendBlocking(Self.append.draft())
    try log.close()
    #expect(try Log.openReader(posix, path: path, options: StoreOptions()).mark.sequence == 2)
  }

  @Test func `only files with names that Strata gives are removed, and nothing else keeps a writer out`()
    throws
  {
    for name in Self.names { try posix.put("mine", at: "\(layout.log)/\(name)").close() }
    for name in Self.names { try posix.put("mine", at: "\(layout.quarantine)/\(name)").close() }
    try posix.createDirectory("\(layout.log)/00000000000000000010.seg.tmp")
    try posix.createDirectory("\(layout.log)/y.tmp")
    try posix.createDirectory("\(layout.quarantine)/00000000000000000001-4096-4.tail")
    try posix.createDirectory("\(layout.quarantine)/folder")
    // A name that is no text: its bytes are not UTF-8.
    let bytes = Array("\(layout.log)/".utf8) + [0xFF, 0xFE] + Array(".tmp".utf8) + [0]
    let descriptor = bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_CREAT | O_RDWR, 0o600) }
    }
    if descriptor >= 0 { close(descriptor) }

    let log = try Log.openWriter(posix, path: path, options: StoreOptions())
    try log.emptyQuarantine()
    try log.close()
    let logNames = try posix.contents(ofDirectory: layout.log)
    #expect(
      Set(logNames).isSuperset(of: [
        "00000000000000000001-4096-3.tail", "x.tmp", "notes.txt", "00000000000000000010.seg.tmp", "y.tmp",
      ]))
    #expect(
      !logNames.contains("00000000000000000009.seg.tmp") && !logNames.contains("00000000000000000009.idx.tmp")
    )
    #expect(
      Set(try posix.contents(ofDirectory: layout.quarantine))
        == Set(Self.names).subtracting(["00000000000000000001-4096-3.tail"])
        .union(["00000000000000000001-4096-4.tail", "folder"]))
  }

  @Test func `a pipe named like a segment is no regular file, and nobody waits for its other end`() throws {
    let pipe = layout.segment(9)
    try #require(mkfifo(pipe, 0o600) == 0)
    let expected = StoreError.refused("open", pipe, code: SystemErrorCode.notRegularFile)
    #expect(throws: expected) {
      try Log.openReader(posix, path: path, options: StoreOptions())
    }
    #expect(throws: expected) {
      try Log.openWriter(posix, path: path, options: StoreOptions())
    }
    #expect(
      expected.description
        == "cannot open: It is not a regular file (\(pipe)); move what is at that path out of the store")
  }

  // In a process of its own, whose working directory changes.
  @Test func `a store that was opened by a relative path is the same after the working directory changed`()
    async
  {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      var options = StoreOptions()
      options.segmentSizeTarget = 1
      try #require(chdir(folder.path) == 0)
      let log = try Log.openWriter(PosixFileSystem(), path: "./store", options: options)
      let append = ModelAppend([ModelEvent(stream: "s", type: "t")])
      _ = try log.appendBlocking(append.draft())
      let reader = try Log.openReader(PosixFileSystem(), path: "store", options: options)
      try #require(chdir("/") == 0)
      for _ in 0..<3 { _ = try log.appendBlocking(append.draft()) }
      try reader.refresh()
      try #require(reader.mark.sequence == 4)
      try log.close()
      let segments = try PosixFileSystem().contents(ofDirectory: folder.file("store/log"))
      try #require(segments.count == 4)
    }
  }

  // In a process of its own, because it gives up the rights of root.
  @Test func `a LOCK that may not be read keeps no reader out`() async {
    await #expect(processExitsWith: .success) {
      let (posix, folder) = (PosixFileSystem(), try TemporaryFolder())
      let path = folder.file("store")
      let log = try Log.openWriter(posix, path: path, options: StoreOptions())
      _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
      try log.close()
      try #require(chmod("\(path)/LOCK", 0) == 0)
      if getuid() == 0 { try #require(seteuid(65_534) == 0) }
      let reader = Result { try Log.openReader(posix, path: path, options: StoreOptions()) }
      let findings = Result {
        try posix.findings(inStore: path)
      }
      if getuid() == 0 { try #require(seteuid(0) == 0) }
      try #require(try reader.get().mark.sequence == 1)
      try #require(try findings.get() == [])
    }
  }
}
