// A thread of the system's for work that blocks.

internal import CStrata

/// A thread that runs one closure to its end. It lives as long as the closure runs, whether or not anybody
/// keeps this object; whoever needs its end calls `join`.
package final class DedicatedThread: Sendable {
  private enum Phase {
    case started(UInt)
    case joining
    case joined
  }
  private let phase: Gate<Phase>

  /// Starts the thread at once.
  /// - Parameter name: shown by debuggers; cut to 15 bytes.
  /// - Throws: where the system has no thread to give, with `EAGAIN`.
  package init(name: String, _ body: @escaping @Sendable () -> Void) throws(FileSystemError) {
    var thread: UInt = 0
    let context = Unmanaged.passRetained(ThreadBody(body))
    let code = strata_thread_start(
      &thread, name,
      { context in Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run() },
      context.toOpaque()
    )
    guard code == 0 else {
      context.release()
      throw FileSystemError("start thread", name, code: code)
    }
    phase = Gate(.started(thread))
  }

  /// Lets the process's other threads go before the calling one, where the system can tell threads apart.
  package static func giveWayToOthers() { strata_thread_gives_way() }

  /// How many processors threads can run on at once.
  package static let processorCount = Int(strata_processor_count())

  /// One step of a loop that waits for another thread without sleeping.
  package static func relax() { strata_relax() }

  deinit {
    phase.withLock { phase in
      if case .started(let thread) = phase { strata_thread_detach(thread) }
    }
  }

  /// Waits until the closure has ended. May be called by several threads and again; not by the thread itself.
  package func join() {
    let toJoin = phase.wait { phase -> UInt?? in
      switch phase {
      case .started(let thread):
        phase = .joining
        return .some(thread)
      case .joining: return nil
      case .joined: return .some(nil)
      }
    }
    guard let thread = toJoin else { return }
    precondition(strata_thread_is_current(thread) == 0, "a thread cannot wait for its own end")
    strata_thread_join(thread)
    phase.withLock { $0 = .joined }
    phase.signalAll()
  }
}

/// The closure of a thread, as a reference that C can carry.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
