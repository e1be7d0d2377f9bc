CASE
  WHEN CAST("price" AS Nullable(Float64)) / nullIf(CASE WHEN ABS(CAST("quantity" AS Nullable(Float64))) <= 1.7976931348623157e+308 THEN CAST("quantity" AS Nullable(Float64)) END, 0) > 10 AND CAST("price" AS Nullable(Float64)) / nullIf(CASE WHEN ABS(CAST("quantity" AS Nullable(Float64))) <= 1.7976931348623157e+308 THEN CAST("quantity" AS Nullable(Float64)) END, 0) <= 1.7976931348623157e+308 THEN 0
  WHEN match("title", '(?s)\\A.*[Gg][Oo][Aa][Ll][Ii][Ee].*\\z') THEN 1
  WHEN "title" = '10%' THEN 2
  WHEN match("title", '(?s)\\A[Ss][Tt][Rr][Aa]ß[Ee]\\z') THEN 3
  WHEN "sold" >= toDate32('2024-12-31') THEN 4
  WHEN "at" < toDateTime64('2024-12-31 12:00:00', 6, 'UTC') THEN 5
  WHEN toYear("at") = 2024 THEN 6
  WHEN "new" IS NULL THEN 7
  WHEN "title" < 'm' THEN 8
  WHEN CHAR_LENGTH(trimBoth("title")) > 3 THEN 9
  WHEN toDayOfWeek("at") >= 6 THEN 10
  WHEN NOT COALESCE(CAST("price" AS Nullable(Float64)) / nullIf(CASE WHEN ABS(CAST("quantity" AS Nullable(Float64))) <= 1.7976931348623157e+308 THEN CAST("quantity" AS Nullable(Float64)) END, 0) > 10 AND CAST("price" AS Nullable(Float64)) / nullIf(CASE WHEN ABS(CAST("quantity" AS Nullable(Float64))) <= 1.7976931348623157e+308 THEN CAST("quantity" AS Nullable(Float64)) END, 0) <= 1.7976931348623157e+308, FALSE) AND NOT COALESCE("new", FALSE) THEN 99
  ELSE -1
END