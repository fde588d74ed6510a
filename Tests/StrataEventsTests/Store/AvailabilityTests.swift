// What a health check asks: why a store cannot go on, in the words of the call that would fail.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataSimulation
internal import Testing

@Suite struct AvailabilityTests {
  private static func append(_ store: EventStore) async throws {
    try await store.append([NewEvent("opened", in: "ticket/1", ["title": "No mail"])])
  }

  @Test
  func
    `a store says why it takes no appends, as an append does, while it is suspended and once it is closed`()
    async throws
  {
    let disk = SimulatedDisk()
    let store = try await disk.open(at: "/store")
    let reader = try await disk.open(at: "/store", .readOnly)
    #expect(store.unavailability == nil && reader.unavailability == nil)
    try await store.suspend()
    let suspended = try #require(store.unavailability)
    await #expect(throws: suspended) { try await Self.append(store) }
    try await store.resume()
    #expect(store.unavailability == nil)
    try await Self.append(store)
    try await store.close()
    #expect(store.unavailability == .closed)
    #expect(reader.unavailability == nil, "the writer's end is not the reader's")
    try await reader.close()
    #expect(reader.unavailability == .closed)
  }

  @Test func `a store whose disk failed says so, and still reads`() async throws {
    let disk = SimulatedDisk()
    let store = try await disk.open(at: "/store")
    try await Self.append(store)
    disk.onOperation { call in
      call.operation == .syncData || call.operation == .sync ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    await #expect(throws: StoreError.self) { try await Self.append(store) }
    disk.onOperation(nil)
    #expect(store.unavailability?.reason == .poisoned)
    await #expect(throws: try #require(store.unavailability)) { try await Self.append(store) }
    #expect(try await store.events(in: "ticket/1").count == 1)
    try? await store.close()
  }
}
