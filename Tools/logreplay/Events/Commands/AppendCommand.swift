// `append`: appends an event of an application's own type to a stream.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents

package struct AppendCommand: SingleWrite {
  static let configuration = CommandConfiguration(
    commandName: "append",
    abstract: "Appends an event of an application's own type to a stream.",
    discussion: """
      Types and streams that begin with $ are Strata's own; rows are written with put, merge and delete. A stream of \
      documents takes no events of other types, and a program that opens the store refuses them: keep them in \
      streams of other names.

      What holds for JSON and exit codes is said in logreplay help put.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The stream, such as ticket/42.")
  var stream: String

  @Argument(help: "The payload: JSON, @FILE, or - for standard input. Default: null.")
  var data: String = "null"

  @Option(help: "The type of the event.")
  var type: String

  @OptionGroup var expecting: ExpectingOption
  @OptionGroup var options: WriteOptions

  func write() throws(CommandFailure) -> ShellWrite {
    let name: StreamName
    do throws(WriteRefusal) { name = try ShellWrite.stream(stream) } catch { throw error.failure(of: stream) }
    do throws(WriteRefusal) { try ShellWrite.check(type: type) } catch { throw error.failure(of: "--type") }
    let data = try ShellJSON.document(data, rounds: options.roundNumbers)
    do throws(WriteRefusal) { return try ShellWrite(append: type, to: name, data) } catch {
      throw error.failure(in: stream)
    }
  }
}
