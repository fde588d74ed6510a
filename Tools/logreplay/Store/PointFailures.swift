// Points as the arguments of a command: what is wrong with them is a usage error.

internal import LogreplayPoints

extension Point {
  /// Reads a point. Throws a usage error that says what points look like.
  init(_ text: String, times: TimeText) throws(CommandFailure) {
    do throws(PointProblem) { try self.init(reading: text, times: times) } catch {
      throw CommandFailure(error)
    }
  }
}

extension PointRange {
  /// Reads what stands behind the store. Throws a usage error that says what points look like.
  init(_ words: [String], times: TimeText) throws(CommandFailure) {
    do throws(PointProblem) { try self.init(reading: words, times: times) } catch {
      throw CommandFailure(error)
    }
  }
}

extension CommandFailure {
  /// The usage error for a text that is no point.
  fileprivate init(_ problem: PointProblem) {
    self.init(ExitStatus.usage, problem.what, at: problem.place, next: problem.next)
  }
}
