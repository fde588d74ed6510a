// Text folded for searching: without case, and without the marks on letters.

internal import StrataBase
internal import StrataTables

/// Folds text so that letters that people do not distinguish when they search have the same bytes.
///
/// Case is folded first, as everywhere. Then the combining marks U+0300 to U+036F are removed, and letters
/// that decompose into a letter and such marks become that letter, so that the composed and the decomposed form are
/// equal. This includes a few letters that do not decompose, but that people type without their stroke or as two
/// letters: ø, ł, đ, ß, æ, œ and similar ones. Other scripts are compared as written.
enum SearchFolding {
  /// The folded UTF-8 of a text. O(text).
  static func folded(_ text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { folded(utf8: UnsafeRawBufferPointer($0)) }
  }

  /// The folded form of UTF-8 bytes; invalid bytes become U+FFFD.
  static func folded(utf8: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    if utf8.isASCII {
      for byte in utf8 { bytes.append(byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte) }
      return bytes
    }
    var index = 0
    while index < utf8.count {
      let scalar = UTF8Scalars.next(utf8, &index)
      // One of the marks folds to a letter, the iota that is written below another letter.
      if marks.contains(scalar) { continue }
      let folded = CaseFolding.folded(scalar)
      if scalar >= 0x80, let plain = plainLetters[folded] {
        bytes.append(contentsOf: plain)
        continue
      }
      folded.forEach { part in
        if marks.contains(part) { return }
        if part >= 0x80, let plain = plainLetters[CaseFolding.folded(part)] {
          bytes.append(contentsOf: plain)
        } else {
          UTF8Scalars.append(part, to: &bytes)
        }
      }
    }
    return bytes
  }

  /// The combining marks of Latin, Greek and Cyrillic letters.
  private static let marks: ClosedRange<UInt32> = 0x300...0x36F

  /// Letter, folded → the plain letters that it becomes.
  private static let plainLetters: [CaseFolding.Folded: [UInt8]] = {
    var letters: [CaseFolding.Folded: [UInt8]] = [:]
    for (plain, marked) in table {
      for scalar in marked.unicodeScalars {
        letters[CaseFolding.folded(scalar.value)] = Array(plain.utf8)
      }
    }
    return letters
  }()

  /// The plain letters, and the letters that are folded to them: Unicode's canonical decompositions, in lower case.
  private static let table: [(plain: String, marked: String)] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("ae", "ǣǽæ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ďḋḍḏḑḓđð"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥȟḣḥḧḩḫẖħ"),
    ("i", "ìíîïĩīĭįǐȉȋḭḯỉịı"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľḷḹḻḽł"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợø"),
    ("oe", "œ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšșṡṣṥṧṩẛſ"),
    ("ss", "ß"),
    ("t", "ţťțṫṭṯṱẗŧ"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
    ("ʒ", "ǯ"),
    ("α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"),
    ("ε", "έἐἑἒἓἔἕὲέ"),
    ("η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"),
    ("ι", "ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ"),
    ("ο", "όὀὁὂὃὄὅὸό"),
    ("ρ", "ῤῥ"),
    ("σ", "ς"),
    ("υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"),
    ("ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"),
    ("ϒ", "ϓϔ"),
    ("а", "ӑӓ"),
    ("г", "ѓ"),
    ("е", "ѐёӗ"),
    ("ж", "ӂӝ"),
    ("з", "ӟ"),
    ("и", "йѝӣӥ"),
    ("к", "ќ"),
    ("о", "ӧ"),
    ("у", "ўӯӱӳ"),
    ("ч", "ӵ"),
    ("ы", "ӹ"),
    ("э", "ӭ"),
    ("і", "ї"),
    ("ѵ", "ѷ"),
    ("ә", "ӛ"),
    ("ө", "ӫ"),
  ]
}
