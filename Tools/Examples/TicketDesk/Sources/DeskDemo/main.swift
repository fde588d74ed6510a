// A day at the desk, in a folder that is given, or in memory.

import Foundation
import Strata
import TicketDesk

let path = CommandLine.arguments.dropFirst().first
let store = if let path { try await EventStore.open(at: path) } else { EventStore.inMemory() }
guard store.head.sequence == 0 else {
  print("\(path ?? "the store") has events: a day at the desk begins in an empty folder")
  exit(64)
}
let desk = TicketDesk(store)

// A live list, on a task of its own: it prints each change until the desk is closed.
let screen = Task {
  for try await update in desk.list.updates(.everyCommit) where update.reason != .initial {
    for row in update.changes.insertions { print("+ \(row.id) at \(row.to)") }
    for row in update.changes.moves { print("> \(row.id) from \(row.from) to \(row.to)") }
  }
}
_ = try await desk.list.performFetch()

// The first version of this program wrote this, before there were priorities.
let old: DocumentValue = ["subject": "No sound", "customer": "bo@example.org"]
try await store.append([NewEvent("ticket.opened", in: "ticket/1", old)])

let ann = desk.acting(as: "ann")
try await ann.open("2", "Broken screen", for: "cy@example.org", priority: 3)
try await ann.assign("2", to: "ann")
try await ann.close("2", saying: "Sent a new one.")
try await desk.notify(until: .caughtUp)

let now = try await desk.list.performFetch()
for section in now.sectionIdentifiers {
  print("\(section):", now.itemIdentifiers(inSection: section).compactMap { now.row(for: $0)?.title })
}
let before = try await desk.list.snapshot(at: .sequence(2))
print("before it was assigned:", before.sectionIdentifiers, "by", try await desk.list.why("2"))
print("mails:", try await store.events(in: "mail/2").compactMap { try $0.decode(MailEvent.self) })
let check = try await store.check(decoding: [TicketEvent.self, MailEvent.self])
print("what this program cannot read:", check.problems)

try await desk.forget("2", because: "asked for by the customer")
print("after the erasure:", try await desk.list.performFetch().itemIdentifiers)
try await store.close()
_ = await screen.result
