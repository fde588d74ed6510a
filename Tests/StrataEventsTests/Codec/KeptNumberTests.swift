// Which numbers of a JSON text their double gives back, against exact arithmetic in Python.

import Foundation
import StrataDocuments
import StrataSimulation
import Testing

struct KeptNumberTests {
  /// The column of the first number that is not kept, and its double.
  static func rounded(_ text: String) throws -> (column: Int, value: Double)? {
    var rounded: (column: Int, value: Double)?
    let bytes = Array(text.utf8)
    _ = try bytes.withUnsafeBytes { try DocumentValue(json: $0, rounded: &rounded) }
    return rounded
  }

  @Test(arguments: [
    "0.1", "0.10000000000000001", "0.1000000000000000055511151231257827",
    "0.10000000000000000000000000000000",
    "-0.1e0", "1e23", "9.999999999999999e22", "1.5", "1.50000000000000000000000000", "5e-324", "4.9e-324",
    "4.94065645841246544176568792868e-324", "1.7976931348623157e308", "179769313486231570e291", "0.0", "-0.0",
    "0e999", "-0", "5.684341886080802e-14", "5.684341886080801e-14", "9007199254740992.0", "9007199254740993",
    "123456789012345678901234567890", "2.2250738585072014E-308", "1E+2", "100000000000000000000000000.0",
  ])
  func `a number that its double gives back is kept`(text: String) throws {
    #expect(try Self.rounded(text) == nil)
  }

  @Test(arguments: [
    "0.123456789012345678", "9007199254740993.0", "9007199254740993e0", "1e-400", "2e-324", "3e-324",
    "0.10000000000000002e-400", "123456789.12345678901", "0.3000000000000000000000000000001",
    "123456789012345678901234567890.0", "1.00000000000000000000000000000000000000000000000001", "7e-324",
  ])
  func `a number that its double does not give back is found, with its column`(text: String) throws {
    let found = try #require(try Self.rounded("[0.1, \"é\", \(text), \(text)]"))
    #expect(found.column == 12 && found.value == Double(text))
    #expect(try Self.rounded("-\(text)")?.value == Double("-\(text)"))
  }

  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Prints for each line whether the double is the number, in its shortest text or rounded to as many digits.
  private static let script = """
    import sys
    from decimal import Context, Decimal, ROUND_HALF_EVEN
    for line in sys.stdin:
        text = line.strip()
        wide = Context(prec=2000, Emin=-999999, Emax=999999)
        number, double = wide.create_decimal(text), float(text)
        exact = Decimal.from_float(double)
        digits = len(number.normalize(wide).as_tuple().digits)
        rounded = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999).plus(exact)
        print(int(number == Decimal(repr(double)) or number == rounded))
    """

  @Test(.enabled(if: python != nil, "python3 is not installed: nothing independent to compare with"))
  func `random numbers are kept where exact arithmetic says so`() throws {
    let seed =
      ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    let runs = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 5000
    var random = SeededGenerator(seed: seed)
    let texts = (0..<runs).map { _ in Self.number(&random) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = ["-c", Self.script]
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-numbers-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (input, output) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
    try Data(texts.joined(separator: "\n").utf8).write(to: input)
    try Data().write(to: output)
    process.standardInput = try FileHandle(forReadingFrom: input)
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let verdicts = String(decoding: try Data(contentsOf: output), as: UTF8.self).split(separator: "\n")
    try #require(verdicts.count == texts.count)
    for (text, verdict) in zip(texts, verdicts) {
      #expect(try (Self.rounded(text) == nil) == (verdict == "1"), "\(text), seed \(seed)")
    }
    #expect(verdicts.contains("0") && verdicts.contains("1"))
  }

  /// A number with a fraction or an exponent: printed from a double in some number of digits, or any digits.
  private static func number(_ random: inout SeededGenerator) -> String {
    while true {
      let double = Double(bitPattern: random.next() & .max >> 1)
      let isSmall = Bool.random(using: &random)
      let value = isSmall ? Double.random(in: -1e6...1e6, using: &random) : double
      guard value.isFinite else { continue }
      switch Int.random(in: 0...3, using: &random) {
      case 0:
        let text = value.description
        return text.contains("e") || text.contains(".") ? text : text + ".0"
      case 1, 2:
        let digits = Int.random(in: 0...25, using: &random)
        return String(format: "%.\(digits)e", value)
      default:
        let digits = (0..<Int.random(in: 1...25, using: &random)).map { _ in
          String(Int.random(in: 0...9, using: &random))
        }
        return
          "\(Int.random(in: 0...99, using: &random)).\(digits.joined())e\(Int.random(in: -325...300, using: &random))"
      }
    }
  }
}
