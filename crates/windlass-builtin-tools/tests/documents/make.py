"""Writes the documents beside it, with real programs: reportlab, pypdf, Pillow and nbformat.

    pip install reportlab pypdf pillow nbformat cryptography && python3 make.py

`files/documents.rs` says of each what Read must show of it, or why it must refuse it.
"""

import io
import json
import pathlib
import random
import struct
import zlib

import nbformat
import reportlab
from nbformat import v3, v4
from PIL import Image, ImageDraw
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

HERE = pathlib.Path(__file__).parent
random.seed(1)


def put(name, content):
    (HERE / name).write_bytes(content)


def pdf(draw, pages=1, size=A4, **options):
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=size, invariant=1, **options)
    for number in range(1, pages + 1):
        draw(page, number)
        page.showPage()
    page.save()
    return out.getvalue()


def hello(page, number):
    page.drawString(72, 720, f"Hello from page {number}")
    page.drawString(72, 700, "A second line")


def paragraphs(page, _):
    text = page.beginText(72, 720)
    for line in ["First of three lines", "second of three", "third"]:
        text.textLine(line)
    page.drawText(text)


def columns(page, _):
    for at, words in enumerate(["left column", "right column"]):
        page.drawString(72 + 250 * at, 700, words)


def kerned(page, _):
    text = page.beginText(72, 720)
    text.setCharSpace(2)
    text.textOut("spaced out ")
    text.setFont("Times-Italic", 14)
    text.textOut("and italic")
    page.drawText(text)


def true_type(page, _):
    page.setFont("Vera", 12)
    page.drawString(72, 720, "Grüße, naïve café – Ω?")


def rotated(page, _):
    page.rotate(90)
    page.drawString(100, -100, "turned by ninety degrees")


def picture(page, _):
    image = Image.new("RGB", (40, 40), "red")
    page.drawInlineImage(image, 72, 600)


def rewritten(content, change):
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def pdfs():
    fonts = pathlib.Path(reportlab.__file__).parent / "fonts"
    pdfmetrics.registerFont(TTFont("Vera", str(fonts / "Vera.ttf")))
    plain = pdf(hello, 3)
    put("plain.pdf", plain)
    put("uncompressed.pdf", pdf(hello, 1, pageCompression=0))
    put("paragraphs.pdf", pdf(paragraphs))
    put("columns.pdf", pdf(columns, size=landscape(A4)))
    put("kerned.pdf", pdf(kerned))
    put("truetype.pdf", pdf(true_type))
    put("rotated.pdf", pdf(rotated))
    put("scan.pdf", pdf(picture))
    put("twelve.pdf", pdf(hello, 12))
    put("streams.pdf", rewritten(plain, lambda writer: [page.compress_content_streams() for page in writer.pages]))
    put("password.pdf", rewritten(plain, lambda writer: writer.encrypt("secret", "owner", algorithm="RC4-128")))
    put("owner.pdf", rewritten(plain, lambda writer: writer.encrypt("", "owner", algorithm="RC4-128")))
    put("attached.pdf", rewritten(plain, lambda writer: writer.add_attachment("a.txt", b"attached")))
    put("named.txt", plain)
    put("cut.pdf", plain[: len(plain) // 3])
    put("xref.pdf", plain.replace(b"startxref", b"startxxxx"))
    put("junk.pdf", plain + b"\n" + b"\0" * 500)
    put("empty.pdf", b"%PDF-1.7\n%%EOF\n")
    bomb = zlib.compress(b"(x) Tj " * (6 << 20), 9)
    put("bomb.pdf", raw_pdf(b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(bomb), bomb)))
    put("nested.pdf", raw_pdf(b"<< /Length 6 >>\nstream\n(deep)\nendstream", b"[" * 20_000))
    put("loop.pdf", plain.replace(b"/Kids [", b"/Kids [ 6 0 R 6 0 R "))


def raw_pdf(content, extra=b""):
    """A document of one page, without a table of its objects."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 9 9] " + (b"/X " + extra if extra else b"") + b">>",
        content,
    ]
    body = b"%PDF-1.4\n"
    for number, text in enumerate(objects, 1):
        body += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    return body + b"trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n"


def drawn(mode="RGB", size=(60, 40)):
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    draw.ellipse([1, 1, size[0] - 2, size[1] - 2], fill="blue")
    return image.convert(mode)


def saved(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def images():
    for name, mode in [("rgb", "RGB"), ("alpha", "RGBA"), ("palette", "P"), ("bit", "1"), ("gray", "L"), ("deep", "I;16")]:
        image = Image.new("I;16", (60, 40), 40_000) if mode == "I;16" else drawn(mode)
        put(f"{name}.png", saved(image, "PNG"))
    frames = [Image.new("RGB", (30, 30), color) for color in ["red", "green", "blue"]]
    put("animated.png", saved(frames[0], "PNG", save_all=True, append_images=frames[1:]))
    put("wide.png", saved(drawn(size=(3000, 60)), "PNG"))
    put("photo.jpg", saved(drawn(), "JPEG"))
    put("gray.jpg", saved(drawn("L"), "JPEG"))
    put("cmyk.jpg", saved(drawn("CMYK"), "JPEG"))
    put("progressive.jpg", saved(drawn(), "JPEG", progressive=True))
    exif = Image.Exif()
    exif[0x0112] = 6
    put("turned.jpg", saved(drawn(size=(2400, 40)), "JPEG", exif=exif, quality=60))
    put("still.gif", saved(drawn("P"), "GIF"))
    put("animated.gif", saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100))
    put("lossy.webp", saved(drawn(), "WEBP"))
    put("lossless.webp", saved(drawn("RGBA"), "WEBP", lossless=True))
    put("animated.webp", saved(frames[0], "WEBP", save_all=True, append_images=frames[1:]))
    put("lies.jpg", saved(drawn(), "PNG"))
    whole = saved(drawn(), "PNG")
    put("cut.png", whole[: len(whole) // 2])
    put("cut.jpg", saved(drawn(), "JPEG")[:300])
    put("cut.webp", saved(drawn(), "WEBP")[:60])
    put("a.bmp", saved(drawn(size=(8, 8)), "BMP"))
    put("a.tiff", saved(drawn(size=(8, 8)), "TIFF"))
    put("a.ico", saved(drawn(size=(16, 16)), "ICO"))
    put("a.svg", b'<svg xmlns="http://www.w3.org/2000/svg"><circle r="5"/></svg>\n')
    size = (60_000).to_bytes(4, "big")
    header = b"IHDR" + size + size + whole[24:29]
    put("bomb.png", whole[:12] + header + zlib.crc32(header).to_bytes(4, "big") + whole[33:])
    put("flat.png", saved(Image.new("1", (17_000, 17_000)), "PNG", optimize=True))


def notebooks():
    import base64

    picture = base64.b64encode(saved(drawn(), "PNG")).decode()
    cells = [
        v4.new_markdown_cell("# Title\nWith *text*", id="title"),
        v4.new_code_cell("plot(1)\n2", id="plot", execution_count=1, outputs=[
            v4.new_output("stream", text="printed\n"),
            v4.new_output("display_data", {"image/png": picture, "text/plain": "<Figure>"}),
            v4.new_output("execute_result", {"text/html": "<b>2</b>", "text/plain": "2"}, execution_count=1),
        ]),
        v4.new_code_cell("1/0", id="broken", outputs=[
            v4.new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=["\x1b[31mTrace\x1b[0m"]),
        ]),
        v4.new_raw_cell("raw", id="raw"),
    ]
    book = v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}})
    text = nbformat.writes(book)
    put("whole.ipynb", text.encode())
    put("one_line.ipynb", json.dumps(json.loads(text), separators=(",", ":")).encode())
    put("mark.ipynb", b"\xef\xbb\xbf" + text.encode())
    put("windows.ipynb", text.replace("\n", "\r\n").encode())
    put("none.ipynb", nbformat.writes(v4.new_notebook()).encode())
    old = json.loads(text)
    old["nbformat_minor"] = 2
    for cell in old["cells"]:
        del cell["id"]
    put("no_ids.ipynb", json.dumps(old, indent=1, ensure_ascii=False).encode())
    third = v3.new_notebook(worksheets=[v3.new_worksheet(cells=[v3.new_code_cell(input="x = 3")])])
    put("third.ipynb", nbformat.v3.nbjson.writes(third).encode())
    put("broken.ipynb", text[: len(text) // 2].encode())
    widget = v4.new_code_cell("w", id="w", outputs=[
        v4.new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}),
        v4.new_output("display_data", {"image/svg+xml": "<svg/>"}),
        v4.new_output("display_data", {"image/png": "bm90IGFuIGltYWdl"}),
    ])
    put("widget.ipynb", nbformat.writes(v4.new_notebook(cells=[widget])).encode())


def form(page, _):
    page.drawString(72, 720, "A form")
    page.acroForm.textfield(name="field", value="filled in", x=72, y=600)


def chinese(page, _):
    page.setFont("STSong-Light", 12)
    page.drawString(72, 720, "\u4e2d\u6587")


def odd_pdfs():
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    plain = pdf(hello, 3)
    put("strong.pdf", rewritten(plain, lambda writer: writer.encrypt("secret", "owner", algorithm="AES-256")))
    put("strong_owner.pdf", rewritten(plain, lambda writer: writer.encrypt("", "owner", algorithm="AES-256")))
    put("huge_page.pdf", pdf(hello, size=(14_400, 14_400)))
    put("form.pdf", pdf(form))
    put("cid.pdf", pdf(chinese))
    put("mail.pdf", b"From: somebody\n\n" + plain)
    # A second revision behind the first, with a page less.
    second = b"2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n"
    first = raw_pdf(b"<< /Length 16 >>\nstream\nBT (first) Tj ET\nendstream")
    put("no_pages.pdf", first + second + b"trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n")
    at = plain.rindex(b"startxref") + len(b"startxref\n")
    put("wrong_xref.pdf", plain[:at] + b"17\n%%EOF\n")


# Where the passes of an interlaced PNG begin, and the steps between their pixels.
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def raw_png(width, height, depth, color, rows, interlaced=False):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + content


def odd_images():
    def pixel(x, y):
        return bytes([x * 8, y * 8, 128])

    rows = b""
    for left, top, right, down in ADAM7:
        for y in range(top, 30, down):
            rows += b"\0" + b"".join(pixel(x, y) for x in range(left, 30, right))
    put("interlaced.png", raw_png(30, 30, 8, 2, rows, True))
    rows = b"".join(b"\0" + b"".join(struct.pack(">HHHH", x * 999, y * 999, 9, 65_535) for x in range(30)) for y in range(30))
    put("sixteen.png", raw_png(30, 30, 16, 6, rows))
    put("behind.png", saved(drawn(), "PNG") + b"PK\x03\x04 something behind the end")
    put("adobe.jpg", saved(drawn("CMYK"), "JPEG", progressive=True, quality=30))
    put("commented.jpg", saved(drawn(), "JPEG", comment=b"c" * 5_000, optimize=True, quality=20))
    frames = [Image.new("RGBA", (20, 20), (200, 0, 0, alpha)) for alpha in [0, 128, 255]]
    put("clear.gif", saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=0, disposal=2))
    put("extended.webp", saved(drawn("RGBA"), "WEBP", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0", icc_profile=b"no profile"))
    put("pages.tiff", saved(drawn("CMYK", (8, 8)), "TIFF", save_all=True, append_images=[drawn("CMYK", (8, 8))]))
    put("a.avif", saved(drawn(size=(16, 16)), "AVIF"))
    put("a.jp2", saved(drawn(size=(16, 16)), "JPEG2000"))
    put("wide.svg", '<?xml version="1.0" encoding="UTF-16"?><svg>\u00e9</svg>\n'.encode("utf-16"))


def odd_notebooks():
    cell = v4.new_code_cell("x = '\u00e9'", id="x")
    text = nbformat.writes(v4.new_notebook(cells=[cell]))
    put("sixteen.ipynb", text.encode("utf-16"))
    put("latin.ipynb", text.encode("latin-1"))
    put("later.ipynb", text.replace('"nbformat": 4', '"nbformat": 5').encode())
    put("twice.ipynb", text.replace('"cells": [', '"cells": [], "cells": [').encode())
    put("deep.ipynb", text.replace('"metadata": {}', '"metadata": {"x": ' + "[" * 9_000 + "]" * 9_000 + "}", 1).encode())


pdfs()
images()
notebooks()
odd_pdfs()
odd_images()
odd_notebooks()
