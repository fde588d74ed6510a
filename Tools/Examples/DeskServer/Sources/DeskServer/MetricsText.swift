// What swift-metrics counts, as the text that Prometheus reads.

import CoreMetrics
import Synchronization

/// A factory that keeps every metric and writes them on request. Labels come from the program alone, so that there are few.
final class MetricsText: MetricsFactory {
  private struct Key: Hashable {
    var name: String
    var labels: [String]
  }

  private struct Values {
    var counters: [Key: Double] = [:]
    var gauges: [Key: Double] = [:]
    /// How many there were, and their sum.
    var summaries: [Key: (count: Int, sum: Double)] = [:]
  }

  private let values = Mutex(Values())

  /// All metrics, in the order of their names.
  var text: String {
    let values = values.withLock { $0 }
    var text = Lines()
    text.write("counter", values.counters) { ["_total": $0] }
    text.write("gauge", values.gauges) { ["": $0] }
    text.write("summary", values.summaries) { ["_count": Double($0.count), "_sum": $0.sum] }
    return text.text
  }

  private struct Lines {
    var text = ""

    mutating func write<Value>(_ type: String, _ values: [Key: Value], _ parts: (Value) -> [String: Double]) {
      for (name, group) in Dictionary(grouping: values, by: \.key.name).sorted(by: { $0.key < $1.key }) {
        text += "# TYPE \(name)\(type == "counter" ? "_total" : "") \(type)\n"
        for (key, value) in group.sorted(by: { $0.key.labels.lexicographicallyPrecedes($1.key.labels) }) {
          let labels = key.labels.isEmpty ? "" : "{\(key.labels.joined(separator: ","))}"
          for (suffix, number) in parts(value).sorted(by: { $0.key < $1.key }) {
            text += "\(name)\(suffix)\(labels) \(number)\n"
          }
        }
      }
    }
  }

  private static func key(_ label: String, _ dimensions: [(String, String)]) -> Key {
    Key(
      name: Self.name(label),
      labels: dimensions.map { name, value in
        let value = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
          "\n", with: "\\n")
        return "\(Self.name(name))=\"\(value)\""
      }.sorted())
  }

  /// A name in the letters that the format allows.
  private static func name(_ label: String) -> String {
    String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  // MARK: Handlers

  /// One metric, of any kind.
  private final class Handler: CounterHandler, FloatingPointCounterHandler, RecorderHandler,
    TimerHandler
  {
    let key: Key
    let page: MetricsText

    init(_ key: Key, _ page: MetricsText) { (self.key, self.page) = (key, page) }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { page.values.withLock { $0.counters[key, default: 0] += amount } }
    func reset() { page.values.withLock { $0.counters[key] = 0 } }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { page.values.withLock { $0.gauges[key] = value } }
    func decrement(by amount: Double) { page.values.withLock { $0.gauges[key, default: 0] -= amount } }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) {
      page.values.withLock {
        $0.summaries[key, default: (0, 0)].count += 1
        $0.summaries[key, default: (0, 0)].sum += value
      }
    }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
  }

  /// A meter goes up and down.
  private final class Gauge: MeterHandler {
    let handler: Handler

    init(_ handler: Handler) { self.handler = handler }

    func set(_ value: Int64) { handler.set(value) }
    func set(_ value: Double) { handler.set(value) }
    func increment(by amount: Double) { handler.decrement(by: -amount) }
    func decrement(by amount: Double) { handler.decrement(by: amount) }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    Handler(Self.key(label, dimensions), self)
  }

  func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    Handler(Self.key(label, dimensions), self)
  }

  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    Gauge(Handler(Self.key(label, dimensions), self))
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    Handler(Self.key(label, dimensions), self)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    Handler(Self.key("\(label)_seconds", dimensions), self)
  }

  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
