"""Turns of speech from public texts: what people say, as a recognizer without punctuation would write it.

A turn is a list of (token, gap) pairs: `gap` says what follows the token: 0 nothing, 1 a comma, semicolon or dash,
2 the end of a sentence within the turn. `SOURCES.md` lists the texts and their licences.
"""
import glob, html, io, json, os, re, subprocess, zipfile

HELD_OUT = ("the-mysterious-affair-at-styles", "an-ideal-husband", "a-room-with-a-view", "candida", "sherlock-holmes/",
            "captain-nemo/")
WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*|[\u3400-\u9fff]")
MARKS = re.compile(r"[a-z0-9]+(?:'[a-z]+)*|[\u3400-\u9fff]|[.!?。！？]|[,;:—、，；：]|…")
ABBREVIATIONS = re.compile(r"\b(mr|mrs|ms|dr|st|prof|capt|jr|sr|no|vs|etc|esq|hon|rev|gen|col|sgt)\.")


def show(repository, path):
    return subprocess.run(["git", "-C", repository, "show", "HEAD:" + path], capture_output=True, check=True).stdout


def paths(repository):
    names = subprocess.run(["git", "-C", repository, "ls-tree", "-r", "--name-only", "-z", "HEAD"], capture_output=True,
                           check=True).stdout.decode()
    return names.split("\0")


def tokens(text):
    """Lower case, without marks; each token with what follows it."""
    text = text.lower().replace("\u2019", "'").replace("\u2060", "").replace("--", "—").replace("–", "—")
    text = ABBREVIATIONS.sub(r"\1", text)
    found = []
    for piece in MARKS.findall(text):
        if WORD.fullmatch(piece):
            found.append([piece, 0])
        elif found:
            found[-1][1] = max(found[-1][1], 2 if piece in ".!?。！？" else 1)
    return found


def asks(text):
    return bool(re.search(r"[?？]\W*$", text))


def plain(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).replace("\n", " ").strip()


def hangs(text):
    """A speech that its author broke off is no end of a turn."""
    return bool(re.search(r"(?:[—–-]|…|\.\.\.)\W*$", text))


def book_turns(markup):
    """Speeches of plays; quoted speeches of novels, joined over "said he"; sentences of the narration."""
    for cell in re.findall(r'<tr>\s*<td epub:type="z3998:persona">.*?</td>\s*<td>(.*?)</td>\s*</tr>', markup, re.S):
        speech = plain(re.sub(r'<i epub:type="z3998:stage-direction">.*?</i>', "", cell, flags=re.S))
        yield "speech", speech
    for paragraph in re.findall(r"<p>(.*?)</p>", markup, re.S):
        text = plain(paragraph)
        quoted = re.findall(r"“([^”]*)”?", text)
        if quoted:
            yield "speech", " ".join(quoted)
        else:
            for group in re.findall(r"(?:[^.!?]+[.!?]+\s*){1,2}", text):
                yield "prose", group


def books(sources):
    for repository in sorted(glob.glob(os.path.join(sources, "standardebooks+*", "repo"))):
        name = os.path.basename(os.path.dirname(repository))
        for path in paths(repository):
            if re.search(r"src/epub/text/(chapter|act|part|[a-z])", path) and not re.search(
                    r"(colophon|imprint|uncopyright|titlepage|dedication|halftitle|preface|endnotes|loi)", path):
                before = ""
                for kind, text in book_turns(show(repository, path).decode()):
                    yield name, "en", kind, before, text
                    before = text if kind == "speech" else ""


def dialogue(name, language, lines):
    before = ""
    for line in lines:
        yield name, language, "talk", before, line
        before = line


def talks(sources):
    taskmaster = os.path.join(sources, "google-research-datasets+Taskmaster", "repo")
    for path in [path for path in paths(taskmaster) if path.startswith("TM-4-2024/data/")]:
        for index, talk in enumerate(json.loads(show(taskmaster, path))):
            if index % 2 == 0:
                yield from dialogue("taskmaster-4 " + path, "en", [one.get("text", "") for one in talk["utterances"]])
    kdconv = os.path.join(sources, "thu-coai+KdConv", "repo")
    for path in [path for path in paths(kdconv) if re.fullmatch(r"data/\w+/(dev|test).json", path)]:
        for talk in json.loads(show(kdconv, path)):
            name = "kdconv held-out" if path == "data/travel/test.json" else "kdconv"
            yield from dialogue(name, "zh", [one["message"] for one in talk["messages"]])
    crosswoz = os.path.join(sources, "thu-coai+CrossWOZ", "repo")
    for part in ("val", "test"):
        archive = zipfile.ZipFile(io.BytesIO(show(crosswoz, "data/crosswoz/%s.json.zip" % part)))
        for talk in json.loads(archive.read(archive.namelist()[0])).values():
            yield from dialogue("crosswoz", "zh", [one["content"] for one in talk["messages"]])


def packs(characters):
    """What users ask and characters reply in this project's own packs."""
    for path in sorted(glob.glob(os.path.join(characters, "*", "lines.jsonl"))):
        name = os.path.basename(os.path.dirname(path)) + "/"
        language = "zh" if "wukong" in name else "en"
        for line in open(path, encoding="utf8"):
            line = json.loads(line)
            for text in line.get("asks", []):
                yield name, language, "talk", "", text
            if "reply" in line:
                yield name, language, "talk", line.get("asks", [""])[0], line["reply"]


def rolebench(file):
    for line in open(file, encoding="utf8"):
        line = json.loads(line)
        yield "rolebench", "zh", "talk", "", line["question"]
        for answer in line["generated"]:
            yield "rolebench", "zh", "talk", line["question"], answer


def held_out(name):
    return "held-out" in name or any(part in name for part in HELD_OUT)


def turns(sources, characters, rolebench_file=None):
    """Yields (document, language, kind, context, turn)."""
    readers = [books(sources), talks(sources), packs(characters)]
    if rolebench_file:
        readers.append(rolebench(rolebench_file))
    for reader in readers:
        for name, language, kind, before, text in reader:
            turn = tokens(text)
            if turn and not hangs(text):
                yield name, language, kind, before, turn
