// The command itself: its subcommands, and how every one of them ends.

internal import ArgumentParser

@main
struct Logreplay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logreplay",
    abstract: "Looks into a Strata store: its log, any past state, and what changed.",
    subcommands: [ImportCommand.self])
}
