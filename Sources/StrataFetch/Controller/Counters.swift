// The counters of a controller and its consumers: each kind of number has its own type.

/// A number of one kind that only grows. Numbers of different kinds cannot be compared.
struct Ordinal<Kind>: Hashable, Comparable, Sendable {
  private let value: UInt64

  private init(_ value: UInt64) { self.value = value }

  /// Before the first one.
  static var none: Self { Self(0) }

  var next: Self { Self(value + 1) }

  static func < (a: Self, b: Self) -> Bool { a.value < b.value }
}

/// The number of one of a controller's requests: each `apply` begins the next epoch.
typealias RequestEpoch = Ordinal<RequestKind>
/// The number of one of the lists that a controller published; `none` for a list that was not published.
typealias PublicationNumber = Ordinal<PublicationKind>
/// The number of one of the failures of following; `none` before the first one.
typealias FailureID = Ordinal<FailureKind>
/// The number of announcements so far.
typealias AnnouncementNumber = Ordinal<AnnouncementKind>

enum RequestKind {}
enum PublicationKind {}
enum FailureKind {}
enum AnnouncementKind {}

/// The number of appends in a state. It may be lower in a newer state: different folds count different appends.
struct AppendCount: Hashable, Sendable {
  private let value: UInt64

  init(_ value: UInt64) { self.value = value }

  /// The number of appends since an earlier state; 0 if that state has as many or more.
  func appends(since earlier: Self) -> UInt64 { value - min(value, earlier.value) }
}
