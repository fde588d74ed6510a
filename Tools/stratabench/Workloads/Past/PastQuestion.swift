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

  /// What an answer may take, in seconds.
  struct Aims: Sendable {
    /// With the files in the system's page cache.
    var cached: Double
    /// With files that come from the disk; infinite where nothing is asked for.
    var dropped = Double.infinity
  }

  var name: String
  var aims: Aims
  /// At points in the last percent of the events, where that may take longer.
  var aimsAtEnd: Aims?
  /// A question about two points: the number of events between them.
  var distance = 0
  var ask: @Sendable (any PastLibrary, Subject) async throws -> [Int]

  static let pageLength = 20

  static let all: [PastQuestion] = [
    PastQuestion(
      name: "the first page: ids", aims: Aims(cached: 40e-6, dropped: 300e-6),
      aimsAtEnd: Aims(cached: 60e-6, dropped: 1e-3)
    ) {
      try await $0.ids(0..<min(pageLength, $1.rowCount), at: $1.point)
    },
    PastQuestion(name: "the first page: rows", aims: Aims(cached: 200e-6, dropped: 1e-3)) {
      try await $0.firstRows(min(pageLength, $1.rowCount), at: $1.point).map(\.id)
    },
    PastQuestion(
      name: "a page after three tenths of the items: ids", aims: Aims(cached: 40e-6, dropped: 600e-6)
    ) {
      let first = $1.rowCount * 3 / 10
      return try await $0.ids(first..<min(first + pageLength, $1.rowCount), at: $1.point)
    },
    PastQuestion(name: "the counts of all sections", aims: Aims(cached: 20e-6)) {
      try await $0.counts(at: $1.point)
    },
    PastQuestion(name: "the rank of an item", aims: Aims(cached: 10e-6)) {
      [try await $0.rank(of: $1.id, at: $1.point) ?? -1]
    },
    changedIDs(1_000, 3e-3), changes(1, 50e-6), changes(1_000, 5e-3),
    PastQuestion(name: "1000 apart: rows and changed fields", aims: Aims(cached: 12e-3), distance: 1_000) {
      try await $0.changedRows(from: $1.point - 1_000, to: $1.point)
    },
    changes(100_000, 0.1), changes(1_000_000, 1),
    PastQuestion(name: "a list that nobody keeps", aims: Aims(cached: 1)) {
      try await $0.firstIDsOfAnotherList(min(pageLength, $1.rowCount), at: $1.point)
    },
  ]

  private static func changedIDs(_ distance: Int, _ aim: Double) -> PastQuestion {
    PastQuestion(name: "\(distance) apart: ids", aims: Aims(cached: aim), distance: distance) {
      try await $0.changedIDs(from: $1.point - distance, to: $1.point)
    }
  }

  private static func changes(_ distance: Int, _ aim: Double) -> PastQuestion {
    PastQuestion(name: "\(distance) apart: changes", aims: Aims(cached: aim), distance: distance) {
      try await $0.changes(from: $1.point - distance, to: $1.point)
    }
  }
}
