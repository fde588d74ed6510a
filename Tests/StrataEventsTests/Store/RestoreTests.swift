// Restoring a store: a backup is opened, or copied to where the store was, by a backup of the backup.

import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct RestoreTests {
  @Test func `a backup of a backup is the store as it was, and goes on`() throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    for number in 1...3 {
      let event = NewEvent("t", in: "a/1", ["number": DocumentValue(number)])
      try store.appendBlocking([event], id: "id \(number)")
    }
    let backup = try store.backupBlocking(to: "/backup", on: disk)
    #expect(backup.head == store.head)
    let lost = try store.appendBlocking([NewEvent("t", in: "a/1", ["number": 4])])
    let later = try lost.position
    try store.closeBlocking()

    var options = StoreOptions()
    options.readersSaveStates = false
    let copy = try EventStore.open(disk, path: "/backup", .readOnly, options: options)
    let before = disk.paths.filter { $0.hasPrefix("/backup") }.sorted()
    #expect(try copy.backupBlocking(to: "/restored", on: disk).head == backup.head)
    try copy.closeBlocking()
    #expect(disk.paths.filter { $0.hasPrefix("/backup") }.sorted() == before)

    let restored = try EventStore.open(disk, path: "/restored", .readWrite, options: StoreOptions())
    #expect(restored.id == store.id)
    #expect(restored.head == backup.head)
    // An append id is known, and the stream goes on where it was.
    let known = try restored.appendBlocking([NewEvent("t", in: "a/1", ["number": 2])], id: "id 2")
    #expect(known.wasKnown && known.sequences == 2...2)
    let next = try restored.appendBlocking(
      [NewEvent("t", in: "a/1", ["number": 5])], expecting: ["a/1": .exactly(3)])
    #expect(next.sequences == 4...4)
    // A position of what was lost is of another history.
    #expect(throws: StoreError.position(.diverged(sequence: 4))) {
      try restored.sequenceBlocking(of: .position(later))
    }
    try restored.closeBlocking()
  }
}
