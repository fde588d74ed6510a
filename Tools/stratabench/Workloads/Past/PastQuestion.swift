// The questions about a list at points of the past, and what each may take.

/// One question, whose answer depends on a point.
struct PastQuestion: Sendable {
  /// What a question is about: events up to a point, and a row that is there.
  struct Subject: Sendable {
    var shape: PastShape
    var point: Int
    var id: Int

    var rowCount: Int { shape.rowCount(after: point) }
  }

  var name: String
  /// What it may take with the files in the system's page cache and without, in seconds.
  var aims: (cached: Double, dropped: Double)?
  /// A question about two points: the number of events between them.
  var distance = 0
  var ask: @Sendable (any PastLibrary, Subject) async throws -> [Int]

  static let pageLength = 20

  static let all: [PastQuestion] = [
    PastQuestion(name: "the first page: ids", aims: (40e-6, 300e-6)) {
      try await $0.ids(0..<min(pageLength, $1.rowCount), at: $1.point)
    },
    PastQuestion(name: "the first page: rows", aims: (200e-6, 1e-3)) {
      try await $0.firstRows(min(pageLength, $1.rowCount), at: $1.point).map(\.id)
    },
    PastQuestion(name: "a page after three tenths of the items: ids", aims: (40e-6, 600e-6)) {
      let first = $1.rowCount * 3 / 10
      return try await $0.ids(first..<min(first + pageLength, $1.rowCount), at: $1.point)
    },
    PastQuestion(name: "the counts of all sections", aims: (20e-6, .infinity)) {
      try await $0.counts(at: $1.point)
    },
    PastQuestion(name: "the rank of an item", aims: (10e-6, .infinity)) {
      [try await $0.rank(of: $1.id, at: $1.point) ?? -1]
    },
    changes(1, 50e-6), changes(1_000, 5e-3),
    PastQuestion(name: "1000 apart: rows and changed fields", aims: (12e-3, .infinity), distance: 1_000) {
      try await $0.changedRows(from: $1.point - 1_000, to: $1.point)
    },
    changes(100_000, 0.1), changes(1_000_000, 1),
    PastQuestion(name: "a list that nobody keeps", aims: (1, .infinity)) {
      try await $0.firstIDsOfAnotherList(min(pageLength, $1.rowCount), at: $1.point)
    },
  ]

  private static func changes(_ distance: Int, _ aim: Double) -> PastQuestion {
    PastQuestion(name: "\(distance) apart: changes", aims: (aim, .infinity), distance: distance) {
      try await $0.changes(from: $1.point - distance, to: $1.point)
    }
  }
}
