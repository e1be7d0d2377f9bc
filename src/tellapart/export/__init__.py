"""What a model becomes outside: SQL, Python, sentences, pictures, files."""

from tellapart.export.sql import to_sql
from tellapart.export.text import Words, name_of, plainly, sentences, to_text

__all__ = ["Words", "name_of", "plainly", "sentences", "to_sql", "to_text"]
