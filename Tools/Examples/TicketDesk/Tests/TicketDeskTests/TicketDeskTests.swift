// The desk, tested as an application tests itself: on a store in memory.

import Strata
import Testing
import TicketDesk

@Suite struct TicketDeskTests {
  let desk = TicketDesk(.inMemory())

  @Test func `a ticket is opened once`() async throws {
    try await desk.open("1", "No sound", for: "bo")
    await #expect(throws: StoreError.self) { try await desk.open("1", "Again", for: "bo") }
    #expect(try await desk.tickets["1"]?.status == .open)
  }

  @Test func `a closed ticket is neither assigned nor closed again`() async throws {
    try await desk.open("1", "No sound", for: "bo")
    try await desk.close("1", saying: "Volume.")
    await #expect(throws: TicketDesk.Refusal.isClosed) { try await desk.assign("1", to: "ann") }
    await #expect(throws: TicketDesk.Refusal.isClosed) { try await desk.close("1", saying: "Again.") }
    await #expect(throws: TicketDesk.Refusal.noSuchTicket) { try await desk.assign("2", to: "ann") }
  }

  @Test func `the list shows the urgent first, and where a ticket moves`() async throws {
    try await desk.open("1", "Minor", for: "bo", priority: 1)
    try await desk.open("2", "Urgent", for: "cy", priority: 3)
    var updates = desk.list.updates.makeAsyncIterator()
    #expect(try await updates.next()?.after.itemIdentifiers == ["2", "1"])
    try await desk.acting(as: "ann").assign("2", to: "ann")
    let changes = try #require(try await updates.next()).changes
    #expect(changes.moves.map(\.id) == ["2"] && changes.sectionInsertions.map(\.section) == [.assigned])
    #expect(try await desk.store.events(in: "ticket/2").last?.metadata()["by"] == "ann")
  }

  @Test func `who closes a ticket is mailed once, however often the program starts`() async throws {
    for id in ["1", "2"] {
      try await desk.open(id, "Ticket \(id)", for: "bo")
      try await desk.close(id, saying: "Done.")
      for _ in 0..<3 { try await desk.notify(until: .caughtUp) }
    }
    for id in ["1", "2"] {
      let mails = try await desk.store.events(in: StreamName("mail/\(id)"))
      #expect(try mails.map { try $0.decode(MailEvent.self) } == [.queued(to: "bo", about: "Ticket \(id)")])
    }
  }

  @Test func `tickets of the first version are read as those of today`() async throws {
    let old: DocumentValue = ["subject": "No sound", "customer": "bo"]
    try await desk.store.append([NewEvent("ticket.opened", in: "ticket/1", old)])
    #expect(try await desk.tickets["1"]?.title == "No sound")
    #expect(try await desk.tickets["1"]?.priority == 2)
    #expect(try await desk.store.check(decoding: [TicketEvent.self, MailEvent.self]).problems.isEmpty)
  }

  @Test func `a forgotten ticket is gone, and so is what it said`() async throws {
    try await desk.open("1", "Secret", for: "bo")
    try await desk.close("1", saying: "Done.")
    try await desk.notify(until: .caughtUp)
    try await desk.open("2", "Not mailed", for: "cy")
    for id in ["1", "2"] {
      try await desk.forget(id, because: "a test")
      #expect(try await desk.tickets[id] == nil)
      for stream: StreamName in ["ticket/\(id)", "mail/\(id)"] {
        #expect(try await desk.store.events(in: stream).allSatisfy { $0.state == .erased })
      }
    }
    try await desk.notify(until: .caughtUp)
  }
}
