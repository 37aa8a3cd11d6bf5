"""Pictures of what is wrong, made of characters: their shapes carry the meaning, colours repeat it.

Renderables for rich, pure functions of a report. They fit 40 columns, and a pipe.
"""
