// The chain that `verify --expect-chain` expects, at a sequence or at the end of the log.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// A chain as `info` shows it: with its sequence, or without one for the end of the log.
struct ExpectedChain {
  private let sequence: UInt64?
  private let chain: UInt64

  /// Reads `SEQ@CHAIN` or `CHAIN`, 16 hex digits.
  init(_ text: String) throws(CommandFailure) {
    if let position = LogPosition(text) {
      (sequence, chain) = (position.sequence, position.chain)
    } else if let position = LogPosition("0@" + text) {
      (sequence, chain) = (nil, position.chain)
    } else {
      throw CommandFailure(
        ExitStatus.usage, "'\(text)' is not a chain", at: "--expect-chain",
        next:
          "give SEQ@CHAIN, a sequence and the chain after it in 16 hex digits as `info` shows them, or the chain alone "
          + "for the end of the log")
    }
  }

  /// Whether a log is the one that was expected.
  enum Verdict {
    case expected
    /// It has another chain, as the error says.
    case other(any Error)
    /// The log could not be read, as the error says.
    case unknown(any Error)

    var error: (any Error)? {
      switch self {
      case .expected: nil
      case .other(let error), .unknown(let error): error
      }
    }
  }

  /// Looks at the log of a store.
  func verdict(on path: String) -> Verdict {
    do {
      try check(OpenedStore.open(path))
      return .expected
    } catch {
      return (error as? CommandFailure)?.code == ExitStatus.diverged ? .other(error) : .unknown(error)
    }
  }

  /// Throws if the store's log has another chain at that sequence.
  private func check(_ opened: OpenedStore) throws {
    let head = opened.log.mark.visible
    if let sequence {
      return try PointResolver(store: opened).check(LogPosition(sequence: sequence, chain: chain))
    }
    try opened.throwDamage()
    guard head.chain != chain else { return }
    throw CommandFailure(
      ExitStatus.diverged,
      "the log's chain is \(LogPosition.hex(head.chain)) at its end, seq \(head.sequence)",
      at: opened.path,
      next:
        "if events were appended since, give the chain with its sequence: SEQ@\(LogPosition.hex(chain))")
  }
}
