// One append on its way to its group, and its result.

internal import StrataBase

/// The outcome of an append.
package struct AppendOutcome: Sendable, Equatable {
  package var first: UInt64
  package var last: UInt64
  /// The commit time.
  package var time: Int64
  /// The time that was given for it, if the commit time was raised above that.
  package var given: Int64?
  /// The chain after the last event.
  package var chain: AppendChain
  /// True if an append with this id was already in the log, and nothing was appended.
  package var isKnown: Bool

  package static func == (a: AppendOutcome, b: AppendOutcome) -> Bool {
    a.first == b.first && a.last == b.last && a.time == b.time && a.given == b.given && a.isKnown == b.isKnown
  }
}

/// The chain after an append: a number, or the block that gives it. To compute it takes longer than the rest of a repeated
/// append, and all callers would wait for that.
package enum AppendChain: Sendable {
  case known(UInt64)
  case inBlock(DecodedBlock)
}

package typealias AppendResult = Result<AppendOutcome, StoreError>

/// One append that waits for its group, and the caller that gets its result.
struct PendingAppend {
  enum Caller {
    /// Resumed with nil if the task was cancelled first.
    case task(UnsafeContinuation<AppendResult?, Never>)
    case thread(Gate<AppendResult?>)
    case run(AppendRun, label: UInt64)
  }

  var draft: AppendDraft
  var caller: Caller
  /// Identifies the appends that were submitted in the same step.
  var batch: ObjectIdentifier?
  /// Whether its lookups in closed segments were made in advance, so that few indexes are left to build, or none.
  var isLookedUp = false

  /// Appends with the same value are framed in the order in which they were submitted.
  var order: ObjectIdentifier? {
    if case .run(let run, _) = caller { ObjectIdentifier(run) } else { batch }
  }

  func finish(_ result: AppendResult) {
    switch caller {
    case .task(let continuation):
      continuation.resume(returning: result)
    case .thread(let gate):
      gate.withLock { answer in
        assert(answer == nil, "an append is finished once")
        answer = result
      }
      gate.signalAll()
    case .run(let run, let label):
      run.finish(CollectionOfOne((result, draft, label)))
    }
  }

  /// Resumes a cancelled task with nil: nothing was appended.
  func cancel() {
    guard case .task(let continuation) = caller else {
      return assertionFailure("only tasks are cancelled")
    }
    continuation.resume(returning: nil)
  }

  func isOf(_ run: AppendRun) -> Bool { if case .run(let own, _) = caller { own === run } else { false } }

  /// The error with which this append is refused regardless of its content: an earlier one in its run failed.
  var refusal: StoreError? {
    if case .run(let run, _) = caller { run.refusal } else { nil }
  }

  /// Makes the run, if there is one, refuse the appends after this one.
  func refuseFollowers(_ error: StoreError) {
    if case .run(let run, let label) = caller { run.fail(error, label: label) }
  }
}

extension PendingAppend {
  /// Finishes the appends of a group that have a result, those of one run in one step.
  static func finish(_ group: [PendingAppend], _ results: [AppendResult?]) {
    var index = 0
    while index < group.count {
      guard case .run(let run, _) = group[index].caller else {
        if let result = results[index] { group[index].finish(result) }
        index += 1
        continue
      }
      let begin = index
      while index < group.count, group[index].isOf(run) { index += 1 }
      run.finish(
        (begin..<index).lazy.compactMap { index in
          guard case .run(_, let label) = group[index].caller, let result = results[index] else { return nil }
          return (result, group[index].draft, label)
        })
    }
  }
}
