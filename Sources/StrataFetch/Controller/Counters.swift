// The numbers that a controller and its consumers count by, each kind a type of its own.

/// A number that only grows, of one kind of thing. Numbers of different kinds do not compare.
struct Ordinal<Kind>: Hashable, Comparable, Sendable {
  private let value: UInt64

  private init(_ value: UInt64) { self.value = value }

  /// Before the first one.
  static var none: Self { Self(0) }

  var next: Self { Self(value + 1) }

  static func < (a: Self, b: Self) -> Bool { a.value < b.value }
}

/// Which of a controller's requests something is of: each `apply` begins the next epoch.
typealias RequestEpoch = Ordinal<RequestKind>
/// Which of the lists that a controller published something is; `none` for a list that was not published.
typealias PublicationNumber = Ordinal<PublicationKind>
/// Which of the failures of following; `none` before the first one.
typealias FailureID = Ordinal<FailureKind>
/// How often something was announced.
typealias AnnouncementNumber = Ordinal<AnnouncementKind>

enum RequestKind {}
enum PublicationKind {}
enum FailureKind {}
enum AnnouncementKind {}

/// How many appends are in a state. It may fall: the states of two folds count different ones.
struct AppendCount: Hashable, Sendable {
  private let value: UInt64

  init(_ value: UInt64) { self.value = value }

  /// How many appends came after an earlier state; 0 where that has as many or more.
  func appends(since earlier: Self) -> UInt64 { value - min(value, earlier.value) }
}
