"""Jobs of a first day: those that people try without reading, and four in other scripts, with the first line of each.

python -m benchmarks.jobs            runs them in a new folder, on built-in samples
python -m benchmarks.jobs 3 zh       runs some of them
"""

import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from textgauge.data import load_pairs, load_texts

WORDS = {  # common words of two topics
    "zh": (
        "银行 账户 转账 余额 密码 信用卡 贷款 利息 存款 取款 手续费 柜台",
        "猫 狗 森林 河流 高山 小鸟 飞翔 青草 花朵 大树 春天 雨水",
    ),
    "th": (
        "ธนาคาร บัญชี โอนเงิน ยอดเงิน รหัส บัตร เงินกู้ ดอกเบี้ย ฝากเงิน ถอนเงิน",
        "แมว หมา ป่า แม่น้ำ ภูเขา นก บิน หญ้า ดอกไม้ ต้นไม้",
    ),
    "ar": ("البنك حساب تحويل رصيد بطاقة قرض فائدة إيداع سحب رسوم", "قط كلب غابة نهر جبل طائر عشب زهرة شجرة مطر"),
    "hi": ("बैंक खाता अंतरण शेष कार्ड ऋण ब्याज जमा निकासी शुल्क", "बिल्ली कुत्ता जंगल नदी पहाड़ पक्षी घास फूल पेड़ बारिश"),
}
JOBS = {
    "1": ("Do synthetic texts look like real ones?", "compare real.csv synthetic.csv"),
    "2": (
        "Which output is nearest to the references?",
        "score --reference ref.txt sys_0.txt sys_1.txt sys_2.txt",
    ),
    "3": ("Is the new prompt worse?", "score sys_2.txt ref.txt --baseline sys_0.txt"),
    "4": ("Does my judge agree with people?", "judge rated.csv --judge judge --rating human"),
    "5": ("May this build pass?", "check drift real.txt synthetic.txt --max-ratio 3"),
    "6": ("Did my model copy?", "describe synthetic.txt --train train.txt --test real.txt --grammar none"),
    "7": ("Which metric for my rated pairs?", "recommend --pairs rated.csv --rating human -m chrf,bleu,rouge1,jaccard"),
    "8": ("Which label changed?", "compare real.csv synthetic.csv --by label"),
    "9": ("My own vectors", "compare a.npy b.npy"),
    "9b": ("My own model", "python own_model.py"),
    "10": ("A cell of a notebook", "python notebook.py"),
    "11": ("A test of my own", "python -m pytest -q test_gauge.py"),
    "12": ("Data frames", "python frames.py"),
    "13": ("Many texts", "compare many_a.txt many_b.txt -m energy@wordllama,jsd@words"),
    "14": ("Through a pipe", "compare real.txt -"),
    "15": ("A table for a paper", "compare real.txt synthetic.txt -f latex"),
    "chats": ("Chats", "compare chats.jsonl real.txt --text messages[-1].content"),
    "nested": ("Nested objects", "describe chats.jsonl --text meta.text --grammar none"),
} | {name: (f"Another script: {name}", f"compare {name}_a.txt {name}_b.txt") for name in WORDS}
SCRIPTS = {
    "own_model.py": """
import textgauge as tg
real, synthetic = (open(name).read().splitlines() for name in ("real.txt", "synthetic.txt"))
print(tg.compare(real, synthetic, embedder=lambda texts: [[len(text), text.count(" ")] for text in texts]))
""",
    "notebook.py": """
import textgauge as tg
print(repr(tg.score("sys_2.txt", "ref.txt", baseline="sys_0.txt", limit=100)))
""",
    "test_gauge.py": """
def test_the_new_texts_are_like_the_old_ones(gauge):
    gauge.same_source("real.txt", "synthetic.txt", max_ratio=1.5)
""",
    "frames.py": """
import polars as pl
import textgauge as tg
real, synthetic = (pl.read_csv(f"{name}.csv")["text"] for name in ("real", "synthetic"))
print(tg.compare(real, synthetic).answer)
""",
}


def write_files(folder: Path) -> None:
    """Write what the jobs read."""
    for name, script in SCRIPTS.items():
        (folder / name).write_text(script, "utf-8")
    draw = random.Random(0)
    real, other = (load_texts(f"sample:{name}", limit=400) for name in ("banking", "travel"))
    synthetic = [*real.texts[200:340], *other.texts[:60]]
    lines = {"real": real.texts[:200], "synthetic": synthetic, "train": real.texts[200:]}
    for name, texts in lines.items():
        (folder / f"{name}.txt").write_text("\n".join(texts), "utf-8")
    labels = ["cards" if "card" in text else "others" for text in (*real.texts[:200], *synthetic)]
    for name, texts, marks in (("real", real.texts[:200], labels[:200]), ("synthetic", synthetic, labels[200:])):
        write_table(folder / f"{name}.csv", ["text", "label"], zip(texts, marks, strict=True))
    pairs = load_pairs("sample:graded", limit=240)
    (folder / "ref.txt").write_text("\n".join(pairs.right), "utf-8")
    for number in range(3):  # systems that lose more and more words
        kept = (" ".join(w for w in text.split() if draw.random() > 0.2 * number) or "-" for text in pairs.right)
        (folder / f"sys_{number}.txt").write_text("\n".join(kept), "utf-8")
    judged = [min(3, max(0, int(grade) + draw.choice([-1, 0, 0, 1]))) + 1 for grade in pairs.grade or ()]
    rows = zip(pairs.left, pairs.right, [int(grade) + 1 for grade in pairs.grade or ()], judged, strict=True)
    write_table(folder / "rated.csv", ["left", "right", "human", "judge"], rows)
    chats = [
        {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}]} for text in synthetic
    ]
    rows = (json.dumps({**chat, "meta": {"text": text}}) for chat, text in zip(chats, synthetic, strict=True))
    (folder / "chats.jsonl").write_text("\n".join(rows), "utf-8")
    for name, topics in WORDS.items():
        between = "" if name in ("zh", "th") else " "
        for side, words in zip("ab", topics, strict=True):
            texts = (between.join(draw.choices(words.split(), k=8)) for _ in range(100))
            (folder / f"{name}_{side}.txt").write_text("\n".join(texts), "utf-8")
    for side, texts in (("a", real.texts), ("b", other.texts)):
        many = (f"{draw.choice(texts)} {number}" for number in range(60_000))
        (folder / f"many_{side}.txt").write_text("\n".join(many), "utf-8")
    import numpy as np

    for side, shift in (("a", 0.0), ("b", 0.4)):
        np.save(folder / f"{side}.npy", np.random.default_rng(ord(side)).normal(shift, 1.0, (200, 16)))


def write_table(path: Path, head: list[str], rows) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def main(*chosen: str) -> None:
    """Run jobs and print question, command, seconds and first line of each."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        for job, (question, command) in JOBS.items():
            if chosen and job not in chosen:
                continue
            start = time.perf_counter()
            piped = (Path(name) / "synthetic.txt").read_bytes() if command.endswith(" -") else None
            is_script = command.startswith("python ")
            shown = command if is_script else f"textgauge {command}"
            words = [sys.executable, *shown.removeprefix("python ").split()] if is_script else []
            words = words or [sys.executable, "-m", "textgauge", *command.split()]
            done = subprocess.run(words, cwd=name, input=piped, capture_output=True, check=False)
            said = (done.stdout or done.stderr).decode().strip().splitlines() or ["nothing"]
            failed = [line for line in said if line.startswith("E  ")]  # what a test says
            print(f"{job}. {question}\n   {shown}\n   {(failed or said)[0]}")
            print(f"   exit code {done.returncode}, {time.perf_counter() - start:.0f} s\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
