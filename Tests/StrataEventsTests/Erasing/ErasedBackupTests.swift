// Erasing and backups: what the source has erased leaves a backup, whatever happened to the backup in between.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct ErasedBackupTests {
  /// Opens a store for writing, and closes it once its closed segments are sealed in the background.
  static func openAndSeal(_ disk: SimulatedDisk) throws {
    let layout = StoreLayout(root: EraseTests.root)
    let names = try SegmentCatalog.names(disk, layout)
    let renamed = Gate(0)
    disk.onOperation { call in
      // The open itself makes HEAD anew, by a rename out of the same folder.
      if call.operation == .rename, call.path.hasPrefix(layout.log), call.path.contains(".seg") {
        renamed.withLock { $0 += 1 }
        renamed.signalAll()
      }
      return .proceed
    }
    var options = EraseTests.options()
    options.writesInStep = false
    let store = try EraseTests.open(disk, options)
    renamed.wait { $0 >= names.count - 1 }
    try store.closeBlocking()
    disk.onOperation(nil)
  }

  /// A store with a secret, and a backup of it whose segments were then sealed by a writer of its own.
  private func sealedBackup() throws -> (store: EventStore, backup: SimulatedDisk) {
    let store = try EraseTests.store(SimulatedDisk())
    let backup = SimulatedDisk()
    _ = try store.backupBlocking(to: EraseTests.root, on: backup)
    try Self.openAndSeal(backup)
    #expect(try !EraseTests.filesWithSecret(backup).isEmpty)
    return (store, backup)
  }

  private func expectErased(_ backup: SimulatedDisk, like store: EventStore, _ note: String = "") throws {
    #expect(try EraseTests.filesWithSecret(backup).isEmpty, "\(note)")
    #expect(try EraseTests.findings(backup).isEmpty, "\(note)")
    let copy = try EventStore.open(backup, path: EraseTests.root, .readOnly, options: EraseTests.options())
    #expect(copy.head == store.head, "\(note)")
    for stream: StreamName in ["person/0", "person/1", "person/2"] {
      let events = try copy.eventsBlocking(in: stream, limit: 100)
      #expect(events.count == 40, "\(note)")
      #expect(events.allSatisfy { $0.state == (stream == "person/1" ? .erased : .whole) }, "\(note)")
    }
    try copy.closeBlocking()
  }

  @Test func `a backup says that an erasure may be unfinished only where one may be`() throws {
    let (store, backup) = try sealedBackup()
    func isErasing() throws -> Bool {
      try #require(try HeadFile.read(backup, path: StoreLayout(root: EraseTests.root).head)).isErasing
    }
    #expect(try !isErasing())
    try store.log.setErasing(true)
    try store.appendBlocking([NewEvent("t", in: "person/0", .null)])
    _ = try store.backupBlocking(to: EraseTests.root, on: backup)
    #expect(try isErasing())
    try store.log.setErasing(false)
    try store.appendBlocking([NewEvent("t", in: "person/0", .null)])
    _ = try store.backupBlocking(to: EraseTests.root, on: backup)
    #expect(try !isErasing())
    try store.closeBlocking()
  }

  @Test
  func `fault 46: what the source erased leaves a backup whose segments a writer had sealed in between`()
    throws
  {
    let (store, backup) = try sealedBackup()
    try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    _ = try store.backupBlocking(to: EraseTests.root, on: backup)
    try expectErased(backup, like: store)
    #expect(try store.backupBlocking(to: EraseTests.root, on: backup).segmentsCopied == 0)
    try store.closeBlocking()
  }

  @Test
  func `fault 46: a power cut at any call of such a backup leaves one that the next run brings up to date`()
    throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let (store, prepared) = try sealedBackup()
    try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    let counted = prepared.clone()
    let callCount = try counted.changeCount { _ = try store.backupBlocking(to: EraseTests.root, on: counted) }
    #expect(callCount > 10)
    for number in 1...callCount {
      let disk = prepared.clone()
      disk.cutPower(atChange: number)
      #expect(throws: StoreError.self) { try store.backupBlocking(to: EraseTests.root, on: disk) }
      let after = disk.crash(seed: random.next(), model: number % 4 == 0 ? .dropAll : .reorder)
      _ = try store.backupBlocking(to: EraseTests.root, on: after)
      try expectErased(after, like: store, "call \(number) of \(callCount), SEED=\(seed)")
    }
    try store.closeBlocking()
  }
}
