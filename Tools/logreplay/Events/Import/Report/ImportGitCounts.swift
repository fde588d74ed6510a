// What an import of a git history counts beside commits.

internal import LogreplayShell

/// The counts of what is unusual in a history.
struct ImportGitCounts: Equatable {
  /// A merge that was not compared with its first parent.
  struct Merge: Equatable {
    var commit: String
    var comparedWith: String
    /// The commits that came with it and have no appends.
    var others: UInt64
  }

  /// Commits without a time that an append can have, which have that of the commit before.
  var undated: UInt64 = 0
  /// Commits that are several appends.
  var split: UInt64 = 0
  /// The merge with which the import went on, if the store's last commit is not along first parents.
  var merge: Merge?
  /// The commit that includes all before it, because the repository is shallow.
  var begin: String?

  /// Fields of the report's JSON.
  var json: [String] {
    let merge = merge.map {
      #"{"commit":"\#($0.commit)","comparedWith":"\#($0.comparedWith)","others":\#($0.others)}"#
    }
    return [
      "\"undated\":\(undated)", "\"split\":\(split)", "\"merge\":\(merge ?? "null")",
      "\"shallow\":\(begin.map { "\"\($0)\"" } ?? "null")",
    ]
  }

  /// The end of the report for people.
  func short(raised: UInt64, ahead: UInt64) -> String {
    var text = ""
    if raised > 0 { text += ", \(raised) dated before the one before" }
    if undated > 0 { text += ", \(undated) without a time that can be kept, dated as the one before" }
    if split > 0 { text += ", \(split) in several appends" }
    if ahead > 0 { text += ", \(ahead) dated ahead of the clock" }
    if let begin { text += "\nthe repository is shallow: \(begin) includes all commits before it" }
    if let merge {
      text +=
        "\n\(merge.commit) is compared with \(merge.comparedWith), the last commit that was imported, and not with "
        + "its first parent; \(counted(merge.others, "commit")) that came with it "
        + "\(merge.others == 1 ? "has" : "have") no append"
    }
    return text
  }
}
