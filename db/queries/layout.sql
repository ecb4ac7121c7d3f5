-- The layout of series that names the metrics of the JSON array ?1, in their order.
SELECT layout
FROM (SELECT layout, metric FROM series_columns ORDER BY layout, position)
GROUP BY layout
HAVING json_group_array(metric) = ?1
