// Points as arguments of a command: a malformed point is a usage error.

package import LogreplayPoints

extension Point {
  /// Parses a point. Throws a usage error that shows what points look like.
  package init(_ text: String, times: TimeText) throws(CommandFailure) {
    do throws(PointProblem) { try self.init(reading: text, times: times) } catch {
      throw CommandFailure(error)
    }
  }
}

extension PointRange {
  /// Parses the arguments that follow the store. Throws a usage error that shows what points look like.
  package init(_ words: [String], times: TimeText) throws(CommandFailure) {
    do throws(PointProblem) { try self.init(reading: words, times: times) } catch {
      throw CommandFailure(error)
    }
  }
}

extension CommandFailure {
  /// The usage error for a text that is not a point.
  fileprivate init(_ problem: PointProblem) {
    self.init(ExitStatus.usage, problem.what, at: problem.place, next: problem.next)
  }
}
