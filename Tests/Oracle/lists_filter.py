"""A part of the filter language of `--where`: comparisons, in, contains, beginsWith, endsWith, && || !, parentheses."""

import re

from lists_values import NotAKey, at_path, instant, order

TOKENS = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<date>@'[^']*')
    | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<sign>\[[cC]\]|&&|\|\||==|!=|<=|>=|[=<>!(){}\[\],])
    | (?P<quoted>`[^`]+`)
    | (?P<word>\$?[^\W\d][\w.$]*)
    )""",
    re.VERBOSE,
)
WORDS = {"and": "&&", "or": "||", "not": "!", "in": "in"}
CONSTANTS = {"true": True, "false": False, "null": None, "nil": None}
STRINGS = {
    "contains": lambda whole, part: part in whole,
    "beginswith": lambda whole, part: whole.startswith(part),
    "endswith": lambda whole, part: whole.endswith(part),
}
ORDERS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Date(tuple):
    """An instant in a filter; the value on the other side is read as an instant too."""


def tokens(text):
    found, place = [], 0
    while text[place:].strip():
        match = TOKENS.match(text, place)
        if not match:
            raise ValueError("no filter at %r" % text[place:])
        kind = match.lastgroup
        found.append((kind, match.group(kind)))
        place = match.end()
    return found


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def equal(a, b):
    """Two-valued equality: null equals only null; arrays and objects equal nothing."""
    try:
        return order(a) == order(b)
    except NotAKey:
        return False


def ordered(sign, a, b):
    try:
        a, b = order(a), order(b)
    except NotAKey:
        return False
    return a[0] == b[0] != 0 and ORDERS[sign](a, b)


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)

    def peek(self):
        kind, text = self.tokens[0] if self.tokens else (None, None)
        return WORDS.get(text.lower(), text) if kind == "word" else text

    def take(self, *wanted):
        if self.peek() is not None and self.peek() in wanted:
            return self.tokens.pop(0)[1]
        return None

    def need(self, *wanted):
        if not self.take(*wanted):
            raise ValueError("expected %s, not %r" % (" or ".join(wanted), self.peek()))

    def either(self):
        sides = [self.both()]
        while self.take("||"):
            sides.append(self.both())
        return lambda row: any(side(row) for side in sides)

    def both(self):
        sides = [self.one()]
        while self.take("&&"):
            sides.append(self.one())
        return lambda row: all(side(row) for side in sides)

    def one(self):
        if self.take("!"):
            inner = self.one()
            return lambda row: not inner(row)
        if self.take("("):
            inner = self.either()
            self.need(")")
            return inner
        return self.comparison()

    def comparison(self):
        left = self.operand()
        sign = self.operator()
        if sign == "in":
            choices = self.choices()
            return lambda row: any(equal(left(row), choice(row)) for choice in choices)
        right = self.operand()
        return lambda row: compared(sign, left(row), right(row))

    def operator(self):
        if not self.tokens:
            raise ValueError("the filter ends early")
        sign = (self.peek() or "").lower()
        self.tokens.pop(0)
        ignoring = bool(self.take("[c]", "[C]"))
        if sign not in ORDERS and sign not in STRINGS and sign not in ("==", "=", "!=", "in"):
            raise ValueError("no operator: %r" % sign)
        return sign + "[c]" * ignoring

    def choices(self):
        self.need("{", "[")
        found = []
        while not self.take("}", "]"):
            found.append(self.operand())
            self.take(",")
        return found

    def operand(self):
        if not self.tokens:
            raise ValueError("the filter ends early")
        kind, text = self.tokens.pop(0)
        if kind == "word" and text.lower() in CONSTANTS:
            return always(CONSTANTS[text.lower()])
        if kind == "word":
            return lambda row: own_or_field(row, text)
        if kind == "quoted":
            return lambda row: row["fields"].get(text[1:-1])
        if kind == "text":
            return always(unescaped(text))
        if kind == "date":
            return always(Date(instant(text[2:-1])))
        if kind == "number":
            return always(float(text) if re.search("[.eE]", text) else int(text))
        raise ValueError("no value: %r" % text)


def always(value):
    return lambda row: value


def own_or_field(row, name):
    return row[name[1:]] if name.startswith("$") else at_path(row["fields"], name)


def moment(value):
    """The instant that a text gives, or an integer: nanoseconds since 1970."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**64:
        return (value // 10**9, ("%09d" % (value % 10**9)).rstrip("0"))
    return instant(value)


def compared(sign, a, b):
    if isinstance(a, Date) or isinstance(b, Date):
        a, b = (side if isinstance(side, Date) else moment(side) for side in (a, b))
        a, b = (None if side is None else "%020d%s" % (side[0] + 10**12, side[1]) for side in (a, b))
    if sign.endswith("[c]"):
        sign = sign[:-3]
        a, b = (side.casefold() if isinstance(side, str) else side for side in (a, b))
    if sign in STRINGS:
        return isinstance(a, str) and isinstance(b, str) and STRINGS[sign](a, b)
    if sign in ORDERS:
        return ordered(sign, a, b)
    return equal(a, b) == (sign != "!=")


def predicate(text):
    """A function of a row {"id", "revision", "section", "fields"}."""
    parser = Parser(text)
    found = parser.either()
    if parser.tokens:
        raise ValueError("more than a filter: %r" % parser.peek())
    return found
