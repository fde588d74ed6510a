// Appends that are repeated under their id, whatever `saltsEvents` was when they were recorded and is now.

import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct RepeatedAppendTests {
  private static let id = "x"
  private static let refusal = StoreError.idReused(id: id, sequences: 1...2)

  private static func open(_ disk: SimulatedDisk, isSalted: Bool) throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.writesInStep = true
    options.saltsEvents = isSalted
    return try EventStore.open(disk, path: "/store", .readWrite, options: options)
  }

  /// The append that is repeated, or one that differs from it.
  private static func events(
    _ stream: StreamName = "person/1", _ type: String = "noted", first: String = "a", second: String = "b",
    metadata: DocumentObject = ["by": "me"]
  ) -> [NewEvent] {
    [
      NewEvent(type, in: stream, .string(first), metadata: metadata),
      NewEvent("noted", in: "person/2", .string(second)),
    ]
  }

  /// What differs in content from the append, by the event that it differs in.
  private static let otherFirst = [
    events(first: "c"), events(metadata: ["by": "you"]), events(metadata: [:]),
  ]
  private static let otherSecond = [events(second: ""), events(second: String(repeating: "b", count: 300))]
  private static let otherNames = [
    events("person/3"), events("person/1", "seen"), Array(events().prefix(1)), events() + events(),
  ]

  private func expect(_ store: EventStore, isKnown events: [NewEvent]) throws {
    let receipt = try store.appendBlocking(events, id: Self.id)
    #expect(receipt.wasKnown && receipt.sequences == 1...2)
  }

  private func expect(_ store: EventStore, refuses others: [[NewEvent]]) {
    for other in others {
      #expect(throws: Self.refusal) { try store.appendBlocking(other, id: Self.id) }
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `fault 51: a repeated append is held against what was recorded, whatever salts events by now`(
    wasSalted: Bool, isSalted: Bool
  ) throws {
    let disk = SimulatedDisk()
    var store = try Self.open(disk, isSalted: wasSalted)
    try store.appendBlocking(Self.events(), id: Self.id)
    try store.closeBlocking()
    store = try Self.open(disk, isSalted: isSalted)
    for isSealed in [false, true] {
      if isSealed { try store.sealBlocking() }
      try expect(store, isKnown: Self.events())
      expect(store, refuses: Self.otherFirst + Self.otherSecond + Self.otherNames)
    }
    try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    try expect(store, isKnown: Self.events())
    expect(store, refuses: Self.otherSecond + Self.otherNames)
    // With its salt went what the content of an erased event could be compared by.
    if wasSalted {
      for other in Self.otherFirst { try expect(store, isKnown: other) }
    } else {
      expect(store, refuses: Self.otherFirst)
    }
    try store.closeBlocking()
  }

  @Test(arguments: [false, true])
  func
    `of two appends with one id that are handed over together the second is known, or refused for its content`(
      isSalted: Bool
    ) throws
  {
    for (others, isKnown) in [([Self.events()], true), (Self.otherFirst + Self.otherSecond, false)] {
      for other in others {
        let store = try Self.open(SimulatedDisk(), isSalted: isSalted)
        let drafts = try [Self.events(), other].map {
          try store.draft($0, id: Self.id, time: nil, expecting: [:])
        }
        let results = try store.log.appendBlocking(drafts)
        #expect(try results[0].get().isKnown == false)
        switch results[1] {
        case .success(let outcome): #expect(isKnown && outcome.isKnown && outcome.first == 1)
        case .failure(let error): #expect(!isKnown && error == Self.refusal)
        }
        try store.closeBlocking()
      }
    }
  }
}
