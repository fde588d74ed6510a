// `put`: writes a whole document as a row.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents

package struct PutCommand: SingleWrite {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Writes a row: a whole document, in place of the one that it has.",
    discussion: """
      Appends one event, $put in the stream TABLE/ID. The document is stored as it is given: no field is added, also \
      no id. If it has a field id that is another one than ID, it is refused, unless --any-id is given: a program that \
      reads the table as a type of its own would refuse the row.

      An integer is kept exactly, and any other number if a double gives it back; 1 and 1.0 are two values. A key that \
      occurs twice, text that is not UTF-8 and nesting deeper than 128 are refused.

      The command takes the writer's lock for the moment of the append. The document is read before: a slow pipe \
      keeps nobody waiting.

      Exit codes: 0 appended, or known by its --id, 64 usage, 65 a document that is refused, or an --id with other \
      events, 66 no such store or file, 67 the stream has another version than is expected, 74 an I/O error or a full \
      disk, 75 the store is open in another process.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The row: the table, a slash, and the id.")
  var row: String

  @Argument(help: "The document: JSON, @FILE, or - for standard input.")
  var document: String

  @Flag(help: "Take a document whose field id is another one than the row's.")
  var anyID = false

  @OptionGroup var expecting: ExpectingOption
  @OptionGroup var options: WriteOptions

  func write() throws(CommandFailure) -> ShellWrite {
    let stream = try stream(ofRow: row)
    let document = try ShellJSON.document(document, rounds: options.roundNumbers)
    do throws(WriteRefusal) { return try ShellWrite(.put, stream, document, takesAnyID: anyID) } catch {
      throw error.failure(in: stream.text)
    }
  }
}
