"""Pairs of texts in our own words, on which pair metrics are held against the libraries people trust."""

PAIRS = [
    ("The old bridge was closed for repairs last winter.", "Last winter the old bridge was closed for repair work."),
    ("the cat sat on the mat", "the cat sat on the mat"),
    ("A dog barked.", "A dog barked loudly at the postman who came by bicycle."),
    ("She didn't pay the bill, did she?", "She did not pay her bill."),
    ("What's the fastest way to the airport?", "How do I get to the airport as quickly as possible?"),
    ("he he he laughed and laughed", "he laughed"),
    ("Prices rose by 3.5% in 2021, to $1,200.", "In 2021 prices went up 3.5 per cent (to 1200 dollars)."),
    ("I love this place!!!", "i hate this place..."),
    ("one two three four five six", "six five four three two one"),
    ("The children were running happily through fields", "A child runs through a happy field"),
    ("Buy a large automobile", "Purchase a big car"),
    ("completely unrelated words here", "nothing matches that sentence"),
    ("yes", "no"),
    ("word", "word"),
    ("It's 'quoted' -- and hyphen-ated; e.g. this & that.", 'It is "quoted" - and hyphenated: e.g., this and that'),
    ("Rain fell all day and all night and all the next day", "All day and all night rain fell, and the next day too"),
]

SCRIPTS = [
    ("मैं कल बाज़ार गया था", "मैं आज बाज़ार जाऊँगा"),
    ("今天天气很好，我们去公园。", "今天的天气不错，去公园吧。"),
    ("ذهبت إلى السوق أمس", "سأذهب إلى السوق غدا"),
    ("café au lait", "cafe\u0301 au lait"),
    ("Größe und Straße", "GRÖSSE und STRASSE"),
    ("👍🏽 great 😀", "great 👍🏽"),
]

REFERENCES = [
    ("the committee met on monday", ["the committee met monday", "on monday the committee had its meeting"]),
    ("a man plays the guitar", ["a man is playing a guitar", "someone plays guitar", "the man plays the guitar"]),
    ("it was cold", ["the weather was freezing"]),
]

LEFT, RIGHT = ([pair[side] for pair in PAIRS + SCRIPTS] for side in (0, 1))
