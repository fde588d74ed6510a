// The times of a command: one "now", and on standard error what a change of the clocks makes unclear, each once.

package import LogreplayPoints
internal import StrataBase

extension TimeText {
  package init(zone: Zone) {
    let said = SaidOnce()
    self.init(now: systemNanoseconds(), zone: zone) { said.say($0) }
  }
}

/// Notes of which none is printed twice: a time may be parsed more than once.
private final class SaidOnce: Sendable {
  private let said = Lock<Set<String>>([])

  func say(_ note: String) {
    guard said.withLock({ $0.insert(note).inserted }) else { return }
    Terminal.note("logreplay: warning: \(PeopleText.printable(note))")
  }
}
