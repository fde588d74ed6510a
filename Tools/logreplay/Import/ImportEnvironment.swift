// The surroundings in which other programs are run, so that a user's settings do not change what they print.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Environments for child processes, as `NAME=value`.
enum ImportEnvironment {
  /// Where git finds its programs and its settings is the user's business (`safe.directory` is read from
  /// there); which repository it reads, and how it prints, is ours.
  private static let keptForGit: Set<String> = [
    "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
  ]

  /// For gzip: without the options that its users may have set.
  static var gzip: [String] {
    entries { $0 != "GZIP" && $0 != "LC_ALL" && $0 != "LANGUAGE" } + ["LC_ALL=C"]
  }

  /// For git: no locale, no pager, no question, no replaced objects, no lock taken.
  static var git: [String] {
    entries { name in
      name != "LC_ALL" && name != "LANGUAGE" && (!name.hasPrefix("GIT_") || keptForGit.contains(name))
    } + [
      "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
      "GIT_NO_REPLACE_OBJECTS=1",
    ]
  }

  private static func entries(where isKept: (String) -> Bool) -> [String] {
    ProcessInfo.processInfo.environment.filter { isKept($0.key) }.map { "\($0.key)=\($0.value)" }
  }
}
