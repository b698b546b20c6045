-- What servers published of tools that nobody reviewed, by its pin: what a call of one was judged
-- by. Reviewed definitions are in the contracts, which each revision keeps.
CREATE TABLE definitions (
    pin TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    tool TEXT NOT NULL,
    body TEXT NOT NULL
);
