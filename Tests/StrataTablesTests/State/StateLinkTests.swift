// Links below `derived/`: states are not saved through them.

import Foundation
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct StateLinkTests {
  @Test func `a state is not saved through a link, and the next one is once the link is gone`() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try EventStore.openBlocking(at: "\(path)/store")
    try store.appendBlocking([NewEvent("$put", in: "t/a", ["x": 1])])
    let states = StoreLayout(root: "\(path)/store").states
    try FileManager.default.createDirectory(atPath: "\(path)/outside", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: states, withDestinationPath: "\(path)/outside")
    #expect(throws: StoreError.linked(path: states)) { try store.checkpointBlocking() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/outside").isEmpty)
    try FileManager.default.removeItem(atPath: states)
    #expect(try store.checkpointBlocking().map(\.sequence) == [1])
    try store.closeBlocking()
  }
}
