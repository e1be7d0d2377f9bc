"""What a model becomes outside: for now, sentences."""

from tellapart.export.text import Words, name_of, plainly, sentences, to_text

__all__ = ["Words", "name_of", "plainly", "sentences", "to_text"]
