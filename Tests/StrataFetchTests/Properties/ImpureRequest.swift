// Requests that read a clock: the key of a row changes from one evaluation to the next.

internal import Foundation
internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

/// The clock that the functions of these tests read besides the row. It ticks while they read it.
enum ImpureClock {
  private static let state = Lock((now: 0, calls: 0, interval: 0))

  /// Starts the clock.
  ///
  /// - Parameter interval: the number of reads per tick; 0 for a clock that only `tick` advances.
  static func start(ticksEvery interval: Int) { state.withLock { $0 = (0, 0, interval) } }
  static func tick() { state.withLock { $0.now += 1 } }

  static var now: Int {
    state.withLock { state in
      state.calls += 1
      if state.interval > 0, state.calls % state.interval == 0 { state.now += 1 }
      return state.now
    }
  }
}

/// A row whose computed properties depend on the time.
struct ImpureRow: Codable, Identifiable, Sendable, Equatable {
  var id: Int
  var number: Int
  var text: String

  private func number(below count: Int) -> Int { (number &+ id &* 7 &+ ImpureClock.now &* 5) % count }

  var dayLabel: String { ["Today", "Yesterday", "Sunday", "Monday"][number(below: 4)] }
  var shift: Int { number(below: 7) }
  var optionalDay: String? { number(below: 3) == 0 ? nil : dayLabel }
  var words: String { "\(text) \(dayLabel)" }
  var isDue: Bool { number(below: 3) > 0 }
}

/// A row that decodes to another item each time, or fails to decode.
struct ImpureItem: Codable, Identifiable, Sendable {
  var id: Int
  var day: Int

  private struct Unreadable: Error {}

  init(from decoder: any Decoder) throws {
    let row = try ImpureRow(from: decoder)
    id = row.id
    day = row.shift
    if day == 3 { throw Unreadable() }
  }
}

/// One request for each part that can be impure.
enum ImpureRequests {
  static let all: [(name: String, request: ListRequest<ImpureRow, String?>)] = {
    let rows = ListRequest(ImpureRow.self)
    let days = rows.sectioned(by: \.optionalDay)
    return [
      ("section", days),
      ("section, nil last", rows.sectioned(by: \.optionalDay, nils: .last)),
      ("section, required", rows.sectioned(by: \.optionalDay, nils: .required)),
      ("sections descending", days.sectionsOrdered(by: .keyDescending).sorted(by: \.number)),
      ("sort", stored.sorted(by: \.shift).sorted(by: \.words, .reverse)),
      ("sort in impure sections", days.sorted(by: \.shift, .reverse)),
      ("closure", stored.filtered { $0.isDue }),
      ("closure and keys", days.sorted(by: \.shift).filtered { $0.shift > 2 }),
      ("predicate", stored.filtered(by: #Predicate { $0.isDue })),
      ("predicate and section", days.filtered(by: #Predicate { $0.shift > 2 })),
      ("filter by section", days.filtered(by: "$section == 'Today' || $section == 'Monday'")),
      ("filter by field", days.filtered(by: "number > 3")),
      ("search", stored.searched(for: "today", in: \.words)),
      ("search and section", days.searched(for: "sunday", in: \.words, \.text)),
      ("list of sections", days.sectionsOrdered(by: ["Monday", nil, "Today"], keepingEmpty: true)),
      ("declared", days.keepingEmpty(["Today", "Friday", nil])),
      ("first", days.sectionsOrdered(by: .first).sorted(by: \.shift)),
      ("count", days.sectionsOrdered(by: .count).filtered { $0.isDue }),
      ("ranked", days.sectionsOrdered { (_: String?) in ImpureClock.now % 3 }),
      ("compared", days.sectionsOrdered(areInIncreasingOrder: { _, _ in ImpureClock.now % 2 == 0 })),
      ("maximum", days.sectionsOrdered(byMaximumOf: \.shift)),
      ("minimum of a stored section", stored.sectionsOrdered(byMinimumOf: \.shift, .reverse)),
      ("maximum, filtered", days.sectionsOrdered(byMaximumOf: \.shift, .reverse).filtered { $0.isDue }),
      ("windows", days.sorted(by: \.shift).limited(perSection: 2).limited(to: 5)),
      ("window from the end", stored.sorted(by: \.shift).windowed(to: .last(4)).filtered { $0.isDue }),
      ("touches", days.sorted(by: \.shift).filtered { $0.isDue }.reportTouches()),
    ]
  }()

  private static let stored: ListRequest<ImpureRow, String?> = ListRequest(ImpureRow.self)
    .sectioned(by: \.section)
}

extension ImpureRow {
  /// Depends only on the row.
  var section: String? { number % 3 == 0 ? nil : "section \(number % 3)" }
}
