// What measures the work of a thread, for what that work waits for.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What measures this thread.
enum ThreadMeter {
  /// Nil where the system has no further key: then nothing is known of any thread.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Notes what measures this thread, which somebody has to hold; nil for nothing. Returns what did so before.
  @discardableResult
  static func exchange(_ meter: Unmanaged<ViewMeter>?) -> Unmanaged<ViewMeter>? {
    guard let key else { return nil }
    defer { pthread_setspecific(key, meter?.toOpaque()) }
    return pthread_getspecific(key).map { Unmanaged.fromOpaque($0) }
  }
}
