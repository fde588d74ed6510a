// JSON against its specification, against damage, against chance, and against Python.

import StrataDocuments
import StrataEvents
import Testing

@Suite("JSON")
struct JSONTests {
  @Test(
    arguments: [
      ("null", .null), (" true\n", .bool(true)), ("false", .bool(false)), ("\t[ ]\r\n", []), ("{ }", [:]),
      ("0", 0), ("-1", -1), ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("9223372036854775808", .uint(1 << 63)), ("18446744073709551615", .uint(.max)),
      ("18446744073709551616", .bigInt(DocumentInteger(UInt128(1) << 64))),
      ("-9223372036854775809", .bigInt(DocumentInteger(Int128(Int64.min) - 1))),
      ("99999999999999999999", .bigInt(DocumentInteger(UInt128(99_999_999_999_999_999_999)))),
      ("-0", .double(-0.0)), ("-0.0", .double(-0.0)), ("1.0", 1.0), ("1e0", 1.0), ("1E+2", 100.0),
      ("1.5e-3", 0.0015), ("0.1", 0.1),
      ("123456789012345678901234567890.0", 123456789012345678901234567890.0),
      ("1e-400", 0.0), ("2.2250738585072011e-308", .double(Double.leastNormalMagnitude.nextDown)),
      ("18446744073709551616.5", 18446744073709551616.0), ("1.8446744073709551621e1", 18.446744073709551621),
      ("9007199254740993.0", .double(9007199254740992)), ("1e22", 1e22), ("1e23", 1e23),
      ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
      ("0.000000000000000000000000000000000000000000000000000000000000e99", 0.0),
      (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
      (#""\u00e9\u6f22\ud83e\udea8""#, "é漢🪨"),
      (#""é漢🪨\u0000""#, "é漢🪨\0"), (#""12345678\n12345678\u0041""#, "12345678\n1234567\u{38}A"),
      (#"{"b":[1,{"c":null}],"a":"x"}"#, ["a": "x", "b": [1, ["c": .null]]]),
      (#"{"é":1,"e\u0301":2}"#, .object(["\u{e9}": 1, "e\u{301}": 2])),
    ] as [(String, DocumentValue)])
  func `Text is read as what it says`(text: String, value: DocumentValue) throws {
    #expect(try DocumentValue(json: text) == value)
  }

  @Test(
    arguments: [
      ("", JSONError(.truncated, line: 1, column: 1, offset: 0)),
      ("  ", JSONError(.truncated, line: 1, column: 3, offset: 2)),
      ("[1,\n 2,\n é]", JSONError(.unexpectedByte(0xC3), line: 3, column: 2, offset: 9)),
      ("{\"漢🪨\": x}", JSONError(.unexpectedByte(0x78), line: 1, column: 8, offset: 12)),
      ("[1", JSONError(.truncated, line: 1, column: 3, offset: 2)),
      ("[1 2]", JSONError(.unexpectedByte(0x32), line: 1, column: 4, offset: 3)),
      ("[1,]", JSONError(.unexpectedByte(0x5D), line: 1, column: 4, offset: 3)),
      ("[,1]", JSONError(.unexpectedByte(0x2C), line: 1, column: 2, offset: 1)),
      ("{\"a\":1,}", JSONError(.unexpectedByte(0x7D), line: 1, column: 8, offset: 7)),
      ("{a:1}", JSONError(.unexpectedByte(0x61), line: 1, column: 2, offset: 1)),
      ("{\"a\" 1}", JSONError(.unexpectedByte(0x31), line: 1, column: 6, offset: 5)),
      ("1 2", JSONError(.trailingBytes, line: 1, column: 3, offset: 2)),
      ("nul", JSONError(.truncated, line: 1, column: 4, offset: 3)),
      ("nulL", JSONError(.unexpectedByte(0x4C), line: 1, column: 4, offset: 3)),
      ("True", JSONError(.unexpectedByte(0x54), line: 1, column: 1, offset: 0)),
      ("NaN", JSONError(.unexpectedByte(0x4E), line: 1, column: 1, offset: 0)),
      ("'a'", JSONError(.unexpectedByte(0x27), line: 1, column: 1, offset: 0)),
      ("// no\n1", JSONError(.unexpectedByte(0x2F), line: 1, column: 1, offset: 0)),
      ("\u{FEFF}1", JSONError(.unexpectedByte(0xEF), line: 1, column: 1, offset: 0)),
      ("01", JSONError(.invalidNumber, line: 1, column: 1, offset: 0)),
      ("-01.5", JSONError(.invalidNumber, line: 1, column: 1, offset: 0)),
      ("-", JSONError(.truncated, line: 1, column: 2, offset: 1)),
      ("-a", JSONError(.invalidNumber, line: 1, column: 2, offset: 1)),
      ("+1", JSONError(.unexpectedByte(0x2B), line: 1, column: 1, offset: 0)),
      (".5", JSONError(.unexpectedByte(0x2E), line: 1, column: 1, offset: 0)),
      ("1.", JSONError(.truncated, line: 1, column: 3, offset: 2)),
      ("[1.]", JSONError(.invalidNumber, line: 1, column: 4, offset: 3)),
      ("1e", JSONError(.truncated, line: 1, column: 3, offset: 2)),
      ("[1e+]", JSONError(.invalidNumber, line: 1, column: 5, offset: 4)),
      ("1e400", JSONError(.numberOutOfRange, line: 1, column: 1, offset: 0)),
      ("[-1e99999999999999999999]", JSONError(.numberOutOfRange, line: 1, column: 2, offset: 1)),
      ("\"a", JSONError(.truncated, line: 1, column: 3, offset: 2)),
      ("\"a\nb\"", JSONError(.controlCharacter(10), line: 1, column: 3, offset: 2)),
      ("\"12345678\u{1f}\"", JSONError(.controlCharacter(31), line: 1, column: 10, offset: 9)),
      ("\"1234\u{1}678901234\"", JSONError(.controlCharacter(1), line: 1, column: 6, offset: 5)),
      (#""\x""#, JSONError(.invalidEscape, line: 1, column: 2, offset: 1)),
      (#""\u12g4""#, JSONError(.invalidEscape, line: 1, column: 2, offset: 1)),
      (#""\u00:0""#, JSONError(.invalidEscape, line: 1, column: 2, offset: 1)),
      (#""\u12"#, JSONError(.truncated, line: 1, column: 6, offset: 5)),
      (#""\"#, JSONError(.truncated, line: 1, column: 3, offset: 2)),
      (#""\ud800""#, JSONError(.loneSurrogate, line: 1, column: 2, offset: 1)),
      (#""\ud800\n""#, JSONError(.loneSurrogate, line: 1, column: 2, offset: 1)),
      (#""\ud800\u0041""#, JSONError(.loneSurrogate, line: 1, column: 2, offset: 1)),
      (#""\udc00""#, JSONError(.loneSurrogate, line: 1, column: 2, offset: 1)),
      ("{\"a\":1,\n \"a\":2}", JSONError(.duplicateKey("a"), line: 2, column: 2, offset: 9)),
      (#"{"b":1,"a":2,"\u0062":2}"#, JSONError(.duplicateKey("b"), line: 1, column: 14, offset: 13)),
    ] as [(String, JSONError)])
  func `Text that is not JSON is refused with line, column in characters, and reason`(
    text: String, error: JSONError
  ) {
    #expect(throws: error) { try DocumentValue(json: text) }
  }

  @Test(arguments: [
    "22ff22", "22c328 22", "22c0af22", "22eda08022", "22f490808022", "22e282", "225c6ec322", "22f09f9822",
  ])
  func `A string that is not UTF-8 is refused`(digits: String) {
    #expect(throws: JSONError.self) { try DocumentValue(json: hex(digits)) }
  }

  @Test
  func `Nesting is read up to the limit and refused beyond it`() throws {
    let limit = CodecLimits.depthMax
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(try DocumentValue(json: nested(limit)).json() == nested(limit))
    #expect(throws: JSONError(.tooDeep, line: 1, column: limit + 1, offset: limit)) {
      try DocumentValue(json: nested(limit + 1))
    }
    #expect(throws: JSONError.self) { try DocumentValue(json: String(repeating: "[{\"\":", count: 100_000)) }
  }

  @Test(
    arguments: [
      (.bytes([]), #"{"b64":""}"#), (.bytes([1]), #"{"b64":"AQ=="}"#), (.bytes([1, 2]), #"{"b64":"AQI="}"#),
      (.bytes([0xFB, 0xFF, 0xFE, 0]), #"{"b64":"+//+AA=="}"#), (.double(.nan), #"{"f64":"NaN"}"#),
      (.double(-.infinity), #"{"f64":"-Infinity"}"#), (.tagged(32, "x"), #"{"tag":32,"value":"x"}"#),
    ] as [(DocumentValue, String)])
  func `What JSON cannot say is written as an object with a telling key`(value: DocumentValue, text: String) {
    #expect(value.json() == text)
  }

  @Test
  func `Pretty text has a line per member and reads back as the same value`() throws {
    let document: DocumentValue = ["b": [1, 2.0, [], [:]], "a": ["x": .null, "\u{1}\u{1f}\n": "é"]]
    let text = """
      {
        "a": {
          "\\u0001\\u001f\\n": "é",
          "x": null
        },
        "b": [
          1,
          2.0,
          [],
          {}
        ]
      }
      """
    #expect(document.json(.pretty) == text)
    #expect(try DocumentValue(json: text) == document)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `A document is what it was after JSON`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let document = DocumentRecipe(isJSON: true).document(using: &random)
      #expect(try DocumentValue(json: document.jsonBytes()) == document)
      #expect(try DocumentValue(json: document.json(.pretty)) == document)
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `Random and damaged text never traps; what is read reads the same again`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      var bytes = DocumentRecipe(depth: 2, isJSON: true).document(using: &random).jsonBytes()
      for _ in 0...Int.random(in: 0...3, using: &random) {
        let index = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes = Array(bytes[...index])
        default: bytes.insert(Array("[]{},:\"\\0-.eu".utf8).randomElement(using: &random)!, at: index)
        }
      }
      if let document = try? DocumentValue(json: bytes) {
        #expect(try DocumentValue(json: document.json()) == document)
      }
    }
  }

  @Test(
    Python.isNeeded,
    arguments: [1, 2] as [UInt64])
  func `Python reads what we write, and we read what Python writes`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = (0..<500).map { _ in DocumentRecipe(isJSON: true).document(using: &random) }
    let lines = documents.map { $0.json() }.joined(separator: "\n")
    // Once escaped and indented by Python, once in Python's own compact form.
    let script = """
      import json, sys
      for line in sys.stdin.buffer.read().decode().split('\\n'):
          value = json.loads(line)
          print(json.dumps(value))
          print(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(',', ':')).encode().hex())
      """
    let output = try Python.run(script, input: Array(lines.utf8))
    let answers = output.split(separator: UInt8(ascii: "\n"))
    try #require(answers.count == 2 * documents.count)
    for (index, document) in documents.enumerated() {
      #expect(try DocumentValue(json: Array(answers[2 * index])) == document)
      let compact = hex(String(decoding: answers[2 * index + 1], as: UTF8.self))
      #expect(try DocumentValue(json: compact) == document)
    }
  }

  @Test(Python.isNeeded)
  func `Python's own CBOR reader of forty lines finds in our CBOR what we put in`() throws {
    var random = SeededGenerator(seed: 7)
    let documents = (0..<500).map { _ in DocumentRecipe().document(using: &random) }
    let lines = documents.map { hexDigits($0.cbor()) }.joined(separator: "\n")
    let output = try Python.run(independentReader, input: Array(lines.utf8))
    let answers = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    try #require(answers.count == documents.count)
    for (answer, document) in zip(answers, documents) {
      #expect(String(decoding: answer, as: UTF8.self) == summary(of: document))
    }
  }
}

/// Reads CBOR from lines of hexadecimal digits and prints what it found, kind by kind.
private let independentReader = """
  import struct, sys
  def item(b, i):
      major, info = b[i] >> 5, b[i] & 31
      i += 1
      if info < 24: n = info
      else:
          width = 1 << (info - 24)
          raw, i = b[i:i + width], i + width
          n = int.from_bytes(raw, 'big')
      if major == 0: return 'i%d' % n, i
      if major == 1: return 'i%d' % (-1 - n), i
      if major == 2: return 'b' + b[i:i + n].hex(), i + n
      if major == 3: return 's' + b[i:i + n].decode('utf-8').encode('utf-8').hex(), i + n
      if major == 4:
          parts = []
          for _ in range(n):
              part, i = item(b, i)
              parts.append(part)
          return '[' + ' '.join(parts) + ']', i
      if major == 5:
          parts, previous = [], b''
          for _ in range(n):
              start = i
              key, i = item(b, i)
              assert previous < b[start:i]
              previous = b[start:i]
              value, i = item(b, i)
              parts.append((bytes.fromhex(key[1:]), key + '=' + value))
          return '{' + ' '.join(p for _, p in sorted(parts)) + '}', i
      if major == 6:
          value, i = item(b, i)
          if n == 2: return 'i%d' % int(value[1:], 16), i
          if n == 3: return 'i%d' % (-1 - int(value[1:], 16)), i
          return 't%d(%s)' % (n, value), i
      if info < 24: return {20: 'false', 21: 'true', 22: 'null'}[n], i
      value = struct.unpack({25: '>e', 26: '>f', 27: '>d'}[info], raw)[0]
      return 'd' + ('nan' if value != value else '%016x' % struct.unpack('>Q', struct.pack('>d', value))), i
  for line in sys.stdin:
      data = bytes.fromhex(line)
      text, end = item(data, 0)
      assert end == len(data)
      print(text)
  """

/// What the independent reader should print.
private func summary(of document: DocumentValue) -> String {
  switch document {
  case .null: return "null"
  case .bool(let value): return "\(value)"
  case .int(let value): return "i\(value)"
  case .uint(let value): return "i\(value)"
  case .bigInt(let value): return "i\(value)"
  case .double(let value):
    let digits = String(value.bitPattern, radix: 16)
    return value.isNaN ? "dnan" : "d" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  case .string(let value): return "s" + hexDigits(Array(value.utf8))
  case .bytes(let value): return "b" + hexDigits(value)
  case .array(let values): return "[" + values.map { summary(of: $0) }.joined(separator: " ") + "]"
  case .object(let object):
    let members = object.map { "s" + hexDigits(Array($0.key.utf8)) + "=" + summary(of: $0.value) }
    return "{" + members.joined(separator: " ") + "}"
  case .tagged(let tag, let value): return "t\(tag)(\(summary(of: value.value)))"
  }
}
