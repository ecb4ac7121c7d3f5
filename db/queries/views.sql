-- The views with their text and the names of their columns.
SELECT v.name, v.sql, (SELECT json_group_array(name) FROM pragma_table_info(v.name))
FROM sqlite_master v
WHERE v.type = 'view'
ORDER BY v.name
