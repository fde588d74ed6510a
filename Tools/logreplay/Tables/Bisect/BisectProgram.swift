// The program that `bisect --run` asks about the list at a point.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// A program that reads a list on standard input, and whose exit code says whether it is good.
struct BisectProgram: Sendable {
  /// The program, and its arguments.
  let words: [String]

  private var name: String { words[0] }

  /// Runs the program with the list as `at -o jsonl` prints it. What it prints goes to standard error. Blocks.
  ///
  /// Throws if it cannot be started, or says that the search should end.
  func verdict(on state: ListState, _ fields: ShownFields) throws -> BisectVerdict {
    let child: ChildProgram
    let environment = ChildEnvironment.user(with: [
      ("LOGREPLAY_SEQ", "\(state.sequence)"), ("LOGREPLAY_TIME", state.time?.description ?? ""),
    ])
    do throws(StoreError) {
      child = try ChildProgram(
        name, Array(words.dropFirst()), environment: environment, input: .pipe, output: .standardError)
    } catch {
      throw CommandFailure(
        ExitStatus.usage, "cannot start the program: \(error.systemCode.map(systemMessage) ?? error.what)",
        at: name, next: ChildProgram.nextStep(after: error, starting: name))
    }
    if let input = child.takeInput() {
      defer { input.close() }
      var writer = OutputWriter(descriptor: input.descriptor)
      do {
        try ListJSON.writeLines(state, fields, to: &writer)
        try writer.flush()
      } catch is BrokenPipe {
        // It has read all that it needs.
      }
    }
    return try verdict(of: child.wait(), at: state.sequence)
  }

  private func verdict(of end: ChildProgram.End, at sequence: UInt64) throws(CommandFailure) -> BisectVerdict
  {
    let what: String
    switch end {
    case .code(0): return .good
    case .code(125): return .skipped
    case .code(1...124): return .bad
    case .code(127): what = "the program was not found, or ended with 127"
    case .code(let code): what = "the program ended with \(code)"
    case .signal(let signal): what = "the program was ended by signal \(signal)"
    }
    throw CommandFailure(
      ExitStatus.inputOutput, "\(what) at seq \(sequence), so nothing was found", at: name,
      next: "0 means good, 1 to 124 bad, 125 that it cannot be said; anything else ends the search")
  }
}
