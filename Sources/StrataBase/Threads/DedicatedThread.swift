// A system thread for blocking work.

internal import CStrata

/// A thread that runs one closure to its end.
///
/// The thread lives as long as the closure runs, even if this object is released earlier. `join` waits for its end.
package final class DedicatedThread: Sendable {
  private enum Phase {
    case started(UInt)
    case joining
    case joined
  }
  private let phase: Gate<Phase>

  /// Starts the thread at once.
  /// - Parameter name: shown by debuggers; cut to 15 bytes.
  /// - Throws: the system's error, such as `EAGAIN`, if it cannot start another thread.
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

  /// Lowers the priority of the calling thread below that of the process's other threads, where the system has a
  /// priority for each thread.
  package static func giveWayToOthers() { strata_thread_gives_way() }

  /// The number of processors that the process may use.
  package static let processorCount = Int(strata_processor_count())

  /// A hint to the processor, for each step of a loop that waits for another thread without sleeping.
  package static func relax() { strata_relax() }

  deinit {
    phase.withLock { phase in
      if case .started(let thread) = phase { strata_thread_detach(thread) }
    }
  }

  /// Waits until the closure has ended. Several threads may call this, and more than once, but not the thread itself.
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

/// The closure of a thread, as an object whose reference is passed through C.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
