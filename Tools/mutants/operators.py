"""The changes that a generator makes of Swift source, each in the body of a function.

    negated     a condition of a guard or an if, or one of several, is negated
    bound       `<` becomes `<=`, and so on
    dropped     a statement that is a call is left out
    off by one  `+ 1` becomes `+ 0`
    joined      `&&` becomes `||`, and the reverse
    goes on     an early `return` or `throw` in an if is left out
    constant    an integer in an expression is one more

It reads tokens and no types, so some of the changes do not compile. What is between `#if` and `#endif`, in assertions and
in strings is left alone.
"""

import hashlib
import re
from dataclasses import dataclass

import swift_source

BOUNDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
JOINED = {"&&": "||", "||": "&&"}
STEPS = {"+", "-", "&+", "&-", "+=", "-=", "&+=", "&-="}
NOTHING = "_ = ()"
# Calls that change no result, but stop the program, reserve memory or spread hashes: no test is expected to miss them.
LEFT_ALONE = {
    "assert", "assertionFailure", "precondition", "preconditionFailure", "fatalError", "reserveCapacity", "combine",
    "withExtendedLifetime",
}
# The words of what braces hold statements, and no closure, where they are the last such word before the braces.
BLOCKS = {"if", "else", "guard", "for", "while", "do", "catch", "defer", "repeat", "func", "init", "deinit", "subscript"}
NOT_CALLED = swift_source.STATEMENTS | swift_source.LEADING | {"case", "default", "where", "in", "is", "as", "super"}
WORD = re.compile(r"`[^`]+`|[A-Za-z_$][A-Za-z0-9_$]*$")


@dataclass
class Candidate:
    """`text[start:end]` of a file becomes `new`."""

    path: str
    operator: str
    start: int
    end: int
    new: str
    function: str  # The name of the function that it is in.
    body: str  # A hash of the words of that body.
    place: int = 0  # Which one it is of those of this operator in such a body.

    @property
    def key(self):
        """What it is, wherever its function moves to: another key if anything in the function changes."""
        return f"{self.path} | {self.function} | {self.operator} {self.place} | {self.body}"

    def line(self, text):
        return text.count("\n", 0, self.start) + 1

    def change(self, text):
        """The lines that it changes, before and after, as they are read."""
        start = text.rfind("\n", 0, self.start) + 1
        end = (text + "\n").index("\n", self.end)
        after = text[start : self.start] + self.new + text[self.end : end]
        return " ".join(text[start:end].split()), " ".join(after.split())


class Source:
    """The tokens of a file, the brackets that match, and the bodies of functions."""

    def __init__(self, text):
        self.text = text
        self.tokens = list(swift_source.scan(text))
        self.partners = swift_source.matched(self.tokens)
        self.bodies = swift_source.bodies(text)
        self.left_alone = conditional_ranges(text)
        self.around = []  # For each token the index of the bracket that it is in.
        open_ones = []
        for index, token in enumerate(self.tokens):
            if token.text in swift_source.OPENING:
                self.around.append(open_ones[-1] if open_ones else None)
                open_ones.append(index)
                if token.text == "(" and index > 0 and self.tokens[index - 1].text in LEFT_ALONE:
                    self.left_alone.append((self.tokens[index - 1].start, self.tokens[self.partners[index]].end))
            elif index in self.partners:
                open_ones.pop()
                self.around.append(open_ones[-1] if open_ones else None)
            else:
                self.around.append(open_ones[-1] if open_ones else None)

    def body_at(self, start, end):
        around = [body for body in self.bodies if body.start <= start and end <= body.end]
        return min(around, key=lambda body: body.end - body.start, default=None)

    def leading(self, opening):
        """The word that says what the braces are: None for those of a closure."""
        header, _ = swift_source.header_of(self.tokens, self.partners, opening)
        words = [token.text for token in header or []]
        leading = None
        for index, word in enumerate(words):
            if word in swift_source.LEADING and (index == 0 or words[index - 1] not in (".", "#")):
                leading = word
        return leading

    def is_begin(self, index):
        """Whether a statement begins with the token."""
        around = self.around[index]
        if index == 0 or around is None or self.tokens[around].text != "{":
            return False
        before, token = self.tokens[index - 1], self.tokens[index]
        if before.text in ("{", "}", ";", "in"):
            return token.text not in ("else", "catch", "while", ".") and (before.text != "in" or token.newline)
        return token.newline and (before.text == ":" or not swift_source.continues(before, token))

    def is_end(self, index):
        """Whether a statement ends with the token."""
        if index + 1 >= len(self.tokens):
            return True
        token, after = self.tokens[index], self.tokens[index + 1]
        return after.text in ("}", ";") or after.newline and not swift_source.continues(token, after)


def conditional_ranges(text):
    """What is between `#if` and `#endif`."""
    ranges, depth, start = [], 0, 0
    for match in re.finditer(r"^[ \t]*#(if|endif)\b", text, re.MULTILINE):
        if match.group(1) == "if":
            start = start if depth else match.start()
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                ranges.append((start, match.end()))
    return ranges


def conditions(source, index):
    """The ranges of tokens of the conditions after `if` or `guard` that are true or false, and bind nothing."""
    end, first, found = None, index + 1, []
    wanted = "else" if source.tokens[index].text == "guard" else "{"
    place = first
    while place < len(source.tokens):
        text = source.tokens[place].text
        if text == wanted or text == ",":
            found.append((first, place - 1))
            first = place + 1
            if text == wanted:
                end = place
                break
        elif text in ("{", ")", "]", "}"):
            return []
        place = source.partners.get(place, place) + 1
    words = ("let", "var", "case", "#")
    return [pair for pair in found if end and pair[0] <= pair[1] and source.tokens[pair[0]].text not in words]


def call_end(source, index):
    """The last token of the call that begins with the token, if it is a statement by itself."""
    tokens = source.tokens
    while tokens[index].text in ("try", "await"):
        index += 1
    if not WORD.match(tokens[index].text) or tokens[index].text in NOT_CALLED | LEFT_ALONE:
        return None
    while not source.is_end(index):
        after = tokens[index + 1]
        if after.text in ("(", "[") and not after.newline:
            index = source.partners[index + 1]
        elif after.text == "." and index + 2 < len(tokens) and WORD.match(tokens[index + 2].text):
            if tokens[index + 2].text in LEFT_ALONE | {"init"}:
                return None
            index += 2
        elif after.text in ("?", "!") and after.start == tokens[index].end:
            index += 1
        else:
            return None
    return index if tokens[index].text == ")" else None


def changes(source):
    """Every change of a file: the operator, the range, and what is put there."""
    tokens = source.tokens
    for index, token in enumerate(tokens):
        text = token.text
        before = tokens[index - 1] if index else None
        spaced = token.spaced and before is not None and before.spaced
        if text in ("if", "guard") and (before is None or before.text not in (".", "#")):
            for first, last in conditions(source, index):
                start, end = tokens[first].start, tokens[last].end
                yield "negated", start, end, f"!({source.text[start:end]})"
        elif text in BOUNDS and spaced:
            yield "bound", token.start, token.end, BOUNDS[text]
        elif text in JOINED and spaced:
            yield "joined", token.start, token.end, JOINED[text]
        elif text.isdecimal() and before is not None and before.text != ".":
            if text == "1" and before.text in STEPS and before.spaced:
                yield "off by one", token.start, token.end, "0"
            else:
                yield "constant", token.start, token.end, str(int(text) + 1)
        elif text in ("return", "throw") and source.is_begin(index):
            opening = source.around[index]
            closing = source.partners[opening]
            follows = tokens[closing + 1].text if closing + 1 < len(tokens) else "}"
            if source.leading(opening) == "if" and follows not in ("else", "}"):
                yield "goes on", token.start, tokens[closing - 1].end, NOTHING
        elif source.is_begin(index):
            last = call_end(source, index)
            if last is None:
                continue
            body = source.body_at(token.start, tokens[last].end)
            is_value = body and body.returns and swift_source.is_expression(source.text[body.start : body.end])
            is_alone = before.text in ("{", "in") and tokens[last + 1].text == "}"
            if not is_value and not (is_alone and source.leading(source.around[index]) not in BLOCKS):
                yield "dropped", token.start, tokens[last].end, NOTHING


def name_of(source, body):
    """The name of the function that a body is of, with the word before it."""
    opening = max(index for index, token in enumerate(source.tokens) if token.end <= body.start and token.text == "{")
    tokens, _ = swift_source.header_of(source.tokens, source.partners, opening)
    words = [token.text for token in tokens]
    for word in ("func", "var", "subscript", "init", "deinit", "get", "set", "didSet", "willSet"):
        if word in words:
            index = words.index(word)
            return " ".join(words[index : index + 2]) if word in ("func", "var") else word
    return " ".join(words)


def candidates(path, text):
    """Every change of a file that is in the body of a function."""
    source, found, counts, known = Source(text), [], {}, {}
    for operator, start, end, new in changes(source):
        body = source.body_at(start, end)
        if body is None or any(first <= start and end <= last for first, last in source.left_alone):
            continue
        if (body.start, body.end) not in known:
            words = " ".join(token.text for token in swift_source.scan(text[body.start : body.end]))
            known[body.start, body.end] = (name_of(source, body), hashlib.sha256(words.encode()).hexdigest()[:12])
        function, hashed = known[body.start, body.end]
        place = counts[function, hashed, operator] = counts.get((function, hashed, operator), 0) + 1
        found.append(Candidate(path, operator, start, end, new, function, hashed, place))
    return found
