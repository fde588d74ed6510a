// What happens during one call of a simulated disk.

internal import Foundation
internal import StrataBase
internal import StrataSimulation

/// Something that is done once, before one of the calls that a thread makes on a disk.
final class DuringCall: Sendable {
  private let state: Lock<(left: Int, failure: (any Error)?)>

  fileprivate init(_ number: Int) { state = Lock((number, nil)) }

  /// False if there were fewer calls.
  var isDue: Bool { state.withLock { $0.left <= 0 } }

  /// The error with which it failed.
  var failure: (any Error)? { state.withLock { $0.failure } }

  fileprivate func count(_ work: () throws -> Void) {
    let isNow = state.withLock { state in
      state.left -= 1
      return state.left == 0
    }
    guard isNow else { return }
    do { try work() } catch { state.withLock { $0.failure = error } }
  }
}

extension SimulatedDisk {
  /// Does something once, before one of the calls that the current thread makes, counted from the next one as 1. Calls of
  /// other threads are not counted: what is done may have to wait for those. A hook that is set is lost.
  ///
  /// - Parameters:
  ///   - folder: of the files whose calls are counted.
  ///   - later: called before every call, which may come after it was done.
  func during(
    call number: Int, in folder: String = "", _ work: @escaping @Sendable () throws -> Void,
    later: @escaping @Sendable () -> Void = {}
  ) -> DuringCall {
    let (call, thread) = (DuringCall(number), ObjectIdentifier(Thread.current))
    onOperation { made in
      later()
      if ObjectIdentifier(Thread.current) == thread, made.path.hasPrefix(folder) { call.count(work) }
      return .proceed
    }
    return call
  }
}
