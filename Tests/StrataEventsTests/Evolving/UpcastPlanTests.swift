// Lists of upcasts that are clear, and lists that are refused.

import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

struct UpcastPlanTests {
  private static func split(_ type: String, _ targets: String...) -> Upcast {
    Upcast(type, into: targets) { payload in targets.map { ($0, payload) } }
  }

  @Test(
    arguments: [
      ([Upcast("a", to: "b"), Upcast("a", to: "c")], "there are two for 'a'"),
      ([Upcast("a", to: "b"), Upcast(dropping: "a")], "there are two for 'a'"),
      ([Upcast("a", defaults: ["x": 1]), Upcast("a", defaults: ["y": 1])], "there are two for 'a'"),
      ([Upcast("a", to: "a")], "in a circle, from 'a' to 'a'"),
      ([Upcast("a", to: "b"), Upcast("b", to: "a")], "in a circle, from 'a' to 'b' to 'a'"),
      ([Upcast("b", to: "c"), Upcast("c", to: "b"), Upcast("c2", to: "c")], "from 'b' to 'c' to 'b'"),
      ([split("a", "x", "b"), Upcast("b", to: "c"), split("c", "y", "b")], "from 'b' to 'c' to 'b'"),
      ([Upcast("opened", to: "opened.3")], nil),
      (
        [Upcast("opened", to: "opened.2"), Upcast("opened.3", to: "opened.4")],
        "from 'opened.2' to 'opened.4'"
      ),
      ([Upcast("opened.2", to: "opened")], "none leads from 'opened' to 'opened.2'"),
      ([Upcast("opened", defaults: [:]), Upcast("x", to: "opened.2")], "from 'opened' to 'opened.2'"),
      ([Upcast("opened", to: "opened.2"), Upcast("opened.2", to: "started")], nil),
      ([Upcast("$put", to: "opened")], "'$put' is not a type"),
      ([Upcast("$\u{301}x", to: "opened")], "is not a type"),
      ([Upcast("opened", to: "")], "'' is not a type"),
      ([Upcast(dropping: "a"), Upcast("a", defaults: [:])], nil),
      ([], nil),
    ] as [([Upcast], String?)])
  func `a list whose meaning is not clear is refused with the reason`(upcasts: [Upcast], reason: String?) {
    do {
      _ = try UpcastPlan(upcasts)
      #expect(reason == nil)
    } catch {
      #expect(reason.map { error.what.contains($0) } == true, "\(error)")
    }
  }

  private enum Circular: DomainEvent {
    case a, b
    static let upcasts = [Upcast("a", to: "b"), Upcast("b", to: "a")]
  }

  private enum Renamed: DomainEvent {
    case created
    static let upcasts = [Upcast("created", to: "opened")]
  }

  @Test func `a list that is not clear fails the first append, every decoding and every check`() async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    func isRefused(_ error: any Error) -> Bool { "\(error)".contains("Circular: the upcasts are not clear") }
    await #expect { try await store.append([Circular.a], to: "note/1") } throws: { isRefused($0) }
    try await store.append([NewEvent("other", in: "note/1", [:])])
    let event = try await store.events(in: "note/1")[0]
    #expect { try event.decode(Circular.self) } throws: { isRefused($0) }
    #expect { try event.decodeAll(Circular.self) } throws: { isRefused($0) }
    await #expect { try await store.check(decoding: [Circular.self]) } throws: { isRefused($0) }
    // Such an event would be read back as another one, or not at all.
    await #expect { try await store.append([Renamed.created], to: "note/1") } throws: {
      "\($0)".contains("Renamed writes 'created', which its upcasts read as something else")
    }
  }

  @Test(arguments: [
    ("opened", "opened", 1), ("opened.2", "opened", 2), ("opened.10", "opened", 10),
    ("opened.1", "opened.1", 1),
    ("opened.02", "opened.02", 1), ("opened.", "opened.", 1), (".2", ".2", 1), ("2", "2", 1), ("", "", 1),
    ("a.2.3", "a.2", 3), ("opened2", "opened2", 1),
    ("opened.99999999999999999999", "opened.99999999999999999999", 1),
    ("é.2", "é", 2), ("opened.2x", "opened.2x", 1), ("opened.-2", "opened.-2", 1),
  ])
  func `a version is a number from 2 on after the last point of a name`(
    name: String, base: String, version: Int
  ) {
    let form = FormName(name)
    #expect(form.base == base && form.version == version)
  }

  /// Follows the definitions of names by recursion; nil if a way is longer than there are names.
  private static func followed(_ name: String, _ targets: [String: [String]], _ depth: Int) -> [String]? {
    guard let next = targets[name] else { return [name] }
    guard depth > 0 else { return nil }
    var all: [String] = []
    for target in next {
      guard let ends = followed(target, targets, depth - 1) else { return nil }
      all += ends
    }
    return all
  }

  @Test func `any list is refused, or leads each form to its ends in order`() async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let names = ["a", "b", "c", "d", "e", "f"]
    let events = try await UpcastTests.recorded(names.map { ($0, ["n": 1]) })
    var clearCount = 0
    for round in StrataSimulation.SeededGenerator.historySeeds(4_000).indices {
      let upcasts = (0..<Int.random(in: 0...6, using: &random)).map { _ -> Upcast in
        let name = names.randomElement(using: &random)!
        let targets = (0..<Int.random(in: 0...2, using: &random)).map { _ in
          names.randomElement(using: &random)!
        }
        if targets.count == 1, Bool.random(using: &random) { return Upcast(name, to: targets[0]) }
        return Upcast(name, into: targets) { payload in targets.map { ($0, payload) } }
      }
      let targets = Dictionary(upcasts.map { ($0.type, $0.targets) }) { first, _ in first }
      let isAmbiguous = targets.count < upcasts.count
      let ends = events.map { Self.followed($0.type, targets, names.count) }
      let plan = try? UpcastPlan(upcasts)
      #expect((plan == nil) == (isAmbiguous || ends.contains(nil)), "round \(round), SEED=\(seed)")
      guard let plan else { continue }
      clearCount += 1
      for (event, ends) in zip(events, ends) {
        let forms = try plan.forms(of: event)
        #expect(forms.map { $0.map(\.type) } ?? [event.type] == ends, "round \(round), SEED=\(seed)")
        #expect((forms == nil) == (targets[event.type] == nil))
      }
    }
    #expect(clearCount > 500)
  }
}
