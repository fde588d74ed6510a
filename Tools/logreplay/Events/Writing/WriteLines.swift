// Reads the lines of `write` in batches, each of which becomes an append.

package import LogreplayShell
internal import StrataBase
package import StrataEvents
package import StrataLog

/// The lines of one append.
package struct WriteLineBatch: ~Copyable {
  var append: ShellAppend
  /// The numbers of the first and the last line.
  var first: UInt64
  var last: UInt64
  /// Whether the input ended with this batch.
  var isLast: Bool
}

/// Reads lines, and gathers them to appends.
package final class WriteLines {
  let input: ImportInput
  private let form: WriteLine
  private let options: StoreOptions
  private let reader: ImportLineReader

  package init(_ input: ImportInput, _ form: WriteLine, _ options: StoreOptions) {
    self.input = input
    self.form = form
    self.options = options
    // JSON may take several times the bytes of what it says, in escapes and white space.
    reader = ImportLineReader(input, lengthMax: ShellJSON.lengthMax)
  }

  /// The next lines that are not blank, at most `count` of them; nil at the end. Throws an error that names a line.
  package func batch(of count: Int) throws(CommandFailure) -> WriteLineBatch? {
    var append = ShellAppend(options)
    var numbers: (first: UInt64, last: UInt64)?
    while append.eventCount < count {
      guard let line = try next() else {
        if let rest = input.rest {
          throw CommandFailure(
            ExitStatus.corrupt, "something that is no \(rest) data follows the compressed lines",
            at: input.name,
            next: "decompress the file, and see what it has after that")
        }
        guard let numbers else { return nil }
        return WriteLineBatch(append: append, first: numbers.first, last: numbers.last, isLast: true)
      }
      if line.isBlank { continue }
      do throws(WriteRefusal) {
        guard !line.isTooLong else {
          throw WriteRefusal("the line has more than \(ShellJSON.lengthMax) bytes", next: "split it")
        }
        try append.add(form.write(line.bytes), line: line.number)
      } catch {
        var failure = error.failure(in: "\(input.name):\(line.number)")
        failure.numbers = [("line", line.number)]
        throw failure
      }
      numbers = (numbers?.first ?? line.number, line.number)
    }
    guard let numbers else { return nil }
    return WriteLineBatch(append: append, first: numbers.first, last: numbers.last, isLast: false)
  }

  private func next() throws(CommandFailure) -> ImportRecord? {
    do throws(CommandFailure) { return try reader.next() } catch {
      var failure = error
      failure.next = "check the input, and write it again"
      throw failure
    }
  }
}

extension WriteLineBatch {
  /// Appends the batch as the only one of its input.
  package func append(
    to store: EventStore, id: [UInt8], given: Int64?, path: String, input: String
  ) throws(CommandFailure) -> WriteReport {
    do throws(StoreError) {
      let outcome = try store.log.appendBlocking(append.draft(id: id, given: given))
      return WriteReport(lines: UInt64(append.eventCount), outcome)
    } catch {
      var failure = CommandFailure(writing: error, to: path)
      if case .conflict(let stream, _, let actual) = error,
        let (line, expected, version) = append.conflict(of: stream, actual: actual)
      {
        failure.what =
          "\(stream) is at version \(version) before line \(line), which expects \(expected.shellText)"
        failure.place = "\(input):\(line)"
        failure.next =
          "read what has changed, and write the lines again with the version; nothing was appended"
        failure.numbers = [("version", version), ("line", line)]
      }
      throw failure
    }
  }
}
