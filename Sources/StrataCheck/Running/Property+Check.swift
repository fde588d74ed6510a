// The runner.

extension Property {
  /// Runs the cases, and throws the simplest one in which the property fails.
  ///
  /// First it tries the failure of an earlier run, if there is one in the folder. Then it makes cases that grow, from a
  /// seed. The same seed and budget give the same cases on every machine. Cases that are equal to earlier ones are not
  /// run.
  ///
  /// - Parameters:
  ///   - seed: the seed; by default that of ``Seed/ofRun(_:)``.
  ///   - folder: a folder for failures. By default that of the environment variable `CHECK_FAILURES`; without one,
  ///     none are kept. A failure that passes is removed.
  /// - Throws: ``Counterexample`` if a case fails, ``CheckError`` if the run says nothing of the property, and
  ///   `CancellationError`.
  @discardableResult
  public nonisolated(nonsending) func check(
    _ budget: Budget = Budget(), seed: UInt64? = nil, failures folder: String? = nil
  ) async throws -> CheckReport {
    var report = CheckReport(seed: try seed ?? Seed.ofRun(name))
    let clock = ContinuousClock()
    let start = clock.now
    let failures = FailureFolder(folder, property: name)
    if let known = failures?.load(), let first = make(known, extended: true, budget) {
      if let failure = await failure(in: first.value) {
        try await fail(first, failure, at: 0, report, budget, start + budget.duration, failures)
      }
      failures?.remove()
    }
    var seen: Set<UInt64> = []
    var storage: [Choice] = []
    var (number, repeats) = (0, 0)
    while report.cases < budget.cases || (needsMoreCases(report) && report.cases < budget.cases * 100) {
      try Task.checkCancellation()
      // One case is run whatever the budget is.
      guard number == 0 || clock.now - start < budget.duration else { break }
      guard report.discarded < 1_000 + 10 * report.cases else {
        throw CheckError.tooFewCases(report.cases, rejected: report.discarded)
      }
      number += 1
      let size = budget.size(ofCase: number)
      var choices = Choices(
        random: ChoiceRandom(seed: report.seed, case: number), size: size, limit: budget.choices,
        reusing: storage)
      guard let value = try? generator.draw(&choices) else {
        report.discarded += 1
        storage = choices.record
        continue
      }
      storage = choices.record
      guard seen.insert(storage.fingerprint).inserted else {
        report.repeated += 1
        repeats += 1
        guard repeats < 1_000 else {
          report.isExhausted = true
          break
        }
        continue
      }
      repeats = 0
      do {
        try await body(value)
        report.cases += 1
        for kind in classes where kind.contains(value) { report.classes[kind.label, default: 0] += 1 }
      } catch is Discarded {
        report.discarded += 1
      } catch let error as CancellationError {
        throw error
      } catch {
        // Once more, with the spans, which passing cases do not need.
        guard let first = make(storage, extended: false, budget) else { throw error }
        try await fail(first, error, at: number, report, budget, start + budget.duration, failures)
      }
    }
    report.duration = clock.now - start
    try requireClasses(report)
    return report
  }

  /// What a generator makes of choices.
  private struct Made {
    var value: Value
    var attempt: Shrinker.Attempt
  }

  private func make(_ choices: [Choice], extended: Bool, _ budget: Budget) -> Made? {
    var choices = Choices(repeating: choices, extended: extended, limit: budget.choices)
    // With a span around all, so that a part may replace the whole.
    guard let value = try? choices.draw(generator) else { return nil }
    return Made(value: value, attempt: Shrinker.Attempt(choices: choices.record, spans: choices.spans))
  }

  nonisolated(nonsending) private func failure(in value: Value) async -> (any Error)? {
    do {
      try await body(value)
      return nil
    } catch is Discarded {
      return nil
    } catch {
      return error
    }
  }

  /// Shrinks a failure, and throws it.
  nonisolated(nonsending) private func fail(
    _ first: Made, _ failure: any Error, at number: Int, _ report: CheckReport, _ budget: Budget,
    _ end: ContinuousClock.Instant, _ failures: FailureFolder?
  ) async throws -> Never {
    let origin = FailureOrigin(failure)
    var (simplest, simplestFailure) = (first.value, failure)
    var made = first.value
    let shrinker = Shrinker(
      first.attempt,
      make: { choices, extended in
        guard let next = self.make(choices, extended: extended, budget) else { return nil }
        made = next.value
        return next.attempt
      },
      mayGoOn: { $0 < budget.shrinkCalls && ContinuousClock.now < end && !Task.isCancelled },
      fails: { _ in
        let value = made
        guard let next = await self.failure(in: value), FailureOrigin(next) == origin else { return false }
        (simplest, simplestFailure) = (value, next)
        return true
      })
    await shrinker.run()
    failures?.save(shrinker.choices)
    throw Counterexample(
      name: name, seed: report.seed, source: source(simplest), failure: simplestFailure, foundAt: number,
      shrinkCalls: shrinker.callCount, shrinkSteps: shrinker.stepCount, isCutShort: shrinker.isCutShort,
      notes: await notes(simplest, simplestFailure))
  }

  // MARK: Classes

  /// Whether a required class is neither sure to be there nor sure to be missing.
  private func needsMoreCases(_ report: CheckReport) -> Bool {
    classes.contains { kind in
      guard let required = kind.required else { return false }
      let interval = WilsonInterval(report.classes[kind.label] ?? 0, of: report.cases)
      return interval.lower < 0.9 * required / 100 && interval.upper >= required / 100
    }
  }

  private func requireClasses(_ report: CheckReport) throws {
    for kind in classes {
      guard let required = kind.required else { continue }
      let count = report.classes[kind.label] ?? 0
      // Where no further case is left, what was seen is all there is.
      let isMissing =
        report.isExhausted
        ? report.percent(count) < required : WilsonInterval(count, of: report.cases).upper < required / 100
      if isMissing {
        throw CheckError.uncovered(kind.label, percent: report.percent(count), required: required)
      }
    }
  }
}

/// What makes two failures the same: the type of the error, its case, and for a condition its place.
private struct FailureOrigin: Equatable {
  private let text: String

  init(_ error: any Error) {
    if let error = error as? Unfulfilled {
      text = "\(error.fileID):\(error.line)"
    } else {
      let mirror = Mirror(reflecting: error)
      let name = mirror.displayStyle == .enum ? mirror.children.first?.label ?? "\(error)" : ""
      text = "\(type(of: error)) \(name)"
    }
  }
}

/// Between which shares the true one is, beyond one in 10⁹.
private struct WilsonInterval {
  let lower: Double
  let upper: Double

  init(_ count: Int, of total: Int) {
    let n = Double(max(1, total))
    let (share, z) = (Double(count) / n, 6.0)
    let middle = share + z * z / (2 * n)
    let width = z * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
    lower = (middle - width) / (1 + z * z / n)
    upper = (middle + width) / (1 + z * z / n)
  }
}
