// What a command says on standard error while it waits for a place: trouble when it begins and when it is over, and how far
// a copy is.

internal import LogreplayShell

/// Lines of standard error. On a terminal the last one is kept up to date; elsewhere it is said once.
struct WaitingLines {
  /// What may be in trouble, each by itself.
  enum Subject: Hashable {
    case place
    case note
    case segments
  }

  private let place: String
  private let isTerminal: Bool
  private let write: (String) -> Void
  private var troubles: Set<Subject> = []
  private var position: String?
  private var hasSaidPosition = false

  init(
    _ place: String, isTerminal: Bool = Terminal.isError,
    write: @escaping (String) -> Void = { Terminal.note($0, end: "") }
  ) {
    self.place = place
    self.isTerminal = isTerminal
    self.write = write
  }

  /// Says why something is in trouble, once, and once that it is over.
  ///
  /// - Parameter what: nil if it is not in trouble.
  mutating func trouble(_ what: String?, of subject: Subject = .place) {
    if let what {
      guard troubles.insert(subject).inserted else { return }
      say("\(beginning(of: subject)): \(what); it is tried again")
    } else if troubles.remove(subject) != nil {
      say(end(of: subject))
    }
  }

  private func beginning(of subject: Subject) -> String {
    switch subject {
    case .place: place
    case .note: "\(place) has no note of how far this copy is, by which an erasure knows it"
    case .segments: "\(place) has no whole segments"
    }
  }

  private func end(of subject: Subject) -> String {
    switch subject {
    case .place: "\(place): the trouble is over, and it goes on"
    case .note: "\(place) has the note of this copy again"
    case .segments: "\(place) has whole segments again"
    }
  }

  /// Says how far it is.
  mutating func position(_ text: String) {
    guard isTerminal ? position != text : !hasSaidPosition else { return }
    hasSaidPosition = true
    position = text
    let line = PeopleText.printable(text)
    write(isTerminal ? "\r\u{1B}[K\(line)" : "\(line)\n")
  }

  private func say(_ text: String) {
    let line = PeopleText.printable(text)
    write(isTerminal ? "\r\u{1B}[K\(line)\n\(position.map(PeopleText.printable) ?? "")" : "\(line)\n")
  }
}
