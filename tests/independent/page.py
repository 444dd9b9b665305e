"""matrix.html by another reader: well-formed, self-contained, reachable by keyboard and screen
reader, and the same faults planted are seen."""

import html.parser
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

VOID = {"meta"}
BENCH = """
[target.api]
mock = { latency = "5ms" }
[scenario.get]
get = "/"
[load.steady]
users = 2
warmup = "100ms"
measure = "1200ms"
[factors.latency]
base = {}
slower = { target.mock.latency = "8ms" }
null = "base"
[matrix]
blocks = 2
[gates]
window = "1s"
requests = 1
"""


class Page(html.parser.HTMLParser):
    """Elements in order, with every fault on the way."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.open, self.elements, self.texts = [], [], [], {}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}")
        elif tag not in VOID:
            self.open.pop()

    def handle_data(self, text):
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + text


def faults(text):
    """Everything that is wrong with a page."""
    page = Page()
    page.feed(text)
    page.close()
    found = page.faults + [f"<{tag}> is open" for tag, _ in page.open]
    try:
        xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])
    except xml.etree.ElementTree.ParseError as error:
        found.append(f"no well-formed XML: {error}")
    ids = [a["id"] for _, a in page.elements if "id" in a]
    found += [f"id {one} twice" for one in sorted({i for i in ids if ids.count(i) > 1})]
    level = 0
    for tag, attributes in page.elements:
        if tag in {"script", "link", "img", "iframe", "object", "embed", "base", "form"}:
            found.append(f"<{tag}>")
        for name, value in attributes.items():
            if name in {"src", "srcset", "style", "action", "background"} or name.startswith("on"):
                found.append(f"{name}={value}")
            if name in {"href", "xlink:href"} and not value.startswith("#"):
                found.append(f"{name}={value}")
            if "url(" in (value or ""):
                found.append(f"{name}={value}")
        named = attributes.get("aria-labelledby", "").split()
        if attributes.get("href", "").startswith("#"):
            named.append(attributes["href"][1:])
        found += [f"no id {name}" for name in named if name not in ids]
        if tag == "svg" and attributes.get("aria-hidden") != "true":
            if attributes.get("role") != "img" or len(named) != 2:
                found.append(f"a drawing without name and description: {attributes}")
            found += [f"{name} says nothing" for name in named if not page.texts.get(name, "").strip()]
        if tag == "figure" and attributes.get("tabindex") != "0":
            found.append("a figure that the keyboard does not reach")
        if tag == "th" and attributes.get("scope") not in {"row", "col"}:
            found.append("a header of a table without scope")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            if int(tag[1]) > level + 1:
                found.append(f"{tag} follows h{level}")
            level = int(tag[1])
    if [tag for tag, _ in page.elements].count("figure") != 6:
        found.append("not six figures")
    return found


assay = pathlib.Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory() as directory:
    pathlib.Path(directory, "bench.toml").write_text(BENCH)
    subprocess.run([assay, "-q", "run", "bench.toml", "--label", "page"], cwd=directory,
                   stdout=subprocess.DEVNULL, check=False)
    text = pathlib.Path(directory, "results/page/matrix.html").read_text()

found = faults(text)
if found:
    sys.exit("\n".join(found))
plants = [
    ("<h2", "<script>1</script><h2"),
    ("<figure", "<img src=\"x\"/><figure"),
    ("</figure>", ""),
    (' tabindex="0" role="group"', ' role="group"'),
    ('role="img"', 'role="none"'),
    ('href="#answer"', 'href="https://example.org/"'),
    ('<th scope="col"', "<th"),
    ("<h3", "<h4"),
    ('id="doubts"', 'id="answer"'),
]
for old, new in plants:
    if old not in text:
        sys.exit(f"nothing to plant at: {old}")
    if not faults(text.replace(old, new, 1)):
        sys.exit(f"planted and not seen: {new}")
print(f"a page of {len(text)} bytes is sound, and {len(plants)} planted faults are seen")
