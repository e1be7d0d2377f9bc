CASE
  -- In arithmetic, a number beyond 1e75, or below 1e-75 and not 0, counts as unknown.
  -- TRANSLATE instead of LOWER, which makes more letters into these: the Kelvin sign into k.
  -- IS NOT TRUE: false or NULL.
  -- It is: 0, if price / quantity > 10.
  WHEN CASE WHEN (price = 0 OR ABS(price) BETWEEN 1e-75 AND 1e75) AND (quantity = 0 OR ABS(quantity) BETWEEN 1e-75 AND 1e75) THEN CAST(price AS FLOAT64) / NULLIF(CAST(quantity AS FLOAT64), 0) END > 10 THEN 0
  -- It is: 1, if title contains "goalie".
  WHEN TRANSLATE(title, 'AEGILO', 'aegilo') LIKE '%goalie%' THEN 1
  -- It is: 2, if title is "10%".
  WHEN title = '10%' THEN 2
  -- It is: 3, if lower(title) = 'straße'.
  WHEN TRANSLATE(title, 'AERST', 'aerst') LIKE 'straße' THEN 3
  -- It is: 4, if sold >= 2024-12-31.
  WHEN sold >= DATE '2024-12-31' THEN 4
  -- It is: 5, if at < 2024-12-31 12:00:00.
  WHEN `at` < DATETIME '2024-12-31 12:00:00' THEN 5
  -- It is: 6, if year of at is 2024.
  WHEN EXTRACT(YEAR FROM `at`) = 2024 THEN 6
  -- It is: 7, if new is unknown.
  WHEN `new` IS NULL THEN 7
  -- It is: 8, if title < 'm'.
  WHEN title < 'm' THEN 8
  -- It is: 9, if length(trim(title)) > 3.
  WHEN LENGTH(TRIM(title, ' ')) > 3 THEN 9
  -- It is: 10, if weekday of at >= Saturday.
  WHEN (MOD(EXTRACT(DAYOFWEEK FROM `at`) + 5, 7) + 1) >= 6 THEN 10
  -- It is: 99, unless price / quantity > 10 or new.
  WHEN (CASE WHEN (price = 0 OR ABS(price) BETWEEN 1e-75 AND 1e75) AND (quantity = 0 OR ABS(quantity) BETWEEN 1e-75 AND 1e75) THEN CAST(price AS FLOAT64) / NULLIF(CAST(quantity AS FLOAT64), 0) END > 10) IS NOT TRUE
    AND `new` IS NOT TRUE
  THEN 99
  ELSE -1
END
-- The model, for tellapart import (558890d12168): {"tellapart": "model", "format": 1, "clauses": [{"if": [[{"$sql": ["price / quantity > 10", {"price": "number", "quantity": "number"}]}, true]], "label": 0, "example": null, "origin": null}, {"if": [[{"$sql": ["title ILIKE '%goalie%'", {"title": "text"}]}, true]], "label": 1, "example": null, "origin": null}, {"if": [[{"$sql": ["title = '10%'", {"title": "text"}]}, true]], "label": 2, "example": null, "origin": null}, {"if": [[{"$sql": ["lower(title) = 'stra\u00dfe'", {"title": "text"}]}, true]], "label": 3, "example": null, "origin": null}, {"if": [[{"$sql": ["sold >= DATE '2024-12-31'", {"sold": "date"}]}, true]], "label": 4, "example": null, "origin": null}, {"if": [[{"$sql": ["at < TIMESTAMP '2024-12-31 12:00:00'", {"at": "datetime"}]}, true]], "label": 5, "example": null, "origin": null}, {"if": [[{"$sql": ["year(at) = 2024", {"at": "datetime"}]}, true]], "label": 6, "example": null, "origin": null}, {"if": [[{"$sql": ["new IS NULL", {"new": "bool"}]}, true]], "label": 7, "example": null, "origin": null}, {"if": [[{"$sql": ["title < 'm'", {"title": "text"}]}, true]], "label": 8, "example": null, "origin": null}, {"if": [[{"$sql": ["length(trim(title)) > 3", {"title": "text"}]}, true]], "label": 9, "example": null, "origin": null}, {"if": [[{"$sql": ["weekday(at) >= 6", {"at": "datetime"}]}, true]], "label": 10, "example": null, "origin": null}, {"if": [[{"$sql": ["price / quantity > 10", {"price": "number", "quantity": "number"}]}, false], ["new", false]], "label": 99, "example": null, "origin": null}], "default": {"if": [], "label": -1, "example": null, "origin": null}}
