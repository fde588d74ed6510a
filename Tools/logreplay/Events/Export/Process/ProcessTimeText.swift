// Times in exports of processes: RFC 3339 in UTC, with no more digits than the time has.

internal import StrataEvents

enum ProcessTimeText {
  /// `2026-11-20T18:17:16.000Z`: with 3, 6 or 9 digits, as many as keep the time. Other programs read three best.
  static func text(_ nanoseconds: Int64) -> String {
    let whole = Timestamp(nanoseconds: nanoseconds).description
    let rest = nanoseconds % 1_000
    let dropped = nanoseconds % 1_000_000 == 0 ? 6 : rest == 0 ? 3 : 0
    return dropped == 0 ? whole : whole.dropLast(dropped + 1) + "Z"
  }
}
