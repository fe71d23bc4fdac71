# SPDX-License-Identifier: GPL-2.0-only
"""html_page.py STYLE SCRIPT HEADER: makes a header of the style and the script of HTML reports, with their SHA-256.

The first line of each file, its licence, is left out.
"""
import base64
import hashlib
import json
import sys


def define(name, path):
    """Returns the text of a file as a C string, and the hash by which the policy of the page allows it."""
    with open(path, encoding="utf-8") as file:
        text = "\n" + file.read().partition("\n")[2]
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    lines = "\n".join(f"\t{json.dumps(line)}" for line in text.splitlines(keepends=True))
    return f'static const char {name}_hash[] = "{digest}";\nstatic const char {name}[] =\n{lines};\n'


with open(sys.argv[3], "w", encoding="utf-8") as header:
    header.write(define("html_page_style", sys.argv[1]) + "\n" + define("html_page_script", sys.argv[2]))
