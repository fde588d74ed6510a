// Arguments and options of `replicate` that say nothing together: what is missing, or too much.

internal import LogreplayShell

extension ReplicateCommand {
  /// Throws what is wrong with the arguments and options as a whole.
  ///
  /// - Parameter isPlace: whether the first argument is a URL.
  func checkArguments(isPlace: Bool) throws(CommandFailure) {
    let tasks = [
      ("--status", status), ("--take-over", takeOver), ("--rejoin", rejoin), ("--forget", forget != nil),
    ]
    .filter(\.1).map(\.0)
    let others = [("--follow", follow), ("--until", until != nil)].filter(\.1).map(\.0)
    if startOver, isPlace || !tasks.isEmpty {
      throw mistake(
        "--start-over is for a store that is shipped", at: tasks.first ?? from,
        next: "logreplay replicate STORE URL --start-over")
    }
    if let pair = (tasks + others).pair, !tasks.isEmpty || others.count > 1 {
      throw mistake("\(pair.0) and \(pair.1) cannot be combined", at: pair.1, next: "give one of them")
    }
    if let task = tasks.first { return try check(task, isPlace: isPlace) }
    guard let to else {
      guard !isPlace else {
        throw until == nil
          ? mistake(
            "a folder for the copy is missing", at: from,
            next: "logreplay replicate URL FOLDER; or URL --status, which says what is there")
          : mistake(
            "--until needs URL FOLDER, and the folder is missing", at: from,
            next: "logreplay replicate URL FOLDER --until POINT")
      }
      return try checkShipping()
    }
    switch (isPlace, CarrierName.isOne(to)) {
    case (true, false): break
    case (false, true): try checkShipping()
    case (true, true):
      throw mistake(
        "both are URLs", at: from,
        next: "give a store and a URL to ship to, or a URL and a folder to follow it in")
    case (false, false):
      throw mistake(
        "neither of the two is a URL, so that both are stores", at: to,
        next: "write the place as \(ShellWord.of("file:\(to)"))")
    }
  }

  /// What asks for one argument.
  private func check(_ task: String, isPlace: Bool) throws(CommandFailure) {
    let command = "logreplay replicate STORE \(task)\(task == "--forget" ? " MEMBER" : "")"
    if let to {
      throw mistake(
        "\(task) takes a store alone\(takesPlace(task) ? ", or a URL" : "")", at: to,
        next: "leave it out: \(command)")
    }
    if forget?.isEmpty == true {
      throw mistake(
        "the member is empty", at: task, next: "name one that --status lists, or the begin of its id")
    }
    if isPlace, !takesPlace(task) {
      throw mistake(
        "\(task) needs the store, and not the place that it has copies in", at: from,
        next: "\(command); the store knows its place")
    }
  }

  private func takesPlace(_ task: String) -> Bool { task == "--status" || task == "--forget" }

  /// What a store's shipping does not take.
  private func checkShipping() throws(CommandFailure) {
    if until != nil {
      throw mistake(
        "--until needs URL FOLDER, and the first argument is no URL", at: from,
        next:
          "logreplay replicate URL FOLDER --until POINT; of a store that is here: logreplay backup --until")
    }
    if follow {
      throw mistake(
        "--follow needs URL FOLDER: while this command had the store, nothing could be appended to ship",
        at: from,
        next: "run it without --follow after appends; a program that appends ships itself: store.ship(to:)")
    }
  }

  private func mistake(_ what: String, at place: String, next: String) -> CommandFailure {
    CommandFailure(ExitStatus.usage, what, at: CarrierName.isOne(place) ? "" : place, next: next)
  }
}

extension Array {
  /// The first two; nil if there are not that many.
  fileprivate var pair: (Element, Element)? { count > 1 ? (self[0], self[1]) : nil }
}
