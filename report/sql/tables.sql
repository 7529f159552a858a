-- SPDX-License-Identifier: Apache-2.0
-- What the program fills itself beside the tables of events.

CREATE TABLE process(pid INTEGER, rank INTEGER, host TEXT, command TEXT, events_missing INTEGER,
	ranks INTEGER, process INTEGER, is_trace INTEGER);
CREATE TABLE thread(pid INTEGER, tid INTEGER, name TEXT, rank INTEGER, name_id INTEGER);
CREATE TABLE session(utc_ns INTEGER);
