"""Profiles in pprof's format, written by the tests."""

HEAP = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out + bytes([v]))


def take(data, at):
    """A number at a place, and the place behind it."""
    v = shift = 0
    while True:
        v |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return v - (1 << 64 if v >> 63 else 0), at


def numbers(data):
    """What is packed."""
    at = 0
    while at < len(data):
        v, at = take(data, at)
        yield v


def fields(data):
    """(field, number or bytes) of a message."""
    at = 0
    while at < len(data):
        key, at = take(data, at)
        v, at = take(data, at)
        if key & 7 == 2:
            v, at = data[at : at + v], at + v
        yield key >> 3, v


def number(field, v):
    return varint(field << 3) + varint(v)


def part(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class Profile:
    def __init__(self, types=HEAP, period=1):
        self.texts, self.parts, self.functions, self.locations, self.mappings = [""], [], 0, 0, 0
        for type_unit in types:
            self.parts.append(part(1, self.value_type(*type_unit)))
        self.parts.append(part(11, self.value_type("space", "bytes")) + number(12, period))

    def time(self, ns):
        """When it is written, since the Unix epoch."""
        self.parts.append(number(9, ns))

    def text(self, s):
        if s not in self.texts:
            self.texts.append(s)
        return self.texts.index(s)

    def value_type(self, kind, unit):
        return number(1, self.text(kind)) + number(2, self.text(unit))

    def function(self, name, file="a.go"):
        self.functions += 1
        self.parts.append(part(5, number(1, self.functions) + number(2, self.text(name)) + number(4, self.text(file))))
        return self.functions

    def mapping(self, start, offset, file):
        self.mappings += 1
        at = number(1, self.mappings) + number(2, start) + number(3, start + 0x10000) + number(4, offset)
        self.parts.append(part(3, at + number(5, self.text(file))))
        return self.mappings

    def location(self, *functions, mapping=0, address=0):
        self.locations += 1
        lines = b"".join(part(4, number(1, f) + number(2, 10)) for f in functions)
        self.parts.append(part(4, number(1, self.locations) + number(2, mapping) + number(3, address) + lines))
        return self.locations

    def sample(self, locations, values, packed=True, label=True):
        if packed:
            content = part(1, b"".join(map(varint, locations))) + part(2, b"".join(map(varint, values)))
        else:
            content = b"".join(number(1, v) for v in locations) + b"".join(number(2, v) for v in values)
        if label:
            content += part(3, number(1, self.text("bytes")) + number(3, 64))
        self.parts.append(part(2, content))

    def bytes(self, names=True):
        return b"".join(self.parts) + b"".join(part(6, s.encode()) for s in self.texts if names)
