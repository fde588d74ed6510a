// Mutual exclusion: a state guarded by a mutex of pthreads, and one that threads can also wait for.
//
// The standard library's Mutex is not used, because ThreadSanitizer reports races on it that do not exist. It
// understands the mutexes of pthreads.

internal import CStrata

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A state that one thread at a time may touch. The lock is not recursive.
///
/// Do not use a state of size zero, such as `Void`: ThreadSanitizer then reports a race that does not exist, because
/// the state is at the address of the object's first byte, where the object's type is read without the lock.
///
/// Unchecked `Sendable` is safe: `state` is accessed only while the mutex is held, and only the caller's result leaves
/// `withLock`.
@usableFromInline
package final class Lock<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline
  internal var state: State
  @usableFromInline
  internal let mutex: RawMutex

  /// - Parameter state: the initial state. The caller must keep no reference into it.
  package init(_ state: sending State) {
    self.state = state
    mutex = RawMutex()
  }

  deinit { mutex.destroy() }

  /// Runs the body with exclusive access to the state. The body must neither wait for anything nor take this lock
  /// again.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    return try body(&state)
  }
}

/// A state that one thread at a time may touch, and that threads can wait for: a mutex and a condition variable.
///
/// Every change that a thread may be waiting for must be followed by `signalAll` or `signalOne`. Waiting blocks the
/// thread, so wait only on Strata's own threads, never on the cooperative pool.
///
/// Unchecked `Sendable` is safe for the same reason as for `Lock`.
@usableFromInline
package final class Gate<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline
  internal var state: State
  @usableFromInline
  internal let mutex: RawMutex
  @usableFromInline
  internal let condition: RawCondition

  /// - Parameter state: the initial state. The caller must keep no reference into it.
  package init(_ state: sending State) {
    self.state = state
    mutex = RawMutex()
    condition = RawCondition()
  }

  deinit {
    condition.destroy()
    mutex.destroy()
  }

  /// Runs the body with exclusive access to the state.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    return try body(&state)
  }

  /// Waits until the body accepts the state, which it may change in the same step. The body is called at once, and
  /// again after each signal.
  @inlinable
  package func wait(until isReady: (inout State) -> Bool) {
    mutex.lock()
    defer { mutex.unlock() }
    while !isReady(&state) { condition.wait(mutex) }
  }

  /// Waits until the body returns a value, and returns it. The body is called at once, and again after each signal.
  @inlinable
  package func wait<Result>(for take: (inout State) -> Result?) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    while true {
      if let result = take(&state) { return result }
      condition.wait(mutex)
    }
  }

  /// Waits until the body accepts the state, but not longer than the timeout on the monotonic clock.
  /// - Returns: false if the timeout has passed and the body, called once more, still returned false.
  @inlinable
  package func wait(timeout: Duration, until isReady: (inout State) -> Bool) -> Bool {
    let deadline = RawCondition.deadline(after: timeout)
    mutex.lock()
    defer { mutex.unlock() }
    while !isReady(&state) {
      guard condition.wait(mutex, until: deadline) else { return isReady(&state) }
    }
    return true
  }

  /// Wakes all waiting threads. May be called with or without the lock held.
  @inlinable
  package func signalAll() { condition.signalAll() }

  /// Wakes one waiting thread. Use this only if any of them can handle the change.
  @inlinable
  package func signalOne() { condition.signalOne() }
}

/// A mutex at a fixed address. Its owner must call `destroy`.
@usableFromInline
internal struct RawMutex {
  fileprivate let pointer: UnsafeMutablePointer<pthread_mutex_t>

  fileprivate init() {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    #if DEBUG || STRATA_CHECKED_LOCKS
      // Makes taking a lock twice an error, which `lock` asserts on, instead of a deadlock.
      pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
    #endif
    let code = pthread_mutex_init(pointer, &attributes)
    pthread_mutexattr_destroy(&attributes)
    precondition(code == 0, "the system refused a mutex")
  }

  fileprivate func destroy() {
    pthread_mutex_destroy(pointer)
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  @usableFromInline
  internal func lock() {
    let code = pthread_mutex_lock(pointer)
    assert(code == 0, "a lock is taken only while it exists, and not twice by one thread")
  }

  @usableFromInline
  internal func unlock() {
    let code = pthread_mutex_unlock(pointer)
    assert(code == 0, "only a lock that is held can be released")
  }
}

/// A condition variable on the monotonic clock, at a fixed address. Its owner must call `destroy`.
///
/// On Linux, it is one of our own: that of glibc before version 2.41 can lose a signal (`condition.c`).
@usableFromInline
internal struct RawCondition {
  #if canImport(Darwin)
    fileprivate typealias Condition = pthread_cond_t
  #else
    fileprivate typealias Condition = strata_condition
  #endif
  fileprivate let pointer: UnsafeMutablePointer<Condition>

  fileprivate init() {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: Condition())
    #if canImport(Darwin)
      let code = pthread_cond_init(pointer, nil)
      precondition(code == 0, "the system refused a condition variable")
    #endif
  }

  fileprivate func destroy() {
    #if canImport(Darwin)
      pthread_cond_destroy(pointer)
    #endif
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  @usableFromInline
  internal func wait(_ mutex: RawMutex) {
    #if canImport(Darwin)
      pthread_cond_wait(pointer, mutex.pointer)
    #else
      _ = strata_condition_wait(pointer, mutex.pointer, Int64.max)
    #endif
  }

  /// The end of the timeout, in nanoseconds of the monotonic clock.
  @usableFromInline
  internal static func deadline(after timeout: Duration) -> Int64 {
    MonotonicTime.now().advanced(by: timeout).nanoseconds
  }

  /// Waits for a signal until the deadline; false once the deadline has passed.
  @usableFromInline
  internal func wait(_ mutex: RawMutex, until deadline: Int64) -> Bool {
    #if canImport(Darwin)
      let left = deadline - MonotonicTime.now().nanoseconds
      guard left > 0 else { return false }
      var timeLeft = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
      return pthread_cond_timedwait_relative_np(pointer, mutex.pointer, &timeLeft) != ETIMEDOUT
    #else
      guard deadline > MonotonicTime.now().nanoseconds else { return false }
      return strata_condition_wait(pointer, mutex.pointer, deadline) != 0
    #endif
  }

  @usableFromInline
  internal func signalAll() {
    #if canImport(Darwin)
      pthread_cond_broadcast(pointer)
    #else
      strata_condition_signal(pointer, 1)
    #endif
  }

  @usableFromInline
  internal func signalOne() {
    #if canImport(Darwin)
      pthread_cond_signal(pointer)
    #else
      strata_condition_signal(pointer, 0)
    #endif
  }
}
