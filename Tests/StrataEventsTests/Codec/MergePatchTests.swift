// Merge patches against RFC 7396, appendix A, and as each other's inverse.

import StrataDocuments
import StrataEvents
import Testing

@Suite("Merge patches")
struct MergePatchTests {
  @Test(arguments: [
    (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
    (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
    (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
    (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
    (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
    (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
    (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
    (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
    (#"{"a":"foo"}"#, #"null"#, #"null"#),
    (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
    (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
    (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
    (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
  ])
  func `Every test case of RFC 7396 gives the result of the RFC`(
    original: String, patch: String, result: String
  ) throws {
    let patched = try DocumentValue(json: original).applying(mergePatch: DocumentValue(json: patch))
    #expect(try patched == DocumentValue(json: result))
  }

  @Test(
    arguments: [
      ("{}", #"{"a":null}"#, nil), (#"{"a":1}"#, #"{"a":null}"#, nil), ("[]", #"{"a":null}"#, nil),
      (#"{"a":1}"#, #"{"a":{"b":null}}"#, nil), (#"{"a":{}}"#, #"{"a":{"b":{"c":null}}}"#, nil),
      (#"{"a":null}"#, #"{"a":null,"b":1}"#, #"{"b":1}"#), ("{}", #"{"a":[null]}"#, #"{"a":[null]}"#),
      ("{}", #"{"a":[{"b":null}]}"#, #"{"a":[{"b":null}]}"#), (#"{"a":null}"#, "{}", #"{"a":null}"#),
      ("1", "null", "null"), ("1", "{}", "{}"), (#"{"a":1}"#, #"{"a":1}"#, "{}"),
      (#"{"a":1,"c":3}"#, #"{"b":2,"c":3.0}"#, #"{"a":null,"b":2,"c":3.0}"#),
      (#"{"a":1}"#, #"{"a":{}}"#, #"{"a":{}}"#),
      (#"{"a":{"b":1,"c":2}}"#, #"{"a":{"c":2}}"#, #"{"a":{"b":null}}"#),
    ] as [(String, String, String?)])
  func `A null that a patch would have to set has no patch`(old: String, new: String, patch: String?) throws {
    let found = try DocumentValue.mergePatch(from: DocumentValue(json: old), to: DocumentValue(json: new))
    #expect(found?.json() == patch)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `The patch from a to b makes b of a, unless b has nulls`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let recipe = DocumentRecipe(depth: 3, hasNulls: random.chance(50))
      let old = recipe.object(using: &random)
      var new = recipe.object(using: &random)
      if case .object(var members) = old, random.chance(80) {  // most members stay
        for (key, _) in members where random.chance(20) { members[key] = recipe.document(using: &random) }
        for (key, _) in members where random.chance(10) { members[key] = nil }
        new = .object(members)
      }
      if let patch = DocumentValue.mergePatch(from: old, to: new) {
        #expect(old.applying(mergePatch: patch) == new)
        if old == new { #expect(patch == [:]) }
      } else {
        #expect(recipe.hasNulls)
        #expect(new.json().contains("null"))
      }
    }
  }
}
