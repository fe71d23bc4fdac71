/* SPDX-License-Identifier: GPL-2.0-only */
#include "spark.h"

#include <math.h>
#include <string.h>

const char *spark_sign(int height)
{
	static const char *const blocks[SPARK_HEIGHTS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[SPARK_HEIGHTS] = {"_", ".", ":", "-", "=", "+", "*", "#"};

	return draw_is_utf8() ? blocks[height] : ascii[height];
}

int spark_height(double value, double largest)
{
	int height;

	if (value <= 0 || largest <= 0)
		return 0;
	if (value >= largest)
		return SPARK_HEIGHTS - 1;
	/* small, but not zero */
	height = (int)(value / largest * (SPARK_HEIGHTS - 1) + 0.5);
	return height < 1 ? 1 : height;
}

void spark_draw(int y, int x, int cells, enum style style, double least, const double values[], size_t count)
{
	char text[SPARK_CELLS_MAX * sizeof("█")] = "";
	double largest = least;
	size_t length = 0;

	if (count > (size_t)cells) {
		values += count - (size_t)cells;
		count = (size_t)cells;
	}
	for (size_t i = 0; i < count; i++) {
		if (isfinite(values[i]) && values[i] > largest)
			largest = values[i];
	}
	for (size_t i = 0; i < count; i++) {
		const char *sign = !isfinite(values[i]) ? " "
				   : values[i] < 0      ? draw_marks()->below
							: spark_sign(spark_height(values[i], largest));

		memcpy(&text[length], sign, strlen(sign));
		length += strlen(sign);
	}
	draw_text(y, x + cells - (int)count, (int)count, style, text, length);
}
