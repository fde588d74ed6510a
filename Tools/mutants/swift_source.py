"""Swift source as far as the weaver needs it: its tokens, and the braces that hold the body of a function.

It knows comments, strings of every form with their interpolations, and brackets. It is no parser: where it is in doubt
it finds no body, and the mutant is built by itself.
"""

import re
from dataclasses import dataclass, replace

OPENING = {"(": ")", "[": "]", "{": "}"}
WORD = re.compile(r"`[^`\n]+`|[A-Za-z_$][A-Za-z0-9_$]*|[0-9](?:[0-9A-Fa-f_xob]|\.[0-9])*")
OPERATOR = re.compile(r"->|[-+*/=<>!&|^~?%]+|\.\.\.|\.\.<|&[-+*]")
STRING = re.compile(r'(#*)("""|")')

ACCESSORS = {"get", "set", "willSet", "didSet", "_read", "_modify"}
MODIFIERS = {
    "mutating", "nonmutating", "async", "throws", "borrowing", "consuming", "package", "public", "private", "internal",
}
# The words that say what the braces after them are. `init` and `func` after a point are members, not declarations.
LEADING = {
    "func", "init", "deinit", "subscript", "var", "let", "struct", "class", "enum", "protocol", "extension", "if",
    "guard", "while", "for", "switch", "do", "catch", "else", "defer", "repeat", "return",
}
STATEMENTS = {
    "let", "var", "return", "guard", "for", "while", "repeat", "do", "defer", "func", "throw", "break", "continue",
    "struct", "class", "enum", "typealias", "yield",
}


class SourceError(Exception):
    """Text that is not what the scanner takes for Swift."""


@dataclass
class Token:
    text: str
    start: int
    end: int
    newline: bool  # True where a line ends between the token before and this one.
    spaced: bool  # True where white space stands after it.


@dataclass
class Body:
    """What stands between the braces of a function, an initialiser or an accessor: `text[start:end]`."""

    start: int
    end: int
    returns: bool


def string_end(text, match):
    """Where the string literal ends that begins at the match."""
    hashes, quote = match.groups()
    closing, escape = quote + hashes, "\\" + hashes
    place = match.end()
    while place < len(text):
        if text.startswith(closing, place):
            return place + len(closing)
        if text.startswith(escape + "(", place):
            place = interpolation_end(text, place + len(escape))
        elif text.startswith(escape, place):
            place += len(escape) + 1
        elif text[place] == "\n" and quote == '"':
            break
        else:
            place += 1
    raise SourceError(f"a string that does not end, at offset {match.start()}")


def interpolation_end(text, opening):
    depth = 0
    for token in scan(text, opening):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0:
            return token.end
    raise SourceError(f"an interpolation that does not end, at offset {opening}")


def comment_end(text, start):
    """Where the comment in `/* */` ends that begins at the offset. They nest."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise SourceError(f"a comment that does not end, at offset {start}")


def scan(text, place=0):
    """The tokens from an offset on, without comments."""
    newline = True
    while place < len(text):
        character = text[place]
        if character.isspace():
            newline = newline or character == "\n"
            place += 1
            continue
        if text.startswith("//", place):
            place = text.find("\n", place)
            if place < 0:
                return
            continue
        if text.startswith("/*", place):
            place = comment_end(text, place)
            continue
        string = STRING.match(text, place)
        if string:
            end = string_end(text, string)
        elif re.compile(r"#*/").match(text, place) and not is_operator(text, place):
            raise SourceError(f"what may be a regular expression, at offset {place}")
        else:
            match = WORD.match(text, place) or OPERATOR.match(text, place)
            end = match.end() if match else place + 1
        yield Token(text[place:end], place, end, newline, end >= len(text) or text[end].isspace())
        newline = False
        place = end


def is_operator(text, place):
    """Whether a slash divides: `a / b`, `a/b`, `/=`, and not the first of a literal `/.../` or `#/.../#`."""
    return text[place] == "/" and (text[place + 1 : place + 2] in (" ", "=") or text[place - 1 : place].isalnum())


def matched(tokens):
    """For each bracket the index of its other one; refuses what does not match."""
    partners, open_ones = {}, []
    for index, token in enumerate(tokens):
        if token.text in OPENING:
            open_ones.append(index)
        elif token.text in (")", "]", "}"):
            if not open_ones or OPENING[tokens[open_ones[-1]].text] != token.text:
                raise SourceError(f"a {token.text} that closes nothing, at offset {token.start}")
            partners[index] = open_ones.pop()
            partners[partners[index]] = index
    if open_ones:
        raise SourceError(f"a {tokens[open_ones[-1]].text} that is not closed")
    return partners


def is_balanced(text):
    try:
        matched(list(scan(text)))
        return True
    except SourceError:
        return False


def header_of(tokens, partners, opening):
    """The tokens before a brace back to the last brace or statement, and what they follow; groups in brackets are one.

    None where the brace stands in parentheses: then it is a closure.
    """
    header = []
    index = opening - 1
    while index >= 0:
        text = tokens[index].text
        if text in ("{", "}", ";"):
            return header[::-1], text
        if text in ("(", "["):
            return None, text
        if text in (")", "]"):
            group, index = index, partners[index]
            if group == index + 1:
                header.append(replace(tokens[index], text=tokens[index].text + text))
                index -= 1
                continue
        header.append(tokens[index])
        index -= 1
    return header[::-1], None


def is_void(tokens):
    """Whether the tokens after `->` say that nothing is returned."""
    result = []
    for token in tokens:
        if token.text == "where":
            break
        result.append(token.text)
    return result in (["Void"], ["()"])


def classify(header, before):
    """What the braces after a header are: "accessor", "property", "function", or None; and whether it returns."""
    words = [token.text for token in header]
    named = [word for word in words if word in ACCESSORS]
    allowed = ACCESSORS | MODIFIERS | {"(", "()", "@", "inlinable", "inline"}
    if len(named) == 1 and before in ("{", "}") and all(word in allowed for word in words):
        return "accessor", named[0] == "get"
    leading = None
    for index, word in enumerate(words):
        if word in LEADING and (index == 0 or words[index - 1] not in (".", "#")):
            leading = index
    if leading is None:
        return None, False
    rest = header[leading + 1 :]
    word = words[leading]
    if word in ("init", "deinit"):
        return "function", False
    if word in ("func", "subscript"):
        arrows = [index for index, token in enumerate(rest) if token.text == "->"]
        returns = bool(arrows) and not is_void(rest[arrows[0] + 1 :])
        return ("function" if word == "func" else "property"), returns
    if word == "var" and len(rest) > 1 and rest[1].text == ":":
        if not any(token.text == "=" or token.newline for token in rest[2:]):
            return "property", True
    return None, False


def bodies(text):
    """Every body in the text, an outer one before those inside."""
    tokens = list(scan(text))
    partners = matched(tokens)
    found = {}
    enclosing = []
    for index, token in enumerate(tokens):
        if token.text == "}":
            enclosing.pop()
        if token.text != "{":
            continue
        header, before = header_of(tokens, partners, index)
        kind, returns = classify(header, before) if header is not None else (None, False)
        if kind == "accessor":
            # What holds accessors is no body itself.
            if enclosing and found.get(enclosing[-1], (None,))[0] == "property":
                found.pop(enclosing[-1])
        if kind:
            found[index] = (kind, Body(token.end, tokens[partners[index]].start, returns))
        enclosing.append(index)
    return [body for _, (_, body) in sorted(found.items())]


def continues(before, after):
    """Whether the first token of a line goes on with the expression of the line before."""
    if before.text in (",", "=", ".", "->", "as", "is", "try", "await", ":", "&"):
        return True
    if OPERATOR.fullmatch(before.text) and before.text not in ("!", "?") and before.spaced:
        return True
    if after.text in (".", "as", "is", ":", "else", "?"):
        return True
    return bool(OPERATOR.fullmatch(after.text)) and after.spaced


def is_expression(text):
    """Whether a body is one expression, which a function returns without a word."""
    tokens = list(scan(text))
    if not tokens or tokens[0].text in STATEMENTS:
        return False
    partners = matched(tokens)
    # An `if` or a `switch` is one where it has values in its branches; they have no `return`.
    branches = tokens[0].text in ("if", "switch")
    if branches and any(token.text == "return" for token in tokens):
        return False
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == ";" or token.text == "=" and not branches:
            return False
        if index > 0 and token.newline and not continues(tokens[index - 1], token):
            return False
        index = partners.get(index, index) + 1
    return True
