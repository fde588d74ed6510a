// The options of `import` for git histories.

internal import ArgumentParser

/// Which history of a repository is imported.
package struct ImportGitOptions: ParsableArguments, Sendable {
  @Option(help: "git: the branch, tag or commit whose history to import. Default: HEAD.")
  var ref: String?

  @Flag(
    help: """
      git: import the commits of all refs, by their dates and after their parents. Each append is what differs from the \
      commit before it in the store, so that the state after it is that commit's tree.
      """)
  var all = false

  @Flag(help: "git: import a shallow clone: its first commit includes all before it.")
  var shallow = false

  /// Whether any of them is given.
  package var isGiven: Bool { ref != nil || all || shallow }
}
