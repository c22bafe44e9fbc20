"""A mistake gets one line that says what to do, exit code 2, nothing on standard output and no file."""

import shlex
import sys

import numpy as np
import polars
import pytest

from textgauge.cli import main

WORDS = ["red", "green", "blue", "cat", "dog", "bird", "pay", "card", "bank", "loan", "fee", "tea"]
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS, 5)) + f" {n}" for n in range(40)]
GATE = "[check.drift]\nkind = 'drift'\nreference = 'A.txt'\ncandidate = 'A.txt'\nmetric = 'jsd@words'\nmax_rise = 0.1\n"
RATED = "left,right,score,second,set,word\n" + "".join(
    f"{a},{b},{n % 5},{'' if n % 9 == 0 else n % 4},{'wxyz'[n % 4]},text\n"
    for n, (a, b) in enumerate(zip(TEXTS, TEXTS[::-1], strict=True))
)
FILES = {
    "A.txt": "\n".join(TEXTS).encode(),
    "B.txt": "\n".join(TEXTS[:12]).encode(),
    "short.txt": b"one\ntwo\n",
    "empty.txt": b"",
    "one.txt": b"only one\n",
    "latin.txt": b"one\ncaf\xe9 caf\xc3\xa9\n",
    "same.txt": b"again\n" * 30,
    "zero.npy": b"",
    "qa.csv": b"id,question,answer\n1,red cat,blue dog\n2,old bird,new tea\n",
    "settings.json": b'{"lr": 0.1, "name": "run"}',
    "rated.csv": RATED.encode(),
    "once.csv": "\n".join(RATED.splitlines()[:2]).encode(),
    "stars.csv": b"text,stars\nred cat,good\nblue dog,bad\n",
    "labelled.csv": b"text,label\n" + b"".join(f"{text},{n % 3}\n".encode() for n, text in enumerate(TEXTS)),
    "summaries.csv": b"text,summary\nsome text,\nother text,\n",
    "odd.csv": b"text,label\na b,x\nc d,x\ne f,z\n",
    "gate.toml": GATE.encode(),
    "passages.toml": b"check.c = {kind='copies', generated='A.txt', train='B.txt', passage=8.7, max=0.1}",
    "damaged.json": b'{"format": "textgauge ensemble 1"}',
    "deep.json": b"[" * 5_000,
    **{f"steps/step-{n}.txt": "\n".join(TEXTS).encode() for n in (1, 2, 3)},
    "empty/.keep": b"",
    "beir/corpus.jsonl": b'{"_id": "d", "text": "red cat"}\n',
    "beir/queries.jsonl": b'{"_id": "q", "text": "cat"}\n',
    "beir/qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq\tnowhere\t1\n",
}
SHORT = {
    "KSC": "run ksc --source-a sample:cooking --source-b sample:travel -m jsd@words --out new",
    "CLUSTERING": "run clustering --labelled labelled.csv -m jaccard --out new",
    "AGREE": "run agreement --out new -m jaccard --pairs",
    "PARAPHRASES": "run distributionality --pairs labelled.csv --left text --right text -m cbdf@words --out new",
    "IFC": "run ifc -m jsd --out new --reference sample:banking",
    "ZWERDLING": "run zwerdling2021 --out new -p embedder=none",
    "TRAIN": "train ensemble --pairs rated.csv -m jaccard -o model.json --rating score",
    "TRAINED": "score A.txt A.txt -m",
    "DESCRIBE": "describe A.txt --embedder none --grammar none --plausibility none --lists lists",
    "RECOMMEND": "recommend --reference sample:cooking --candidate sample:travel -m jsd@words",
    "DRAW": "figures run --folder new",
}

# What was typed, and a part of the line that answers it. A word in capitals at the front is one of those above.
MISTAKES = """
compare A.txt qa.csv:anwser → did you mean 'answer'
compare A.txt qa.csv → name the column to read: 'question', 'answer'
compare A.txt Atxt → did you mean A.txt?
compare A.txt qa.cvs → did you mean qa.csv?
compare A.txt bankin77 → did you mean banking77
compare A.txt latin.txt → line 2 is not UTF-8 (byte 0xe9); name the encoding by --encoding
compare A.txt empty → give a file
compare A.txt splits → give one of them: splits/test, splits/train
compare A.txt → (see textgauge compare -h)
compare one.txt A.txt -m jsd@words → at least 2
compare same.txt A.txt -m jsd@words → one text 30 times
compare A.txt A.txt -m frd → did you mean
compare A.txt A.txt -m jsd@wrds → words
compare A.txt A.txt -m energy@minilmm → minilm
compare zero.npy fine.npy -m energy → zero.npy
compare narrow.npy fine.npy -m energy → dimensions
compare fine.npy fine.npy -m jsd@words → needs texts
compare fine.npy A.txt -m energy → cannot join
compare A.txt B.txt short.txt --approx 50 → several candidates does not take --approx
compare A.txt B.txt short.txt --parts --scheduler local:2 → several candidates does not take --scheduler
compare labelled.csv:text labelled.csv:text --by label --ci --approx 50 → --by does not take --approx
compare labelled.csv labelled.csv --by labl --column text → label
compare fine.npy fine.npy --paired → at least 8
compare A.txt A.txt -m jsd@words --atlas found.exe → .parquet
compare A.txt A.txt -m jsd@words -o nowhere/x.json → no folder nowhere
compare A.txt A.txt -m cosine@st:model → or `energy@st:model` for corpora
compare A.txt A.txt -m levenshtein@words → or `energy@levenshtein@words` for corpora
diff A.txt short.txt → 2 and 40
compare A.txt A.txt -m jsd@words --explain --top 0 → top
compar A.txt A.txt → Did you mean "compare"

score A.txt → two files
score missing.eval → no such file
score A.txt missing.txt → missing.txt
score A.txt short.txt → pairs need equal numbers
score A.txt A.txt --sumary → --summary
score A.txt A.txt -m jacard → jaccard
score A.txt A.txt -m fid → use `compare`
score A.txt A.txt -m bleu(order=x) → order=x
score A.txt A.txt -m bleu(colour=red) → its parameters
score A.txt A.txt --pairs rated.csv → not both
score --pairs rated.csv --left lefft --right right → left
score A.txt A.txt -m jaccard --left hyp → without --pairs does not take --left
score A.txt A.txt -m jaccard --baseline A.txt --parts → --baseline does not take --parts
score --reference A.txt --system copy → NAME=FILE
TRAINED ensemble@empty.txt → empty.txt
TRAINED ensemble@settings.json → settings.json
TRAINED ensemble@damaged.json → damaged.json
TRAINED ensemble@deep.json → deep.json

DESCRIBE --test A.txt → --test needs --train
DESCRIBE --near-copies 0.9 → --near-copies needs --train
DESCRIBE --against nowhere.txt → nowhere.txt
DESCRIBE --train A.txt --against A.txt → --against is for texts that are described by themselves
DESCRIBE --train A.txt --pick 3 → belong together
DESCRIBE --train A.txt --per-text x.xls → ending
DESCRIBE --train A.txt -o x.csv → extension "json"
DESCRIBE --train A.txt --test A.txt --near-copies 0.2 → similarity from 0.5 to 1, not 0.2
describe empty.txt --train A.txt → the file is empty
describe A.txt A.txt --train A.txt → is given twice
describe A.txt --train A.txt --test A.txt --embedder minilmm → did you mean minilm
describe stars.csv --train A.txt --column text --rating stars → 'good' is not a number
describe fine.npy --train A.txt → embeddings

check drift A.txt A.txt → has no bound
check drift A.txt A.txt --max few → --max is a number
check drift A.txt none.txt --max 1 → none.txt
check describe A.txt --train A.txt --min unique → written name=value
check none.toml → cannot be read
check gate.toml → store one with --update
check drift A.txt A.txt --max 1 --junit nowhere/x.xml → no folder nowhere

run nothing --out new → unknown suite or protocol 'nothing'
run ksc --out new → --source-a and --source-b
run ksc-quick -n 5 --out new → sets its own
run ksc --labelled labelled.csv -m jaccard --out new → ksc does not read --labelled
KSC --source-a none.txt → none.txt
KSC -k 2 → k=2 must be at least 3
KSC -k many → k=many is not a whole number
KSC -m jsdd@words → did you mean jsd
KSC -m bleu → scores pairs of texts
KSC -p draw → name=value
KSC -p draw=odd → draw=odd is not one of spread, disjoint, lottery
KSC -p colour=red → has no parameter 'colour'
KSC --steps steps → not read --steps
KSC --out A.txt → cannot write
run clustering --out new → clustering needs --labelled
run alignment --out new → alignment needs --rated or --comparisons
CLUSTERING --columns label=nothing → nothing
CLUSTERING --columns summary=label → clustering has no column summary
CLUSTERING --labelled odd.csv → needs two labels that occur twice, there is only 'x'
run sensitivity --documents labelled.csv --columns text --out new → written name=value
run sensitivity --documents odd.csv -m jaccard --out new → documents of 20 tokens or more
run robustness --documents summaries.csv -m jaccard --out new → 2 of 2 lines have an empty summary
run retrieval --beir A.txt -m jaccard --out new → a retrieval set is a folder
run retrieval --beir beir -m jaccard --out new → 1 of 1 judgements
AGREE none.csv --rating r → none.csv
AGREE rated.csv → --rating
AGREE rated.csv --rating points → no column 'points'
AGREE rated.csv --rating word → line 2: column 'word' holds 'text'
AGREE rated.csv --rating second → line 2: column 'second'
AGREE rated.csv --rating score --set q → no column 'q'
AGREE once.csv --rating score → at least two rated pairs, not 1
AGREE sample:graded --rating r → brings its own ratings
AGREE sample:graded -p ratings=single → several ratings
AGREE sample:graded --only a=1 → agreement does not read --only
run yamshchikov2020 --pairs sample:graded --out new → sets its own data
run distributionality -m jsd@words --out new → distributionality needs paraphrases: --pairs
run distributionality-quick --pairs rated.csv --out new → sets its own data and parameters
PARAPHRASES --only label=7 → no line has '7' in column 'label'
PARAPHRASES --only label → rows are chosen with column=value, not 'label'
PARAPHRASES --rating label → does not read --rating
run ifc --steps steps -m jsd --out new → ifc needs --steps
IFC --steps nowhere → is not a folder
IFC --steps steps --source-a A.txt → does not read --source-a
IFC --steps steps -n 200 → step-001 has 40 texts
ZWERDLING -m fid → no metrics
ZWERDLING --dry-run → no metrics
ZWERDLING -p size=3 → its parameters: n, lm, many, limit
ZWERDLING -p sources=phones → did you mean phone

reproduce → name one paper
reproduce kour2022 → clinc150
reproduce usmb --table 5 --out new → no table '5' here
reproduce yamshchikov2020 --table 9 → no table '9'
reproduce yamshchikov2020 --variant paper → --variant is definition or both
leaderboard none → no such run
leaderboard run --on kendall → a leaderboard without --tests does not take --on
leaderboard run --detail --scope texts → --detail does not take --scope
leaderboard run --tests --measures accuracy → --tests does not take --measures
leaderboard run --measures beauty → no measure 'beauty'
leaderboard run --weights accuracy → accuracy
leaderboard run --weights beauty=1 → beauty
leaderboard run --weights accuracy=inf → finite
leaderboard run --ties never → never
leaderboard run --tests → on rated pairs
leaderboard rated --tests → two metrics
leaderboard rated --tests --on taste → one of pearson
leaderboard rated --ceiling → several ratings of each pair
DRAW --kind pie → no figure 'pie'; choose among order, scatter
DRAW --kind , → choose among order
DRAW --type gif → no format 'gif'; choose among html, svg, png
DRAW -m zipf → no metric 'zipf'; it has cbdf@words, jsd@words
DRAW --kind size → nothing to draw as size
DRAW --kind tree --repetition 3 → nothing to draw as tree
figures none --folder new → no such run
figures run --folder A.txt --kind box → A.txt: File exists
figures run → missing --folder (see textgauge figures -h)
report none -o page.html → no such run
report qa.csv -o page.html → neither a saved result nor a table of texts
report none.json -o page.html → no such file
report run -o A.txt/page.html → cannot write
report run -o nowhere/page.html → no folder nowhere
recommend → give two corpora
recommend --reference sample:cooking → give two corpora
recommend --reference nowhere.txt --candidate sample:travel → nowhere.txt
recommend --task alignment --data x → axis and comparisons
RECOMMEND --effort endless → effort
RECOMMEND --effect 2 → the effect is a share
RECOMMEND -o nowhere/answer.md → no folder nowhere
RECOMMEND -o answer.pdf → a file that ends in .md, .json, .html

TRAIN --scale one → two numbers
TRAIN --scale 2,3 → outside the scale
TRAIN --rating word → line 2
TRAIN --rating scores → score
TRAIN --set sets → set
TRAIN --pairs missing.csv → missing.csv
TRAIN -m fid → use `compare`
TRAIN -m judge → cannot be a feature
TRAINED blend.cosine@mpnet → blend has no input to choose
check passages.toml → a whole number of words, not 8.7
compare equal.npy fine.npy -m energy → one vector 8 times
TRAIN -o A.txt/model.json → cannot write
generate eda missing.txt -o x.txt → missing.txt
generate eda A.txt -o x.docx → .txt, .csv, .jsonl
generate eda A.txt -o nowhere/x.txt → no folder nowhere
generate eda A.txt -o x.txt --p-rd 3 → p_rd is a share
generate vae A.txt -o x.txt --param hiden=3 → no setting 'hiden'
generate vae A.txt -o x.txt --param hidden=big → is a number
generate lm A.txt -o x.txt --param rank=0 → rank and batch
generate lm A.txt -o x.txt --top-p 0 → top_p
generate lm A.txt -o x.txt --model some/model → smollm2 or hf:NAME
generate conditional A.txt -o x.csv --n 2 → has no labels
generate steps A.txt --folder steps --model rnn → smollm2 or hf:NAME
"""
ROWS = [line.split(" → ") for line in MISTAKES.splitlines() if line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What people have in a folder, and two small runs."""
    made = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (made / name).parent.mkdir(exist_ok=True, parents=True)
        (made / name).write_bytes(content)
    for split in ("train", "test"):
        (made / "splits" / split).mkdir(parents=True)
        polars.DataFrame({"text": TEXTS}).write_ipc_stream(made / "splits" / split / "data.arrow")
    for name, rows in {"fine": np.eye(4), "narrow": np.eye(3), "equal": np.ones((8, 4))}.items():
        np.save(made / f"{name}.npy", rows)
    sources = "--source-a sample:cooking --source-b sample:travel -m jsd@words,cbdf@words"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for words in (
            f"run ksc {sources} -k 4 -n 8 --repetitions 2 --out run -q",
            "run agreement --pairs sample:graded --limit 40 -m jaccard --out rated -q",
        ):
            patch.setattr(sys, "argv", ["textgauge", *words.split()])
            with pytest.raises(SystemExit) as stop:
                main()
            assert not stop.value.code
    return made


@pytest.mark.parametrize(("typed", "answer"), ROWS, ids=[typed for typed, _ in ROWS])
def test_a_mistake_gets_one_line_that_says_what_to_do(run, folder, monkeypatch, typed, answer):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TEXTGAUGE_DATA", str(folder / "nothing"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    before = set(folder.rglob("*"))
    first, _, rest = typed.partition(" ")
    code, out, err = run(*shlex.split(f"{SHORT.get(first, first)} {rest}"))
    lines = [line for line in err.splitlines() if not line.startswith("warning:")]
    assert (code, out, len(lines)) == (2, "", 1), err
    assert lines[0].startswith("textgauge: ")
    assert answer in lines[0]
    assert set(folder.rglob("*")) == before
