# SPDX-License-Identifier: GPL-2.0-only
#
# From the table of soak.c to a picture (SVG): memory of the three programs and the delay of keys, by minutes.

function line(column, scale, top, colour, label, row, points, i) {
    points = ""
    for (i = 1; i <= count; i++)
        points = points sprintf("%.1f,%.1f ", 60 + (i - 1) * 700 / (count > 1 ? count - 1 : 1), \
                                top + 180 - value[i, column] / scale * 170)
    printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"%s\"/>\n", colour, points
    printf "<text x=\"770\" y=\"%d\" fill=\"%s\">%s</text>\n", top + 20 + row * 16, colour, label
}

function frame(top, title, scale, unit) {
    printf "<text x=\"60\" y=\"%d\">%s</text>\n", top - 4, title
    printf "<path fill=\"none\" stroke=\"#888\" d=\"M60,%d V%d H760\"/>\n", top, top + 180
    printf "<text x=\"55\" y=\"%d\" text-anchor=\"end\">%g %s</text>\n", top + 14, scale, unit
    printf "<text x=\"55\" y=\"%d\" text-anchor=\"end\">0</text>\n", top + 180
}

NR == 1 {
    for (i = 1; i <= NF; i++)
        column_of[$i] = i
    next
}

{
    count++
    for (i = 1; i <= NF; i++)
        value[count, i] = $i
    for (i = 2; i <= 8; i += 3)
        if ($i / 1024 > most_mib)
            most_mib = $i / 1024
    if ($column_of["key_max_ms"] > most_ms)
        most_ms = $column_of["key_max_ms"]
}

END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"470\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"900\" height=\"470\" fill=\"#fff\"/>"
    most_mib = int(most_mib / 10 + 1) * 10
    frame(20, "resident memory of all processes", most_mib, "MiB")
    line(column_of["screen_kib"], most_mib * 1024, 20, "#1f77b4", "screen", 0)
    line(column_of["record_kib"], most_mib * 1024, 20, "#2ca02c", "record", 1)
    line(column_of["export_kib"], most_mib * 1024, 20, "#d62728", "export", 2)
    most_ms = int(most_ms / 10 + 1) * 10
    frame(240, "from a key to what it shows", most_ms, "ms")
    line(column_of["key_max_ms"], most_ms, 240, "#d62728", "longest", 0)
    line(column_of["key_p99_ms"], most_ms, 240, "#ff7f0e", "99 %", 1)
    line(column_of["key_p50_ms"], most_ms, 240, "#1f77b4", "median", 2)
    printf "<text x=\"410\" y=\"450\" text-anchor=\"middle\">%d minutes</text>\n</svg>\n", count
}
