// Blocking work whose typed error is returned in a Result.

extension IOThreads {
  /// Runs the body and returns what it returns or throws, as a result.
  package func result<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await run {
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
  }
}
