// Steps of a store as spans.

#if Observability
  internal import StrataBase
  internal import StrataLog
  internal import Tracing

  /// Makes a span of each step, after it has ended.
  struct StoreSpans: Sendable {
    let tracer: any Tracer
    let store: String?
    /// Whether what the store does by itself gets spans, which have no parent.
    let tracesBackground: Bool

    func record(_ step: StoreStep) { record(step, by: tracer) }

    private func record(_ step: StoreStep, by tracer: some Tracer) {
      let context = step.context as? ServiceContext
      guard context != nil || tracesBackground else { return }
      let begin = UInt64(clamping: step.begin)
      let end = begin &+ UInt64(clamping: step.duration.wholeNanoseconds)
      let span = tracer.startSpan(
        name(of: step.work), context: context ?? .topLevel,
        at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: begin))
      span.updateAttributes { attributes in
        if let store { attributes.set("strata.store", value: .string(store)) }
        for (key, value) in values(of: step.work) { attributes.set(key, value: value) }
      }
      span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
    }

    private func name(of work: StoreStep.Work) -> String {
      switch work {
      case .append: "strata append"
      case .commit: "strata commit"
      case .fold: "strata fold"
      case .fetch: "strata fetch"
      case .past: "strata past"
      }
    }

    private func values(of work: StoreStep.Work) -> [(String, SpanAttribute)] {
      switch work {
      case .append(let events): [("strata.events", .int64(Int64(events)))]
      case .commit(let appends, let events, let bytes, _):
        [
          ("strata.appends", .int64(Int64(clamping: appends))),
          ("strata.events", .int64(Int64(clamping: events))),
          ("strata.bytes", .int64(Int64(clamping: bytes))),
        ]
      case .fold(let projection, let events):
        [("strata.projection", .string(projection)), ("strata.events", .int64(Int64(clamping: events)))]
      default: []
      }
    }
  }
#endif
