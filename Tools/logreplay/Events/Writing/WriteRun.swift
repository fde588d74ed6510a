// Writes lines as many appends, one after another, without waiting for each.

package import LogreplayShell
package import StrataEvents
internal import StrataLog

/// Writes batches of lines into an open store.
package final class WriteRun {
  private let lines: WriteLines
  private let store: EventStore
  private let path: String
  private let id: [UInt8]
  private let given: Int64?
  private let run: AppendRun
  private var report = WriteReport()
  /// The last line of each append that was submitted and may not be in the log yet, by its first line.
  private var submitted: [(first: UInt64, last: UInt64)] = []

  package init(
    _ lines: WriteLines, into store: EventStore, path: String, id: [UInt8], given: Int64?
  ) throws(CommandFailure) {
    self.lines = lines
    self.store = store
    self.path = path
    self.id = id
    self.given = given
    do throws(StoreError) { run = try store.log.run() } catch { throw CommandFailure(error) }
  }

  /// Writes everything, or everything before the first append that is refused.
  package func run(_ each: Int) throws(CommandFailure) -> WriteReport {
    var problem: CommandFailure?
    do throws(CommandFailure) {
      while let batch = try lines.batch(of: each) {
        report.lines += UInt64(batch.append.eventCount)
        let draft = batch.append.draft(id: appendID(batch.first), given: given)
        guard try submit(draft, batch.first, batch.last), !batch.isLast else { break }
      }
    } catch { problem = error }
    let outcome = run.drain()
    report.add(outcome)
    // An append that failed comes before a line that was found to be wrong while reading ahead.
    if let failure = outcome.failure { throw stopped(failure) }
    if var problem {
      problem.next += stayed
      problem.numbers += [("appended", report.appended), ("known", report.known)]
      throw problem
    }
    return report
  }

  /// Returns false if an earlier append has failed.
  private func submit(
    _ draft: AppendDraft, _ first: UInt64, _ last: UInt64
  ) throws(CommandFailure) -> Bool {
    submitted.append((first, last))
    // A failure may be that of an append which is waiting, of which there are as many as fit into memory.
    if submitted.count > 1 << 16 { submitted.removeFirst(1 << 15) }
    do throws(StoreError) { return try run.add(draft, label: first) } catch {
      throw CommandFailure(writing: error, to: path)
    }
  }

  private func appendID(_ line: UInt64) -> [UInt8] { id.isEmpty ? [] : id + Array(":\(line)".utf8) }

  private func stopped(_ failure: AppendRun.Failure) -> CommandFailure {
    var error = CommandFailure(writing: failure.error, to: path)
    let last = submitted.last { $0.first == failure.label }?.last ?? failure.label
    let lines = last == failure.label ? "line \(last)" : "lines \(failure.label) to \(last)"
    error.what = "\(lines) could not be appended: \(error.what)"
    error.next += stayed
    error.numbers += [("line", failure.label), ("appended", report.appended), ("known", report.known)]
    return error
  }

  private var stayed: String {
    let count = report.appended + report.known
    return count == 0
      ? "; nothing of this input is in the store"
      : "; \(counted(count, "append")) before \(count == 1 ? "is" : "are") in the store"
  }
}
