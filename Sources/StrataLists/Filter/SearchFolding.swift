// Text folded for searching: without case, and without the marks on letters.

internal import StrataTables

/// Folds text so that letters that people do not distinguish when they search have the same bytes.
///
/// Case follows Unicode's full mapping to lower case. The combining marks U+0300 to U+036F are removed, and letters
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
    for scalar in String(decoding: utf8, as: UTF8.self).lowercased().unicodeScalars {
      if (0x300...0x36F).contains(scalar.value) { continue }
      if scalar.value >= 0x80, let plain = plainLetters[scalar] {
        bytes.append(contentsOf: plain)
      } else {
        bytes.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
      }
    }
    return bytes
  }

  /// Letter → the plain letters that it is folded to.
  private static let plainLetters: [Unicode.Scalar: [UInt8]] = {
    var letters: [Unicode.Scalar: [UInt8]] = [:]
    for (plain, marked) in table {
      for scalar in marked.unicodeScalars { letters[scalar] = Array(plain.utf8) }
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
