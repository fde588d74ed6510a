// How much of a list one iteration has delivered, for tasks that wait for it.

internal import StrataBase

/// The newest published list that a consumer has handled: each of its updates up to that list was delivered and taken,
/// or nothing was to be reported between the one that was delivered last and that list.
final class DeliveredMark: Sendable {
  private let latest = Lock(PublicationNumber.none)
  /// Announces each greater number, and what else a waiting task has to look at.
  let announcement = Announcement()

  var number: PublicationNumber { latest.withLock { $0 } }

  func advance(to number: PublicationNumber) {
    let isNews = latest.withLock { latest in
      defer { latest = max(latest, number) }
      return latest < number
    }
    if isNews { announcement.announce() }
  }
}
