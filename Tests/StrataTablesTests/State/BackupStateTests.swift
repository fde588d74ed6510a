// States in the target of a backup: they must not keep what the source has erased.

internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct BackupStateTests {
  @Test func `a backup that brings an erasure leaves no state of the content in a target that was opened`()
    throws
  {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    let secret = Array("what nobody may read".utf8)
    try store.appendBlocking([
      NewEvent("$put", in: "note/a", ["text": .string(String(decoding: secret, as: UTF8.self))]),
      NewEvent("$put", in: "note/b", ["text": "x"]),
    ])
    _ = try store.backupBlocking(to: "/backup", on: disk)
    let opened = try EventStore.open(disk, path: "/backup", .readWrite, options: StoreOptions())
    try opened.checkpointBlocking()
    try opened.closeBlocking()
    func states() -> [String] { disk.paths.filter { $0.hasPrefix(StoreLayout(root: "/backup").states) } }
    #expect(states().count == 2)
    // Nothing is copied, so nothing has to go.
    _ = try store.backupBlocking(to: "/backup", on: disk)
    #expect(states().count == 2)
    _ = try store.eraseBlocking(Erasure(streams: ["note/a"], because: "asked to"))
    _ = try store.backupBlocking(to: "/backup", on: disk)
    #expect(states().isEmpty)
    for bytes in disk.contents(in: "/backup") {
      let holds = bytes.indices.contains { bytes[$0...].starts(with: secret) }
      #expect(!holds)
    }
    try store.closeBlocking()
  }
}
