CREATE TABLE {{ workload.table }} (name, price);
INSERT INTO {{ workload.table }} VALUES ('pen', 3), ('desk', 90), ('chair', 45);
SELECT name, price FROM {{ workload.table }} WHERE price >= :least ORDER BY price;
