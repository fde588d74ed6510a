// The environments in which other programs run: of those whose output is read, without settings that would change it.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Environments for child processes, as `NAME=value`.
package enum ChildEnvironment {
  /// The variables that git inherits. The user decides where git finds its programs and its settings (`safe.directory`
  /// is one of them); the import decides which repository git reads and how it prints.
  private static let keptForGit: Set<String> = [
    "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
  ]

  /// For gzip: without options that the user may have set.
  package static var gzip: [String] {
    entries { $0 != "GZIP" && $0 != "LC_ALL" && $0 != "LANGUAGE" } + ["LC_ALL=C"]
  }

  /// For sqlite3: its messages are read. Its settings are kept away by an option.
  package static var sqlite: [String] {
    entries { $0 != "LC_ALL" && $0 != "LANGUAGE" } + ["LC_ALL=C"]
  }

  /// For git: no locale, no pager, no prompts, no optional locks; neither replaced objects nor grafts; and nothing is
  /// fetched, also by a git that does not know the variable that forbids it: it then may use no protocol. The file of
  /// grafts is one that cannot be there: of one that is, git prints a hint, as if it were a reason for an error.
  package static var git: [String] {
    entries { name in
      name != "LC_ALL" && name != "LANGUAGE" && (!name.hasPrefix("GIT_") || keptForGit.contains(name))
    } + [
      "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
      "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null/none", "GIT_NO_LAZY_FETCH=1",
      "GIT_ALLOW_PROTOCOL=none", "GIT_ADVICE=0",
    ]
  }

  /// For a program of the user: what this process has, and these variables.
  package static func user(with variables: [(name: String, value: String)]) -> [String] {
    entries { name in !variables.contains { $0.name == name } } + variables.map { "\($0.name)=\($0.value)" }
  }

  private static func entries(where isKept: (String) -> Bool) -> [String] {
    ProcessInfo.processInfo.environment.filter { isKept($0.key) }.map { "\($0.key)=\($0.value)" }
  }
}
